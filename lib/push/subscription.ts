import type { Field, JsonValue } from '../../types/field.js'
import type { Caller, Predicate } from '../../types/plan.js'
import type { Confinement, Fixed, Reachable, Resource } from '../../types/resource.js'
import type { ConditionSource } from '../../types/rooms.js'
import type { View } from '../../types/view.js'
import { holds } from '../behaviour/mask.js'
import { conditionFrom } from '../behaviour/scopeAnswer.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { isObject } from '../common/object.js'
import { both, confined } from '../common/predicates.js'
import { EXACT_DIGITS } from '../common/values.js'
import { flattenedOf, flattenedResources, reachOf, viewBy } from '../plan/index.js'

type Scalar = string | number | boolean | null

/** A fixed attribute with its value. An array names an attribute of the record itself that has the same value. */
type Limit = readonly [attribute: string, value: Scalar | readonly [own: string]]

type Beyond = readonly [resource: string, limits: readonly Limit[], condition: readonly ConditionSource[]]

/**
 * A class of callers who see the same of every record. It is plain data, so that servers of a cluster can exchange it.
 * Attributes and resources that it does not name stay hidden.
 */
export interface Subscription {
  /** `list` for callers who may list records but not get one: they see what lists show. */
  readonly shape: 'response' | 'list'
  /** Permissions of the callers, limited to those that masks use. */
  readonly held: readonly string[]
  /** Attributes that the scope fixes. Their values choose the room. */
  readonly within: readonly string[]
  /**
   * Limits on flattened records of guarded resources, by values or by a condition. Records of a guarded resource
   * without an entry are hidden.
   */
  readonly beyond: readonly Beyond[]
  /**
   * The whole scope, including the values that it fixes, if the scope has a condition. It then chooses the room alone.
   * Otherwise empty.
   */
  readonly condition: readonly ConditionSource[]
}

/** The subscription of a caller, and the values that the caller's scope fixes. */
export async function subscriptionOf(
  resource: Resource,
  shape: Subscription['shape'],
  caller: Caller,
  confinement: Confinement,
): Promise<{ readonly subscription: Subscription; readonly values: readonly JsonValue[] }> {
  const condition = conditionOf(confinement)
  const fixed = condition.length === 0 ? fixedIn(resource, confinement.fixed) : []
  const targets = targetsOf(resource)
  const asked = [resource, ...targets].flatMap(({ behaviours }) => behaviours.permissions)
  const beyond: Beyond[] = []
  for (const [name, target] of guardedAmong(targets)) {
    const limits = await limitsOf(target, caller, fixed)
    if (limits !== null) beyond.push([name, ...limits])
  }
  return {
    subscription: {
      shape,
      held: [...new Set(asked)].filter((permission) => holds(caller.identity, permission)).sort(),
      within: fixed.map(([name]) => name),
      beyond,
      condition,
    },
    values: fixed.map(([, value]) => value),
  }
}

/** @throws TypeError for values that cannot be compared outside the database */
function fixedIn(resource: Resource, confinement: Fixed): ReturnType<typeof canonical> {
  const opaque = confinement.find(([{ getter }]) => getter)
  // The database compares the stored value, but the change has the getter's result.
  if (opaque) throw unfit(resource, opaque[0], 'it has a getter')
  return canonical(resource, confinement)
}

/** Sources of a scope with a condition, sorted so that equal scopes are equal. Empty if the scope only fixes values. */
export function conditionOf({ fixed, where, sources }: Confinement): readonly ConditionSource[] {
  if (where === null) return []
  const values = fixed.map(([{ name }, value]): ConditionSource => {
    return { [name]: [value instanceof Date ? value.toISOString() : value] }
  })
  const texts = [...values, ...sources.map(sorted)].map((source) => JSON.stringify(source))
  return [...new Set(texts)].sort().map((text): ConditionSource => JSON.parse(text))
}

function sorted(source: ConditionSource): ConditionSource {
  if (typeof source === 'string') return source
  return Object.fromEntries(Object.entries(source).map(([name, values]) => [name, distinct(values)]))
}

function distinct<T>(values: readonly T[]): readonly T[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]))
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value)
}

function unfit({ name }: Resource, field: Field, reason: string): TypeError {
  return new TypeError(`${name}: push cannot choose subscribers by ${field.name}: ${reason}`)
}

/** Whether other stored values could be rounded to the same number. The database would tell them apart. */
function isRounded(
  { model }: Resource,
  { valueType: { type, scale = Infinity, wire } }: Field,
  value: unknown,
): boolean {
  if (type !== 'decimal' || value === null) return false
  const isNumber = wire === 'number' || model.sequelize?.getDialect() === 'sqlite'
  return isNumber && Math.trunc(Math.abs(Number(value))).toFixed().length + scale > EXACT_DIGITS
}

/** Resources whose records are flattened into the resource's records. */
function targetsOf(resource: Resource): ReadonlySet<Resource> {
  return flattenedResources(flattenedOf(resource))
}

/**
 * Attributes sorted by name, with their wire values.
 * @throws TypeError if other values are rounded to the same value: two tenants would share a room
 */
function canonical(resource: Resource, fixed: Fixed): readonly (readonly [attribute: string, value: Scalar])[] {
  for (const [field, value] of fixed) {
    if (isRounded(resource, field, value))
      throw unfit(resource, field, `its DECIMALs of more than ${EXACT_DIGITS} digits are rounded`)
  }
  return fixed
    .map(([field, value]) => [field.name, value === null ? null : scalar(field, value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

function scalar(field: Field, value: Exclude<Fixed[number][1], null>): Scalar {
  const decoded = field.decode(value)
  return typeof decoded === 'object' ? String(value) : decoded
}

/** null: the caller may read no records of the target. */
async function limitsOf(
  target: Resource,
  caller: Caller,
  own: readonly (readonly [attribute: string, value: Scalar])[],
): Promise<readonly [limits: readonly Limit[], condition: readonly ConditionSource[]] | null> {
  const { confine } = target.behaviours
  if ((await reachOf(target, caller)) === false) return null
  const confinement = confine === null ? null : await confine(target, caller)
  const condition = confinement === null ? [] : conditionOf(confinement)
  if (condition.length > 0) return [[], condition]
  const fixed = canonical(target, confinement?.fixed ?? [])
  // A reference if the record itself has the same value. Tenants with the same permissions then share a subscription.
  const limits = fixed.map(([name, value]): Limit => {
    const same = own.find(([, known]) => known === value && known !== null)
    return [name, same === undefined ? value : [same[0]]]
  })
  return [limits, []]
}

/**
 * Targets with a policy or a scope, by unique names. The route is added because several mount points may serve one
 * route.
 */
function guardedAmong(targets: ReadonlySet<Resource>): ReadonlyMap<string, Resource> {
  const named = new Map<string, Resource>()
  for (const target of targets) {
    if (target.behaviours.reach === null) continue
    let name = `${target.name} ${target.route}`
    while (named.has(name)) name += ' again'
    named.set(name, target)
  }
  return named
}

/** The view of a subscription's callers on a record. `valueFor` returns the record's own attributes. */
export function viewOn(
  resource: Resource,
  { held, beyond }: Subscription,
  valueFor: (attribute: string) => JsonValue | undefined,
): View {
  const identity = { name: null, roles: new Set<string>(), permissions: new Set(held), claims: {} }
  const caller: Caller = { request: NO_REQUEST, identity, instant: new Date() }
  const targets = targetsOf(resource)
  const reachable = new Map<Resource, Reachable>()
  for (const [name, target] of guardedAmong(targets)) {
    const found = beyond.find(([known]) => known === name)
    reachable.set(target, found === undefined ? false : reachableOf(target, found, valueFor))
  }
  return viewBy(resource, reachable, caller)
}

function reachableOf(
  target: Resource,
  [, limits, condition]: Beyond,
  valueFor: (attribute: string) => JsonValue | undefined,
): Reachable {
  if (condition.length === 0) return within(target, limits, valueFor)
  const planned = plannedOf(target, condition)
  return planned === null
    ? false
    : both(target.behaviours.standing?.(target) ?? null, { kind: 'apart', condition: planned })
}

/** null: the condition came from another server and is invalid here. */
function plannedOf(target: Resource, condition: readonly ConditionSource[]): Predicate | null {
  try {
    return conditionFrom(target, condition)
  } catch {
    return null
  }
}

/** Conditions of the subscribers' scope, with the values of a record in it. */
export function confinedTo(
  resource: Resource,
  subscription: Subscription,
  valueFor: (attribute: string) => JsonValue | undefined,
): Reachable {
  return within(
    resource,
    subscription.within.map((attribute) => [attribute, [attribute]]),
    valueFor,
  )
}

function within(
  target: Resource,
  limits: readonly Limit[],
  valueFor: (attribute: string) => JsonValue | undefined,
): Reachable {
  const fixed: Fixed[number][] = []
  for (const [name, given] of limits) {
    const field = target.fields.find((candidate) => candidate.name === name)
    const value = isReference(given) ? valueFor(given[0]) : given
    if (field === undefined || value === undefined || (typeof value === 'object' && value !== null)) return false
    const isMoment = field.valueType.type === 'datetime' && typeof value === 'string'
    fixed.push([field, isMoment ? new Date(value) : value])
  }
  return both(target.behaviours.standing?.(target) ?? null, confined(fixed))
}

function isReference(value: Limit[1]): value is readonly [own: string] {
  return Array.isArray(value)
}

/** The subscription of all callers, for a resource that shows all callers the same. */
export const EVERYBODY: Subscription = Object.freeze({
  shape: 'response',
  held: [],
  within: [],
  beyond: [],
  condition: [],
})

/** Whether the resource shows all callers the same. */
export function isOpen(resource: Resource): boolean {
  const { admit, permissions, confine } = resource.behaviours
  const isFree = admit === null && permissions.length === 0 && confine === null
  return isFree && showsWhole(resource) && [...targetsOf(resource)].every(isUnguarded)
}

/** Whether payloads have all attributes of a response. Only lists omit attributes that are excluded from lists. */
export function showsWhole({ operations }: Resource): boolean {
  return operations.has('getById') || !operations.has('getList')
}

function isUnguarded({ behaviours: { reach, permissions } }: Resource): boolean {
  return reach === null && permissions.length === 0
}

/** Equal subscriptions have equal texts. */
export function textOf({ shape, held, within, beyond, condition }: Subscription): string {
  return JSON.stringify([shape, held, within, beyond, condition])
}

/** Parses the text of another server. Returns null if it is malformed. */
export function readSubscription(text: unknown): Subscription | null {
  try {
    const [shape, held, within, beyond, condition]: unknown[] = JSON.parse(String(text))
    const isView = (shape === 'response' || shape === 'list') && isTexts(held) && isTexts(within) && isBeyond(beyond)
    return isView && isCondition(condition) ? { shape, held, within, beyond, condition } : null
  } catch {
    return null
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isCondition(value: unknown): value is Subscription['condition'] {
  const isValue = (each: unknown): boolean => each === null || ['string', 'number', 'boolean'].includes(typeof each)
  const isValues = (each: unknown): boolean => Array.isArray(each) && each.every(isValue)
  const isSource = (each: unknown): boolean =>
    typeof each === 'string' || (isObject(each) && Object.values(each).every(isValues))
  return Array.isArray(value) && value.every(isSource)
}

function isBeyond(value: unknown): value is Subscription['beyond'] {
  const isLimit = (limit: unknown): boolean =>
    Array.isArray(limit) &&
    typeof limit[0] === 'string' &&
    (isTexts(limit[1]) || limit[1] === null || typeof limit[1] !== 'object')
  return (
    Array.isArray(value) &&
    value.every(
      (each) =>
        Array.isArray(each) &&
        typeof each[0] === 'string' &&
        Array.isArray(each[1]) &&
        each[1].every(isLimit) &&
        isCondition(each[2]),
    )
  )
}
