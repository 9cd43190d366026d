import type { FilterValue } from '../../types/field.js'
import type { Column, Predicate } from '../../types/plan.js'
import type { Comparison } from '../../types/query.js'
import { codecOf, nounForAll, readFilterValue } from '../codec/codecs.js'
import { isArrayField, storedFieldOf } from '../common/jsonMembers.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { operatorInfoOf } from '../language/operators.js'
import { compareField } from './compare.js'
import { canBeShownAsNull } from './visibleValues.js'

/** Compares a column with the values that a client sent. `fault` creates the error for an invalid value. */
export function planComparison(
  { operator, operands, ignoreCase }: Pick<Comparison, 'operator' | 'operands' | 'ignoreCase'>,
  column: Column,
  mayBeNull: boolean,
  fault: (message: string) => Error,
): Predicate {
  const { field } = column
  const { operators } = field
  // A comparison with a list only tests whether one item of the list matches.
  const { valueType } = isArrayField(field) ? storedFieldOf(field) : field
  const { token, nulls } = operatorInfoOf(operator)
  if (field.item !== undefined && operators.size === 0) {
    throw fault(`the operator "${token}" cannot be used with an array; use Any, All, None or Count to filter its items`)
  }
  if (!operators.has(operator)) {
    const what = isArrayField(field) ? 'a list of texts' : nounForAll(valueType)
    throw fault(`the operator "${token}" cannot be used with ${what}`)
  }
  const hasNull = nulls && operands.some(({ isNull }) => isNull)
  if (hasNull && !mayBeNull && !canBeShownAsNull(field)) throw fault('it is never null')
  const values: FilterValue[] = []
  for (const { text, isNull } of operands) {
    if (isNull && nulls) continue
    const value = readFilterValue(valueType, text)
    if (value === null)
      throw fault(`"${truncateEcho(text)}" is not ${codecOf(valueType).noun(valueType)}${hintForValue(text)}`)
    values.push(value)
  }
  return compareField(column, operator, { hasNull, values }, ignoreCase)
}

/** Returns a hint for operators of other query languages. */
function hintForValue(text: string): string {
  if (/\s(?:and|or)\s|&/i.test(text)) return ' (between comparisons "," means and, "|" means or)'
  return /^(?:'.*'|".*")$/.test(text) ? ' (there are no quotes around values)' : ''
}
