import type { Hop, Predicate } from '../../../types/plan.js'
import { type Visits, visit } from '../../common/visit.js'

const ALWAYS: Predicate = Object.freeze({ kind: 'always' })
const NEVER: Predicate = Object.freeze({ kind: 'never' })

/**
 * The part of a condition that values of a record decide, before it is stored: those of the attributes in `known`. What depends on
 * others counts as met, and so does what hangs on the record's own key: no record can refer to it yet. Beside a path over a known
 * foreign key such parts of an `or` do not count: behind the write the record itself could be what meets the path.
 */
export function foreseeable(condition: Predicate, known: ReadonlySet<string>): Predicate {
  return visit(FORESEEN, condition, known)
}

const FORESEEN: Visits<Predicate, [known: ReadonlySet<string>], Predicate> = {
  and: ({ nodes }, known) => joined('and', nodes, known, NEVER, ALWAYS),
  or: ({ nodes }, known) => joined('or', nodes, known, ALWAYS, NEVER),
  compare: (node, known) => {
    const { hops, field, counted } = node.column
    return leaf(node, field.derived === undefined && counted === undefined && isKnown(hops, field.name, known))
  },
  null: (node, known) => {
    const { hops, field, counted } = node.column
    return leaf(node, field.derived === undefined && counted === undefined && isKnown(hops, field.name, known))
  },
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
  const foreseen = nodes.map((node) => foreseeable(node, known))
  const counted = kind === 'or' && foreseen.some(crosses) ? foreseen.filter((part) => part.kind !== 'always') : foreseen
  const parts = counted.filter((part) => part.kind !== neutral.kind)
  if (parts.some((part) => part.kind === decisive.kind)) return decisive
  const [only, ...others] = parts
  if (only === undefined) return neutral
  return others.length === 0 ? only : { kind, nodes: parts }
}

/** Whether a condition, or a part of it, is about records behind a relation. */
function crosses(part: Predicate): boolean {
  if (part.kind === 'and' || part.kind === 'or') return part.nodes.some(crosses)
  if ('column' in part) return part.column.hops.length > 0
  return 'hops' in part && part.hops.length > 0
}

function leaf(node: Predicate, isDecided: boolean): Predicate {
  return isDecided ? node : ALWAYS
}

function isKnown(hops: readonly Hop[], attribute: string, known: ReadonlySet<string>): boolean {
  return hops.length === 0 ? known.has(attribute) : isReached(hops, known)
}

/** Whether a path starts at a foreign key of the record whose value is known. */
function isReached([first]: readonly Hop[], known: ReadonlySet<string>): boolean {
  if (first === undefined) return false
  const { association, polymorphic } = first.relation
  return association.associationType === 'BelongsTo' && !polymorphic && known.has(association.foreignKey)
}

/** The attributes of the record itself that a condition reads. */
export function readBy(condition: Predicate): ReadonlySet<string> {
  return new Set(visit(READ, condition))
}

const READ: Visits<Predicate, [], readonly string[]> = {
  and: ({ nodes }) => nodes.flatMap((node) => visit(READ, node)),
  or: ({ nodes }) => nodes.flatMap((node) => visit(READ, node)),
  compare: ({ column: { hops, field } }) => startOf(hops) ?? [field.name],
  null: ({ column: { hops, field } }) => startOf(hops) ?? [field.name],
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
