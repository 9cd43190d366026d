import type { Field } from '../types/field.js'
import type { Intent, ListIntent } from '../types/intent.js'
import type { Row } from '../types/outcome.js'
import type { Caller, KeyValue, ListPlan, Predicate, Projection } from '../types/plan.js'
import type { JsonRecord } from '../types/reply.js'
import type { Resource } from '../types/resource.js'
import type { OwnerLink, View } from '../types/view.js'
import type { Work } from '../types/work.js'
import { ofOwn } from './common/columns.js'
import { amendEach } from './common/each.js'
import { isKeyValue } from './common/keys.js'
import { isPending } from './common/pending.js'
import { both, joinedTo } from './common/predicates.js'
import { isStorableText } from './common/values.js'
import { hasSay, hidesRecords, read } from './perform/index.js'
import { authorize, authorizeNow, byKey, fullProjection, plan, planList, planPointers } from './plan/index.js'
import { resolveComputed } from './shape/computed.js'
import { recordOf } from './shape/record.js'

/**
 * Plans an intent for a caller. Resources behind relation paths are authorized, names are resolved in the caller's view, and behaviours
 * amend the plan. `tell` receives headers for every response from here on, including errors.
 *
 * @throws Problem for invalid input and for refused callers
 */
export async function planFor(
  resource: Resource,
  intent: Intent,
  caller: Caller,
  tell: (headers: View['headers']) => void,
  link: OwnerLink | null = null,
): Promise<Work> {
  const view = await authorize(resource, intent, caller, link)
  tell(view.headers)
  const { amend } = resource.behaviours
  const first = await plan(resource, intent, view, caller)
  const amended = amend ? await amendEach(first, (one) => amend(resource, one, caller)) : first
  return { resource, plan: amended, pointers: planPointers(view).filter(hasSay) }
}

/**
 * Plans a list synchronously, for hosts that run the query. Relations behind asynchronous policies stay closed.
 *
 * @throws TypeError if a behaviour of the resource is asynchronous, or shows the caller nothing
 */
export function planNow(resource: Resource, intent: ListIntent, caller: Caller): ListPlan {
  const planned = planList(resource, intent, authorizeNow(resource, intent, caller))
  const within = resource.behaviours.reach?.(resource, caller) ?? null
  if (isPending(within) || within === false) {
    throw new TypeError(`${resource.name}: only behaviours that answer at once have a say here`)
  }
  return { ...planned, where: both(planned.where, within) }
}

/** Source of the values of one record. */
export interface RecordSource {
  /** Known values in the order of the projection's columns. Null if some are unknown. */
  readonly known: (projection: Projection) => Row | null
  /** Condition on the record, if it must be read. False if nobody may see it. */
  readonly where: () => Predicate | false
}

/**
 * One record as GET returns it in a view, without fields that are computed for each caller. Null if the view excludes the record. Other
 * computed fields are resolved without a caller.
 */
export async function recordFor(
  resource: Resource,
  shape: 'response' | 'list',
  view: View,
  { known, where }: RecordSource,
): Promise<JsonRecord | null> {
  const projection = sharedBy(resource, fullProjection(resource, shape, view))
  const row = (hidesRecords(resource) ? null : known(projection)) ?? (await rowWhere(resource, where(), projection))
  if (row === null) return null
  await resolveComputed([[projection, [row]]], NO_CALLER)
  return recordOf(projection, row)
}

const NO_CALLER = Object.freeze({ request: null, identity: null, transaction: null })

const shared = new WeakMap<Projection, Projection>()

/** Projection without fields that are computed for each caller. */
function sharedBy({ computed }: Resource, projection: Projection): Projection {
  const known = shared.get(projection)
  if (known !== undefined) return known
  const own = new Set(computed.filter((field) => field.computed.isPerCaller).map(({ json }) => json))
  const members = projection.members.filter(({ json }) => !own.has(json))
  const result = members.length === projection.members.length ? projection : { ...projection, members }
  shared.set(projection, result)
  return result
}

/** Row of one record that was just written. Null if it does not exist, or if nobody may see it. */
export async function rowWhere(resource: Resource, where: Predicate | false, shown: Projection): Promise<Row | null> {
  return where === false ? null : read(resource, where, shown)
}

/** Condition for a record by its key, excluding deleted records. */
export function recordWith(resource: Resource, key: unknown): Predicate {
  return recordsWith(resource, [key])
}

/** The same of several records. */
export function recordsWith(resource: Resource, keys: readonly unknown[]): Predicate {
  const where = byKey(resource.keys, keys.filter(isKeyValue))
  return both(where, resource.behaviours.standing?.(resource) ?? null)
}

/** Whether a text equals an attribute of a record in a comparison by the database. */
export async function isStoredAs(resource: Resource, key: KeyValue, field: Field, text: unknown): Promise<boolean> {
  if (typeof text !== 'string' || field.valueType.type !== 'string' || !isStorableText(text)) return false
  const where = both(byKey(resource.keys, [key]), joinedTo(field, [text]))
  return (await read(resource, where, ofOwn([field]))) !== null
}
