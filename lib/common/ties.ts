import type { Changes } from '../../types/changes.js'
import type { Resource } from '../../types/resource.js'
import { fieldNamed } from './columns.js'
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
