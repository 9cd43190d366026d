import type { Bound, BoundFilter, BoundList, BoundSort } from '../../types/bound.js'
import type { Intent, ListIntent } from '../../types/intent.js'
import type { FilterNode, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { type Visits, visit } from '../common/visit.js'
import { flattenedOf } from './flatten.js'
import { bindPath, type Place, placeOf } from './path.js'

/**
 * Looks up every name of an intent that its mode uses, once. Nothing is refused here: what a name may be used for, and
 * whether this caller may know it, is for the stages behind, so that their answers look alike.
 */
export function bind(resource: Resource, intent: Intent): Bound {
  if (intent.kind === 'list') return bindList(resource, intent)
  return { kind: 'record', intent, flattened: SHOWS_RECORDS[intent.kind] ? flattenedOf(resource) : [] }
}

export function bindList(resource: Resource, intent: ListIntent): BoundList {
  const { filter, select, sortBy, mode } = intent
  const order = orderOf(resource, intent)
  const place = filter === null && select === null && order.length === 0 ? null : placeOf(resource)
  return {
    kind: 'list',
    intent,
    filter: filter === null ? null : bindFilter(filter, place),
    order: order.map((node) => bindSort(node, place)),
    sortBy: sortBy === null ? null : (resource.byName.get(sortBy.toLowerCase()) ?? null),
    select: select?.map((path) => bindPath(place, path).path) ?? null,
    flattened: mode === 'page' || mode === 'cursor' ? flattenedOf(resource) : [],
  }
}

/** Whether the reply has full records, with what is flattened into them. */
const SHOWS_RECORDS: Readonly<Record<Exclude<Intent['kind'], 'list'>, boolean>> = {
  get: true,
  create: true,
  update: true,
  restore: true,
  bulkCreate: true,
  delete: false,
  bulkDelete: false,
}

/** The keys that order the page: what is not sorted, or sorted by a field of `sortBy`, looks at no default sort. */
function orderOf({ defaultSort }: Resource, { mode, sort, sortBy }: ListIntent): readonly SortNode[] {
  if (sort !== null) return sort
  return mode === 'count' || mode === 'cursor' || sortBy !== null ? [] : defaultSort
}

function bindSort(node: SortNode, place: Place | null): BoundSort {
  return { ...node, path: bindPath(place, node.path).path }
}

function bindFilter(node: FilterNode, place: Place | null): BoundFilter {
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

export { ask, askNow, reachOf, viewBy } from './ask.js'
export { flattenedOf, flattenedResources } from './flatten.js'
export { hiddenFrom } from './hidden.js'
