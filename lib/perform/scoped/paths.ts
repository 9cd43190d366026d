import type { Association, Model, ModelStatic } from 'sequelize'
import type { Hop, Predicate } from '../../../types/plan.js'
import { both } from '../../common/predicates.js'
import { type Visits, visit } from '../../common/visit.js'

/** A part of a condition that follows a foreign key of the record itself. */
export interface PathPart {
  readonly node: Predicate
  readonly association: Association
  /** Whether the whole condition requires the part. */
  readonly isRequired: boolean
}

/** Parts of a condition that start at a foreign key. */
export function pathParts(condition: Predicate, isRequired = true): readonly PathPart[] {
  if (condition.kind === 'apart') return pathParts(condition.condition, isRequired)
  if (condition.kind === 'and') return condition.nodes.flatMap((node) => pathParts(node, isRequired))
  if (condition.kind === 'or') return condition.nodes.flatMap((node) => pathParts(node, false))
  const association = hopsOf(condition)[0]?.relation.association
  return association?.associationType === 'BelongsTo' ? [{ node: condition, association, isRequired }] : []
}

/** The to-one relations at the start of a part's path. */
function hopsOf(part: Predicate): readonly Hop[] {
  if ('column' in part) return part.column.hops
  return 'hops' in part ? part.hops : []
}

/** The condition with some parts replaced. */
export function withParts(condition: Predicate, parts: ReadonlyMap<Predicate, Predicate>): Predicate {
  if (condition.kind === 'and' || condition.kind === 'or') {
    return { kind: condition.kind, nodes: condition.nodes.map((node) => withParts(node, parts)) }
  }
  if (condition.kind === 'apart') return withParts(condition.condition, parts)
  return parts.get(condition) ?? condition
}

/** Returns a condition on the rows of a table, or null for all rows. */
export type Limit = (model: ModelStatic<Model>) => Predicate | null

/** The condition, with a limit on the rows of each table that its paths cross. */
export function limitPaths(condition: Predicate, limit: Limit): Predicate {
  return visit(LIMITED, condition, limit)
}

const LIMITED: Visits<Predicate, [limit: Limit], Predicate> = {
  and: ({ kind, nodes }, limit) => ({ kind, nodes: nodes.map((node) => limitPaths(node, limit)) }),
  or: ({ kind, nodes }, limit) => ({ kind, nodes: nodes.map((node) => limitPaths(node, limit)) }),
  apart: (node, limit) => ({ ...node, condition: limitPaths(node.condition, limit) }),
  compare: (node, limit) => ({ ...node, column: limitedColumn(node.column, limit) }),
  null: (node, limit) => ({ ...node, column: limitedColumn(node.column, limit) }),
  absent: (node, limit) => ({ ...node, hops: limitedHops(node.hops, limit) }),
  quantified: (node, limit) => ({
    ...node,
    hops: limitedHops(node.hops, limit),
    hop: limitedHop(node.hop, limit),
    condition: limitPaths(node.condition, limit),
  }),
  count: (node, limit) => ({
    ...node,
    hops: limitedHops(node.hops, limit),
    hop: limitedHop(node.hop, limit),
    condition: node.condition === null ? null : limitPaths(node.condition, limit),
  }),
  items: (node, limit) => ({ ...node, hops: limitedHops(node.hops, limit) }),
  itemCount: (node, limit) => ({ ...node, hops: limitedHops(node.hops, limit) }),
  never: (node) => node,
  always: (node) => node,
  owned: (node) => node,
  tuples: (node) => node,
  match: (node) => node,
  beyond: (node) => node,
}

function limitedColumn<C extends { readonly hops: readonly Hop[]; readonly counted?: Hop }>(
  column: C,
  limit: Limit,
): C {
  const { hops, counted } = column
  const more = counted === undefined ? {} : { counted: limitedHop(counted, limit) }
  return { ...column, hops: limitedHops(hops, limit), ...more }
}

function limitedHops(hops: readonly Hop[], limit: Limit): readonly Hop[] {
  return hops.map((hop) => limitedHop(hop, limit))
}

function limitedHop(hop: Hop, limit: Limit): Hop {
  const { relation, guard, linkGuard } = hop
  const links = relation.link === null ? null : limit(relation.link.model)
  return { ...hop, guard: both(guard, limit(relation.association.target)), linkGuard: both(linkGuard, links) }
}
