import type { Field } from '../../types/field.js'
import type { ComparePredicate, PlainValue, Predicate } from '../../types/plan.js'
import type { Confinement, Fixed } from '../../types/resource.js'
import { ownColumn } from './columns.js'

/** Joins conditions, without null; null if all are null. */
export function junction(kind: 'and' | 'or', parts: readonly (Predicate | null)[]): Predicate | null {
  const nodes = parts.filter((part) => part !== null)
  const [only] = nodes
  if (only === undefined) return null
  return nodes.length === 1 ? only : { kind, nodes }
}

/** The conjunction of two conditions. Null is no condition. */
export function both(where: Predicate, and: Predicate | null): Predicate
export function both(where: Predicate | null, and: Predicate): Predicate
export function both(where: Predicate | null, and: Predicate | null): Predicate | null
export function both(where: Predicate | null, and: Predicate | null): Predicate | null {
  if (where === null || and === null) return where ?? and
  return { kind: 'and', nodes: [where, and] }
}

/** The record's field equals a value, or with `negated` differs from it or is null. */
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

/** The record's field equals one of the values. */
export function among(field: Field, values: readonly PlainValue[]): ComparePredicate {
  const operator = values.length === 1 ? 'eq' : 'in'
  return { kind: 'compare', column: ownColumn(field), operator, values, ignoreCase: false, negated: false }
}

/**
 * The record's field equals one of the stored values, compared as in a join: by the column's collation and the stored
 * spelling.
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

/** The record's field is null, or with `negated` not null. */
export function isNull(field: Field, negated: boolean): Predicate {
  return { kind: 'null', column: ownColumn(field), negated }
}

/** Condition that fields have these values; null for an empty list. */
export function confined(fixed: Fixed): Predicate | null {
  const parts = fixed.map(([field, value]) => (value === null ? isNull(field, false) : compared(field, value, false)))
  return parts.reduce<Predicate | null>((all, part) => both(all, part), null)
}

/** The whole condition of a confinement; null if there is no limit. */
export function within({ fixed, where }: Pick<Confinement, 'fixed' | 'where'>): Predicate | null {
  return both(confined(fixed), where === null ? null : { kind: 'apart', condition: where })
}

/** The record's field equals one of the values, which may include null. Without values it matches no record. */
export function anyOf(field: Field, values: readonly (PlainValue | null)[]): Predicate {
  const plain = values.filter((value) => value !== null)
  const parts = [
    plain.length === 0 ? null : among(field, plain),
    plain.length === values.length ? null : isNull(field, false),
  ]
  return junction('or', parts) ?? { kind: 'never' }
}

/** Whether a condition reads other tables, which not every statement supports. */
export function hasApart(where: Predicate): boolean {
  return where.kind === 'apart' || (where.kind === 'and' && where.nodes.some(hasApart))
}

/** A condition without those parts, for records that were locked under them. */
export function withoutApart(where: Predicate): Predicate {
  if (where.kind === 'apart') return { kind: 'always' }
  if (where.kind !== 'and' || !hasApart(where)) return where
  const nodes = where.nodes.filter((node) => node.kind !== 'apart').map(withoutApart)
  return junction('and', nodes) ?? { kind: 'always' }
}
