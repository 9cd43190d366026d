import type { Hop, Predicate } from '../../types/plan.js'

/** Sequelize's alias for a joined table: the association names from the root. */
export function pathOf(hops: readonly Pick<Hop, 'relation'>[]): string {
  return hops.map(({ relation }) => relation.name).join('->')
}

/** The joined tables, by alias, that have a row wherever the condition holds. */
export function presentUnder<V>(where: Predicate<V>): ReadonlySet<string> {
  switch (where.kind) {
    case 'and':
      return new Set(where.nodes.flatMap((node) => [...presentUnder(node)]))
    case 'or': {
      const [first, ...others] = where.nodes.map((node) => presentUnder(node))
      return new Set([...(first ?? [])].filter((path) => others.every((paths) => paths.has(path))))
    }
    case 'compare':
      return where.negated ? NONE : pathsTo(where.column.hops)
    case 'null':
      return where.negated ? pathsTo(where.column.hops) : NONE
    case 'absent':
      return where.negated ? pathsTo(where.hops) : NONE
    default:
      return NONE
  }
}

const NONE: ReadonlySet<string> = new Set()

function pathsTo(hops: readonly Pick<Hop, 'relation'>[]): ReadonlySet<string> {
  return new Set(hops.map((_, index) => pathOf(hops.slice(0, index + 1))))
}
