import type { Association } from 'sequelize'
import type { WhereFragment } from '../sequelize/internals.js'
import { keysOf, pointsAt } from '../sequelize/model.js'
import {
  byColumn,
  literal,
  quote,
  quoteTable,
  selected,
  writeCondition,
  writeGuarded,
  writeSelect,
} from '../sequelize/sql.js'
import { every } from '../sequelize/tree.js'
import type { Scope } from './scope.js'

type Fragment = WhereFragment

interface Correlation {
  /** Connects the elements to their owner. */
  readonly correlate: (tie: Tied) => Fragment
  readonly conditions: (element: Scope) => readonly Fragment[]
  /** Conditions on the join model's rows. */
  readonly linkConditions: (link: Scope) => readonly Fragment[]
  readonly alias: () => string
}

/** The foreign key column of the elements or of the join model, and the owner's key in the owner's table. */
export interface Tied {
  readonly element: string
  readonly owner: (source: Scope) => string
}

/**
 * Writes the SELECT of a to-many association's records for one owner. `what` is SQL, or builds it from the foreign key
 * column.
 */
export function elementSelect(
  what: string | ((element: string) => string),
  association: Association,
  correlation: Correlation,
): string {
  const chosen = (element: string): string => (typeof what === 'string' ? what : what(element))
  const alias = correlation.alias()
  const { through, scope, otherKey, sourceKey, targetKey, foreignKey } = keysOf(association)
  const join: Scope | null =
    through === null ? null : { model: through.model, alias: correlation.alias(), joins: false }
  const target: Scope = { model: association.target, alias, joins: false, ...(join === null ? {} : { link: join }) }
  const conditions = [...correlation.conditions(target), ...fixed(target, scope)]
  const owner = (source: Scope): string => columnIn(source, sourceKey)
  if (through === null || join === null) {
    const element = columnIn(target, foreignKey)
    return writeSelect(target.model, {
      attributes: selected(chosen(element)),
      tableAs: target.alias,
      where: every([correlation.correlate({ element, owner }), ...conditions]),
    })
  }
  const element = columnIn(join, foreignKey)
  const other = literal(`${columnIn(target, targetKey)} = ${columnIn(join, otherKey)}`)
  // One SELECT with both tables: MariaDB does not use indexes of the outer table inside a further subquery.
  const ties = [
    correlation.correlate({ element, owner }),
    ...correlation.linkConditions(join),
    ...fixed(join, through.scope),
  ]
  return [
    `SELECT ${chosen(element)} AS ${quote(join.model, '_')} FROM ${tableAs(join)} INNER JOIN ${tableAs(target)}`,
    `ON ${writeGuarded(target.model, every([other, ...conditions]), target.alias)}`,
    `WHERE ${writeGuarded(join.model, every(ties), join.alias)}`,
  ].join(' ')
}

/** Condition that a record of `to` is linked to an owner. `owner` is the SQL of the owner's key. */
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
    where: every([
      literal(`${columnIn(link, foreignKey)} = ${owner}`),
      ...conditions(link),
      ...fixed(link, through.scope),
    ]),
  })
  return every([literal(`${columnIn(to, targetKey)} IN (${rows})`), ...fixed(to, scope)])
}

/** Writes the SELECT of a key at the end of several joined tables. Each table has its own condition. */
export function chainSelect(
  key: string,
  [first, ...rest]: readonly { readonly at: Scope; readonly where: Fragment }[],
): string {
  if (first === undefined) throw new TypeError('a chain without tables')
  const joined = rest.map(({ at, where }) => ` INNER JOIN ${tableAs(at)} ON ${writeGuarded(at.model, where, at.alias)}`)
  const { at, where } = first
  return `SELECT ${key} FROM ${tableAs(at)}${joined.join('')} WHERE ${writeGuarded(at.model, where, at.alias)}`
}

/** Join condition of an association between `from` and `to`. */
export function linked(association: Association, from: Scope, to: Scope): string {
  const { foreignKey, sourceKey, targetKey } = keysOf(association)
  return pointsAt(association)
    ? `${columnIn(to, targetKey)} = ${columnIn(from, foreignKey)}`
    : `${columnIn(to, foreignKey)} = ${columnIn(from, sourceKey)}`
}

/** Conditions on the record of `from` for a polymorphic foreign key to apply. */
export function ofSource(association: Association, source: Scope): readonly Fragment[] {
  return fixed(source, keysOf(association).sourceScope)
}

/** Conditions of association or model scopes on a table. */
export function fixed({ model, alias }: Scope, scopes: readonly Fragment[]): readonly Fragment[] {
  // A scope may be empty.
  const conditions = scopes.map((scope) => writeCondition(model, byColumn(model, scope), alias))
  return conditions.filter((sql) => sql !== '').map((sql) => literal(`(${sql})`))
}

/**
 * Condition that the row of `to` is the linked row with the lowest key. A to-one relation leads to one record even if
 * several are linked.
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
    where: every([literal(linked(association, from, row)), ...fixed(row, keysOf(association).scope), ...conditions]),
  })
  return literal(`(${key(to)}) = (${rows} ORDER BY ${key(row)} LIMIT 1)`)
}

/** A table with its alias in FROM. */
export function tableAs({ model, alias }: Scope): string {
  return `${quoteTable(model)} AS ${quote(model, alias)}`
}

/** The qualified column of an attribute. */
export function columnIn({ model, alias }: Scope, attribute: string): string {
  const name = quote(model, model.getAttributes()[attribute]?.field ?? attribute)
  return alias === '' ? name : `${quote(model, alias)}.${name}`
}
