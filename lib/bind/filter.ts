import type { BoundFilter, BoundSort } from '../../types/bound.js'
import type { FilterNode, SortNode } from '../../types/query.js'
import { isFast } from '../common/speed.js'
import { type Visits, visit } from '../common/visit.js'
import { bindPath, type Place } from './path.js'

/** The key of a sort with its names looked up. */
export function bindSort(node: SortNode, place: Place | null): BoundSort {
  return { ...node, path: bindPath(place, node.path).path }
}

/** The same, looked up again only where it could mean something else by now: for those that the client repeats. */
export const bindFilterOnce: BindOnce<FilterNode, BoundFilter> = kept(bindFilter)

/** The same of a sort. */
export const bindSortOnce: BindOnce<readonly SortNode[], readonly BoundSort[]> = kept((nodes, place) =>
  nodes.map((node) => bindSort(node, place)),
)

type BindOnce<N extends object, B> = (node: N, place: Place | null) => B

/** What names mean is settled by the resource and by what is mounted: whoever asks comes later. */
function kept<N extends object, B>(bind: BindOnce<N, B>): BindOnce<N, B> {
  const known = new WeakMap<N, { readonly place: Place; readonly bound: B }>()
  return (node, place) => {
    if (place === null) return bind(node, place)
    const before = isFast ? known.get(node) : undefined
    if (before !== undefined && isSame(before.place, place)) return before.bound
    const bound = bind(node, place)
    known.set(node, { place, bound })
    return bound
  }
}

function isSame(one: Place, other: Place): boolean {
  return one.fields === other.fields && one.relations === other.relations && one.aliases === other.aliases
}

/** A filter with its names looked up. */
export function bindFilter(node: FilterNode, place: Place | null): BoundFilter {
  return visit(BOUND, node, place)
}

const BOUND: Visits<FilterNode, [place: Place | null], BoundFilter> = {
  and: (node, place) => ({ ...node, nodes: node.nodes.map((child) => bindFilter(child, place)) }),
  or: (node, place) => ({ ...node, nodes: node.nodes.map((child) => bindFilter(child, place)) }),
  comparison: (node, place) => ({ ...node, path: bindPath(place, node.path).path }),
  quantified: (node, place) => {
    const { path, element } = bindPath(place, node.path)
    return { ...node, path, condition: bindFilter(node.condition, element) }
  },
}
