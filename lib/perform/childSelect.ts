import type { Association } from 'sequelize'
import type { WhereFragment } from '../sequelize/internals.js'
import { associationKeysOf, hasSourceForeignKey } from '../sequelize/model.js'
import {
  createSelectList,
  literal,
  quote,
  quoteTable,
  toColumns,
  writeCondition,
  writeScopedCondition,
  writeSelect,
} from '../sequelize/sql.js'
import { joinAnd } from '../sequelize/whereTree.js'
import type { TableContext } from './tableContext.js'

type Fragment = WhereFragment

interface Correlation {
  /** Connects the elements to their owner. */
  readonly correlate: (tie: CorrelationKey) => Fragment
  readonly conditions: (element: TableContext) => readonly Fragment[]
  /** Conditions on the join model's rows. */
  readonly joinRowConditions: (link: TableContext) => readonly Fragment[]
  readonly alias: () => string
}

/** The foreign key column of the elements or of the join model, and the owner's key in the owner's table. */
export interface CorrelationKey {
  readonly childColumn: string
  readonly writeParentColumn: (source: TableContext) => string
}

/**
 * Writes the SELECT of a to-many association's records for one owner. `what` is SQL, or builds it from the foreign key
 * column.
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
  // One SELECT with both tables: MariaDB does not use indexes of the outer table inside a further subquery.
  const ties = [
    correlation.correlate({ childColumn: element, writeParentColumn: parentColumn }),
    ...correlation.joinRowConditions(join),
    ...scopeConditions(join, through.scope),
  ]
  return [
    `SELECT ${selectedText(element)} AS ${quote(join.model, '_')} FROM ${writeTable(join)} INNER JOIN ${writeTable(target)}`,
    `ON ${writeScopedCondition(target.model, joinAnd([other, ...conditions]), target.alias)}`,
    `WHERE ${writeScopedCondition(join.model, joinAnd(ties), join.alias)}`,
  ].join(' ')
}

/** Condition that a record of `to` is linked to an owner. `owner` is the SQL of the owner's key. */
export function writeLinkCondition(
  association: Association,
  owner: string,
  to: TableContext,
  { alias, conditions }: { readonly alias: string; readonly conditions: (link: TableContext) => readonly Fragment[] },
): Fragment {
  const { through, scope, foreignKey, otherKey, targetKey } = associationKeysOf(association)
  if (through === null) throw new TypeError(`${association.as} has no table between its ends`)
  const link: TableContext = { model: through.model, alias, canJoin: false }
  const rows = writeSelect(link.model, {
    attributes: createSelectList(writeColumn(link, otherKey)),
    tableAs: alias,
    where: joinAnd([
      literal(`${writeColumn(link, foreignKey)} = ${owner}`),
      ...conditions(link),
      ...scopeConditions(link, through.scope),
    ]),
  })
  return joinAnd([literal(`${writeColumn(to, targetKey)} IN (${rows})`), ...scopeConditions(to, scope)])
}

/** Writes the SELECT of a key at the end of several joined tables. Each table has its own condition. */
export function writePathSelect(
  key: string,
  [first, ...rest]: readonly { readonly at: TableContext; readonly where: Fragment }[],
): string {
  if (first === undefined) throw new TypeError('a chain without tables')
  const joined = rest.map(
    ({ at, where }) => ` INNER JOIN ${writeTable(at)} ON ${writeScopedCondition(at.model, where, at.alias)}`,
  )
  const { at, where } = first
  return `SELECT ${key} FROM ${writeTable(at)}${joined.join('')} WHERE ${writeScopedCondition(at.model, where, at.alias)}`
}

/** Join condition of an association between `from` and `to`. */
export function writeJoinCondition(association: Association, from: TableContext, to: TableContext): string {
  const { foreignKey, sourceKey, targetKey } = associationKeysOf(association)
  return hasSourceForeignKey(association)
    ? `${writeColumn(to, targetKey)} = ${writeColumn(from, foreignKey)}`
    : `${writeColumn(to, foreignKey)} = ${writeColumn(from, sourceKey)}`
}

/** Conditions on the record of `from` for a polymorphic foreign key to apply. */
export function sourceConditions(association: Association, source: TableContext): readonly Fragment[] {
  return scopeConditions(source, associationKeysOf(association).sourceScope)
}

/** Conditions of association or model scopes on a table. */
export function scopeConditions({ model, alias }: TableContext, scopes: readonly Fragment[]): readonly Fragment[] {
  // A scope may be empty.
  const conditions = scopes.map((scope) => writeCondition(model, toColumns(model, scope), alias))
  return conditions.filter((sql) => sql !== '').map((sql) => literal(`(${sql})`))
}

/**
 * Condition that the row of `to` is the linked row with the lowest key. A to-one relation leads to one record even if
 * several are linked.
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

/** A table with its alias in FROM. */
export function writeTable({ model, alias }: TableContext): string {
  return `${quoteTable(model)} AS ${quote(model, alias)}`
}

/** The qualified column of an attribute. */
export function writeColumn({ model, alias }: TableContext, attribute: string): string {
  const name = quote(model, model.getAttributes()[attribute]?.field ?? attribute)
  return alias === '' ? name : `${quote(model, alias)}.${name}`
}
