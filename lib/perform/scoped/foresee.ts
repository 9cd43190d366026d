import type { Field } from '../../../types/field.js'
import type { Column, Hop, Predicate } from '../../../types/plan.js'
import { type Visits, visit } from '../../common/visit.js'

const ALWAYS: Predicate = Object.freeze({ kind: 'always' })
const NEVER: Predicate = Object.freeze({ kind: 'never' })

/**
 * The part of a condition that the values of `known` decide before the record is stored. Parts that depend on other
 * attributes count as met. So do parts about records that refer to the record itself.
 */
export function foreseeable(condition: Predicate, known: ReadonlySet<string>): Predicate {
  return visit(FORESEEN, condition, known)
}

const FORESEEN: Visits<Predicate, [known: ReadonlySet<string>], Predicate> = {
  and: ({ nodes }, known) => joined('and', nodes, known, NEVER, ALWAYS),
  or: ({ nodes }, known) => joined('or', nodes, known, ALWAYS, NEVER),
  compare: (node, known) => leaf(node, isKnown(node.column, known)),
  null: (node, known) => leaf(node, isKnown(node.column, known)),
  absent: (node, known) => leaf(node, isReached(node.hops, known)),
  quantified: (node, known) => leaf(node, isReached(node.hops, known)),
  count: (node, known) => leaf(node, isReached(node.hops, known)),
  items: (node, known) => leaf(node, isReached(node.hops, known)),
  itemCount: (node, known) => leaf(node, isReached(node.hops, known)),
  apart: ({ condition }, known) => foreseeable(condition, known),
  never: () => NEVER,
  always: () => ALWAYS,
  owned: () => ALWAYS,
  tuples: () => ALWAYS,
  match: () => ALWAYS,
  beyond: () => ALWAYS,
}

function joined(
  kind: 'and' | 'or',
  nodes: readonly Predicate[],
  known: ReadonlySet<string>,
  decisive: Predicate,
  neutral: Predicate,
): Predicate {
  const parts = nodes.map((node) => foreseeable(node, known)).filter((part) => part.kind !== neutral.kind)
  if (parts.some((part) => part.kind === decisive.kind)) return decisive
  const [only, ...others] = parts
  if (only === undefined) return neutral
  return others.length === 0 ? only : { kind, nodes: parts }
}

function leaf(node: Predicate, isDecided: boolean): Predicate {
  return isDecided ? node : ALWAYS
}

function isKnown({ hops, field, counted }: Column, known: ReadonlySet<string>): boolean {
  if (hops.length > 0) return isReached(hops, known)
  return field.derived === undefined && counted === undefined && known.has(field.name)
}

/** Whether a path starts at a foreign key of the record with a known value. */
function isReached([first]: readonly Hop[], known: ReadonlySet<string>): boolean {
  if (first === undefined) return false
  const { association, polymorphic } = first.relation
  return association.associationType === 'BelongsTo' && !polymorphic && known.has(association.foreignKey)
}

/** The condition without required parts that read no changed attribute. */
export function changeable(condition: Predicate, changed: ReadonlySet<string>): Predicate {
  if (condition.kind === 'apart') return changeable(condition.condition, changed)
  if (condition.kind === 'and') {
    const nodes = condition.nodes.map((node) => changeable(node, changed)).filter(({ kind }) => kind !== 'always')
    return nodes.length === 0 ? ALWAYS : { kind: 'and', nodes }
  }
  return [...readBy(condition)].some((name) => changed.has(name)) ? condition : ALWAYS
}

/** Attributes of the record itself that a condition reads. */
export function readBy(condition: Predicate): ReadonlySet<string> {
  return new Set(visit(READ, condition))
}

const READ: Visits<Predicate, [], readonly string[]> = {
  and: ({ nodes }) => nodes.flatMap((node) => visit(READ, node)),
  or: ({ nodes }) => nodes.flatMap((node) => visit(READ, node)),
  compare: ({ column: { hops, field } }) => startOf(hops) ?? [sourceOf(field)],
  null: ({ column: { hops, field } }) => startOf(hops) ?? [sourceOf(field)],
  absent: ({ hops }) => startOf(hops) ?? [],
  quantified: ({ hops }) => startOf(hops) ?? [],
  count: ({ hops }) => startOf(hops) ?? [],
  items: ({ hops }) => startOf(hops) ?? [],
  itemCount: ({ hops }) => startOf(hops) ?? [],
  apart: ({ condition }) => visit(READ, condition),
  never: () => [],
  always: () => [],
  owned: () => [],
  tuples: () => [],
  match: () => [],
  beyond: () => [],
}

function startOf([first]: readonly Hop[]): readonly string[] | null {
  return first === undefined ? null : [first.relation.association.foreignKey]
}

/** The attribute that a field is derived from. */
function sourceOf({ name, derived }: Field): string {
  return derived === undefined ? name : sourceOf(derived.of)
}
