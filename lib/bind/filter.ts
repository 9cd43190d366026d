import type { BoundFilter, BoundSort } from '../../types/bound.js'
import type { FilterNode, SortNode } from '../../types/query.js'
import { type Visits, visit } from '../common/visit.js'
import { bindPath, type Place } from './path.js'

/** The key of a sort with its names looked up. */
export function bindSort(node: SortNode, place: Place | null): BoundSort {
  return { ...node, path: bindPath(place, node.path).path }
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
