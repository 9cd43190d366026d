import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { PolicyContext } from '../../types/identity.js'
import type { SingleIntent } from '../../types/intent.js'
import type { Caller, CreatePlan, Predicate, SinglePlan, UpdatePlan } from '../../types/plan.js'
import type { Behaviour, Confinement, Fixed, OperationName, Resource } from '../../types/resource.js'
import { folded } from '../common/folded.js'
import { keyOfValues } from '../common/keys.js'
import { isList } from '../common/listing.js'
import { isObject } from '../common/object.js'
import { both, within } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { Remembered } from '../common/remembered.js'
import { isFunction, option } from '../config/checks.js'
import { isKept, readAs } from './scopeValues.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /**
     * Makes the resource a singleton: one record per caller, at the route itself. The function returns its key; a
     * composite key is an object by attribute. `null` is no record (404).
     */
    readonly singleton?: SingletonFunction
  }
}

type KeyPart = string | number | bigint | boolean

/** The key of the caller's record; null for a caller without a record. */
export type SingletonKey = KeyPart | { readonly [attribute: string]: KeyPart } | null

/** Returns the key of the caller's record. `undefined` is an error (500). */
export type SingletonFunction = (context: PolicyContext) => SingletonKey | Promise<SingletonKey>

/** Limits every path to the caller's one record. */
export const singleton: BehaviourDefinition = {
  options: { singleton: option(isFunction, 'a function', { guards: true }) },
  prepare: (_, { singleton: keyOf }) =>
    keyOf === undefined
      ? null
      : {
          facts: { asksIdentity: true, restricts: true },
          documented: { scoped: true },
          behaviour: () => behaviourOf(keyOf),
        },
}

function behaviourOf(keyOf: SingletonFunction): Behaviour {
  const known = new Remembered<Promise<Fixed | null>>()
  // Evaluated once per request.
  const foundFor = (
    resource: Resource,
    operation: OperationName,
    caller: Caller,
    action?: string,
  ): Promise<Fixed | null> => {
    const before = known.of(caller)
    if (before !== undefined) return before
    const answer = ask(keyOf, resource, operation, caller, action)
    known.set(caller, answer)
    return answer
  }
  const ownFor = async (
    resource: Resource,
    operation: OperationName,
    caller: Caller,
    action?: string,
  ): Promise<Fixed> => {
    const found = await foundFor(resource, operation, caller, action)
    if (found === null) throw problem('not-found')
    return found
  }
  const confine = async (resource: Resource, caller: Caller, operation: OperationName = 'getById') =>
    confinedTo(await ownFor(resource, operation, caller))
  return {
    admit: async (resource, operation, caller, action) => {
      await ownFor(resource, operation, caller, action)
    },
    accept: async (resource, intent, caller) => accepted(intent, await ownFor(resource, 'create', caller)),
    amend: async (resource, plan, caller) => amended(resource, plan, await ownFor(resource, 'getById', caller)),
    reach: async (resource, caller) => {
      const found = await foundFor(resource, 'getById', caller)
      return found === null ? false : within(confinedTo(found))
    },
    confine,
    ownKey: async (resource, caller) => {
      const fixed = await ownFor(resource, 'getById', caller)
      return String(
        keyOfValues(
          resource.keys,
          fixed.map(([, value]) => value),
        ),
      )
    },
    headers: { Vary: 'Authorization, Cookie', 'Cache-Control': 'private' },
  }
}

function confinedTo(fixed: Fixed): Confinement {
  return { fixed, where: null, sources: [] }
}

/** @throws TypeError for anything but null or a key of the resource */
async function ask(
  keyOf: SingletonFunction,
  resource: Resource,
  operation: OperationName,
  { request, identity }: Caller,
  action?: string,
): Promise<Fixed | null> {
  const asked = { request, identity, operation, resource }
  const key: unknown = await keyOf(action === undefined ? asked : { ...asked, action })
  if (key === null) return null
  const { keys, name } = resource
  if (keys.length === 1) return [[resource.key, partOf(name, resource.key, key)]]
  const parts: Readonly<Record<string, unknown>> = isObject(key) ? key : {}
  const unknown = Object.keys(parts).find((part) => !keys.some((field) => field.name === part))
  if (unknown !== undefined) throw new TypeError(`${name}: singleton returned ${unknown}, which is not part of the key`)
  return keys.map((field) => [field, partOf(name, field, parts[field.name])])
}

function partOf(resource: string, field: Field, given: unknown): Fixed[number][1] {
  const value = typeof given === 'bigint' ? String(given) : given
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  const read = isScalar ? readAs(field, value) : null
  // A rounded or truncated value could be the key of another record.
  if (read !== null && isKept(field, read)) return read
  throw new TypeError(`${resource}: singleton must return a value of type ${field.valueType.type} for ${field.name}`)
}

/** Sets the key of a new record, whatever the body contains. */
function accepted(intent: SingleIntent, fixed: Fixed): SingleIntent {
  switch (intent.kind) {
    case 'create':
      return { ...intent, body: keyed(intent.body, fixed) }
    case 'bulkCreate':
      return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? keyed(body, fixed) : body)) }
    case 'update':
      return { ...intent, body: withoutKey(intent.body, fixed) }
    default:
      return intent
  }
}

type Body = Readonly<Record<string, unknown>>

function withoutKey(body: Body, fixed: Fixed): Body {
  const names = new Set(fixed.map(([{ json }]) => folded(json)))
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(folded(name))))
}

/** Adds the key to the body for the validation, which may require it. */
function keyed(body: Body, fixed: Fixed): Body {
  return {
    ...withoutKey(body, fixed),
    ...Object.fromEntries(fixed.map(([{ json, decode }, value]) => [json, decode(value)])),
  }
}

function amended(resource: Resource, plan: SinglePlan, fixed: Fixed): SinglePlan {
  // The parts of an action's plan find and show the record themselves.
  if (plan.kind === 'action') return plan
  const limit = within(confinedTo(fixed))
  if (plan.kind === 'create' || plan.kind === 'bulkCreate') {
    const upkeep = new Map([...plan.upkeep, ...fixed.map(([{ name }, value]) => [name, value] as const)])
    const isRevivable =
      plan.kind === 'create' && limit !== null && resource.softDeletes && resource.operations.has('restore')
    return isRevivable ? { ...plan, upkeep, revives: revived(resource, plan, limit) } : { ...plan, upkeep }
  }
  // Written twice for the types: only a list may have no condition.
  return isList(plan) ? { ...plan, where: both(plan.where, limit) } : { ...plan, where: both(plan.where, limit) }
}

/**
 * Restores the caller's deleted record with the values of a new one. Attributes that the body omits get their defaults.
 */
function revived({ keys, fields }: Resource, plan: CreatePlan, identity: Predicate): UpdatePlan {
  const { changes, invalid, projection, instant } = plan
  const own = new Set(keys.map(({ name }) => name))
  const absent = fields.filter(
    ({ name, targets, virtual }) => targets.has('create') && !virtual && !changes.has(name) && !own.has(name),
  )
  return {
    kind: 'restore',
    operation: 'create',
    key: '',
    identity,
    where: identity,
    precondition: null,
    changes: new Map([...changes].filter(([name]) => !own.has(name))),
    upkeep: { values: new Map(), increments: [] },
    invalid,
    match: null,
    absent: new Set(absent.map(({ name }) => name)),
    projection,
    instant,
    before: null,
    after: null,
  }
}
