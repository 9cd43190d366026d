// The text of statements, as Sequelize itself would write it.

import { type FindOptions, type IncludeOptions, type Model, type ModelStatic, Op, Sequelize } from 'sequelize'
import { expressions, fieldNames, generator, preparation, sequelizeOf, type WhereFragment } from './internals.js'
import { keptName, keptText } from './keptTexts.js'

/** SQL that Sequelize leaves as it is. Only for text made from compiled names and placeholders. */
export function literal(sql: string): ReturnType<typeof Sequelize.literal> {
  return Sequelize.literal(sql)
}

export function quote(model: ModelStatic<Model>, identifier: string): string {
  const sequelize = sequelizeOf(model)
  return keptName(sequelize, identifier, () => generator(sequelize).quoteIdentifier(identifier))
}

/** A value as SQL text for the model's database. Text means the same in every mode of a session. */
export function escapeValue(model: ModelStatic<Model>, value: unknown): string {
  const sequelize = sequelizeOf(model)
  if (typeof value !== 'string') return generator(sequelize).escape(value)
  const name = sequelize.getDialect()
  const quoteText = Object.hasOwn(QUOTES, name) ? QUOTES[name] : undefined
  return quoteText === undefined ? generator(sequelize).escape(value) : quoteText(value)
}

/**
 * By Sequelize's names for its databases: a literal of a text. Sequelize's own is another text, or ends too early, where a setting
 * of the session changes the meaning of backslashes.
 */
const QUOTES: Readonly<Record<string, (text: string) => string>> = {
  mysql: quoteOnMysql,
  mariadb: quoteOnMysql,
  postgres: (text) => {
    const quoted = inQuotes(text.replaceAll('\0', '\\0'))
    return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
  },
}

function quoteOnMysql(text: string): string {
  // No mode changes the meaning of hexadecimal digits.
  const isSpecial = text.includes('\\') || text.includes('\0')
  return isSpecial ? `_utf8mb4 X'${Buffer.from(text, 'utf8').toString('hex')}'` : inQuotes(text)
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

export interface SelectOptions extends Omit<FindOptions, 'attributes' | 'where' | 'order'> {
  /** The SELECT list: SQL text with its alias. */
  readonly attributes: Selected
  /** By column, not by attribute. */
  readonly where?: WhereFragment | undefined
  readonly order?: ReturnType<typeof literal>
  /** The main table's alias. Default: the model's name. */
  readonly tableAs?: string
  /** Leaves the model's default scope out. */
  readonly unscoped?: boolean
}

/** Expressions as Sequelize has them, each with its alias. */
export type Selected = readonly (readonly [expression: ReturnType<typeof literal>, alias: string])[]

/** A lock like that of an UPDATE: inserts of rows that refer to the record do not wait for it. */
const LOCKED = { level: 'NO KEY UPDATE' }

/** The text of the SELECT that `model.findAll(options)` would run, find hooks aside, without the closing `;`. */
export function writeSelect(model: ModelStatic<Model>, given: SelectOptions): string {
  // As one expression: Sequelize takes longer over a list than over the rest of a statement.
  const list = given.attributes.map(([{ val }, alias]) => `${val} AS ${quote(model, alias)}`).join(', ')
  const all = { ...given, attributes: list }
  return keptText(model, all, () => selectText(model, all))
}

interface Listed extends Omit<SelectOptions, 'attributes'> {
  readonly attributes: string
}

function selectText(model: ModelStatic<Model>, { unscoped = false, attributes, ...given }: Listed): string {
  const prepared = preparation(model)
  const options: { [option: string]: unknown } = { ...given, attributes: [literal(attributes)], hooks: false }
  if (given.lock === true) options.lock = LOCKED
  if (!unscoped) options.where = guarded(model, given.where)
  if (given.include !== undefined) {
    const renamed = renamedIn(given.include)
    prepared._conformIncludes(options, model)
    options.hasJoin = true
    prepared._validateIncludedElements(options, {})
    for (const [include, as] of renamed) include.as = as
  }
  const all = prepared._paranoidClause(model, options)
  return generator(sequelizeOf(model)).selectQuery(model.getTableName(), all, model).replace(/;$/, '')
}

/** Includes with an alias that is not their association's. Sequelize itself replaces it. */
function renamedIn(include: FindOptions['include'] = []): (readonly [include: IncludeOptions, as: string])[] {
  return [include].flat().flatMap((each) => {
    if (typeof each === 'string' || !('attributes' in each)) return []
    const own = each.as === undefined ? [] : [[each, each.as] as const]
    return [...own, ...renamedIn(each.include)]
  })
}

/** The text of a condition by column, its columns prefixed by `prefix`; the model's default scope is not in it. */
export function writeCondition(model: ModelStatic<Model>, where: object, prefix: string): string {
  return keptText(model, { where, prefix }, () => {
    const alias = prefix === '' ? '' : literal(quote(model, prefix))
    return generator(sequelizeOf(model)).getWhereConditions(where, alias, model, { model })
  })
}

/** Replaces the attributes of a condition by their columns. */
export function byColumn(model: ModelStatic<Model>, where: WhereFragment): WhereFragment {
  return fieldNames.mapOptionFieldNames({ where }, model).where as WhereFragment
}

/**
 * A condition by attribute and the one of the model's default scope. Where Sequelize itself puts the two together, what stands under
 * the same name, `Op.and` included, replaces the other; of this one nothing can be lost.
 */
export function scoped(model: ModelStatic<Model>, where: unknown): WhereFragment {
  return joined(where, ...scopesOf(model))
}

/** A condition by column and the one of the model's default scope. */
function guarded(model: ModelStatic<Model>, where: object | undefined): WhereFragment {
  return joined(where, ...scopesOf(model).map((scope) => byColumn(model, scope)))
}

/** The condition of the model's default scope, by attribute; none where it has none. */
export function scopesOf(model: ModelStatic<Model>): readonly WhereFragment[] {
  const scope = preparation(model)._scope?.where
  return scope === undefined || scope === null ? [] : [scope as WhereFragment]
}

function joined(...conditions: readonly unknown[]): WhereFragment {
  return { [Op.and]: conditions.filter((part) => part !== undefined && part !== null) } as WhereFragment
}

/** Adds the model's default scope to the condition of a write and, unless `deleted`, the condition of `paranoid`. By column. */
function complete(model: ModelStatic<Model>, where: object, deleted = false): object {
  // CVE-2023-22579: an UPDATE or DELETE without a condition must not be possible.
  if (Reflect.ownKeys(where).length === 0) throw new TypeError(`refusing to write to ${model.name} without a condition`)
  const condition = { where: guarded(model, where) }
  return deleted ? condition.where : preparation(model)._paranoidClause(model, condition).where
}

/** The text of a condition with its default scope and `paranoid`. Its columns are prefixed by `prefix`. */
export function writeGuarded(model: ModelStatic<Model>, where: object, prefix: string, deleted = false): string {
  return writeCondition(model, complete(model, where, deleted), prefix)
}

/** INSERT of rows of SQL text, each in the order of the columns. */
export function writeInsert(
  model: ModelStatic<Model>,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  // Members of an object whose names are whole numbers come first.
  const places = Object.keys(Object.fromEntries(columns.map((column) => [column, 0]))).map((name) =>
    columns.indexOf(name),
  )
  const [first = [], ...others] = rows.map((row) => places.map((place) => row[place] ?? ''))
  const text = keptText(model, { columns, first }, () => {
    const hash = Object.fromEntries(places.map((place, index) => [columns[place] ?? '', literal(first[index] ?? '')]))
    const { query } = generator(sequelizeOf(model)).insertQuery(model.getTableName(), hash, {}, { bindParam: false })
    return query.replace(/;$/, '')
  })
  if (others.length === 0) return text
  if (!text.endsWith(`(${first.join(',')})`)) throw new TypeError('an INSERT does not end with its values')
  return `${text}${others.map((row) => `,(${row.join(',')})`).join('')}`
}

/**
 * UPDATE of the columns in `values`, whose values are SQL text; with `deleted` also of rows that are marked so. What is
 * given as `from` stands before its WHERE.
 */
export function writeUpdate(
  model: ModelStatic<Model>,
  values: ReadonlyMap<string, string>,
  where: object,
  how: { readonly deleted: boolean; readonly from: string },
): string {
  return keptText(model, { values: [...values], where, how }, () => updateText(model, values, where, how))
}

function updateText(
  model: ModelStatic<Model>,
  values: ReadonlyMap<string, string>,
  where: object,
  { deleted, from }: { readonly deleted: boolean; readonly from: string },
): string {
  const hash = Object.fromEntries([...values].map(([column, sql]) => [column, literal(sql)]))
  // As text: the values of the default scope would become bind parameters of Sequelize's own, which nobody fills.
  const condition = writeGuarded(model, where, '', deleted)
  const options = { bindParam: false, model }
  const all = { [Op.and]: [literal(condition)] }
  const { query } = generator(sequelizeOf(model)).updateQuery(model.getTableName(), hash, all, options)
  if (from === '') return query
  // What is true of every row is left out.
  const end = condition === '' ? '' : ` WHERE (${condition})`
  if (!query.endsWith(end)) throw new TypeError('an UPDATE does not end with its condition')
  return `${query.slice(0, query.length - end.length)}${from}${end}`
}

/** SELECT of rows of a table beside each row of another one, which is SQL text, under a condition on both. */
export function writeCrossed(
  model: ModelStatic<Model>,
  {
    attributes,
    where,
    tableAs,
    lock = false,
  }: SelectOptions & { readonly where: WhereFragment; readonly tableAs: string },
  { from, condition }: { readonly from: string; readonly condition: string },
): string {
  const list = attributes.map(([{ val }, alias]) => `${val} AS ${quote(model, alias)}`).join(', ')
  const guard = writeGuarded(model, where, tableAs)
  const table = `${quoteTable(model)} AS ${quote(model, tableAs)}`
  return `SELECT ${list} FROM ${table} CROSS JOIN ${from} WHERE ${guard} AND ${condition}${lock === false ? '' : ' FOR UPDATE'}`
}

export function writeDelete(model: ModelStatic<Model>, where: object): string {
  return keptText(model, { deleted: where }, () => {
    const options = { limit: null, model }
    const sql = generator(sequelizeOf(model)).deleteQuery(model.getTableName(), complete(model, where), options, model)
    return sql.replace(/;$/, '')
  })
}

export function quoteTable(model: ModelStatic<Model>): string {
  return generator(sequelizeOf(model)).quoteTable(model.getTableName())
}

/** Whether a value is an expression that the database evaluates, such as a default of `literal('now()')`. */
export function isExpression(value: unknown): boolean {
  return value instanceof expressions
}

/** A SELECT list of one expression. */
export function selected(sql: string): [ReturnType<typeof literal>, string][] {
  return [[literal(sql), '_']]
}
