import type { Field } from '../../../types/field.js'
import type { Column, Join, Predicate } from '../../../types/plan.js'
import { ALWAYS, NEVER } from '../../common/predicates.js'
import { type Visitors, visit } from '../../common/visitor.js'

/**
 * Extracts the parts of a condition that can be evaluated before the record is stored. `known` has the names of the
 * attributes whose values are known. Parts that read other attributes, or records that refer to this record, count as
 * met.
 */
export function extractDecidable(condition: Predicate, known: ReadonlySet<string>): Predicate {
  return visit(DECIDABLE_PARTS, condition, known)
}

const DECIDABLE_PARTS: Visitors<Predicate, [known: ReadonlySet<string>], Predicate> = {
  and: ({ nodes }, known) => combineParts('and', nodes, known, NEVER, ALWAYS),
  or: ({ nodes }, known) => combineParts('or', nodes, known, ALWAYS, NEVER),
  compare: (node, known) => decideLeaf(node, isKnownColumn(node.column, known)),
  null: (node, known) => decideLeaf(node, isKnownColumn(node.column, known)),
  absent: (node, known) => decideLeaf(node, isKnownPath(node.joins, known)),
  quantified: (node, known) => decideLeaf(node, isKnownPath(node.joins, known)),
  count: (node, known) => decideLeaf(node, isKnownPath(node.joins, known)),
  items: (node, known) => decideLeaf(node, isKnownPath(node.joins, known)),
  itemCount: (node, known) => decideLeaf(node, isKnownPath(node.joins, known)),
  apart: ({ condition }, known) => extractDecidable(condition, known),
  never: () => NEVER,
  always: () => ALWAYS,
  linked: () => ALWAYS,
  tuples: () => ALWAYS,
  fullText: () => ALWAYS,
  keyset: () => ALWAYS,
}

function combineParts(
  kind: 'and' | 'or',
  nodes: readonly Predicate[],
  known: ReadonlySet<string>,
  decisive: Predicate,
  neutral: Predicate,
): Predicate {
  const parts = nodes.map((node) => extractDecidable(node, known)).filter((part) => part.kind !== neutral.kind)
  if (parts.some((part) => part.kind === decisive.kind)) return decisive
  const [only, ...others] = parts
  if (only === undefined) return neutral
  return others.length === 0 ? only : { kind, nodes: parts }
}

function decideLeaf(node: Predicate, isDecided: boolean): Predicate {
  return isDecided ? node : ALWAYS
}

function isKnownColumn({ joins, field, countedJoin }: Column, known: ReadonlySet<string>): boolean {
  if (joins.length > 0) return isKnownPath(joins, known)
  return field.derived === undefined && countedJoin === undefined && known.has(field.name)
}

/** Whether a path starts at a foreign key of the record with a known value. */
function isKnownPath([first]: readonly Join[], known: ReadonlySet<string>): boolean {
  if (first === undefined) return false
  const { association, polymorphic } = first.relation
  return association.associationType === 'BelongsTo' && !polymorphic && known.has(association.foreignKey)
}

/** Removes the operands of AND that read no changed attribute, because the change does not affect their results. */
export function extractChangeable(condition: Predicate, changed: ReadonlySet<string>): Predicate {
  if (condition.kind === 'apart') return extractChangeable(condition.condition, changed)
  if (condition.kind === 'and') {
    const nodes = condition.nodes
      .map((node) => extractChangeable(node, changed))
      .filter(({ kind }) => kind !== 'always')
    return nodes.length === 0 ? ALWAYS : { kind: 'and', nodes }
  }
  return [...findReadAttributes(condition)].some((name) => changed.has(name)) ? condition : ALWAYS
}

/** Returns the attributes of the record itself that a condition reads. */
export function findReadAttributes(condition: Predicate): ReadonlySet<string> {
  return new Set(visit(READ_ATTRIBUTES, condition))
}

const READ_ATTRIBUTES: Visitors<Predicate, [], readonly string[]> = {
  and: ({ nodes }) => nodes.flatMap((node) => visit(READ_ATTRIBUTES, node)),
  or: ({ nodes }) => nodes.flatMap((node) => visit(READ_ATTRIBUTES, node)),
  compare: ({ column: { joins, field } }) => startAttributesOf(joins) ?? [sourceAttributeOf(field)],
  null: ({ column: { joins, field } }) => startAttributesOf(joins) ?? [sourceAttributeOf(field)],
  absent: ({ joins }) => startAttributesOf(joins) ?? [],
  quantified: ({ joins }) => startAttributesOf(joins) ?? [],
  count: ({ joins }) => startAttributesOf(joins) ?? [],
  items: ({ joins }) => startAttributesOf(joins) ?? [],
  itemCount: ({ joins }) => startAttributesOf(joins) ?? [],
  apart: ({ condition }) => visit(READ_ATTRIBUTES, condition),
  never: () => [],
  always: () => [],
  linked: () => [],
  tuples: () => [],
  fullText: () => [],
  keyset: () => [],
}

function startAttributesOf([first]: readonly Join[]): readonly string[] | null {
  return first === undefined ? null : [first.relation.association.foreignKey]
}

/** Returns the attribute that a field is derived from. */
function sourceAttributeOf({ name, derived }: Field): string {
  return derived === undefined ? name : sourceAttributeOf(derived.source)
}
