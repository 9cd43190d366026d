import type { Bound, BoundFilter, BoundPath, BoundShape, Crossing } from '../../types/bound.js'
import { type Visits, visit } from '../common/visit.js'
import { pathsOf } from './aggregation.js'

/** Whether a path goes on over a relation. */
export type GoesOn = (crossing: Crossing) => boolean

/** Follows every path of a request in the order of filter, sort, select, aggregates and search, each as long as it goes on. */
export function walkPaths(bound: Bound, goesOn: GoesOn): void {
  if (bound.kind === 'list') {
    if (bound.filter !== null) walkFilter(bound.filter, goesOn)
    for (const { path } of bound.order) walkPath(path, goesOn)
  }
  for (const path of bound.select?.paths ?? []) walkPath(path, goesOn)
  for (const shape of bound.select?.shapes ?? []) walkShape(shape, goesOn)
  if (bound.kind !== 'list') return
  const named = bound.aggregation === null ? [] : pathsOf(bound.aggregation)
  for (const path of [...named, ...bound.search]) walkPath(path, goesOn)
}

/** The same of those that the host has configured and no client names: a default sort, and what is searched. */
export function walkHosted(bound: Bound, goesOn: GoesOn): void {
  if (bound.kind !== 'list') return
  const order = bound.intent.sort === null ? bound.order : []
  for (const path of [...order.map((key) => key.path), ...bound.search]) walkPath(path, goesOn)
}

function walkShape({ collection, filter, order }: BoundShape, goesOn: GoesOn): void {
  if (collection === null || !walkPath(collection, goesOn)) return
  if (filter !== null) walkFilter(filter, goesOn)
  for (const { path } of order ?? []) walkPath(path, goesOn)
}

function walkFilter(node: BoundFilter, goesOn: GoesOn): void {
  visit(WALKED, node, goesOn)
}

const WALKED: Visits<BoundFilter, [goesOn: GoesOn], void> = {
  and: ({ nodes }, goesOn) => {
    for (const node of nodes) walkFilter(node, goesOn)
  },
  or: ({ nodes }, goesOn) => {
    for (const node of nodes) walkFilter(node, goesOn)
  },
  comparison: ({ path }, goesOn) => {
    walkPath(path, goesOn)
  },
  quantified: ({ path, condition }, goesOn) => {
    if (walkPath(path, goesOn)) walkFilter(condition, goesOn)
  },
}

/** True where it went on to its end. */
function walkPath(path: BoundPath, goesOn: GoesOn): boolean {
  if (!path.crossings.every(goesOn)) return false
  if (path.kind !== 'collection') return true
  return goesOn(path.crossing) && (path.rest === null || walkPath(path.rest, goesOn))
}
