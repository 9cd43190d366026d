import { type Association, BelongsTo, Op } from 'sequelize'
import {
  keysOf,
  literal,
  quote,
  quoteTable,
  selected,
  type WhereFragment,
  writeGuarded,
  writeSelect,
} from './sequelize.js'
import type { Scope } from './where.js'

type Fragment = WhereFragment

interface Correlation {
  /** The condition that ties the elements to their owner, given how one row is linked to the owner's record. */
  readonly correlate: (link: (source: Scope) => string) => Fragment
  readonly conditions: (element: Scope) => readonly Fragment[]
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
      where: { [Op.and]: [correlation.correlate(link), ...conditions] },
    })
  }
  const join: Scope = { model: through.model, alias: correlation.alias(), joins: false }
  const owned = (source: Scope): string => `${column(join, foreignKey)} = ${column(source, sourceKey)}`
  const other = literal(`${column(target, targetKey)} = ${column(join, otherKey)}`)
  // Both tables in one SELECT: within a subquery MariaDB takes another one as it stands, whatever indexes there are.
  return [
    `SELECT ${what} AS ${quote(join.model, '_')} FROM ${table(join)} INNER JOIN ${table(target)}`,
    `ON ${writeGuarded(target.model, { [Op.and]: [other, ...conditions] }, target.alias)}`,
    `WHERE ${writeGuarded(join.model, { [Op.and]: [correlation.correlate(owned), ...through.scope] }, join.alias)}`,
  ].join(' ')
}

/** The condition that a row of `to` is the one, or one of those, that the record of `from` points at or owns. */
export function linked(association: Association, from: Scope, to: Scope): string {
  const { foreignKey, sourceKey, targetKey } = keysOf(association)
  return association instanceof BelongsTo
    ? `${column(to, targetKey)} = ${column(from, foreignKey)}`
    : `${column(to, foreignKey)} = ${column(from, sourceKey)}`
}

function table({ model, alias }: Scope): string {
  return `${quoteTable(model)} AS ${quote(model, alias)}`
}

function column({ model, alias }: Scope, attribute: string): string {
  const name = quote(model, model.getAttributes()[attribute]?.field ?? attribute)
  return alias === '' ? name : `${quote(model, alias)}.${name}`
}
