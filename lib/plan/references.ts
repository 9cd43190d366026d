import type { Field } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { Caller, Predicate } from '../../types/plan.js'
import type { Reference, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import type { Pointer } from '../../types/work.js'
import { fieldNamed } from '../common/columns.js'
import { both, within } from '../common/predicates.js'
import { isRefusal } from '../common/problem.js'

const NONE: readonly Reference[] = Object.freeze([])

/** Foreign keys that a body of an intent names. Includes the key in the path if the request can create a record. */
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
 * Condition on the records that a caller's bodies may refer to by a foreign key. It combines the scopes and base conditions of all
 * resources over the model. Policies and masks restrict reads only and are not evaluated.
 */
export async function targetsOf({ resources }: Reference, caller: Caller): Promise<Predicate | null> {
  let where: Predicate | null = null
  for (const resource of resources) where = both(where, await meetableOf(resource, caller))
  return where
}

/** Condition on the records of a resource that a caller may refer to, independent of policies and masks for reads. */
export async function meetableOf(resource: Resource, caller: Caller): Promise<Predicate | null> {
  const { confine, standing } = resource.behaviours
  return both(await confinedBy(resource, confine, caller), standing?.(resource) ?? null)
}

/** Scope of a resource for references. A scope that refuses the caller leaves no record to refer to, but does not reject the request. */
async function confinedBy(
  resource: Resource,
  confine: Resource['behaviours']['confine'],
  caller: Caller,
): Promise<Predicate | null> {
  if (confine === null) return null
  try {
    return within(await confine(resource, caller))
  } catch (error) {
    if (isRefusal(error)) return { kind: 'never' }
    throw error
  }
}

/** Foreign key checks of a request. Foreign keys that may refer to every record have no check. */
export function planPointers({ references, readable }: View): readonly Pointer[] {
  return [...references].flatMap(([reference, guard]) => {
    const { field, key: name, resources } = reference
    const [target] = resources
    const isShown = (field.targets.has('response') || field.targets.has('list')) && readable(field, null)
    const key = fieldNamed(target.fields, name)
    const isBinding = reference.isBinding && guard !== null
    return isBinding || key.valueType.type === 'uuid' ? [{ field, target, key, guard, isBinding, isShown }] : []
  })
}
