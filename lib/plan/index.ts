import type { Intent } from '../../types/intent.js'
import type { Caller, Plan, Predicate } from '../../types/plan.js'
import type { Changes, Resource, Validation } from '../../types/resource.js'
import { type ProblemErrors, problem } from '../problem.js'
import { OPEN } from './context.js'
import { byKey, readKey } from './key.js'
import { planList } from './list.js'
import { fullProjection } from './projection.js'

/**
 * What an intent means for this resource and caller.
 *
 * @throws Problem for what means nothing here: unknown fields, values of the wrong type, keys that cannot be keys,
 * bodies that do not validate
 */
export function plan(resource: Resource, intent: Intent, caller: Caller): Plan {
  const { instant } = caller
  switch (intent.kind) {
    case 'list':
      return planList(resource, intent, OPEN)
    case 'get':
      return { kind: 'get', where: identityOf(resource, intent.key), projection: responseOf(resource) }
    case 'create':
      return {
        kind: 'create',
        changes: accepted(resource.validateCreate(intent.body)),
        projection: responseOf(resource),
        instant,
      }
    case 'update': {
      const identity = identityOf(resource, intent.key)
      const verdict = resource.validateUpdate(intent.body)
      const changes: Changes = 'changes' in verdict ? verdict.changes : new Map()
      const invalid = 'errors' in verdict ? verdict.errors : null
      return { kind: 'update', identity, where: identity, changes, invalid, projection: responseOf(resource), instant }
    }
    case 'delete':
      return { kind: 'delete', where: identityOf(resource, intent.key), mark: null }
    case 'bulkCreate':
      return {
        kind: 'bulkCreate',
        records: acceptedAll(resource, intent.bodies),
        projection: responseOf(resource),
        instant,
      }
    case 'bulkDelete':
      return { kind: 'bulkDelete', where: byKey(resource.key, distinctKeys(resource, intent.keys)), mark: null }
  }
}

function responseOf(resource: Resource): ReturnType<typeof fullProjection> {
  return fullProjection(resource, 'response', OPEN)
}

function identityOf({ key }: Resource, text: string): Predicate {
  const value = readKey(key, text)
  if (value === null) throw problem('not-found')
  return byKey(key, [value])
}

function accepted(verdict: Validation): Changes {
  if ('changes' in verdict) return verdict.changes
  throw problem('validation', { errors: verdict.errors })
}

/** All bodies or none: every failure is told under its place in the array. */
function acceptedAll({ validateCreate }: Resource, bodies: readonly unknown[]): readonly Changes[] {
  const records: Changes[] = []
  const errors: [string, readonly string[]][] = []
  for (const [index, body] of bodies.entries()) {
    if (!isObject(body)) {
      errors.push([`[${index}]`, ['must be an object.']])
      continue
    }
    const verdict = validateCreate(body)
    if ('changes' in verdict) records.push(verdict.changes)
    else for (const [name, messages] of Object.entries(verdict.errors)) errors.push([`[${index}].${name}`, messages])
  }
  if (errors.length > 0) throw problem('validation', { errors: Object.fromEntries(errors) as ProblemErrors })
  return records
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The keys that can be keys, each once: what cannot be one belongs to no record. */
function distinctKeys({ key }: Resource, keys: readonly unknown[]): readonly (string | number)[] {
  const read = keys
    .filter((each) => typeof each === 'string' || typeof each === 'number')
    .map((each) => readKey(key, String(each)))
    .filter((each) => each !== null)
  return [...new Set(read)]
}
