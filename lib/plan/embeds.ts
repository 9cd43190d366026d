import type { CollectionQuery } from '../../types/intent.js'
import type { Limits } from '../../types/settings.js'
import { invalidQuery, unselectedCollection } from '../common/problem.js'
import { planFilter } from './filter.js'
import type { SelectedCollection, SelectedMembers } from './selection.js'
import { planCollectionSort } from './sort.js'

/** Rejects parameters of collections, such as `players.filter`, in a request without `select`. @throws Problem 400 */
export function rejectCollectionQueries([first]: readonly Pick<CollectionQuery, 'parameter'>[]): void {
  if (first !== undefined) throw unselectedCollection(first.parameter)
}

/**
 * Sets the filter, order and limit of each collection.
 * @throws Problem for a parameter that names no collection in `select`, even if a collection of that name exists
 */
export function applyCollectionQueries(
  collections: ReadonlyMap<string, SelectedCollection>,
  shapes: readonly CollectionQuery[],
): void {
  rejectCollectionQueries(shapes.filter(({ path }) => !collections.has(path)))
  const byPath = new Map(shapes.map((shape) => [shape.path, shape]))
  for (const [path, collection] of collections) {
    const { context, step } = collection
    const { filter = null, sort = null, limit = null } = byPath.get(path) ?? {}
    collection.where = filter === null ? null : planFilter(context, filter)
    collection.order = planCollectionSort(context, sort ?? [], step.access.order)
    collection.hasOwnLimit = limit !== null
    collection.limit = limit ?? context.root.resource.limits.embedItems
  }
}

/**
 * Limits collections to the number of records that a request may return. Limits that the request does not state shrink,
 * deepest collections first, never below 1. The calculation does not read the database.
 * @throws Problem if the stated limits are still too large
 */
export function limitCollections(selection: SelectedMembers, records: number, embedTotal: Limits['embedTotal']): void {
  const hasRoom = (): boolean => countRecords(selection, records) <= embedTotal
  for (const level of collectionsByDepth(selection).toReversed()) {
    if (hasRoom()) return
    shrinkLimits(
      level.filter(({ hasOwnLimit }) => !hasOwnLimit),
      hasRoom,
    )
  }
  if (hasRoom()) return
  throw invalidQuery('select', `could return more records in collections than the limit of ${embedTotal} (embedTotal).`)
}

/** Returns the maximum number of records in all collections, for a number of parents. */
function countRecords(selection: SelectedMembers, parents: number): number {
  return selection.collections.reduce((sum, { limit, selection: own }) => {
    const records = parents * limit
    return sum + records + countRecords(own, records)
  }, 0)
}

/** Groups collections by depth. */
function collectionsByDepth(selection: SelectedMembers): readonly (readonly SelectedCollection[])[] {
  const { collections } = selection
  const deeper = collections.map(({ selection: own }) => collectionsByDepth(own))
  const depth = Math.max(0, ...deeper.map(({ length }) => length))
  return [collections, ...Array.from({ length: depth }, (_, level) => deeper.flatMap((levels) => levels[level] ?? []))]
}

/** Sets the largest common limit for which `isFit` is true, but never raises a limit. Sets 1 if no limit fits. */
function shrinkLimits(collections: readonly SelectedCollection[], isFit: () => boolean): void {
  const [first] = collections
  if (first === undefined) return
  const tryLimit = (limit: number): boolean => {
    for (const collection of collections) collection.limit = limit
    return isFit()
  }
  let [fits, exceeds] = [1, first.limit]
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    if (tryLimit(middle)) fits = middle
    else exceeds = middle
  }
  tryLimit(fits)
}
