import type { Call } from '../types/call.js'
import type { Field } from '../types/field.js'
import type { Intent, ListIntent } from '../types/intent.js'
import type { Row } from '../types/outcome.js'
import type { Caller, KeyValue, ListPlan, Predicate, Projection } from '../types/plan.js'
import type { JsonRecord } from '../types/reply.js'
import type { Resource } from '../types/resource.js'
import type { ParentLink, View } from '../types/view.js'
import type { Work } from '../types/work.js'
import { projectOwnFields } from './common/columns.js'
import { amendEach } from './common/compositeWrites.js'
import { matchKeys } from './common/keys.js'
import { addCondition, matchStoredValues } from './common/predicates.js'
import { isPromise } from './common/promise.js'
import { isStorableText } from './common/values.js'
import { canHideRecords, isCheckNeeded, readWrittenRecord } from './perform/index.js'
import { authorize, authorizeNow, fullProjection, planForeignKeyChecks, planIntent, planList } from './plan/index.js'
import { resolveComputed } from './shape/computed.js'
import { toJsonRecord } from './shape/record.js'

/**
 * Plans an intent for a caller. Resources on relation paths are authorized, names are resolved in the caller's view,
 * and behaviours amend the plan. Every later response to `call` has the headers of the view, errors included.
 *
 * @throws Problem for invalid input and for refused callers
 */
export async function planFor(
  resource: Resource,
  intent: Intent,
  caller: Caller,
  call: Pick<Call, 'addHeaders'> | null,
  link: ParentLink | null = null,
): Promise<Work> {
  const view = await authorize(resource, intent, caller, link)
  call?.addHeaders(view.headers)
  const { amend } = resource.behaviours
  const first = await planIntent(resource, intent, view, caller)
  const amended = amend ? await amendEach(first, (one) => amend(resource, one, caller)) : first
  return { resource, plan: amended, foreignKeyChecks: planForeignKeyChecks(view).filter(isCheckNeeded) }
}

/**
 * Plans a list synchronously, for hosts that run the query themselves. Relations with asynchronous policies stay
 * closed.
 *
 * @throws TypeError if a behaviour of the resource is asynchronous, or hides all records from the caller
 */
export function planListSync(resource: Resource, intent: ListIntent, caller: Caller): ListPlan {
  const planned = planList(resource, intent, authorizeNow(resource, intent, caller))
  const within = resource.behaviours.visibleRecords?.(resource, caller) ?? null
  if (isPromise(within) || within === false) {
    throw new TypeError(
      `${resource.name}: toFindOptions is synchronous, so it cannot apply options that return a promise or hide all records`,
    )
  }
  return { ...planned, where: addCondition(planned.where, within) }
}

/** The source of one record's values. */
export interface RecordSource {
  /** Returns the known values in the order of the projection's columns; null if a value is unknown. */
  readonly readKnown: (projection: Projection) => Row | null
  /** Returns the condition for reading the record; false if nobody may see it. */
  readonly condition: () => Predicate | false
}

/**
 * Returns one record as GET returns it in a view, without computed fields that depend on the caller. Null if the view
 * excludes the record. Other computed fields are resolved without a caller.
 */
export async function readRecordFor(
  resource: Resource,
  shape: 'response' | 'list',
  view: View,
  { readKnown, condition }: RecordSource,
): Promise<JsonRecord | null> {
  const projection = withoutPerCallerFields(resource, fullProjection(resource, shape, view))
  const row =
    (canHideRecords(resource) ? null : readKnown(projection)) ?? (await readRow(resource, condition(), projection))
  if (row === null) return null
  await resolveComputed([[projection, [row]]], ANONYMOUS_CONTEXT)
  return toJsonRecord(projection, row)
}

const ANONYMOUS_CONTEXT = Object.freeze({ request: null, identity: null, transaction: null })

const sharedProjections = new WeakMap<Projection, Projection>()

/** Removes from a projection the computed fields that depend on the caller. */
function withoutPerCallerFields({ computed }: Resource, projection: Projection): Projection {
  const known = sharedProjections.get(projection)
  if (known !== undefined) return known
  const own = new Set(computed.filter((field) => field.computed.isPerCaller).map(({ json }) => json))
  const members = projection.members.filter(({ json }) => !own.has(json))
  const result = members.length === projection.members.length ? projection : { ...projection, members }
  sharedProjections.set(projection, result)
  return result
}

/** Reads the row of a record that was just written; null if the record does not exist, or if nobody may see it. */
export async function readRow(resource: Resource, where: Predicate | false, shown: Projection): Promise<Row | null> {
  return where === false ? null : readWrittenRecord(resource, where, shown)
}

/** Returns the condition for a record by its key. Deleted records do not match. */
export function matchRecord(resource: Resource, key: unknown): Predicate {
  return matchRecords(resource, [key])
}

/** Returns the condition for several records by their keys. Deleted records do not match. */
export function matchRecords(resource: Resource, keys: readonly unknown[]): Predicate {
  return addCondition(matchKeys(resource.keys, keys), resource.behaviours.staticCondition?.(resource) ?? null)
}

/** Whether a text equals an attribute of a record in a comparison by the database. */
export async function isEqualInDatabase(
  resource: Resource,
  key: KeyValue,
  field: Field,
  text: unknown,
): Promise<boolean> {
  if (typeof text !== 'string' || field.valueType.type !== 'string' || !isStorableText(text)) return false
  const where = addCondition(matchKeys(resource.keys, [key]), matchStoredValues(field, [text]))
  return (await readWrittenRecord(resource, where, projectOwnFields([field]))) !== null
}
