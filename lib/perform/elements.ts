import type { Association } from 'sequelize'
import type { WhereFragment } from '../sequelize/internals.js'
import { keysOf, pointsAt } from '../sequelize/model.js'
import { literal, quote, quoteTable, selected, writeGuarded, writeSelect } from '../sequelize/sql.js'
import { every } from '../sequelize/tree.js'
import type { Scope } from './where.js'

type Fragment = WhereFragment

interface Correlation {
  /** The condition that ties the elements to their owner, given how one row is linked to the owner's record. */
  readonly correlate: (link: (source: Scope) => string) => Fragment
  readonly conditions: (element: Scope) => readonly Fragment[]
  /** Those on the rows that link a many-to-many. */
  readonly linkConditions: (link: Scope) => readonly Fragment[]
  readonly alias: () => string
}

/** `SELECT what` of the records behind a to-many association, tied to the record that they belong to. */
export function elementSelect(what: string, association: Association, correlation: Correlation): string {
  const target: Scope = { model: association.target, alias: correlation.alias(), joins: false }
  const { through, scope, otherKey, sourceKey, targetKey, foreignKey } = keysOf(association)
  const conditions = [...correlation.conditions(target), ...scope]
  if (through === null) {
    const link = (source: Scope): string => linked(association, source, target)
    return writeSelect(target.model, {
      attributes: selected(what),
      tableAs: target.alias,
      where: every([correlation.correlate(link), ...conditions]),
    })
  }
  const join: Scope = { model: through.model, alias: correlation.alias(), joins: false }
  const owned = (source: Scope): string => `${column(join, foreignKey)} = ${column(source, sourceKey)}`
  const other = literal(`${column(target, targetKey)} = ${column(join, otherKey)}`)
  // Both tables in one SELECT: within a subquery MariaDB takes another one as it stands, whatever indexes there are.
  const ties = [correlation.correlate(owned), ...correlation.linkConditions(join), ...through.scope]
  return [
    `SELECT ${what} AS ${quote(join.model, '_')} FROM ${table(join)} INNER JOIN ${table(target)}`,
    `ON ${writeGuarded(target.model, every([other, ...conditions]), target.alias)}`,
    `WHERE ${writeGuarded(join.model, every(ties), join.alias)}`,
  ].join(' ')
}

/** The condition that a row of `to` is the one, or one of those, that the record of `from` points at or owns. */
export function linked(association: Association, from: Scope, to: Scope): string {
  const { foreignKey, sourceKey, targetKey } = keysOf(association)
  return pointsAt(association)
    ? `${column(to, targetKey)} = ${column(from, foreignKey)}`
    : `${column(to, foreignKey)} = ${column(from, sourceKey)}`
}

/**
 * That the row of `to` is the first by key of the rows that are linked to the record of `from` and meet the conditions:
 * of several that belong to one record a to-one relation leads to one.
 */
export function isFirst(
  association: Association,
  from: Scope,
  to: Scope,
  row: Scope,
  conditions: readonly Fragment[],
): Fragment {
  const key = (scope: Scope): string => to.model.primaryKeyAttributes.map((name) => column(scope, name)).join(', ')
  const rows = writeSelect(row.model, {
    attributes: selected(key(row)),
    tableAs: row.alias,
    where: every([literal(linked(association, from, row)), ...keysOf(association).scope, ...conditions]),
  })
  return literal(`(${key(to)}) = (${rows} ORDER BY ${key(row)} LIMIT 1)`)
}

function table({ model, alias }: Scope): string {
  return `${quoteTable(model)} AS ${quote(model, alias)}`
}

function column({ model, alias }: Scope, attribute: string): string {
  const name = quote(model, model.getAttributes()[attribute]?.field ?? attribute)
  return alias === '' ? name : `${quote(model, alias)}.${name}`
}
