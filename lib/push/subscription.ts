import type { Field, JsonValue } from '../../types/field.js'
import type { Caller, Predicate } from '../../types/plan.js'
import type { FixedValues, ResolvedScope, Resource, VisibleRecords } from '../../types/resource.js'
import type { ConditionSource } from '../../types/rooms.js'
import type { View } from '../../types/view.js'
import { isPermitted } from '../behaviour/mask.js'
import { planConditionSources } from '../behaviour/readScope.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { isObject } from '../common/object.js'
import { addCondition, matchFixed } from '../common/predicates.js'
import { hasWholeRecords } from '../common/pushReads.js'
import { EXACT_DIGITS } from '../common/values.js'
import { authorizeTarget, createView, flattenedRelationsOf, flattenedResourcesOf } from '../plan/index.js'

type Scalar = string | number | boolean | null

/**
 * An attribute, and the value that it must have. The value is a constant, or `[name]` for the value of an attribute of
 * the pushed record.
 */
type ScopeLimit = readonly [attribute: string, value: Scalar | readonly [own: string]]

type RelatedLimits = readonly [resource: string, limits: readonly ScopeLimit[], condition: readonly ConditionSource[]]

/**
 * A group of callers who receive equal payloads for every record. A subscription is plain data, so that servers of a
 * cluster can exchange it. Attributes and resources that it does not name stay hidden.
 */
export interface Subscription {
  /** Shape of payloads: `list` for callers who may list records but not get a single record, otherwise `response`. */
  readonly shape: 'response' | 'list'
  /** Permissions of the callers, limited to permissions that masks use. */
  readonly permissions: readonly string[]
  /** Attributes that the scope fixes. The attributes' values choose the room. */
  readonly fixedAttributes: readonly string[]
  /**
   * Limits on the records that payloads contain through the option `flatten`. Each limit is a list of values or a
   * condition. Only resources with a policy or a scope have limits. Without an entry, records of such a resource are
   * hidden.
   */
  readonly relatedLimits: readonly RelatedLimits[]
  /**
   * The scope of the callers, if it has a condition. Fixed values of the scope are then part of the condition. A
   * caller's room depends on the condition alone. Empty if the scope only fixes values.
   */
  readonly condition: readonly ConditionSource[]
}

/** Creates the subscription of a caller. Also returns the values that the caller's scope fixes. */
export async function createSubscription(
  resource: Resource,
  shape: Subscription['shape'],
  caller: Caller,
  confinement: ResolvedScope,
): Promise<{ readonly subscription: Subscription; readonly values: readonly JsonValue[] }> {
  const condition = conditionSourcesOf(confinement)
  const fixed = condition.length === 0 ? readFixedValues(resource, confinement.fixed) : []
  const targets = flattenedTargetsOf(resource)
  const permissions = [resource, ...targets].flatMap(({ behaviours }) => behaviours.permissions)
  const relatedLimits: RelatedLimits[] = []
  for (const [name, target] of filterGuarded(targets)) {
    const limits = await findLimits(target, caller, fixed)
    if (limits !== null) relatedLimits.push([name, ...limits])
  }
  return {
    subscription: {
      shape,
      permissions: [...new Set(permissions)].filter((permission) => isPermitted(caller.identity, permission)).sort(),
      fixedAttributes: fixed.map(([name]) => name),
      relatedLimits,
      condition,
    },
    values: fixed.map(([, value]) => value),
  }
}

/**
 * Attributes that the scope fixes, with their wire values.
 * @throws TypeError for values that cannot be compared outside the database
 */
function readFixedValues(resource: Resource, confinement: FixedValues): ReturnType<typeof canonicalizeFixed> {
  const opaque = confinement.find(([{ getter }]) => getter)
  // The database compares the stored value, but the change has the getter's result.
  if (opaque) throw createScopeError(resource, opaque[0], 'the attribute has a getter')
  return canonicalizeFixed(resource, confinement)
}

/**
 * Sources of a scope with a condition, sorted so that equal scopes have equal sources. Empty if the scope only fixes
 * values.
 */
export function conditionSourcesOf({ fixed, where, sources }: ResolvedScope): readonly ConditionSource[] {
  if (where === null) return []
  const values = fixed.map(([{ name }, value]): ConditionSource => {
    return { [name]: [value instanceof Date ? value.toISOString() : value] }
  })
  const texts = [...values, ...sources.map(sortSource)].map((source) => JSON.stringify(source))
  return [...new Set(texts)].sort().map((text): ConditionSource => JSON.parse(text))
}

function sortSource(source: ConditionSource): ConditionSource {
  if (typeof source === 'string') return source
  return Object.fromEntries(Object.entries(source).map(([name, values]) => [name, sortDistinct(values)]))
}

function sortDistinct<T>(values: readonly T[]): readonly T[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]))
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value)
}

function createScopeError({ name }: Resource, field: Field, reason: string): TypeError {
  return new TypeError(`${name}: push cannot use the scope of this client, because it sets "${field.name}": ${reason}`)
}

/** Whether JavaScript may round different stored values to one number. The database distinguishes such values. */
function isRounded(
  { model }: Resource,
  { valueType: { type, scale = Infinity, jsonType } }: Field,
  value: unknown,
): boolean {
  if (type !== 'decimal' || value === null) return false
  const isNumber = jsonType === 'number' || model.sequelize?.getDialect() === 'sqlite'
  return isNumber && Math.trunc(Math.abs(Number(value))).toFixed().length + scale > EXACT_DIGITS
}

/** Resources whose records are flattened into the resource's records. */
function flattenedTargetsOf(resource: Resource): ReadonlySet<Resource> {
  return flattenedResourcesOf(flattenedRelationsOf(resource))
}

/**
 * Attributes sorted by name, with their wire values.
 * @throws TypeError if different values may be rounded to one number, because two tenants would share a room
 */
function canonicalizeFixed(
  resource: Resource,
  fixed: FixedValues,
): readonly (readonly [attribute: string, value: Scalar])[] {
  for (const [field, value] of fixed) {
    if (isRounded(resource, field, value))
      throw createScopeError(resource, field, `DECIMAL values of more than ${EXACT_DIGITS} digits would be rounded`)
  }
  return fixed
    .map(([field, value]) => [field.name, value === null ? null : toScalar(field, value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

function toScalar(field: Field, value: Exclude<FixedValues[number][1], null>): Scalar {
  const decoded = field.decode(value)
  return typeof decoded === 'object' ? String(value) : decoded
}

/**
 * Finds a caller's limits on flattened records of one resource. Returns null if the caller may read no records of the
 * resource.
 */
async function findLimits(
  target: Resource,
  caller: Caller,
  own: readonly (readonly [attribute: string, value: Scalar])[],
): Promise<readonly [limits: readonly ScopeLimit[], condition: readonly ConditionSource[]] | null> {
  const { resolveScope } = target.behaviours
  if ((await authorizeTarget(target, caller)) === false) return null
  const confinement = resolveScope === null ? null : await resolveScope(target, caller)
  const condition = confinement === null ? [] : conditionSourcesOf(confinement)
  if (condition.length > 0) return [[], condition]
  const fixed = canonicalizeFixed(target, confinement?.fixed ?? [])
  // A reference instead of the value lets tenants with equal permissions share one subscription.
  const limits = fixed.map(([name, value]): ScopeLimit => {
    const same = own.find(([, known]) => known === value && known !== null)
    return [name, same === undefined ? value : [same[0]]]
  })
  return [limits, []]
}

/** Guarded resources by unique names. Several resources may have one name and one route, at different mount points. */
function filterGuarded(targets: ReadonlySet<Resource>): ReadonlyMap<string, Resource> {
  const named = new Map<string, Resource>()
  for (const target of targets) {
    if (target.behaviours.visibleRecords === null) continue
    let name = `${target.name} ${target.route}`
    while (named.has(name)) name += ' again'
    named.set(name, target)
  }
  return named
}

/**
 * Creates the view that a subscription's callers have of a record. `valueFor` returns values of the record's own
 * attributes.
 */
export function createSubscriberView(
  resource: Resource,
  { permissions, relatedLimits }: Subscription,
  valueFor: (attribute: string) => JsonValue | undefined,
): View {
  const identity = { name: null, roles: new Set<string>(), permissions: new Set(permissions), claims: {} }
  const caller: Caller = { request: NO_REQUEST, identity, instant: new Date() }
  const targets = flattenedTargetsOf(resource)
  const visible = new Map<Resource, VisibleRecords>()
  for (const [name, target] of filterGuarded(targets)) {
    const found = relatedLimits.find(([known]) => known === name)
    visible.set(target, found === undefined ? false : resolveVisibleRecords(target, found, valueFor))
  }
  return createView(resource, visible, caller)
}

function resolveVisibleRecords(
  target: Resource,
  [, limits, condition]: RelatedLimits,
  valueFor: (attribute: string) => JsonValue | undefined,
): VisibleRecords {
  if (condition.length === 0) return planLimits(target, limits, valueFor)
  const planned = planSources(target, condition)
  return planned === null
    ? false
    : addCondition(target.behaviours.staticCondition?.(target) ?? null, { kind: 'apart', condition: planned })
}

/** Plans a condition. Returns null if the condition came from another server and is invalid here. */
function planSources(target: Resource, condition: readonly ConditionSource[]): Predicate | null {
  try {
    return planConditionSources(target, condition)
  } catch {
    return null
  }
}

/**
 * Plans the condition that limits subscribers of the record's room. Each attribute that the scope fixes must have the
 * record's value.
 */
export function planSubscriptionScope(
  resource: Resource,
  subscription: Subscription,
  valueFor: (attribute: string) => JsonValue | undefined,
): VisibleRecords {
  return planLimits(
    resource,
    subscription.fixedAttributes.map((attribute) => [attribute, [attribute]]),
    valueFor,
  )
}

function planLimits(
  target: Resource,
  limits: readonly ScopeLimit[],
  valueFor: (attribute: string) => JsonValue | undefined,
): VisibleRecords {
  const fixed: FixedValues[number][] = []
  for (const [name, given] of limits) {
    const field = target.fields.find((candidate) => candidate.name === name)
    const value = isReference(given) ? valueFor(given[0]) : given
    if (field === undefined || value === undefined || (typeof value === 'object' && value !== null)) return false
    const isMoment = field.valueType.type === 'datetime' && typeof value === 'string'
    fixed.push([field, isMoment ? new Date(value) : value])
  }
  return addCondition(target.behaviours.staticCondition?.(target) ?? null, matchFixed(fixed))
}

function isReference(value: ScopeLimit[1]): value is readonly [own: string] {
  return Array.isArray(value)
}

/** The subscription of all callers, for a resource whose responses are equal for all callers. */
export const EVERYBODY: Subscription = Object.freeze({
  shape: 'response',
  permissions: [],
  fixedAttributes: [],
  relatedLimits: [],
  condition: [],
})

/** Whether the responses of a resource are equal for all callers. */
export function isSameForEverybody(resource: Resource): boolean {
  const { admit, permissions, resolveScope } = resource.behaviours
  const isFree = admit === null && permissions.length === 0 && resolveScope === null
  return isFree && hasWholeRecords(resource) && [...flattenedTargetsOf(resource)].every(isUnguarded)
}

function isUnguarded({ behaviours: { visibleRecords, permissions } }: Resource): boolean {
  return visibleRecords === null && permissions.length === 0
}

/** Writes a subscription as text. Equal subscriptions have equal texts. */
export function serializeSubscription({
  shape,
  permissions,
  fixedAttributes,
  relatedLimits,
  condition,
}: Subscription): string {
  return JSON.stringify([shape, permissions, fixedAttributes, relatedLimits, condition])
}

/** Parses a subscription's text from another server. Returns null if the text is malformed. */
export function readSubscription(text: unknown): Subscription | null {
  try {
    const [shape, permissions, fixedAttributes, relatedLimits, condition]: unknown[] = JSON.parse(String(text))
    const isView =
      (shape === 'response' || shape === 'list') &&
      isTextList(permissions) &&
      isTextList(fixedAttributes) &&
      isRelatedLimitsList(relatedLimits)
    return isView && isConditionSourceList(condition)
      ? { shape, permissions, fixedAttributes, relatedLimits, condition }
      : null
  } catch {
    return null
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isConditionSourceList(value: unknown): value is Subscription['condition'] {
  const isValue = (each: unknown): boolean => each === null || ['string', 'number', 'boolean'].includes(typeof each)
  const isValues = (each: unknown): boolean => Array.isArray(each) && each.every(isValue)
  const isSource = (each: unknown): boolean =>
    typeof each === 'string' || (isObject(each) && Object.values(each).every(isValues))
  return Array.isArray(value) && value.every(isSource)
}

function isRelatedLimitsList(value: unknown): value is Subscription['relatedLimits'] {
  const isLimit = (limit: unknown): boolean =>
    Array.isArray(limit) &&
    typeof limit[0] === 'string' &&
    (isTextList(limit[1]) || limit[1] === null || typeof limit[1] !== 'object')
  return (
    Array.isArray(value) &&
    value.every(
      (each) =>
        Array.isArray(each) &&
        typeof each[0] === 'string' &&
        Array.isArray(each[1]) &&
        each[1].every(isLimit) &&
        isConditionSourceList(each[2]),
    )
  )
}
