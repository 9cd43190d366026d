import type { Field } from '../../../types/field.js'
import type { Resource } from '../../../types/resource.js'
import type { BodyKey, ErrorsByPlace } from '../../../types/work.js'
import { errorsAt, mergeErrors } from '../../common/bodyErrors.js'
import { ownColumn } from '../../common/columns.js'
import { toPlainValue } from '../../common/plainValue.js'
import { addCondition, matchStoredValues } from '../../common/predicates.js'
import { isSameValue } from '../../common/sameValue.js'
import { isStorableText } from '../../common/values.js'
import { readVisible } from '../read.js'
import type { StatementContext } from '../store.js'

/** Whether a value in a body equals a stored value, exactly or by the database's collation. */
export async function isEqualToStored(
  store: StatementContext,
  field: Field,
  stored: unknown,
  stated: unknown,
): Promise<boolean> {
  if (stored === null || stored === undefined) return stated === null
  if (isSameValue(field, stated, field.decode(stored))) return true
  if (field.valueType.type !== 'string' || typeof stated !== 'string' || !isStorableText(stated)) return false
  const where = addCondition(
    matchStoredValues(field, [stated]),
    matchStoredValues(field, [toPlainValue(field, stored)]),
  )
  return (await readVisible(store, where, [ownColumn(field)], 1)).length > 0
}

/** Returns the errors of keys in bodies that differ from the expected keys. */
export async function collectBodyKeyErrors(
  resource: Resource,
  all: readonly BodyKey[],
  isEqual: (stated: BodyKey) => Promise<boolean>,
): Promise<ErrorsByPlace> {
  const errors: ErrorsByPlace[] = []
  for (const stated of all) {
    if (!(await isEqual(stated))) errors.push(errorsAt(resource, [stated.place], stated.end))
  }
  return mergeErrors(errors)
}
