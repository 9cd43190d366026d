import type { Association, Model, ModelStatic } from 'sequelize'
import type { Join, Predicate } from '../../../types/plan.js'
import { addCondition } from '../../common/predicates.js'
import { type Visitors, visit } from '../../common/visitor.js'

/** A part of a condition that follows a foreign key of the record itself. */
export interface PathPart {
  readonly node: Predicate
  readonly association: Association
  /** Whether the condition can only be true if this part is true. */
  readonly isRequired: boolean
}

/** Finds the parts of a condition that follow a foreign key of the record. */
export function findPathParts(condition: Predicate, isRequired = true): readonly PathPart[] {
  if (condition.kind === 'apart') return findPathParts(condition.condition, isRequired)
  if (condition.kind === 'and') return condition.nodes.flatMap((node) => findPathParts(node, isRequired))
  if (condition.kind === 'or') return condition.nodes.flatMap((node) => findPathParts(node, false))
  const association = leadingJoinsOf(condition)[0]?.relation.association
  return association?.associationType === 'BelongsTo' ? [{ node: condition, association, isRequired }] : []
}

/** Returns the to-one relations at the start of a part's path. */
function leadingJoinsOf(part: Predicate): readonly Join[] {
  if ('column' in part) return part.column.joins
  return 'joins' in part ? part.joins : []
}

/** Replaces some parts of a condition. */
export function replaceParts(condition: Predicate, parts: ReadonlyMap<Predicate, Predicate>): Predicate {
  if (condition.kind === 'and' || condition.kind === 'or') {
    return { kind: condition.kind, nodes: condition.nodes.map((node) => replaceParts(node, parts)) }
  }
  if (condition.kind === 'apart') return replaceParts(condition.condition, parts)
  return parts.get(condition) ?? condition
}

/** Returns a condition on the rows of a table, or null for all rows. */
export type RowLimit = (model: ModelStatic<Model>) => Predicate | null

/** Limits the rows of each table on the relation paths of a condition. */
export function limitPaths(condition: Predicate, limit: RowLimit): Predicate {
  return visit(PATH_LIMITERS, condition, limit)
}

const PATH_LIMITERS: Visitors<Predicate, [limit: RowLimit], Predicate> = {
  and: ({ kind, nodes }, limit) => ({ kind, nodes: nodes.map((node) => limitPaths(node, limit)) }),
  or: ({ kind, nodes }, limit) => ({ kind, nodes: nodes.map((node) => limitPaths(node, limit)) }),
  apart: (node, limit) => ({ ...node, condition: limitPaths(node.condition, limit) }),
  compare: (node, limit) => ({ ...node, column: limitColumn(node.column, limit) }),
  null: (node, limit) => ({ ...node, column: limitColumn(node.column, limit) }),
  absent: (node, limit) => ({ ...node, joins: limitJoins(node.joins, limit) }),
  quantified: (node, limit) => ({
    ...node,
    joins: limitJoins(node.joins, limit),
    join: limitJoin(node.join, limit),
    condition: limitPaths(node.condition, limit),
  }),
  count: (node, limit) => ({
    ...node,
    joins: limitJoins(node.joins, limit),
    join: limitJoin(node.join, limit),
    condition: node.condition === null ? null : limitPaths(node.condition, limit),
  }),
  items: (node, limit) => ({ ...node, joins: limitJoins(node.joins, limit) }),
  itemCount: (node, limit) => ({ ...node, joins: limitJoins(node.joins, limit) }),
  never: (node) => node,
  always: (node) => node,
  linked: (node) => node,
  tuples: (node) => node,
  fullText: (node) => node,
  keyset: (node) => node,
}

function limitColumn<C extends { readonly joins: readonly Join[]; readonly countedJoin?: Join }>(
  column: C,
  limit: RowLimit,
): C {
  const { joins, countedJoin } = column
  const more = countedJoin === undefined ? {} : { countedJoin: limitJoin(countedJoin, limit) }
  return { ...column, joins: limitJoins(joins, limit), ...more }
}

function limitJoins(joins: readonly Join[], limit: RowLimit): readonly Join[] {
  return joins.map((join) => limitJoin(join, limit))
}

function limitJoin(join: Join, limit: RowLimit): Join {
  const { relation, condition, joinRowCondition } = join
  const links = relation.joinModel === null ? null : limit(relation.joinModel.model)
  return {
    ...join,
    condition: addCondition(condition, limit(relation.association.target)),
    joinRowCondition: addCondition(joinRowCondition, links),
  }
}
