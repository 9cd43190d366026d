import type { ActionIntent } from '../../types/intent.js'
import type { ActionPlan, Caller, GetPlan, KeyValue, UpdatePlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { ofOwn, withOwn } from '../common/columns.js'
import { contextOf } from './context.js'
import { refuseShapes } from './embeds.js'
import { showsOthers } from './get.js'
import { fullProjection } from './projection.js'
import { selectProjection } from './select.js'
import { UNHOOKED, unchanging } from './update.js'

/** Plans a call of an action. Errors are reported in this order: an invalid `select`, an invalid key (thrown by `keyOf`), an invalid input. */
export async function planAction(
  resource: Resource,
  intent: ActionIntent,
  view: View,
  caller: Caller,
  keyOf: () => KeyValue,
): Promise<ActionPlan> {
  const { action } = intent
  const show = showOf(resource, intent, view)
  const record = recordOf(resource, intent, view, caller, keyOf)
  const verdict = await action.read(intent.input)
  const read =
    'errors' in verdict ? { input: undefined, errors: verdict.errors } : { input: verdict.value, errors: null }
  return { kind: 'action', action, caller, record, show, ...read, limit: null, ...UNHOOKED }
}

/** Plans the read of the records that the handler returns. */
function showOf(resource: Resource, intent: ActionIntent, view: View): GetPlan | null {
  const { action, select, preference, shapes } = intent
  const { output } = action
  if (output !== 'record' && output !== 'list') return null
  const shape = output === 'record' ? 'response' : 'list'
  if (select === null) refuseShapes(shapes)
  const records = output === 'record' ? 1 : resource.query.maxPageSize
  const projection =
    select === null
      ? fullProjection(resource, shape, view)
      : selectProjection(contextOf(resource, intent.unknownFields, view), intent, { shape, records })
  return {
    kind: 'get',
    where: { kind: 'always' },
    projection: intent.minimal ? { ...ofOwn(resource.keys), full: projection } : withOwn(projection, resource.keys),
    isOfOthers: select !== null && showsOthers(projection),
    preference,
  }
}

function recordOf(
  resource: Resource,
  { action, match }: ActionIntent,
  view: View,
  { instant }: Caller,
  keyOf: () => KeyValue,
): UpdatePlan | GetPlan | null {
  if (action.on === 'collection') return null
  const unchanged = unchanging(resource, keyOf())
  const { key, where } = unchanged
  if (action.method === 'get') return { kind: 'get', key, where, projection: ofOwn(resource.keys) }
  return { ...unchanged, kind: 'update', match, projection: fullProjection(resource, 'response', view), instant }
}
