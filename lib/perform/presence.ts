import type { Column, Hop, PositiveOperator, Predicate } from '../../types/plan.js'
import { type Visits, visit } from '../common/visit.js'

/** Sequelize's alias for a joined table: the association names from the root, joined by `->`. */
export function pathOf(hops: readonly Pick<Hop, 'relation'>[]): string {
  return hops.map(({ relation }) => relation.name).join('->')
}

/** Aliases of joined tables that must have a row if the condition holds. They can be inner joins. */
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
  // A count of 0 is a value too, so a comparison of counts does not require a row.
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

/** Operators that are never true for null, on any database. */
const COMPARING: ReadonlySet<PositiveOperator> = new Set(['eq', 'in', 'gt', 'gte', 'lt', 'lte'])

/** Whether the condition implies that the column is not null. */
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

/** Whether the condition implies that the column is null. */
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
