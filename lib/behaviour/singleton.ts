import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { PolicyContext } from '../../types/identity.js'
import type { SingleIntent } from '../../types/intent.js'
import type { Caller, CreatePlan, Predicate, SinglePlan, UpdatePlan } from '../../types/plan.js'
import type { Behaviour, FixedValues, OperationName, ResolvedScope, Resource } from '../../types/resource.js'
import { mapBodies } from '../common/compositeWrites.js'
import { encodeKey } from '../common/keys.js'
import { isListPlan } from '../common/listPlan.js'
import { normalizeName } from '../common/normalizedName.js'
import { isObject } from '../common/object.js'
import { addCondition, matchScope } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { ignoreRejections } from '../common/promise.js'
import { isFunction, option } from '../config/checks.js'
import { contextOf, evaluateOncePerCaller, type Question } from './question.js'
import { isStoredUnchanged, readTypedValue } from './scopeValues.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /**
     * Makes the resource a singleton: one record per caller, at the route itself. The function returns the record's
     * key; a composite key is an object with attributes as keys. `null` means that the caller has no record (404).
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
  options: { singleton: option(isFunction, 'a function', { isRestrictive: true }) },
  prepare: (_, { singleton: keyOf }) =>
    keyOf === undefined
      ? null
      : {
          facts: { needsIdentity: true, isRestricted: true },
          documented: { isScoped: true },
          behaviour: () => createBehaviour(keyOf),
        },
}

function createBehaviour(keyOf: SingletonFunction): Behaviour {
  const evaluateOnce = evaluateOncePerCaller(async (...question) =>
    readOwnKey(question[0], await keyOf(contextOf(...question))),
  )
  const findOwnKey = async (...question: Question): Promise<FixedValues> => {
    const found = await evaluateOnce(...question)
    if (found === null) throw problem('not-found')
    return found
  }
  const confine = async (resource: Resource, caller: Caller, operation: OperationName = 'getById') =>
    confineToKey(await findOwnKey(resource, operation, caller))
  return {
    admit: async (resource, operation, caller, action) => {
      await findOwnKey(resource, operation, caller, action)
    },
    accept: async (resource, intent, caller) => acceptIntent(intent, await findOwnKey(resource, 'create', caller)),
    amend: async (resource, plan, caller) => amendPlan(resource, plan, await findOwnKey(resource, 'getById', caller)),
    visibleRecords: async (resource, caller) => {
      const found = await evaluateOnce(resource, 'getById', caller)
      return found === null ? false : matchScope(confineToKey(found))
    },
    resolveScope: confine,
    ownKey: async (resource, caller) => {
      const fixed = await findOwnKey(resource, 'getById', caller)
      return String(
        encodeKey(
          resource.keys,
          fixed.map(([, value]) => value),
        ),
      )
    },
    headers: { Vary: 'Authorization, Cookie', 'Cache-Control': 'private' },
  }
}

function confineToKey(fixed: FixedValues): ResolvedScope {
  return { fixed, where: null, sources: [] }
}

/** Reads the result of the host's function. @throws TypeError for a result other than null or a key of the resource */
function readOwnKey(resource: Resource, key: unknown): FixedValues | null {
  if (key === null) return null
  // A promise is refused below.
  ignoreRejections(key)
  const { keys, name } = resource
  if (keys.length === 1) return [[resource.key, readKeyPart(name, resource.key, key)]]
  const parts: Readonly<Record<string, unknown>> = isObject(key) ? key : {}
  const unknown = Object.keys(parts).find((part) => !keys.some((field) => field.name === part))
  if (unknown !== undefined)
    throw new TypeError(`${name}: singleton returned the member "${unknown}", which is not an attribute of the key`)
  return keys.map((field) => [field, readKeyPart(name, field, parts[field.name])])
}

function readKeyPart(resource: string, field: Field, given: unknown): FixedValues[number][1] {
  const value = typeof given === 'bigint' ? String(given) : given
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  const read = isScalar ? readTypedValue(field, value) : null
  // A rounded or truncated value could be the key of another record.
  if (read !== null && isStoredUnchanged(field, read)) return read
  throw new TypeError(
    `${resource}: singleton must return a value of type ${field.valueType.type} for the key attribute "${field.name}", or null for no record`,
  )
}

/** Sets the key of new records and removes it from updates, whatever the body contains. */
function acceptIntent(intent: SingleIntent, fixed: FixedValues): SingleIntent {
  return mapBodies(intent, (body) => (intent.kind === 'update' ? removeKey(body, fixed) : addKey(body, fixed)))
}

type Body = Readonly<Record<string, unknown>>

function removeKey(body: Body, fixed: FixedValues): Body {
  const names = new Set(fixed.map(([{ json }]) => normalizeName(json)))
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(normalizeName(name))))
}

/** Adds the key to a body, because the validation may require it. */
function addKey(body: Body, fixed: FixedValues): Body {
  return {
    ...removeKey(body, fixed),
    ...Object.fromEntries(fixed.map(([{ json, decode }, value]) => [json, decode(value)])),
  }
}

function amendPlan(resource: Resource, plan: SinglePlan, fixed: FixedValues): SinglePlan {
  // The parts of an action's plan find and show the record by themselves.
  if (plan.kind === 'action') return plan
  const limit = matchScope(confineToKey(fixed))
  if (plan.kind === 'create' || plan.kind === 'bulkCreate') {
    const serverValues = new Map([...plan.serverValues, ...fixed.map(([{ name }, value]) => [name, value] as const)])
    const isRevivable =
      plan.kind === 'create' && limit !== null && resource.softDeletes && resource.operations.has('restore')
    return isRevivable
      ? { ...plan, serverValues, revives: planRevival(resource, plan, limit) }
      : { ...plan, serverValues }
  }
  // TypeScript needs two equal branches, because only list plans may have no condition.
  return isListPlan(plan)
    ? { ...plan, where: addCondition(plan.where, limit) }
    : { ...plan, where: addCondition(plan.where, limit) }
}

/**
 * Plans the restoration of the caller's deleted record with the values of a new record. Attributes that the body omits
 * get their defaults.
 */
function planRevival({ keys, fields }: Resource, plan: CreatePlan, identity: Predicate): UpdatePlan {
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
    serverValues: { values: new Map(), increments: [] },
    invalid,
    match: null,
    missingAttributes: new Set(absent.map(({ name }) => name)),
    projection,
    instant,
    before: null,
    after: null,
  }
}
