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
  const owned = (source: Scope): string => `${columnIn(join, foreignKey)} = ${columnIn(source, sourceKey)}`
  const other = literal(`${columnIn(target, targetKey)} = ${columnIn(join, otherKey)}`)
  // Both tables in one SELECT: within a subquery MariaDB takes another one as it stands, whatever indexes there are.
  const ties = [correlation.correlate(owned), ...correlation.linkConditions(join), ...through.scope]
  return [
    `SELECT ${what} AS ${quote(join.model, '_')} FROM ${tableAs(join)} INNER JOIN ${tableAs(target)}`,
    `ON ${writeGuarded(target.model, every([other, ...conditions]), target.alias)}`,
    `WHERE ${writeGuarded(join.model, every(ties), join.alias)}`,
  ].join(' ')
}

/** That the record of `to` is linked to an owner, whose key stands in the text as `owner`. */
export function linkedTo(
  association: Association,
  owner: string,
  to: Scope,
  { alias, conditions }: { readonly alias: string; readonly conditions: (link: Scope) => readonly Fragment[] },
): Fragment {
  const { through, scope, foreignKey, otherKey, targetKey } = keysOf(association)
  if (through === null) throw new TypeError(`${association.as} has no table between its ends`)
  const link: Scope = { model: through.model, alias, joins: false }
  const rows = writeSelect(link.model, {
    attributes: selected(columnIn(link, otherKey)),
    tableAs: alias,
    where: every([literal(`${columnIn(link, foreignKey)} = ${owner}`), ...conditions(link), ...through.scope]),
  })
  return every([literal(`${columnIn(to, targetKey)} IN (${rows})`), ...scope])
}

/** The condition that a row of `to` is the one, or one of those, that the record of `from` points at or owns. */
export function linked(association: Association, from: Scope, to: Scope): string {
  const { foreignKey, sourceKey, targetKey } = keysOf(association)
  return pointsAt(association)
    ? `${columnIn(to, targetKey)} = ${columnIn(from, foreignKey)}`
    : `${columnIn(to, foreignKey)} = ${columnIn(from, sourceKey)}`
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
  const key = (scope: Scope): string => to.model.primaryKeyAttributes.map((name) => columnIn(scope, name)).join(', ')
  const rows = writeSelect(row.model, {
    attributes: selected(key(row)),
    tableAs: row.alias,
    where: every([literal(linked(association, from, row)), ...keysOf(association).scope, ...conditions]),
  })
  return literal(`(${key(to)}) = (${rows} ORDER BY ${key(row)} LIMIT 1)`)
}

/** A table in FROM. */
export function tableAs({ model, alias }: Scope): string {
  return `${quoteTable(model)} AS ${quote(model, alias)}`
}

/** An attribute's column of a table in FROM. */
export function columnIn({ model, alias }: Scope, attribute: string): string {
  const name = quote(model, model.getAttributes()[attribute]?.field ?? attribute)
  return alias === '' ? name : `${quote(model, alias)}.${name}`
}
