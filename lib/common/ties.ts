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
 * Holds what ties a new record to its owner, by attribute, against what the resource would set by itself.
 *
 * @throws Problem 403 where the caller may create records of other owners only
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

/** Connecting records sets foreign keys, which is a write of them. @throws Problem 403 if one of these is masked for the caller */
export function assertWritable({ behaviours: { writable } }: Resource, keys: readonly Field[], caller: Caller): void {
  if (writable === null || keys.every((field) => writable(field, caller))) return
  throw problem('forbidden', { detail: 'You may not do this.' })
}

/** The condition that the records of one owner meet. */
export function owned({ key, fixed }: Pick<Tie, 'key' | 'fixed'>, value: unknown): Predicate {
  const parts = [...fixed].map(([field, each]) => (each === null ? isNull(field, false) : joinedTo(field, [each])))
  return parts.reduce<Predicate>((all, part) => both(all, part), joinedTo(key, [plainOf(key, value)]))
}
