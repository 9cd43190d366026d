import { type FilterOperand, filter } from '../client/index.js'

/** A filter, or what holds for every record, or for none. */
export type Condition = string | boolean

/** Every condition holds. */
export function allOf(conditions: readonly Condition[]): Condition {
  return joined(conditions, false, filter.and)
}

/** Some condition holds. */
export function anyOf(conditions: readonly Condition[]): Condition {
  return joined(conditions, true, filter.or)
}

/** One condition of the value `decisive` decides; what is of the other one says nothing. */
function joined(
  conditions: readonly Condition[],
  decisive: boolean,
  join: (...texts: readonly string[]) => string,
): Condition {
  if (conditions.includes(decisive)) return decisive
  const texts = conditions.filter((condition) => typeof condition === 'string')
  return texts.length === 0 ? !decisive : join(...texts)
}

/** One of the values, which may be none. */
export function among(field: string, values: readonly (FilterOperand | null)[]): Condition {
  const listed = values.filter((value) => value !== '')
  return anyOf([
    listed.length < values.length ? filter.eq(field, '') : false,
    listed.length > 0 ? filter.in(field, listed) : false,
  ])
}

/** None of the values. */
export function outside(field: string, values: readonly (FilterOperand | null)[]): Condition {
  const listed = values.filter((value) => value !== '')
  return allOf([
    listed.length < values.length ? filter.ne(field, '') : true,
    listed.length > 0 ? filter.notIn(field, listed) : true,
  ])
}

/** A value that filters compare with. @throws TypeError for anything else */
export function operand(field: string, value: unknown): FilterOperand {
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

export function operandOrNull(field: string, value: unknown): FilterOperand | null {
  return value === null ? null : operand(field, value)
}

/** The values of a list; a value by itself is a list of one. */
export function operands(field: string, value: unknown): readonly (FilterOperand | null)[] {
  return (Array.isArray(value) ? value : [value]).map((each: unknown) => operandOrNull(field, each))
}
