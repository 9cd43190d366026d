import type { Bound, BoundFilter, BoundPath, Crossing } from '../../types/bound.js'
import { type Visits, visit } from '../common/visit.js'

/** Whether a path goes on over a relation. */
export type GoesOn = (crossing: Crossing) => boolean

/** Follows every path of a request in the order of filter, sort and select, each as long as it goes on. */
export function walkPaths(bound: Bound, goesOn: GoesOn): void {
  if (bound.kind !== 'list') return
  if (bound.filter !== null) walkFilter(bound.filter, goesOn)
  for (const { path } of bound.order) walkPath(path, goesOn)
  for (const path of bound.select ?? []) walkPath(path, goesOn)
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
