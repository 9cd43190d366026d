import type { Field, ValueType } from '../../types/field.js'
import { CrudConfigError } from '../common/errors.js'
import { compareDecimals } from '../common/values.js'
import { decimalBounds, lengthBounds, numberBounds } from './bounds.js'

interface Range {
  readonly min: string | number
  readonly max: string | number
}

/** The bounds of a field between which there is no value; null where there is one. */
function emptyRange({ valueType, rules }: Pick<Field, 'valueType' | 'rules'>): Range | null {
  switch (valueType.type) {
    case 'string':
      return ranged(lengthBounds(valueType, rules), (min, max) => min > max)
    case 'integer':
      return ranged(numberBounds(valueType, rules), (min, max) => Math.ceil(min) > Math.floor(max))
    case 'float':
      return ranged(numberBounds(valueType, rules), (min, max) => min > max)
    case 'bigint':
    case 'decimal':
      return ranged(decimalBounds(valueType, rules), (min, max) => compareDecimals(min, max) > 0)
    default:
      return null
  }
}

function ranged<T extends string | number>(
  { min, max }: { readonly min: T | undefined; readonly max: T | undefined },
  isEmpty: (min: T, max: T) => boolean,
): Range | null {
  return min !== undefined && max !== undefined && isEmpty(min, max) ? { min, max } : null
}

/** @throws CrudConfigError where the rules and the column together leave no value for bodies */
export function assertMeetable(where: string, field: Pick<Field, 'valueType' | 'rules'>): void {
  const range = emptyRange(field)
  if (range === null) return
  const [unit, column] = [field.valueType.type === 'string' ? ' characters' : '', nounOf(field.valueType)]
  throw new CrudConfigError(
    'RULE_BOUNDS',
    `${where}: no ${column} is at least ${range.min} and at most ${range.max}${unit}. Look at rules, validate and the type of the column.`,
  )
}

function nounOf({ type }: ValueType): string {
  return type === 'string' ? 'text' : 'number'
}
