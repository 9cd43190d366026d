import { type FilterOperand, filter } from '../client/index.js'

/** A filter text. true matches every record, and false matches no record. */
export type Condition = string | boolean

/** Joins conditions with AND. */
export function joinConditionsByAnd(conditions: readonly Condition[]): Condition {
  return joinConditions(conditions, false, filter.and)
}

/** Joins conditions with OR. */
export function joinConditionsByOr(conditions: readonly Condition[]): Condition {
  return joinConditions(conditions, true, filter.or)
}

/** Joins conditions. A condition equal to `decisive` decides the result. The opposite boolean is dropped. */
function joinConditions(
  conditions: readonly Condition[],
  decisive: boolean,
  join: (...texts: readonly string[]) => string,
): Condition {
  if (conditions.includes(decisive)) return decisive
  const texts = conditions.filter((condition) => typeof condition === 'string')
  return texts.length === 0 ? !decisive : join(...texts)
}

/** Condition for a field that has one of the values. Null is a possible value. */
export function equalsAny(field: string, values: readonly (FilterOperand | null)[]): Condition {
  const listed = values.filter((value) => value !== '')
  return joinConditionsByOr([
    listed.length < values.length ? filter.eq(field, '') : false,
    listed.length > 0 ? filter.in(field, listed) : false,
  ])
}

/** Condition for a field that has none of the values. */
export function equalsNone(field: string, values: readonly (FilterOperand | null)[]): Condition {
  const listed = values.filter((value) => value !== '')
  return joinConditionsByAnd([
    listed.length < values.length ? filter.ne(field, '') : true,
    listed.length > 0 ? filter.notIn(field, listed) : true,
  ])
}

/** Converts a framework's value to a filter operand. @throws TypeError for unsupported values */
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

/** Converts a framework's value to the operands of a list. A single value becomes a list with one operand. */
export function toOperands(field: string, value: unknown): readonly (FilterOperand | null)[] {
  return (Array.isArray(value) ? value : [value]).map((each: unknown) => toOperandOrNull(field, each))
}
