import type { Shape } from '../../types/intent.js'
import type { Limits } from '../../types/settings.js'
import { invalidQuery, unselected } from '../common/problem.js'
import { planFilter } from './filter.js'
import type { Collection, Selection } from './selection.js'
import { planCollectionSort } from './sort.js'

/** @throws Problem where there is something to shape, which is when nothing at all is selected */
export function refuseShapes([first]: readonly Pick<Shape, 'parameter'>[]): void {
  if (first !== undefined) throw unselected(first.parameter)
}

/**
 * Gives each collection its filter, its order and how many of its records are wanted.
 *
 * @throws Problem for what is about no collection in `select`, the same whether there is one of that name
 */
export function shapeCollections(collections: ReadonlyMap<string, Collection>, shapes: readonly Shape[]): void {
  refuseShapes(shapes.filter(({ path }) => !collections.has(path)))
  const byPath = new Map(shapes.map((shape) => [shape.path, shape]))
  for (const [path, collection] of collections) {
    const { context, crossing } = collection
    const { filter = null, sort = null, limit = null } = byPath.get(path) ?? {}
    collection.where = filter === null ? null : planFilter(context, filter)
    collection.order = planCollectionSort(context, sort ?? [], crossing.reach.order)
    collection.isStated = limit !== null
    collection.limit = limit ?? context.root.resource.limits.embedItems
  }
}

/**
 * Takes as many records of collections as a request may have: limits that it does not state shrink to what fits, the
 * deepest first, never below one. What is in the database has no say in that.
 *
 * @throws Problem for what does not fit all the same
 */
export function fitCollections(selection: Selection, records: number, embedTotal: Limits['embedTotal']): void {
  const isFit = (): boolean => countOf(selection, records) <= embedTotal
  for (const level of levelsOf(selection).toReversed()) {
    if (isFit()) return
    shrink(
      level.filter(({ isStated }) => !isStated),
      isFit,
    )
  }
  if (isFit()) return
  throw invalidQuery('select', `could give more records of collections than the limit of ${embedTotal} (embedTotal).`)
}

/** The records of all collections, for so many records that own them. */
function countOf(selection: Selection, owners: number): number {
  return selection.collections.reduce((sum, { limit, selection: own }) => {
    const records = owners * limit
    return sum + records + countOf(own, records)
  }, 0)
}

/** The collections by how many they are within. */
function levelsOf(selection: Selection): readonly (readonly Collection[])[] {
  const { collections } = selection
  const deeper = collections.map(({ selection: own }) => levelsOf(own))
  const depth = Math.max(0, ...deeper.map(({ length }) => length))
  return [collections, ...Array.from({ length: depth }, (_, level) => deeper.flatMap((levels) => levels[level] ?? []))]
}

/** Gives all of them the largest limit that fits, no larger than their own; one where none does. */
function shrink(collections: readonly Collection[], isFit: () => boolean): void {
  const [first] = collections
  if (first === undefined) return
  const give = (limit: number): boolean => {
    for (const collection of collections) collection.limit = limit
    return isFit()
  }
  let [fits, exceeds] = [1, first.limit]
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    if (give(middle)) fits = middle
    else exceeds = middle
  }
  give(fits)
}
