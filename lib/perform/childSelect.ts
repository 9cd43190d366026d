import type { Association } from 'sequelize'
import { internalError } from '../common/internalError.js'
import type { WhereFragment } from '../sequelize/internals.js'
import { associationKeysOf, hasSourceForeignKey } from '../sequelize/model.js'
import {
  createSelectList,
  includeConditions,
  literal,
  quote,
  quoteTable,
  scopesOf,
  toColumns,
  writeCondition,
  writeScopedCondition,
  writeSelect,
} from '../sequelize/sql.js'
import { joinAnd } from '../sequelize/whereTree.js'
import type { TableContext } from './tableContext.js'

type Fragment = WhereFragment

interface Correlation {
  /** Writes the condition that connects child rows to their parent row. */
  readonly correlate: (key: CorrelationKey) => Fragment
  readonly conditions: (element: TableContext) => readonly Fragment[]
  /** Returns the conditions on rows of the join model. */
  readonly joinRowConditions: (link: TableContext) => readonly Fragment[]
  readonly alias: () => string
}

/** Foreign key column of the child table or join model, and a writer of the parent's key column. */
export interface CorrelationKey {
  readonly childColumn: string
  readonly writeParentColumn: (source: TableContext) => string
}

/**
 * Writes a SELECT of one parent's records of a to-many association. `what` is the selected SQL, or builds this SQL from
 * the foreign key column.
 */
export function writeChildSelect(
  what: string | ((element: string) => string),
  association: Association,
  correlation: Correlation,
): string {
  const selectedText = (element: string): string => (typeof what === 'string' ? what : what(element))
  const alias = correlation.alias()
  const { through, scope, otherKey, sourceKey, targetKey, foreignKey } = associationKeysOf(association)
  const join: TableContext | null =
    through === null ? null : { model: through.model, alias: correlation.alias(), canJoin: false }
  const target: TableContext = {
    model: association.target,
    alias,
    canJoin: false,
    ...(join === null ? {} : { joinRow: join }),
  }
  const conditions = [...correlation.conditions(target), ...scopeConditions(target, scope)]
  const parentColumn = (source: TableContext): string => writeColumn(source, sourceKey)
  if (through === null || join === null) {
    const element = writeColumn(target, foreignKey)
    return writeSelect(target.model, {
      attributes: createSelectList(selectedText(element)),
      tableAs: target.alias,
      where: joinAnd([correlation.correlate({ childColumn: element, writeParentColumn: parentColumn }), ...conditions]),
    })
  }
  const element = writeColumn(join, foreignKey)
  const other = literal(`${writeColumn(target, targetKey)} = ${writeColumn(join, otherKey)}`)
  // One SELECT joins both tables, because MariaDB uses no index of the outer table inside a nested subquery.
  const joinConditions = [
    correlation.correlate({ childColumn: element, writeParentColumn: parentColumn }),
    ...correlation.joinRowConditions(join),
    ...scopeConditions(join, through.scope),
  ]
  return [
    `SELECT ${selectedText(element)} AS ${quote(join.model, '_')} FROM ${writeTable(join)} INNER JOIN ${writeTable(target)}`,
    `ON ${writeScopedCondition(target.model, joinAnd([other, ...conditions]), target.alias)}`,
    `WHERE ${writeScopedCondition(join.model, joinAnd(joinConditions), join.alias)}`,
  ].join(' ')
}

/** Writes the condition that a record of `to` is linked to a parent. `parentKey` is the SQL of the parent's key. */
export function writeLinkCondition(
  association: Association,
  parentKey: string,
  to: TableContext,
  { alias, conditions }: { readonly alias: string; readonly conditions: (link: TableContext) => readonly Fragment[] },
): Fragment {
  const { through, scope, foreignKey, otherKey, targetKey } = associationKeysOf(association)
  if (through === null) throw internalError(`the association "${association.as}" has no join table`)
  const link: TableContext = { model: through.model, alias, canJoin: false }
  const rows = writeSelect(link.model, {
    attributes: createSelectList(writeColumn(link, otherKey)),
    tableAs: alias,
    where: joinAnd([
      literal(`${writeColumn(link, foreignKey)} = ${parentKey}`),
      ...conditions(link),
      ...scopeConditions(link, through.scope),
    ]),
  })
  return joinAnd([literal(`${writeColumn(to, targetKey)} IN (${rows})`), ...scopeConditions(to, scope)])
}

/** Writes a SELECT of `key` from several joined tables, each with its own condition. */
export function writePathSelect(
  key: string,
  [first, ...rest]: readonly { readonly at: TableContext; readonly where: Fragment }[],
): string {
  if (first === undefined) throw internalError('a SELECT of a relation path has no table')
  const joined = rest.map(
    ({ at, where }) => ` INNER JOIN ${writeTable(at)} ON ${writeScopedCondition(at.model, where, at.alias)}`,
  )
  const { at, where } = first
  return `SELECT ${key} FROM ${writeTable(at)}${joined.join('')} WHERE ${writeScopedCondition(at.model, where, at.alias)}`
}

/** Writes the join condition of an association between `from` and `to`. */
export function writeJoinCondition(association: Association, from: TableContext, to: TableContext): string {
  const { foreignKey, sourceKey, targetKey } = associationKeysOf(association)
  return hasSourceForeignKey(association)
    ? `${writeColumn(to, targetKey)} = ${writeColumn(from, foreignKey)}`
    : `${writeColumn(to, foreignKey)} = ${writeColumn(from, sourceKey)}`
}

/** Writes the conditions of association scopes or model scopes for a table. */
export function scopeConditions({ model, alias }: TableContext, scopes: readonly Fragment[]): readonly Fragment[] {
  // An empty scope is written as an empty text.
  const conditions = scopes.map((scope) => writeCondition(model, toColumns(model, scope), alias))
  return conditions.filter((sql) => sql !== '').map((sql) => literal(`(${sql})`))
}

/** Writes the default scope of a joined table as SQL, because Sequelize would translate its column names again. */
export function defaultScopeConditions(at: TableContext): readonly Fragment[] {
  return [...scopeConditions(at, scopesOf(at.model)), ...includeConditions(at.model, at.alias)]
}

/**
 * Writes the condition that the row of `to` is the linked row with the lowest key. A to-one relation returns one record
 * even if several rows are linked.
 */
export function writeFirstCondition(
  association: Association,
  from: TableContext,
  to: TableContext,
  row: TableContext,
  conditions: readonly Fragment[],
): Fragment {
  const keyColumns = (scope: TableContext): string =>
    to.model.primaryKeyAttributes.map((name) => writeColumn(scope, name)).join(', ')
  const rows = writeSelect(row.model, {
    attributes: createSelectList(keyColumns(row)),
    tableAs: row.alias,
    where: joinAnd([
      literal(writeJoinCondition(association, from, row)),
      ...scopeConditions(row, associationKeysOf(association).scope),
      ...conditions,
    ]),
  })
  return literal(`(${keyColumns(to)}) = (${rows} ORDER BY ${keyColumns(row)} LIMIT 1)`)
}

/** Writes a table and its alias for FROM. */
export function writeTable({ model, alias }: TableContext): string {
  return `${quoteTable(model)} AS ${quote(model, alias)}`
}

/** Writes the qualified column of an attribute. */
export function writeColumn({ model, alias }: TableContext, attribute: string): string {
  const name = quote(model, model.getAttributes()[attribute]?.field ?? attribute)
  return alias === '' ? name : `${quote(model, alias)}.${name}`
}
