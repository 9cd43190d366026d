import type { BoundAggregation, BoundPath } from '../../types/bound.js'
import type { Aggregation } from '../../types/intent.js'
import type { HavingNode, MeasureNode } from '../../types/query.js'
import { type Visits, visit } from '../common/visit.js'
import { bindPath, type Place } from './path.js'

/** Looks up the names of an aggregate's fields. */
export function bindAggregation(aggregation: Aggregation, place: Place | null): BoundAggregation {
  const { measures, groups, having, sort } = aggregation
  return {
    measures: measures.map((node) => bindMeasure(node, place)),
    groups: groups.map((node) => ({ ...node, path: bindPath(place, node.path).path })),
    having: having === null ? null : visit(BOUND, having, place),
    sort,
  }
}

function bindMeasure(node: MeasureNode, place: Place | null): MeasureNode<BoundPath> {
  return { ...node, path: node.path === null ? null : bindPath(place, node.path).path }
}

const BOUND: Visits<HavingNode, [place: Place | null], HavingNode<BoundPath>> = {
  and: (node, place) => ({ ...node, nodes: node.nodes.map((child) => visit(BOUND, child, place)) }),
  or: (node, place) => ({ ...node, nodes: node.nodes.map((child) => visit(BOUND, child, place)) }),
  comparison: (node, place) => ({ ...node, path: bindMeasure(node.path, place) }),
  quantified: noQuantifier,
}

/** The paths of all fields that an aggregate names, in the order of its parameters. */
export function pathsOf({ measures, groups, having }: BoundAggregation): readonly BoundPath[] {
  const compared = having === null ? [] : visit(MEASURED, having)
  return [...measures, ...compared].flatMap(({ path }) => path ?? []).concat(groups.map(({ path }) => path))
}

const MEASURED: Visits<HavingNode<BoundPath>, [], readonly MeasureNode<BoundPath>[]> = {
  and: ({ nodes }) => nodes.flatMap((node) => visit(MEASURED, node)),
  or: ({ nodes }) => nodes.flatMap((node) => visit(MEASURED, node)),
  comparison: ({ path }) => [path],
  quantified: noQuantifier,
}

function noQuantifier(): never {
  throw new TypeError('measures have no quantifiers')
}
