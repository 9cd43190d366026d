import type { Column, Hop, PositiveOperator, Predicate } from '../../types/plan.js'
import { type Visits, visit } from '../common/visit.js'

/** Sequelize's alias for a joined table: the association names from the root. */
export function pathOf(hops: readonly Pick<Hop, 'relation'>[]): string {
  return hops.map(({ relation }) => relation.name).join('->')
}

/** The joined tables, by alias, that have a row wherever the condition holds. */
export function presentUnder(where: Predicate): ReadonlySet<string> {
  return visit(PRESENT, where)
}

const NONE: ReadonlySet<string> = new Set()

const PRESENT: Visits<Predicate, [], ReadonlySet<string>> = {
  and: ({ nodes }) => new Set(nodes.flatMap((node) => [...presentUnder(node)])),
  or: ({ nodes }) => {
    const [first, ...others] = nodes.map((node) => presentUnder(node))
    return new Set([...(first ?? [])].filter((path) => others.every((paths) => paths.has(path))))
  },
  // The number of no records is a number too.
  compare: ({ column, negated }) => (negated || column.counted !== undefined ? NONE : pathsTo(column.hops)),
  null: ({ column, negated }) => (negated ? pathsTo(column.hops) : NONE),
  absent: ({ hops, negated }) => (negated ? pathsTo(hops) : NONE),
  quantified: () => NONE,
  beyond: () => NONE,
  count: () => NONE,
  items: () => NONE,
  itemCount: () => NONE,
  match: () => NONE,
  owned: () => NONE,
  apart: () => NONE,
  tuples: () => NONE,
  never: () => NONE,
  always: () => NONE,
}

function pathsTo(hops: readonly Pick<Hop, 'relation'>[]): ReadonlySet<string> {
  return new Set(hops.map((_, index) => pathOf(hops.slice(0, index + 1))))
}

/** Those that null never meets on any database. */
const COMPARING: ReadonlySet<PositiveOperator> = new Set(['eq', 'in', 'gt', 'gte', 'lt', 'lte'])

/** Whether a column has a value wherever the condition holds. */
export function hasValue(where: Predicate, column: Column): boolean {
  switch (where.kind) {
    case 'and':
      return where.nodes.some((node) => hasValue(node, column))
    case 'or':
      return where.nodes.length > 0 && where.nodes.every((node) => hasValue(node, column))
    case 'compare':
      return !where.negated && COMPARING.has(where.operator) && isSame(where.column, column)
    case 'null':
      return where.negated && isSame(where.column, column)
    default:
      return false
  }
}

/** Whether a column has no value wherever the condition holds. */
export function hasNone(where: Predicate, column: Column): boolean {
  switch (where.kind) {
    case 'and':
      return where.nodes.some((node) => hasNone(node, column))
    case 'null':
      return !where.negated && isSame(where.column, column)
    default:
      return false
  }
}

function isSame(one: Column, other: Column): boolean {
  return one.field === other.field && pathOf(one.hops) === pathOf(other.hops)
}
