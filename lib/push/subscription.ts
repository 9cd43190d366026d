import type { Field, JsonValue } from '../../types/field.js'
import type { Caller } from '../../types/plan.js'
import type { Fixed, Reachable, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { holds } from '../behaviour/mask.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { both, confined } from '../common/predicates.js'
import { EXACT_DIGITS } from '../common/values.js'
import { flattenedOf, flattenedResources, reachOf, viewBy } from '../plan/index.js'

type Scalar = string | number | boolean | null

/** A fixed attribute with its value; an array names the attribute of the record's own that has the same one. */
type Limit = readonly [attribute: string, value: Scalar | readonly [own: string]]

/**
 * A class of permissions: its subscribers see the same of every record. Plain data, so that the servers of a cluster
 * can tell each other of it; what it does not name stays hidden.
 */
export interface Subscription {
  /** Who may list the records but not get one sees what lists show. */
  readonly shape: 'response' | 'list'
  /** The permissions held, of those that masks ask for. */
  readonly held: readonly string[]
  /** The attributes that the scope fixes. Their values choose the room. */
  readonly within: readonly string[]
  /** The limits on the records of guarded resources that are flattened; none may be met where a name is missing. */
  readonly beyond: readonly (readonly [resource: string, limits: readonly Limit[]])[]
}

/** The subscription of a caller who may meet the resource's records within a scope, and the values that the scope fixes. */
export async function subscriptionOf(
  resource: Resource,
  shape: Subscription['shape'],
  caller: Caller,
  confinement: Fixed,
): Promise<{ readonly subscription: Subscription; readonly values: readonly JsonValue[] }> {
  const opaque = confinement.find(([{ getter }]) => getter)
  // What the getter makes of a stored value is not what the database compares with the scope's.
  if (opaque) throw unfit(resource, opaque[0], 'it has a getter')
  const fixed = canonical(resource, confinement)
  const targets = targetsOf(resource)
  const asked = [resource, ...targets].flatMap(({ behaviours }) => behaviours.permissions)
  const beyond: (readonly [string, readonly Limit[]])[] = []
  for (const [name, target] of guardedAmong(targets)) {
    const limits = await limitsOf(target, caller, fixed)
    if (limits !== null) beyond.push([name, limits])
  }
  return {
    subscription: {
      shape,
      held: [...new Set(asked)].filter((permission) => holds(caller.identity, permission)).sort(),
      within: fixed.map(([name]) => name),
      beyond,
    },
    values: fixed.map(([, value]) => value),
  }
}

function unfit({ name }: Resource, field: Field, reason: string): TypeError {
  return new TypeError(`${name}: push cannot choose subscribers by ${field.name}: ${reason}`)
}

/** Whether another stored value could be read as the same number, which the database would tell apart. */
function isRounded(
  { model }: Resource,
  { valueType: { type, scale = Infinity, wire } }: Field,
  value: unknown,
): boolean {
  if (type !== 'decimal' || value === null) return false
  const isNumber = wire === 'number' || model.sequelize?.getDialect() === 'sqlite'
  return isNumber && Math.trunc(Math.abs(Number(value))).toFixed().length + scale > EXACT_DIGITS
}

/** The resources whose records are flattened into the resource's own. */
function targetsOf(resource: Resource): ReadonlySet<Resource> {
  return flattenedResources(flattenedOf(resource))
}

/**
 * By attribute, in the order of their names; a value is what a record's own would be on the wire.
 *
 * @throws TypeError for a value that others are rounded to: two tenants would be one
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

/** Null where nothing of the target may be met. */
async function limitsOf(
  target: Resource,
  caller: Caller,
  own: readonly (readonly [attribute: string, value: Scalar])[],
): Promise<readonly Limit[] | null> {
  const { confine } = target.behaviours
  if ((await reachOf(target, caller)) === false) return null
  const confinement = confine === null ? null : await confine(target, caller)
  // No value of the record decides such a condition.
  if ((confinement?.where ?? null) !== null) return null
  const fixed = canonical(target, confinement?.fixed ?? [])
  // By reference where the record has the same value: tenants of one standing then share a class.
  return fixed.map(([name, value]): Limit => {
    const same = own.find(([, known]) => known === value && known !== null)
    return [name, same === undefined ? value : [same[0]]]
  })
}

/** Those with a say in who meets their records, by names that tell resources of one route below several mount points apart. */
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

/** What the subscribers may see of a record, whose own attributes `valueFor` knows. */
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
    const [, limits = null] = beyond.find(([known]) => known === name) ?? []
    reachable.set(target, limits === null ? false : within(target, limits, valueFor))
  }
  return viewBy(resource, reachable, caller)
}

/** What the records of the subscribers' scope have, where the values of one of them are these. */
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

/** The subscription of everybody, where everybody sees the same of every record. */
export const EVERYBODY: Subscription = Object.freeze({ shape: 'response', held: [], within: [], beyond: [] })

/** Whether everybody does. */
export function isOpen(resource: Resource): boolean {
  const { admit, permissions, confine } = resource.behaviours
  const isFree = admit === null && permissions.length === 0 && confine === null
  return isFree && showsWhole(resource) && [...targetsOf(resource)].every(isUnguarded)
}

/** Whether a record is shown whole by a route, or there is none: lists alone leave out what is excluded from them. */
export function showsWhole({ operations }: Resource): boolean {
  return operations.has('getById') || !operations.has('getList')
}

function isUnguarded({ behaviours: { reach, permissions } }: Resource): boolean {
  return reach === null && permissions.length === 0
}

/** Equal texts, equal subscriptions. */
export function textOf({ shape, held, within, beyond }: Subscription): string {
  return JSON.stringify([shape, held, within, beyond])
}

/** The subscription of a text from another server; null for what is none. */
export function readSubscription(text: unknown): Subscription | null {
  try {
    const [shape, held, within, beyond]: unknown[] = JSON.parse(String(text))
    const isRead = (shape === 'response' || shape === 'list') && isTexts(held) && isTexts(within) && isBeyond(beyond)
    return isRead ? { shape, held, within, beyond } : null
  } catch {
    return null
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isBeyond(value: unknown): value is Subscription['beyond'] {
  const isLimit = (limit: unknown): boolean =>
    Array.isArray(limit) &&
    typeof limit[0] === 'string' &&
    (isTexts(limit[1]) || limit[1] === null || typeof limit[1] !== 'object')
  return (
    Array.isArray(value) &&
    value.every(
      (pair) => Array.isArray(pair) && typeof pair[0] === 'string' && Array.isArray(pair[1]) && pair[1].every(isLimit),
    )
  )
}
