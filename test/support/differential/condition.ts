import type { Operator } from '../../../types/query.js'
import { COMPLEMENTS } from '../operators.js'
import type { Operand } from './operands.js'
import type { Column, Relation } from './schema.js'

/** Syntax tree of a filter. The text of the filter is generated from it. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly Condition[] }
  | Compare
  | { readonly kind: 'absent'; readonly relations: readonly Relation[]; readonly negated: boolean }
  | Elements
  | Count

export interface Compare {
  readonly kind: 'compare'
  readonly relations: readonly Relation[]
  readonly column: Column
  readonly operator: Operator
  readonly operands: readonly Operand[]
  readonly ignoreCase: boolean
}

export interface Elements {
  readonly kind: 'elements'
  readonly quantifier: 'any' | 'all' | 'none'
  readonly relations: readonly Relation[]
  readonly collection: Relation
  readonly condition: Condition
}

export interface Count {
  readonly kind: 'count'
  readonly relations: readonly Relation[]
  readonly collection: Relation
  /** Condition on the counted elements. Null counts every element. */
  readonly condition: Condition | null
  readonly operator: Operator
  readonly numbers: readonly bigint[]
}

export function isOrder(operator: Operator): boolean {
  return operator === 'gt' || operator === 'gte' || operator === 'lt' || operator === 'lte'
}

/** Whether a path may end at null. True if its field or any of its relations may be null. */
export function mayBeNull({ relations, column }: Pick<Compare, 'relations' | 'column'>): boolean {
  return column.nullable || relations.some(({ optional }) => optional)
}

/** Negates a condition. */
export function negated(condition: Condition): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { kind: condition.kind === 'and' ? 'or' : 'and', nodes: condition.nodes.map(negated) }
    case 'absent':
      return { ...condition, negated: !condition.negated }
    case 'compare':
      return negatedCompare(condition)
    case 'count':
      return { ...condition, operator: COMPLEMENTS[condition.operator] }
    case 'elements':
      return condition.quantifier === 'all'
        ? { ...condition, quantifier: 'any', condition: negated(condition.condition) }
        : { ...condition, quantifier: condition.quantifier === 'any' ? 'none' : 'any' }
  }
}

/**
 * Negates a comparison. Null meets neither `>` nor `<=`, so a negated order comparison must include null explicitly.
 * Other operators have an exact negation.
 */
function negatedCompare(condition: Compare): Condition {
  const turned: Compare = { ...condition, operator: COMPLEMENTS[condition.operator] }
  if (!isOrder(condition.operator) || !mayBeNull(condition)) return turned
  return { kind: 'or', nodes: [turned, { ...condition, operator: 'eq', operands: [{ kind: 'null' }] }] }
}
