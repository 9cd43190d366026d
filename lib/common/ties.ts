import type { Changes } from '../../types/changes.js'
import type { Field } from '../../types/field.js'
import type { Caller, Predicate } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Tie } from '../../types/work.js'
import { fieldNamed } from './columns.js'
import { plainOf } from './plain.js'
import { both, isNull, joinedTo } from './predicates.js'
import { problem } from './problem.js'

/**
 * Compares a new child's foreign key values with the values that the child's resource sets itself.
 *
 * @throws Problem 403 if the caller may only create records with other values
 */
export function assertTied(
  { fields }: Pick<Resource, 'fields'>,
  upkeep: Changes,
  ties: Iterable<readonly [name: string, value: unknown]>,
): void {
  for (const [name, value] of ties) {
    if (!upkeep.has(name)) continue
    const { json, decode } = fieldNamed(fields, name)
    if (String(decode(upkeep.get(name))) === String(decode(value))) continue
    throw problem('forbidden', { detail: `You may not create a record with this ${json}.` })
  }
}

/** Linking records writes their foreign keys. @throws Problem 403 if a mask protects one of them */
export function assertWritable({ behaviours: { writable } }: Resource, keys: readonly Field[], caller: Caller): void {
  if (writable === null || keys.every((field) => writable(field, caller))) return
  throw problem('forbidden', { detail: 'You may not do this.' })
}

/** The condition on the children of one parent. */
export function owned({ key, fixed }: Pick<Tie, 'key' | 'fixed'>, value: unknown): Predicate {
  const parts = [...fixed].map(([field, each]) => (each === null ? isNull(field, false) : joinedTo(field, [each])))
  return parts.reduce<Predicate>((all, part) => both(all, part), joinedTo(key, [plainOf(key, value)]))
}
