import type { Column, Join, PositiveOperator, Predicate } from '../../types/plan.js'
import { type Visitors, visit } from '../common/visitor.js'

/** Sequelize's alias for a joined table: the association names from the root, joined by `->`. */
export function aliasOfPath(joins: readonly Pick<Join, 'relation'>[]): string {
  return joins.map(({ relation }) => relation.name).join('->')
}

/**
 * Returns the aliases of joined tables that must have a row if the condition is true. INNER JOIN can join these tables.
 */
export function findPresentTables(where: Predicate): ReadonlySet<string> {
  return visit(PRESENT_TABLES, where)
}

const NO_TABLES: ReadonlySet<string> = new Set()

const PRESENT_TABLES: Visitors<Predicate, [], ReadonlySet<string>> = {
  and: ({ nodes }) => {
    const [first = NO_TABLES, ...others] = nodes.map(findPresentTables).filter(({ size }) => size > 0)
    return others.length === 0 ? first : new Set([first, ...others].flatMap((paths) => [...paths]))
  },
  or: ({ nodes }) => {
    const [first = NO_TABLES, ...others] = nodes.map(findPresentTables)
    if (first.size === 0) return first
    return new Set([...first].filter((path) => others.every((paths) => paths.has(path))))
  },
  // A count of 0 is a value too, so a comparison of counts does not require a row.
  compare: ({ column, negated }) =>
    negated || column.countedJoin !== undefined ? NO_TABLES : aliasesOnPath(column.joins),
  null: ({ column, negated }) => (negated ? aliasesOnPath(column.joins) : NO_TABLES),
  absent: ({ joins, negated }) => (negated ? aliasesOnPath(joins) : NO_TABLES),
  quantified: () => NO_TABLES,
  keyset: () => NO_TABLES,
  count: () => NO_TABLES,
  items: () => NO_TABLES,
  itemCount: () => NO_TABLES,
  fullText: () => NO_TABLES,
  linked: () => NO_TABLES,
  apart: () => NO_TABLES,
  tuples: () => NO_TABLES,
  never: () => NO_TABLES,
  always: () => NO_TABLES,
}

function aliasesOnPath(joins: readonly Pick<Join, 'relation'>[]): ReadonlySet<string> {
  return joins.length === 0 ? NO_TABLES : new Set(joins.map((_, index) => aliasOfPath(joins.slice(0, index + 1))))
}

/** Operators that are never true for null, on any database. */
const NULL_REJECTING: ReadonlySet<PositiveOperator> = new Set(['eq', 'in', 'gt', 'gte', 'lt', 'lte'])

/** Whether the condition implies that the column is not null. */
export function hasValue(where: Predicate, column: Column): boolean {
  switch (where.kind) {
    case 'and':
      return where.nodes.some((node) => hasValue(node, column))
    case 'or':
      return where.nodes.length > 0 && where.nodes.every((node) => hasValue(node, column))
    case 'compare':
      return !where.negated && NULL_REJECTING.has(where.operator) && isSameColumn(where.column, column)
    case 'null':
      return where.negated && isSameColumn(where.column, column)
    default:
      return false
  }
}

/** Whether the condition implies that the column is null. */
export function isNull(where: Predicate, column: Column): boolean {
  switch (where.kind) {
    case 'and':
      return where.nodes.some((node) => isNull(node, column))
    case 'null':
      return !where.negated && isSameColumn(where.column, column)
    default:
      return false
  }
}

function isSameColumn(one: Column, other: Column): boolean {
  return one.field === other.field && aliasOfPath(one.joins) === aliasOfPath(other.joins)
}
