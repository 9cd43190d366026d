import type { Field } from '../../types/field.js'
import type { ComparePredicate, PlainValue, Predicate } from '../../types/plan.js'
import type { Confinement, Fixed } from '../../types/resource.js'
import { ownColumn } from './columns.js'

/** A condition of what is left of its parts; none left, no condition. */
export function junction(kind: 'and' | 'or', parts: readonly (Predicate | null)[]): Predicate | null {
  const nodes = parts.filter((part) => part !== null)
  const [only] = nodes
  if (only === undefined) return null
  return nodes.length === 1 ? only : { kind, nodes }
}

/** Both conditions, where each may be none. */
export function both(where: Predicate, and: Predicate | null): Predicate
export function both(where: Predicate | null, and: Predicate): Predicate
export function both(where: Predicate | null, and: Predicate | null): Predicate | null
export function both(where: Predicate | null, and: Predicate | null): Predicate | null {
  if (where === null || and === null) return where ?? and
  return { kind: 'and', nodes: [where, and] }
}

/** The record's own field equals a value, or with `negated` does not: null is met by the latter. */
export function compared(field: Field, value: PlainValue, negated: boolean): Predicate {
  return {
    kind: 'compare',
    column: ownColumn(field),
    operator: 'eq',
    values: [value],
    ignoreCase: false,
    negated,
  }
}

/** The record's own field has one of some values. */
export function among(field: Field, values: readonly PlainValue[]): ComparePredicate {
  const operator = values.length === 1 ? 'eq' : 'in'
  return { kind: 'compare', column: ownColumn(field), operator, values, ignoreCase: false, negated: false }
}

/**
 * The record's own field equals one of some values that are stored elsewhere, as a join would find it: under the column's
 * collation, and in the spelling that is stored.
 */
export function joinedTo(field: Field, values: readonly PlainValue[]): Predicate {
  const operator = values.length === 1 ? 'eq' : 'in'
  return {
    kind: 'compare',
    column: ownColumn(field),
    operator,
    values,
    ignoreCase: false,
    negated: false,
    asJoined: true,
  }
}

/** The record's own field is null, or with `negated` is not. */
export function isNull(field: Field, negated: boolean): Predicate {
  return { kind: 'null', column: ownColumn(field), negated }
}

/** The fields have these values; null where that says nothing. */
export function confined(fixed: Fixed): Predicate | null {
  const parts = fixed.map(([field, value]) => (value === null ? isNull(field, false) : compared(field, value, false)))
  return parts.reduce<Predicate | null>((all, part) => both(all, part), null)
}

/** The whole condition of a confinement; null where it limits nothing. */
export function within({ fixed, where }: Pick<Confinement, 'fixed' | 'where'>): Predicate | null {
  return both(confined(fixed), where === null ? null : { kind: 'apart', condition: where })
}

/** The record's own field has one of some values, null among them; no record for none. */
export function anyOf(field: Field, values: readonly (PlainValue | null)[]): Predicate {
  const plain = values.filter((value) => value !== null)
  const parts = [
    plain.length === 0 ? null : among(field, plain),
    plain.length === values.length ? null : isNull(field, false),
  ]
  return junction('or', parts) ?? { kind: 'never' }
}

/** Whether a part of a condition reads other tables, so that it may not be in every statement. */
export function hasApart(where: Predicate): boolean {
  return where.kind === 'apart' || (where.kind === 'and' && where.nodes.some(hasApart))
}

/** A condition without these parts, for records that were locked under them. */
export function withoutApart(where: Predicate): Predicate {
  if (where.kind === 'apart') return { kind: 'always' }
  if (where.kind !== 'and' || !hasApart(where)) return where
  const nodes = where.nodes.filter((node) => node.kind !== 'apart').map(withoutApart)
  return junction('and', nodes) ?? { kind: 'always' }
}
