import type { Changes, Invalid } from '../../types/changes.js'
import type { BulkCreateIntent, Intent } from '../../types/intent.js'
import type { BulkCreatePlan, Caller, KeyValue, Plan, Projection } from '../../types/plan.js'
import type { BodyNames, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { ofOwn } from '../common/columns.js'
import { isObject } from '../common/object.js'
import { problem } from '../common/problem.js'
import { mapInTurns } from '../common/turns.js'
import { planAction } from './action.js'
import { planGet } from './get.js'
import { byKey, distinctKeys, readKeyOf } from './key.js'
import { planList } from './list.js'
import { fullProjection } from './projection.js'
import { planReplace } from './replace.js'
import { judged, planBulkUpdate, planCreate, planUpdate, UNHOOKED, unchanging } from './update.js'
import { planUpsert } from './upsert.js'

/**
 * Plans an intent for this resource and a caller with this view.
 *
 * @throws Problem for unknown fields, values of the wrong type and invalid keys
 */
export function plan(resource: Resource, intent: Intent, view: View, caller: Caller): Plan | Promise<Plan> {
  const { instant } = caller
  if (intent.kind === 'list') return planList(resource, intent, view)
  const response = (): Projection => {
    const full = fullProjection(resource, 'response', view)
    return 'minimal' in intent && intent.minimal ? { ...ofOwn(resource.keys), full } : full
  }
  const names: BodyNames = { unknown: 'unknown' in intent ? intent.unknown : undefined, writable: view.writable }
  switch (intent.kind) {
    case 'get':
      return planGet(resource, intent, view, () => keyOf(resource, intent.key))
    case 'action':
      return planAction(resource, intent, view, caller, () => keyOf(resource, intent.key ?? ''))
    case 'create':
      return planCreate(resource, { ...intent, names }, response(), instant)
    case 'replace':
      return planReplace(resource, { ...intent, key: keyOf(resource, intent.key) }, view, response(), instant)
    case 'update':
      return planUpdate(resource, { ...intent, key: keyOf(resource, intent.key), names }, response(), instant)
    case 'upsert':
      return planUpsert(resource, intent, view, instant)
    case 'bulkUpdate':
      return planBulkUpdate(resource, intent, names, response(), instant)
    case 'restore':
      return {
        ...unchanging(resource, keyOf(resource, intent.key)),
        kind: 'restore',
        match: null,
        projection: response(),
        instant,
      }
    case 'delete': {
      const key = keyOf(resource, intent.key)
      const where = byKey(resource.keys, [key])
      const { match } = intent
      return { kind: 'delete', key, where, precondition: null, match, mark: null, report: null, instant, ...UNHOOKED }
    }
    case 'bulkCreate':
      return planBulkCreate(resource, intent, names, response(), instant)
    case 'bulkDelete': {
      const keys = distinctKeys(resource.keys, intent.keys)
      const where = byKey(resource.keys, keys)
      return { kind: 'bulkDelete', keys, where, mark: null, report: null, instant, ...UNHOOKED }
    }
  }
}

function keyOf({ keys }: Resource, text: string): KeyValue {
  const value = readKeyOf(keys, text)
  if (value === null) throw problem('not-found')
  return value
}

/** Plans a batch of new records. Errors are collected from all bodies, and one error rejects the batch. */
async function planBulkCreate(
  { validateCreate }: Resource,
  { bodies, operation }: BulkCreateIntent,
  names: BodyNames,
  projection: Projection,
  instant: Date,
): Promise<BulkCreatePlan> {
  const invalid = new Map<number, Invalid | null>()
  const records = await mapInTurns(bodies, (body, index): Changes => {
    if (!isObject(body)) {
      invalid.set(index, null)
      return new Map()
    }
    const one = judged(validateCreate(body, names))
    if (one.invalid !== null) invalid.set(index, one.invalid)
    return one.changes
  })
  return {
    kind: 'bulkCreate',
    ...(operation === undefined ? {} : { operation }),
    records,
    invalid,
    upkeep: new Map(),
    projection,
    instant,
    ...UNHOOKED,
  }
}

export { hiddenFrom, holdersOf, isClosed } from './access.js'
export { authorize, authorizeNow, reachOf, viewBy, viewOver } from './authorize.js'
export { flattenedOf, flattenedResources } from './flatten.js'
export { byKey, readKeyOf, readStatedKey } from './key.js'
export { planList } from './list.js'
export { fullProjection } from './projection.js'
export { meetableOf, planPointers } from './references.js'
export { resourcesOf } from './relations.js'
