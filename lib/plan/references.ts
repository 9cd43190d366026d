import type { Field } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { Caller, Predicate } from '../../types/plan.js'
import type { ForeignKeyReference, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import type { ForeignKeyCheck } from '../../types/work.js'
import { requireField } from '../common/columns.js'
import { addCondition, matchScope } from '../common/predicates.js'
import { isRefusal } from '../common/problem.js'

const NONE: readonly ForeignKeyReference[] = Object.freeze([])

/**
 * Returns the foreign keys that a body of an intent contains. Includes the key in the path if the request can create a
 * record.
 */
export function referencesInBodies({ references, keys }: Resource, intent: Intent): readonly ForeignKeyReference[] {
  const bodies = bodiesInIntent(intent)
  if (bodies.length === 0) return NONE
  const all = references()
  const isKey = (field: Field): boolean => intent.kind === 'replace' && keys.includes(field)
  return all.length === 0
    ? NONE
    : all.filter(({ field }) => isKey(field) || bodies.some((body) => hasMember(body, field.json)))
}

function bodiesInIntent(intent: Intent): readonly unknown[] {
  if ('body' in intent) return [intent.body]
  if ('update' in intent) return [intent.update, intent.create]
  if (intent.kind === 'bulkUpdate') return intent.items.map((item) => item?.body)
  if (intent.kind === 'upsert') return intent.items.flatMap((item) => [item?.update, item?.create])
  return 'bodies' in intent ? intent.bodies : []
}

function hasMember(body: unknown, name: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
}

/**
 * Returns the condition on the records that a caller's bodies may refer to by a foreign key. Combines the scopes and
 * base conditions of all resources over the model. Does not evaluate policies and masks, because they restrict only
 * reads.
 */
export async function referenceConditionOf(
  { resources }: ForeignKeyReference,
  caller: Caller,
): Promise<Predicate | null> {
  let where: Predicate | null = null
  for (const resource of resources) where = addCondition(where, await referableRecordsOf(resource, caller))
  return where
}

/**
 * Returns the condition on the records of a resource that a caller may refer to, independent of policies and masks for
 * reads.
 */
export async function referableRecordsOf(resource: Resource, caller: Caller): Promise<Predicate | null> {
  const { resolveScope, staticCondition } = resource.behaviours
  return addCondition(await resolveReferenceScope(resource, resolveScope, caller), staticCondition?.(resource) ?? null)
}

/**
 * Returns the scope of a resource for references. If a scope throws a Problem, the caller may refer to no record, but
 * the request continues.
 */
async function resolveReferenceScope(
  resource: Resource,
  confine: Resource['behaviours']['resolveScope'],
  caller: Caller,
): Promise<Predicate | null> {
  if (confine === null) return null
  try {
    return matchScope(await confine(resource, caller))
  } catch (error) {
    if (isRefusal(error)) return { kind: 'never' }
    throw error
  }
}

/** Plans the foreign key checks of a request. A foreign key that may refer to every record needs no check. */
export function planForeignKeyChecks({ references, readable }: View): readonly ForeignKeyCheck[] {
  return [...references].flatMap(([reference, guard]) => {
    const { field, key: name, resources } = reference
    const [target] = resources
    const isShown = (field.targets.has('response') || field.targets.has('list')) && readable(field, null)
    const key = requireField(target.fields, name)
    const isBinding = reference.isEnforced && guard !== null
    return isBinding || key.valueType.type === 'uuid'
      ? [{ field, target, key, condition: guard, isEnforced: isBinding, isReadable: isShown }]
      : []
  })
}
