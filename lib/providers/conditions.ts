import { type FilterOperand, filter } from '../client/index.js'

/** A filter, or true for every record, or false for no record. */
export type Condition = string | boolean

/** Conjunction of conditions. */
export function joinConditionsByAnd(conditions: readonly Condition[]): Condition {
  return joinConditions(conditions, false, filter.and)
}

/** Disjunction of conditions. */
export function joinConditionsByOr(conditions: readonly Condition[]): Condition {
  return joinConditions(conditions, true, filter.or)
}

/** Joins conditions. One condition equal to `decisive` decides the result; its opposite is dropped. */
function joinConditions(
  conditions: readonly Condition[],
  decisive: boolean,
  join: (...texts: readonly string[]) => string,
): Condition {
  if (conditions.includes(decisive)) return decisive
  const texts = conditions.filter((condition) => typeof condition === 'string')
  return texts.length === 0 ? !decisive : join(...texts)
}

/** Condition that a field has one of the values. Null is a possible value. */
export function equalsAny(field: string, values: readonly (FilterOperand | null)[]): Condition {
  const listed = values.filter((value) => value !== '')
  return joinConditionsByOr([
    listed.length < values.length ? filter.eq(field, '') : false,
    listed.length > 0 ? filter.in(field, listed) : false,
  ])
}

/** Condition that a field has none of the values. */
export function equalsNone(field: string, values: readonly (FilterOperand | null)[]): Condition {
  const listed = values.filter((value) => value !== '')
  return joinConditionsByAnd([
    listed.length < values.length ? filter.ne(field, '') : true,
    listed.length > 0 ? filter.notIn(field, listed) : true,
  ])
}

/** Operand of a filter. @throws TypeError for unsupported values */
export function toOperand(field: string, value: unknown): FilterOperand {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value
    default:
      if (value instanceof Date) return value
      throw new TypeError(`a filter cannot compare ${field} with ${JSON.stringify(value)}`)
  }
}

export function toOperandOrNull(field: string, value: unknown): FilterOperand | null {
  return value === null ? null : toOperand(field, value)
}

/** Operands of a list. A single value is a list of one. */
export function toOperands(field: string, value: unknown): readonly (FilterOperand | null)[] {
  return (Array.isArray(value) ? value : [value]).map((each: unknown) => toOperandOrNull(field, each))
}
