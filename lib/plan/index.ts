import type { Intent } from '../../types/intent.js'
import type { Caller, Plan, Predicate, Projection, Upkeep, View } from '../../types/plan.js'
import type { Changes, Resource, Validation } from '../../types/resource.js'
import { type ProblemErrors, problem } from '../problem.js'
import { byKey, readKey } from './key.js'
import { planList } from './list.js'
import { fullProjection } from './projection.js'

/**
 * What an intent means for this resource and caller.
 *
 * @throws Problem for what means nothing here: unknown fields, values of the wrong type, keys that cannot be keys,
 * bodies that do not validate
 */
export function plan(resource: Resource, intent: Intent, { instant }: Caller, view: View): Plan {
  const response = (): Projection => fullProjection(resource, 'response', view)
  switch (intent.kind) {
    case 'list':
      return planList(resource, intent, view)
    case 'get':
      return { kind: 'get', where: identityOf(resource, intent.key), projection: response() }
    case 'create':
      return {
        kind: 'create',
        changes: accepted(resource.validateCreate(intent.body)),
        upkeep: new Map(),
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    case 'update': {
      const identity = identityOf(resource, intent.key)
      const verdict = resource.validateUpdate(intent.body)
      return {
        kind: 'update',
        identity,
        where: identity,
        precondition: null,
        changes: 'changes' in verdict ? verdict.changes : new Map(),
        upkeep: NO_UPKEEP,
        invalid: 'errors' in verdict ? verdict.errors : null,
        match: intent.match,
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    }
    case 'restore': {
      const identity = identityOf(resource, intent.key)
      return {
        kind: 'restore',
        identity,
        where: identity,
        precondition: null,
        changes: new Map(),
        upkeep: NO_UPKEEP,
        invalid: null,
        match: null,
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    }
    case 'delete': {
      const { key, match } = intent
      const where = identityOf(resource, key)
      return { kind: 'delete', where, precondition: null, match, mark: null, instant, ...UNHOOKED }
    }
    case 'bulkCreate':
      return {
        kind: 'bulkCreate',
        records: acceptedAll(resource, intent.bodies),
        upkeep: new Map(),
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    case 'bulkDelete': {
      const where = byKey(resource.key, distinctKeys(resource, intent.keys))
      return { kind: 'bulkDelete', where, mark: null, instant, ...UNHOOKED }
    }
  }
}

const UNHOOKED = { before: null, after: null } as const
const NO_UPKEEP: Upkeep = { values: new Map(), increments: [] }

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

export { viewNow, viewOf } from './view.js'
