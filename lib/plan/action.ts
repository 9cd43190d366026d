import type { ActionIntent } from '../../types/intent.js'
import type { ActionPlan, Caller, GetPlan, KeyValue, UpdatePlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { addOwnColumns, projectOwnFields } from '../common/columns.js'
import { createContext } from './context.js'
import { rejectCollectionQueries } from './embeds.js'
import { hasForeignValues } from './get.js'
import { readReturnedKey } from './key.js'
import { fullProjection } from './projection.js'
import { selectProjection } from './select.js'
import { NO_HOOKS, planWithoutChanges } from './update.js'

/**
 * Plans a call of an action. Errors are reported in this order: an invalid `select`, an invalid key (thrown by
 * `keyOf`), an invalid input.
 */
export async function planAction(
  resource: Resource,
  intent: ActionIntent,
  view: View,
  caller: Caller,
  keyOf: () => KeyValue,
): Promise<ActionPlan> {
  const { action } = intent
  const show = planShow(resource, intent, view)
  const record = planRecord(resource, intent, view, caller, keyOf)
  const verdict = await action.validateInput(intent.input)
  const read =
    'errors' in verdict ? { input: undefined, errors: verdict.errors } : { input: verdict.value, errors: null }
  const readKey: ActionPlan['readKey'] = (given) => readReturnedKey(resource.keys, given)
  return {
    kind: 'action',
    action,
    caller,
    record,
    resultPlan: show,
    readKey,
    ...read,
    scopeCondition: null,
    ...NO_HOOKS,
  }
}

/** Plans the read of the records that the handler returns. Returns null if the action returns no records. */
function planShow(resource: Resource, intent: ActionIntent, view: View): GetPlan | null {
  const { action, select, preference, collections } = intent
  const { output } = action
  if (output !== 'record' && output !== 'list') return null
  const shape = output === 'record' ? 'response' : 'list'
  if (select === null) rejectCollectionQueries(collections)
  const records = output === 'record' ? 1 : resource.query.maxPageSize
  const projection =
    select === null
      ? fullProjection(resource, shape, view)
      : selectProjection(createContext(resource, intent.unknownFields, view), intent, { shape, maxRecords: records })
  return {
    kind: 'get',
    where: { kind: 'always' },
    projection: intent.minimal
      ? { ...projectOwnFields(resource.keys), full: projection }
      : addOwnColumns(projection, resource.keys),
    hasOtherRecords: select !== null && hasForeignValues(projection),
    preference,
  }
}

function planRecord(
  resource: Resource,
  { action, match }: ActionIntent,
  view: View,
  { instant }: Caller,
  keyOf: () => KeyValue,
): UpdatePlan | GetPlan | null {
  if (action.on === 'collection') return null
  const unchanged = planWithoutChanges(resource, keyOf())
  const { key, where } = unchanged
  if (action.method === 'get') return { kind: 'get', key, where, projection: projectOwnFields(resource.keys) }
  return { ...unchanged, kind: 'update', match, projection: fullProjection(resource, 'response', view), instant }
}
