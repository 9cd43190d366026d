import type { Hop } from '../../types/plan.js'
import { type Visits, visit } from '../common/visit.js'
import type { OutlinePredicate } from './statement/outline.js'

/** Sequelize's alias for a joined table: the association names from the root. */
export function pathOf(hops: readonly Pick<Hop, 'relation'>[]): string {
  return hops.map(({ relation }) => relation.name).join('->')
}

/** The joined tables, by alias, that have a row wherever the condition holds. */
export function presentUnder(where: OutlinePredicate): ReadonlySet<string> {
  return visit(PRESENT, where)
}

const NONE: ReadonlySet<string> = new Set()

const PRESENT: Visits<OutlinePredicate, [], ReadonlySet<string>> = {
  and: ({ nodes }) => new Set(nodes.flatMap((node) => [...presentUnder(node)])),
  or: ({ nodes }) => {
    const [first, ...others] = nodes.map((node) => presentUnder(node))
    return new Set([...(first ?? [])].filter((path) => others.every((paths) => paths.has(path))))
  },
  compare: ({ column, negated }) => (negated ? NONE : pathsTo(column.hops)),
  null: ({ column, negated }) => (negated ? pathsTo(column.hops) : NONE),
  absent: ({ hops, negated }) => (negated ? pathsTo(hops) : NONE),
  quantified: () => NONE,
  count: () => NONE,
  never: () => NONE,
  always: () => NONE,
}

function pathsTo(hops: readonly Pick<Hop, 'relation'>[]): ReadonlySet<string> {
  return new Set(hops.map((_, index) => pathOf(hops.slice(0, index + 1))))
}
