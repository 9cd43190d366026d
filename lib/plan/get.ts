import type { GetIntent } from '../../types/intent.js'
import type { GetPlan, KeyValue, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { contextOf } from './context.js'
import { refuseShapes } from './embeds.js'
import { byKey } from './key.js'
import { fullProjection } from './projection.js'
import { selectProjection } from './select.js'

/** Whether a projection shows values that can change without a change of the record. */
export function showsOthers({ columns, embeds = [] }: Projection): boolean {
  return embeds.length > 0 || columns.some(({ hops, counted }) => hops.length > 0 || counted !== undefined)
}

/** Plans the read of one record. An invalid query is reported before an invalid key, for which `keyOf` throws. */
export function planGet(resource: Resource, intent: GetIntent, view: View, keyOf: () => KeyValue): GetPlan {
  const { select } = intent
  if (select === null) refuseShapes(intent.shapes)
  const projection =
    select === null
      ? fullProjection(resource, 'response', view)
      : selectProjection(contextOf(resource, intent.unknownFields, view), intent, { shape: 'response', records: 1 })
  const key = keyOf()
  return {
    kind: 'get',
    key,
    where: byKey(resource.keys, [key]),
    projection,
    isOfOthers: select !== null && showsOthers(projection),
    preference: intent.preference,
  }
}
