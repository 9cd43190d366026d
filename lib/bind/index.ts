import type { Bound, BoundList } from '../../types/bound.js'
import type { Intent, ListIntent } from '../../types/intent.js'
import type { SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { bindAggregation } from './aggregation.js'
import { bindFilter, bindSort } from './filter.js'
import { flattenedOf } from './flatten.js'
import { bindPath, placeOf } from './path.js'
import { referencesIn } from './pointable.js'
import { bindSelect } from './select.js'

/**
 * Looks up every name of an intent that its mode uses, once. Nothing is refused here: what a name may be used for, and
 * whether this caller may know it, is for the stages behind, so that their answers look alike.
 */
export function bind(resource: Resource, intent: Intent): Bound {
  if (intent.kind === 'list') return bindList(resource, intent)
  const select = intent.kind === 'get' && intent.select !== null ? bindSelect(placeOf(resource), intent) : null
  const flattened = SHOWS_RECORDS[intent.kind] && select === null ? flattenedOf(resource) : []
  return { kind: 'record', intent, select, flattened, references: referencesIn(resource, intent) }
}

export function bindList(resource: Resource, intent: ListIntent): BoundList {
  const { filter, select, sortBy, search, aggregation, mode } = intent
  const order = orderOf(resource, intent)
  const searched = search === null ? [] : (resource.search?.paths ?? [])
  const isNamed = aggregation !== null || filter !== null || select !== null || order.length > 0 || searched.length > 0
  const place = isNamed ? placeOf(resource) : null
  return {
    kind: 'list',
    intent,
    filter: filter === null ? null : bindFilter(filter, place),
    order: order.map((node) => bindSort(node, place)),
    sortBy: sortBy === null ? null : (resource.byName.get(sortBy.toLowerCase()) ?? null),
    select: bindSelect(place, intent),
    aggregation: aggregation === null ? null : bindAggregation(aggregation, place),
    search: searched.map((path) => bindPath(place, path).path),
    flattened: mode !== 'count' && mode !== 'aggregate' && select === null ? flattenedOf(resource) : [],
  }
}

/** Whether the reply has full records, with what is flattened into them. */
const SHOWS_RECORDS: Readonly<Record<Exclude<Intent['kind'], 'list'>, boolean>> = {
  get: true,
  create: true,
  update: true,
  restore: true,
  bulkCreate: true,
  bulkUpdate: true,
  replace: true,
  upsert: false,
  delete: false,
  bulkDelete: false,
}

/** Whether the records of a mode are in the list's order. */
const ORDERED: Readonly<Record<ListIntent['mode'], boolean>> = {
  page: true,
  select: true,
  seek: true,
  export: true,
  count: false,
  cursor: false,
  aggregate: false,
}

/** The keys that order the page: what is not sorted, or sorted by a field of `sortBy`, looks at no default sort. */
function orderOf({ defaultSort }: Resource, { mode, sort, sortBy }: ListIntent): readonly SortNode[] {
  if (sort !== null) return sort
  return sortBy === null && ORDERED[mode] ? defaultSort : []
}

export { ask, askNow, reachOf, viewBy } from './ask.js'
export { holdersOf, isClosed } from './closed.js'
export { flattenedOf, flattenedResources } from './flatten.js'
export { hiddenFrom } from './hidden.js'
export { meetableOf } from './pointable.js'
