import type { Field } from '../../types/field.js'
import type { ComparePredicate, PlainValue, Predicate } from '../../types/plan.js'
import type { FixedValues, ResolvedScope } from '../../types/resource.js'
import { ownColumn } from './columns.js'

/** The condition that no record meets. */
export const NEVER: Predicate = Object.freeze({ kind: 'never' })

/** The condition that every record meets. */
export const ALWAYS: Predicate = Object.freeze({ kind: 'always' })

/** Joins all conditions except null; null if all are null. */
export function joinPredicates(kind: 'and' | 'or', parts: readonly (Predicate | null)[]): Predicate | null {
  const nodes = parts.filter((part) => part !== null)
  const [only] = nodes
  if (only === undefined) return null
  return nodes.length === 1 ? only : { kind, nodes }
}

/** Returns the conjunction of two conditions. Null stands for no condition. */
export function addCondition(where: Predicate, and: Predicate | null): Predicate
export function addCondition(where: Predicate | null, and: Predicate): Predicate
export function addCondition(where: Predicate | null, and: Predicate | null): Predicate | null
export function addCondition(where: Predicate | null, and: Predicate | null): Predicate | null {
  if (where === null || and === null) return where ?? and
  return { kind: 'and', nodes: [where, and] }
}

/**
 * Returns the condition that the record's field equals a value. `negated` returns the opposite, which also matches
 * null.
 */
export function matchValue(field: Field, value: PlainValue, negated: boolean): Predicate {
  return { ...matchAnyValue(field, [value]), negated }
}

/** Returns the condition that the record's field equals one of the values. */
export function matchAnyValue(field: Field, values: readonly PlainValue[]): ComparePredicate {
  const operator = values.length === 1 ? 'eq' : 'in'
  return { kind: 'compare', column: ownColumn(field), operator, values, ignoreCase: false, negated: false }
}

/**
 * Returns the condition that the record's field equals one of the stored values. As in a join, the column's collation
 * and the stored spelling decide.
 */
export function matchStoredValues(field: Field, values: readonly PlainValue[]): Predicate {
  return { ...matchAnyValue(field, values), asJoined: true }
}

/** Returns the condition that the record's field is null, or with `negated` not null. */
export function matchNull(field: Field, negated: boolean): Predicate {
  return { kind: 'null', column: ownColumn(field), negated }
}

/** Returns the condition that fields have the fixed values; null for an empty list. */
export function matchFixed(fixed: FixedValues): Predicate | null {
  const parts = fixed.map(([field, value]) =>
    value === null ? matchNull(field, false) : matchValue(field, value, false),
  )
  return parts.reduce<Predicate | null>((all, part) => addCondition(all, part), null)
}

/** Returns the whole condition of a scope; null if there is no restriction. */
export function matchScope({ fixed, where }: Pick<ResolvedScope, 'fixed' | 'where'>): Predicate | null {
  return addCondition(matchFixed(fixed), where === null ? null : { kind: 'apart', condition: where })
}

/**
 * Returns the condition that the record's field equals one of the values, which may include null. Without values it
 * matches no record.
 */
export function matchAnyOrNull(field: Field, values: readonly (PlainValue | null)[]): Predicate {
  const plain = values.filter((value) => value !== null)
  const parts = [
    plain.length === 0 ? null : matchAnyValue(field, plain),
    plain.length === values.length ? null : matchNull(field, false),
  ]
  return joinPredicates('or', parts) ?? NEVER
}

/** Whether a condition reads other tables, which not every statement supports. */
export function hasSubquery(where: Predicate): boolean {
  return where.kind === 'apart' || (where.kind === 'and' && where.nodes.some(hasSubquery))
}

/**
 * Removes the subqueries of a condition. The records were locked under the whole condition, so the subqueries need not
 * be evaluated again.
 */
export function removeSubqueries(where: Predicate): Predicate {
  if (where.kind === 'apart') return ALWAYS
  if (where.kind !== 'and' || !hasSubquery(where)) return where
  const nodes = where.nodes.filter((node) => node.kind !== 'apart').map(removeSubqueries)
  return joinPredicates('and', nodes) ?? ALWAYS
}
