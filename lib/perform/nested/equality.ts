import type { Field } from '../../../types/field.js'
import type { Resource } from '../../../types/resource.js'
import type { Faults, StatedKey } from '../../../types/work.js'
import { allErrors, errorsAt } from '../../common/bodyErrors.js'
import { ownColumn } from '../../common/columns.js'
import { plainOf } from '../../common/plain.js'
import { both, joinedTo } from '../../common/predicates.js'
import { isSameValue } from '../../common/same.js'
import { isStorableText } from '../../common/values.js'
import { some } from '../read.js'
import type { Store } from '../store.js'

/** Whether a value in a body equals a stored value, exactly or by the database's collation. */
export async function equalsStored(store: Store, field: Field, stored: unknown, stated: unknown): Promise<boolean> {
  if (stored === null || stored === undefined) return stated === null
  if (isSameValue(field, stated, field.decode(stored))) return true
  if (field.valueType.type !== 'string' || typeof stated !== 'string' || !isStorableText(stated)) return false
  const where = both(joinedTo(field, [stated]), joinedTo(field, [plainOf(field, stored)]))
  return (await some(store, where, [ownColumn(field)], 1)).length > 0
}

/** Errors of keys in bodies that differ from the expected keys. */
export async function errorsOfStated(
  resource: Resource,
  all: readonly StatedKey[],
  isEqual: (stated: StatedKey) => Promise<boolean>,
): Promise<Faults> {
  const errors: Faults[] = []
  for (const stated of all) {
    if (!(await isEqual(stated))) errors.push(errorsAt(resource, [stated.place], stated.end))
  }
  return allErrors(errors)
}
