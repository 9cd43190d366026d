// The text of statements, as Sequelize itself would write it.

import { type FindOptions, type Model, type ModelStatic, Op, Sequelize } from 'sequelize'
import { expressions, fieldNames, generator, preparation, sequelizeOf, type WhereFragment } from './internals.js'

/** SQL that Sequelize leaves as it is. Only for text made from compiled names and placeholders. */
export function literal(sql: string): ReturnType<typeof Sequelize.literal> {
  return Sequelize.literal(sql)
}

export function quote(model: ModelStatic<Model>, identifier: string): string {
  return generator(sequelizeOf(model)).quoteIdentifier(identifier)
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

export interface SelectOptions extends FindOptions {
  /** The main table's alias; the model's name without it. */
  readonly tableAs?: string
  /** Leaves the model's default scope out. */
  readonly unscoped?: boolean
}

/** As an UPDATE locks: whoever only points at the record need not wait, where the database tells the two apart. */
const LOCKED = { level: 'NO KEY UPDATE' }

/** The text of the SELECT that `model.findAll(options)` would run, find hooks aside, without the closing `;`. */
export function writeSelect(model: ModelStatic<Model>, options: SelectOptions): string {
  const prepared = preparation(model)
  const clone: { [option: string]: unknown } = { ...fieldNames.cloneDeep(options), hooks: false }
  if (options.lock === true) clone.lock = LOCKED
  if (options.unscoped !== true) clone.where = scoped(model, clone.where)
  prepared._conformIncludes(clone, model)
  prepared._expandAttributes(clone)
  if (clone.include !== undefined) {
    clone.hasJoin = true
    prepared._validateIncludedElements(clone, {})
  }
  fieldNames.mapFinderOptions(clone, model)
  const complete = prepared._paranoidClause(model, clone)
  const table = model.getTableName()
  return generator(sequelizeOf(model)).selectQuery(table, complete, model).replace(/;$/, '')
}

/** A condition's text, its columns prefixed by `prefix`; the model's default scope is not in it. */
export function writeCondition(model: ModelStatic<Model>, where: object, prefix: string): string {
  const mapped = fieldNames.mapOptionFieldNames({ where }, model)
  return generator(sequelizeOf(model)).getWhereConditions(mapped.where, prefix, model, { model })
}

/**
 * A condition and the one of the model's default scope. Where Sequelize itself puts the two together, what stands under
 * the same name, `Op.and` included, replaces the other; of this one nothing can be lost.
 */
export function scoped(model: ModelStatic<Model>, where: unknown): WhereFragment {
  const scope = preparation(model)._scope?.where
  const both = [where, scope].filter((part) => part !== undefined && part !== null)
  return { [Op.and]: both } as WhereFragment
}

/** The condition of the model's own default scope and of `paranoid`, with the caller's, by column. */
function guarded(model: ModelStatic<Model>, where: object, deleted = false): object {
  const mapped = fieldNames.mapOptionFieldNames({ where: scoped(model, where) }, model)
  // CVE-2023-22579: an update or delete without a condition must not be possible, whatever was made of it.
  if (Reflect.ownKeys(where).length === 0) throw new TypeError(`refusing to write to ${model.name} without a condition`)
  return deleted ? mapped.where : preparation(model)._paranoidClause(model, mapped).where
}

/** The text of `guarded`, its columns prefixed by `prefix`. */
export function writeGuarded(model: ModelStatic<Model>, where: object, prefix: string, deleted = false): string {
  const condition = guarded(model, where, deleted)
  return generator(sequelizeOf(model)).getWhereConditions(condition, prefix, model, { model })
}

/** INSERT of one row of SQL text by column. */
export function writeInsert(model: ModelStatic<Model>, values: ReadonlyMap<string, string>): string {
  const hash = Object.fromEntries([...values].map(([column, sql]) => [column, literal(sql)]))
  const { query } = generator(sequelizeOf(model)).insertQuery(model.getTableName(), hash, {}, { bindParam: false })
  return query.replace(/;$/, '')
}

/**
 * UPDATE of the columns in `values`, whose values are SQL text; with `deleted` also of rows that are marked so. What is
 * given as `from` stands before its WHERE.
 */
export function writeUpdate(
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

export function writeDelete(model: ModelStatic<Model>, where: object): string {
  const options = { limit: null, model }
  const sql = generator(sequelizeOf(model)).deleteQuery(model.getTableName(), guarded(model, where), options, model)
  return sql.replace(/;$/, '')
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
