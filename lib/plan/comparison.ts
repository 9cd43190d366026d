import type { Column, Predicate } from '../../types/plan.js'
import type { Comparison, Operand } from '../../types/query.js'
import { codecOf, nounForAll, readFilterValue } from '../codec/codecs.js'
import { echoed } from '../common/echo.js'
import { isArray, storedOf } from '../common/members.js'
import { operatorInfo } from '../language/operators.js'
import { compareField } from './compare.js'
import { mayHide } from './shown.js'

/** Compares a column with the values that a client wrote. `fault` creates the error for an invalid value. */
export function comparisonOf(
  { operator, operands, ignoreCase }: Pick<Comparison, 'operator' | 'operands' | 'ignoreCase'>,
  column: Column,
  mayBeNull: boolean,
  fault: (message: string) => Error,
): Predicate {
  const { field } = column
  const { operators } = field
  // A comparison with a list only tests whether the list has a value.
  const { valueType } = isArray(field) ? storedOf(field) : field
  const { token, nulls } = operatorInfo(operator)
  if (field.item !== undefined && operators.size === 0) {
    throw fault(`the operator "${token}" cannot be used with an array; use Any, All, None or Count to filter its items`)
  }
  if (!operators.has(operator)) {
    const what = isArray(field) ? 'a list of texts' : nounForAll(valueType)
    throw fault(`the operator "${token}" cannot be used with ${what}`)
  }
  const asksForNull = (operand: Operand): boolean => operand.isNull && nulls
  const hasNull = operands.some(asksForNull)
  if (hasNull && !mayBeNull && !mayHide(field)) throw fault('it is never null')
  const values = operands
    .filter((operand) => !asksForNull(operand))
    .map(({ text }) => {
      const value = readFilterValue(valueType, text)
      if (value !== null) return value
      throw fault(`"${echoed(text)}" is not ${codecOf(valueType).noun(valueType)}${hintFor(text)}`)
    })
  return compareField(column, operator, { hasNull, values }, ignoreCase)
}

/** Hint for operators of other query languages. */
function hintFor(text: string): string {
  if (/\s(?:and|or)\s|&/i.test(text)) return ' (between comparisons "," means and, "|" means or)'
  return /^(?:'.*'|".*")$/.test(text) ? ' (there are no quotes around values)' : ''
}
