import type { Field } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { Caller, Predicate } from '../../types/plan.js'
import type { Reference, Resource } from '../../types/resource.js'
import { both, confined } from '../common/predicates.js'
import { isRefusal } from '../common/problem.js'

const NONE: readonly Reference[] = Object.freeze([])

/** The foreign keys that a body of an intent names, or the key in its path where it may make a record. */
export function referencesIn({ references, keys }: Resource, intent: Intent): readonly Reference[] {
  const bodies = bodiesOf(intent)
  if (bodies.length === 0) return NONE
  const all = references()
  const isKey = (field: Field): boolean => intent.kind === 'replace' && keys.includes(field)
  return all.length === 0
    ? NONE
    : all.filter(({ field }) => isKey(field) || bodies.some((body) => has(body, field.json)))
}

function bodiesOf(intent: Intent): readonly unknown[] {
  if ('body' in intent) return [intent.body]
  if ('update' in intent) return [intent.update, intent.create]
  if (intent.kind === 'bulkUpdate') return intent.items.map((item) => item?.body)
  if (intent.kind === 'upsert') return intent.items.flatMap((item) => [item?.update, item?.create])
  return 'bodies' in intent ? intent.bodies : []
}

function has(body: unknown, name: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
}

/**
 * What a record must meet that a caller's bodies may point at: what every resource over its model lets the caller meet,
 * whatever its policies and masks say of reading.
 */
export async function pointableOf({ resources }: Reference, caller: Caller): Promise<Predicate | null> {
  let where: Predicate | null = null
  for (const resource of resources) where = both(where, await meetableOf(resource, caller))
  return where
}

/** What a resource's records meet that a caller may, whatever its policies and masks say of reading. */
export async function meetableOf(resource: Resource, caller: Caller): Promise<Predicate | null> {
  const { confine, standing } = resource.behaviours
  return both(await within(resource, confine, caller), standing?.(resource) ?? null)
}

/** A scope that refuses the caller leaves no record to point at; it is not the answer to a request of another resource. */
async function within(
  resource: Resource,
  confine: Resource['behaviours']['confine'],
  caller: Caller,
): Promise<Predicate | null> {
  if (confine === null) return null
  try {
    return confined(await confine(resource, caller))
  } catch (error) {
    if (isRefusal(error)) return { kind: 'never' }
    throw error
  }
}
