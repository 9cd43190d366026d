import type { Changes, Invalid } from '../../types/changes.js'
import type { BulkCreateIntent, Intent } from '../../types/intent.js'
import type { BulkCreatePlan, Caller, Plan, Projection } from '../../types/plan.js'
import type { BodyNames, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { projectOwnFields } from '../common/columns.js'
import { mapYielding } from '../common/eventLoop.js'
import { matchKeys } from '../common/keys.js'
import { isObject } from '../common/object.js'
import { planAction } from './action.js'
import { planGet } from './get.js'
import { distinctKeys, requireKey } from './key.js'
import { planList } from './list.js'
import { fullProjection } from './projection.js'
import { planReplace } from './replace.js'
import { NO_HOOKS, planBulkUpdate, planCreate, planUpdate, planWithoutChanges, splitValidation } from './update.js'
import { planUpsert } from './upsert.js'

/**
 * Plans an intent for this resource and a caller with this view.
 * @throws Problem for unknown fields, values of the wrong type and invalid keys
 */
export function planIntent(resource: Resource, intent: Intent, view: View, caller: Caller): Plan | Promise<Plan> {
  const { instant } = caller
  if (intent.kind === 'list') return planList(resource, intent, view)
  const responseProjection = (): Projection => {
    const full = fullProjection(resource, 'response', view)
    return 'minimal' in intent && intent.minimal ? { ...projectOwnFields(resource.keys), full } : full
  }
  const names: BodyNames = {
    unknown: 'unknownNames' in intent ? intent.unknownNames : undefined,
    writable: view.writable,
  }
  switch (intent.kind) {
    case 'get':
      return planGet(resource, intent, view)
    case 'action':
      return planAction(resource, intent, view, caller, () => requireKey(resource.keys, intent.key ?? ''))
    case 'create':
      return planCreate(resource, { ...intent, names }, responseProjection(), instant)
    case 'replace':
      return planReplace(
        resource,
        { ...intent, key: requireKey(resource.keys, intent.key) },
        view,
        responseProjection(),
        instant,
      )
    case 'update':
      return planUpdate(
        resource,
        { ...intent, key: requireKey(resource.keys, intent.key), names },
        responseProjection(),
        instant,
      )
    case 'upsert':
      return planUpsert(resource, intent, view, instant)
    case 'bulkUpdate':
      return planBulkUpdate(resource, intent, names, responseProjection(), instant)
    case 'restore':
      return {
        ...planWithoutChanges(resource, requireKey(resource.keys, intent.key)),
        kind: 'restore',
        match: null,
        projection: responseProjection(),
        instant,
      }
    case 'delete': {
      const key = requireKey(resource.keys, intent.key)
      const where = matchKeys(resource.keys, [key])
      const { match } = intent
      return {
        kind: 'delete',
        key,
        where,
        precondition: null,
        match,
        softDelete: null,
        report: null,
        instant,
        ...NO_HOOKS,
      }
    }
    case 'bulkCreate':
      return planBulkCreate(resource, intent, names, responseProjection(), instant)
    case 'bulkDelete': {
      const keys = distinctKeys(resource.keys, intent.keys)
      const where = matchKeys(resource.keys, keys)
      return { kind: 'bulkDelete', keys, where, softDelete: null, report: null, instant, ...NO_HOOKS }
    }
  }
}

/** Plans a batch of new records. Collects the errors of all bodies. One error rejects the batch. */
async function planBulkCreate(
  { validateCreate }: Resource,
  { bodies, operation }: BulkCreateIntent,
  names: BodyNames,
  projection: Projection,
  instant: Date,
): Promise<BulkCreatePlan> {
  const invalid = new Map<number, Invalid | null>()
  const records = await mapYielding(bodies, (body, index): Changes => {
    if (!isObject(body)) {
      invalid.set(index, null)
      return new Map()
    }
    const one = splitValidation(validateCreate(body, names))
    if (one.invalid !== null) invalid.set(index, one.invalid)
    return one.changes
  })
  return {
    kind: 'bulkCreate',
    ...(operation === undefined ? {} : { operation }),
    records,
    invalid,
    serverValues: new Map(),
    projection,
    instant,
    ...NO_HOOKS,
  }
}

export { foreignKeyResourcesOf, hiddenFieldsOf, isRelationClosed } from './access.js'
export { authorize, authorizeNow, authorizeResources, authorizeTarget, createView } from './authorize.js'
export { flattenedRelationsOf, flattenedResourcesOf, isFlattenedByCaller } from './flatten.js'
export { readBodyKey, readKeyParts, requireKey } from './key.js'
export { planList } from './list.js'
export { fullProjection } from './projection.js'
export { planForeignKeyChecks, referableRecordsOf } from './references.js'
export { resourcesOfStep } from './relations.js'
