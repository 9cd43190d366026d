import type { Field, ValueType } from '../../types/field.js'
import { codecOf } from '../codec/codecs.js'
import { CrudConfigError } from '../common/errors.js'

/** Checks that a value can satisfy both the rules and the column. @throws CrudConfigError for contradicting bounds */
export function assertCompatibleBounds(where: string, field: Pick<Field, 'valueType' | 'rules'>): void {
  const range = codecOf(field.valueType).findBoundsConflict?.(field)
  if (range === undefined || range === null) return
  const [unit, column] = [field.valueType.type === 'string' ? ' characters' : '', nounOf(field.valueType)]
  throw new CrudConfigError(
    'RULE_BOUNDS',
    `${where}: no ${column} can be at least ${range.min} and at most ${range.max}${unit}. Check the option rules, and "validate" and "type" of the attribute.`,
  )
}

function nounOf({ type }: ValueType): string {
  return type === 'string' ? 'text' : 'number'
}
