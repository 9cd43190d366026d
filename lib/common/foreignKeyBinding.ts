import type { Changes } from '../../types/changes.js'
import type { Field } from '../../types/field.js'
import type { Caller, Predicate } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { ForeignKeyBinding } from '../../types/work.js'
import { requireField } from './columns.js'
import { NO_PERMISSION } from './denials.js'
import { toPlainValue } from './plainValue.js'
import { addCondition, matchNull, matchStoredValues } from './predicates.js'
import { problem } from './problem.js'

/** Error text for creating or linking children of a parent whose referenced attribute is null. */
export const NO_REFERENCED_VALUE =
  'No record can refer to this record, because the field that foreign keys refer to is null.'

/**
 * Compares a new child's foreign keys with the values that the child's resource sets itself, for example by a scope.
 * @throws Problem 403 if a value differs
 */
export function assertSameForeignKeys(
  { fields }: Pick<Resource, 'fields'>,
  serverValues: Changes,
  keys: Iterable<readonly [name: string, value: unknown]>,
): void {
  for (const [name, value] of keys) {
    if (!serverValues.has(name)) continue
    const { json, decode } = requireField(fields, name)
    if (String(decode(serverValues.get(name))) === String(decode(value))) continue
    throw problem('forbidden', { detail: `You may not create a record with this ${json}.` })
  }
}

/**
 * Checks that no mask protects the foreign keys that linking writes. @throws Problem 403 if a mask protects one of the
 * keys
 */
export function assertKeysWritable(
  { behaviours: { writable } }: Resource,
  keys: readonly Field[],
  caller: Caller,
): void {
  if (writable === null || keys.every((field) => writable(field, caller))) return
  throw problem('forbidden', { detail: NO_PERMISSION })
}

/** Returns the condition for the children of one parent. */
export function matchChildren({ key, fixed }: Pick<ForeignKeyBinding, 'key' | 'fixed'>, value: unknown): Predicate {
  const parts = [...fixed].map(([field, each]) =>
    each === null ? matchNull(field, false) : matchStoredValues(field, [each]),
  )
  return parts.reduce<Predicate>(
    (all, part) => addCondition(all, part),
    matchStoredValues(key, [toPlainValue(key, value)]),
  )
}
