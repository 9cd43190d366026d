import type { Field } from '../../types/field.js'
import type { Fault, Told } from '../../types/messages.js'
import { fault } from '../common/messages.js'
import { isLonger, isStorableText, trimBlanks } from '../common/values.js'
import { meets } from '../sequelize/builtInValidators.js'
import { lengthBounds } from './bounds.js'
import type { Reader } from './readers.js'

export const NOT_STORABLE: Fault = fault('characters')

interface Check {
  readonly accepts: (text: string) => boolean
  readonly fault: Told
}

/**
 * A text within its bounds that meets its rules. What is too long is told for that alone: patterns may take time that
 * grows with the square of the text, or worse, so that none meets one beyond its bound.
 */
export function text(field: Field): Reader {
  const { valueType, rules } = field
  const { min, max, tooLow, tooHigh } = lengthBounds(valueType, rules)
  const checks: readonly Check[] = [
    { accepts: isStorableText, fault: NOT_STORABLE },
    ...(min === undefined ? [] : [{ accepts: (text: string) => !isShorter(text, min), fault: tooLow }]),
    ...(rules.email === true ? [{ accepts: isEmail, fault: rules.says?.email ?? fault('email') }] : []),
    ...(rules.match ?? []).map((pattern) => ({
      accepts: (text: string) => pattern.test(text),
      fault: rules.says?.match?.get(pattern) ?? fault('pattern'),
    })),
    ...(rules.checks ?? []).map((check) => ({ accepts: (text: string) => meets(check, text), fault: check.told })),
  ]
  return (raw) => {
    if (typeof raw !== 'string') return { faults: [fault('string')] }
    const value = valueType.padded === true ? trimBlanks(raw) : raw
    if (max !== undefined && isLonger(value, max)) return { faults: [tooHigh] }
    for (const { accepts } of checks) {
      if (!accepts(value)) return { faults: checks.flatMap((check) => (check.accepts(value) ? [] : [check.fault])) }
    }
    return { value }
  }
}

/**
 * Code points as well. As in Sequelize's `len`, a variation selector adds nothing towards a minimum, so that a character
 * has at most three UTF-16 units: a surrogate pair and its selector.
 */
function isShorter(value: string, min: number): boolean {
  return value.length < min || (value.length < 3 * min && [...value.replace(/[\uFE0E\uFE0F]/g, '')].length < min)
}

/** One `@` with something before it, no blanks, and two labels or more behind it, none of them empty. */
function isEmail(value: string): boolean {
  const at = value.indexOf('@')
  if (at < 1 || value.includes('@', at + 1) || /\s/.test(value)) return false
  return value.includes('.', at) && value[at + 1] !== '.' && !value.endsWith('.') && !value.includes('..', at)
}
