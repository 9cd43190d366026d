// SQL text as Sequelize writes it.

import {
  type FindOptions,
  type Includeable,
  type IncludeOptions,
  type Model,
  type ModelStatic,
  Op,
  Sequelize,
} from 'sequelize'
import { internalError } from '../common/internalError.js'
import {
  expressions,
  fieldNames,
  preparationOf,
  queryGeneratorOf,
  sequelizeOf,
  type WhereFragment,
} from './internals.js'
import { excludingIncludesOf } from './model.js'
import { cachedName, cachedText } from './sqlCache.js'

/** SQL that Sequelize leaves unchanged. Use it only for text from compiled names and placeholders. */
export function literal(sql: string): ReturnType<typeof Sequelize.literal> {
  return Sequelize.literal(sql)
}

export function quote(model: ModelStatic<Model>, identifier: string): string {
  const sequelize = sequelizeOf(model)
  return cachedName(sequelize, identifier, () => queryGeneratorOf(sequelize).quoteIdentifier(identifier))
}

/** Converts a value to SQL text for the model's database. The text has one meaning in every session mode. */
export function escapeValue(model: ModelStatic<Model>, value: unknown): string {
  const sequelize = sequelizeOf(model)
  if (typeof value !== 'string') return queryGeneratorOf(sequelize).escape(value)
  const name = sequelize.getDialect()
  const quoteText = Object.hasOwn(QUOTES, name) ? QUOTES[name] : undefined
  return quoteText === undefined ? queryGeneratorOf(sequelize).escape(value) : quoteText(value)
}

/**
 * Functions that write text literals, by Sequelize's dialect name. In Sequelize's own literals, a session setting
 * determines the meaning of backslashes, which may end the literal early.
 */
const QUOTES: Readonly<Record<string, (text: string) => string>> = {
  // A NUL ends the text of a statement.
  sqlite: (text) => (text.includes('\0') ? `CAST(X'${hexOf(text)}' AS TEXT)` : quoteText(text)),
  mysql: quoteOnMysql,
  mariadb: quoteOnMysql,
  postgres: (text) => {
    const quoted = quoteText(text.replaceAll('\0', '\\0'))
    return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
  },
}

function quoteOnMysql(text: string): string {
  // Hexadecimal digits have the same meaning in every mode.
  const isSpecial = text.includes('\\') || text.includes('\0')
  return isSpecial ? `_utf8mb4 X'${hexOf(text)}'` : quoteText(text)
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex')
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

export interface SelectOptions extends Omit<FindOptions, 'attributes' | 'where' | 'order' | 'include'> {
  /** SELECT list: SQL texts with aliases, or the written list. */
  readonly attributes: SelectedExpressions | string
  /** Alias of the number of all records that meet the condition. The number is added to the SELECT list. */
  readonly total?: string
  /** Joins that `total` needs. Default: the joins of the SELECT itself. */
  readonly totalInclude?: readonly IncludeOptions[]
  readonly include?: readonly IncludeOptions[]
  /** Condition by column, not by attribute. */
  readonly where?: WhereFragment | undefined
  readonly order?: ReturnType<typeof literal>
  /** Alias of the main table. Default: the model's name. */
  readonly tableAs?: string
  /** Whether to ignore the model's default scope. */
  readonly unscoped?: boolean
}

/** Sequelize expressions with their aliases. */
export type SelectedExpressions = readonly (readonly [expression: ReturnType<typeof literal>, alias: string])[]

/** Row lock of an UPDATE. Unlike FOR UPDATE, this lock does not block inserts of rows that refer to the record. */
const ROW_LOCK = { level: 'NO KEY UPDATE' }

/** Writes the SELECT that `model.findAll(options)` would run, without find hooks and without the closing `;`. */
export function writeSelect(model: ModelStatic<Model>, given: SelectOptions): string {
  return cachedText(model, given, () => selectText(model, given))
}

function selectText(
  model: ModelStatic<Model>,
  { unscoped = false, attributes, total, include = [], totalInclude = include, ...given }: SelectOptions,
): string {
  const prepared = preparationOf(model)
  // The list is one expression, because Sequelize needs more time for many expressions than for the rest of the
  // statement.
  const list = [writeList(model, attributes)]
  if (total !== undefined) {
    const { where, paranoid = true } = given
    const counted = { attributes: createSelectList('COUNT(*)'), where, paranoid, include: totalInclude }
    list.push(`(${selectText(model, counted)}) AS ${quote(model, total)}`)
  }
  const options: { [option: string]: unknown } = {
    ...given,
    attributes: [literal(list.join(', '))],
    hooks: false,
    subQuery: false,
  }
  if (given.lock === true) options.lock = ROW_LOCK
  if (!unscoped) options.where = addScopeByColumn(model, given.where, given.tableAs ?? model.name)
  if (include.length > 0) {
    const renamed = new Map<IncludeOptions, string>()
    options.include = copyIncludes(include, renamed)
    prepared._conformIncludes(options, model)
    options.hasJoin = true
    prepared._validateIncludedElements(options, {})
    for (const [each, as] of renamed) each.as = as
  }
  const all = prepared._paranoidClause(model, options)
  return queryGeneratorOf(sequelizeOf(model)).selectQuery(model.getTableName(), all, model).replace(/;$/, '')
}

function writeList(model: ModelStatic<Model>, attributes: SelectOptions['attributes']): string {
  if (typeof attributes === 'string') return attributes
  return attributes.map(([{ val }, alias]) => `${val} AS ${quote(model, alias)}`).join(', ')
}

/**
 * Copies an include tree, because Sequelize changes the given objects. Adds the includes with a custom alias to
 * `renamed`, because Sequelize replaces the alias by the association's alias.
 */
function copyIncludes(include: readonly Includeable[], renamed: Map<IncludeOptions, string>): IncludeOptions[] {
  return include.filter(isIncludeOptions).map((each) => {
    const copy = { ...each }
    if (each.include !== undefined) copy.include = copyIncludes(each.include, renamed)
    if (each.as !== undefined) renamed.set(copy, each.as)
    return copy
  })
}

function isIncludeOptions(include: Includeable): include is IncludeOptions {
  return typeof include === 'object' && 'attributes' in include
}

/** Writes a condition by column as text, with `prefix` before its columns. Omits the model's default scope. */
export function writeCondition(model: ModelStatic<Model>, where: object, prefix: string): string {
  return cachedText(model, { where, prefix }, () => {
    const alias = prefix === '' ? '' : literal(quote(model, prefix))
    return queryGeneratorOf(sequelizeOf(model)).getWhereConditions(where, alias, model, { model })
  })
}

/** Replaces attributes of a condition by their columns. */
export function toColumns(model: ModelStatic<Model>, where: WhereFragment): WhereFragment {
  return fieldNames.mapOptionFieldNames({ where }, model).where as WhereFragment
}

/**
 * Joins a condition by attribute with the model's default scope. Sequelize itself would let equal keys, including
 * `Op.and`, replace each other.
 */
export function addScope(model: ModelStatic<Model>, where: unknown): WhereFragment {
  return joinByAnd(where, ...scopesOf(model))
}

/** Joins a condition by column with the model's default scope. */
function addScopeByColumn(model: ModelStatic<Model>, where: object | undefined, alias: string): WhereFragment {
  const scopes = scopesOf(model).map((scope) => toColumns(model, scope))
  return joinByAnd(where, ...scopes, ...includeConditions(model, alias))
}

/**
 * Returns the condition of includes in the default scope that exclude records. The condition is a subquery, because
 * joined collections would repeat the rows of the query.
 */
export function includeConditions(model: ModelStatic<Model>, alias: string): readonly WhereFragment[] {
  const include = excludingIncludesOf(model)
  if (include.length === 0) return []
  const keys = model.primaryKeyAttributes.map((name) => quote(model, model.getAttributes()[name]?.field ?? name))
  const rows = selectText(model, {
    unscoped: true,
    attributes: keys.map((key, index) => [literal(`${quote(model, model.name)}.${key}`), `_${index}`] as const),
    where: joinByAnd(...scopesOf(model).map((scope) => toColumns(model, scope))),
    include,
  })
  const column = (key: string): string => (alias === '' ? key : `${quote(model, alias)}.${key}`)
  const matches = keys.map((key, index) => `_s._${index} = ${column(key)}`)
  return [literal(`EXISTS (SELECT 1 FROM (${rows}) AS _s WHERE ${matches.join(' AND ')})`)]
}

/**
 * Returns the condition of the model's default scope by attribute, in an array. Returns an empty array without a
 * default scope.
 */
export function scopesOf(model: ModelStatic<Model>): readonly WhereFragment[] {
  const scope = preparationOf(model)._scope?.where
  return scope === undefined || scope === null ? [] : [scope as WhereFragment]
}

function joinByAnd(...conditions: readonly unknown[]): WhereFragment {
  return { [Op.and]: conditions.filter((part) => part !== undefined && part !== null) } as WhereFragment
}

/**
 * Adds the default scope to a write's condition by column. Adds the `paranoid` condition too, unless `deleted` is true.
 */
function addWriteScope(model: ModelStatic<Model>, where: object, alias: string, deleted: boolean): object {
  // CVE-2023-22579: prevents an UPDATE or DELETE without a condition.
  if (Reflect.ownKeys(where).length === 0)
    throw internalError(`an UPDATE or DELETE of ${model.name} has no condition and would change every row`)
  const condition = { where: addScopeByColumn(model, where, alias) }
  return deleted ? condition.where : preparationOf(model)._paranoidClause(model, condition).where
}

/** Writes a condition with the default scope and `paranoid` as text, with `prefix` before its columns. */
export function writeScopedCondition(
  model: ModelStatic<Model>,
  where: object,
  prefix: string,
  deleted = false,
): string {
  return writeCondition(model, addWriteScope(model, where, prefix, deleted), prefix)
}

/**
 * Writes an INSERT of a row of SQL texts, in the order of the columns. `others` are further rows in the same order, each
 * as text in parentheses. Columns with names like integers must come first, as in objects.
 */
export function writeInsert(
  model: ModelStatic<Model>,
  columns: readonly string[],
  row: readonly string[],
  others: readonly string[],
): string {
  const text = cachedText(model, { columns, row }, () => {
    const hash = Object.fromEntries(columns.map((column, index) => [column, literal(row[index] ?? '')]))
    const { query } = queryGeneratorOf(sequelizeOf(model)).insertQuery(
      model.getTableName(),
      hash,
      {},
      { bindParam: false },
    )
    return query.replace(/;$/, '')
  })
  if (others.length === 0) return text
  if (!text.endsWith(`(${row.join(',')})`))
    throw internalError('Sequelize wrote an INSERT that does not end with its values')
  return `${text},${others.join(',')}`
}

/**
 * Writes an UPDATE of the columns in `values` to SQL texts. `deleted` includes soft-deleted rows. `from` is placed
 * before the WHERE clause.
 */
export function writeUpdate(
  model: ModelStatic<Model>,
  values: ReadonlyMap<string, string>,
  where: object,
  how: { readonly deleted: boolean; readonly from: string },
): string {
  return cachedText(model, { values: [...values], where, how }, () => updateText(model, values, where, how))
}

function updateText(
  model: ModelStatic<Model>,
  values: ReadonlyMap<string, string>,
  where: object,
  { deleted, from }: { readonly deleted: boolean; readonly from: string },
): string {
  const hash = Object.fromEntries([...values].map(([column, sql]) => [column, literal(sql)]))
  // The condition is text, because Sequelize would turn values of the default scope into bind parameters without
  // values.
  const condition = writeScopedCondition(model, where, '', deleted)
  const options = { bindParam: false, model }
  const all = { [Op.and]: [literal(condition)] }
  const { query } = queryGeneratorOf(sequelizeOf(model)).updateQuery(model.getTableName(), hash, all, options)
  if (from === '') return query
  // Sequelize omits a condition that is always true.
  const end = condition === '' ? '' : ` WHERE (${condition})`
  if (!query.endsWith(end)) throw internalError('Sequelize wrote an UPDATE that does not end with its condition')
  return `${query.slice(0, query.length - end.length)}${from}${end}`
}

/** Writes a SELECT that joins a table with `from`, the SQL text of another table, under a condition on both tables. */
export function writeCrossSelect(
  model: ModelStatic<Model>,
  {
    attributes,
    where,
    tableAs,
    lock = false,
  }: SelectOptions & { readonly where: WhereFragment; readonly tableAs: string },
  { from, condition }: { readonly from: string; readonly condition: string },
): string {
  const list = writeList(model, attributes)
  const guard = writeScopedCondition(model, where, tableAs)
  const table = `${quoteTable(model)} AS ${quote(model, tableAs)}`
  return `SELECT ${list} FROM ${table} CROSS JOIN ${from} WHERE ${guard} AND ${condition}${lock === false ? '' : ' FOR UPDATE'}`
}

export function writeDelete(model: ModelStatic<Model>, where: object): string {
  return cachedText(model, { deleted: where }, () => {
    const options = { limit: null, model }
    const sql = queryGeneratorOf(sequelizeOf(model)).deleteQuery(
      model.getTableName(),
      addWriteScope(model, where, '', false),
      options,
      model,
    )
    return sql.replace(/;$/, '')
  })
}

export function quoteTable(model: ModelStatic<Model>): string {
  return queryGeneratorOf(sequelizeOf(model)).quoteTable(model.getTableName())
}

/** Whether a value is an SQL expression, such as a default of `literal('now()')`. */
export function isExpression(value: unknown): boolean {
  return value instanceof expressions
}

/** Creates a SELECT list with one expression. */
export function createSelectList(sql: string): [ReturnType<typeof literal>, string][] {
  return [[literal(sql), '_']]
}
