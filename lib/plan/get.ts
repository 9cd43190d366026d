import type { GetIntent } from '../../types/intent.js'
import type { GetPlan, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { matchKeys } from '../common/keys.js'
import { createContext } from './context.js'
import { rejectCollectionQueries } from './embeds.js'
import { requireKey } from './key.js'
import { fullProjection } from './projection.js'
import { selectProjection } from './select.js'

/** Whether a projection contains values that can change without a change of the record. */
export function hasForeignValues({ columns, embeds = [] }: Projection): boolean {
  return embeds.length > 0 || columns.some(({ joins, countedJoin }) => joins.length > 0 || countedJoin !== undefined)
}

/** Plans the read of one record. An invalid query is reported before an invalid key. */
export function planGet(resource: Resource, intent: GetIntent, view: View): GetPlan {
  const { select } = intent
  if (select === null) rejectCollectionQueries(intent.collections)
  const projection =
    select === null
      ? fullProjection(resource, 'response', view)
      : selectProjection(createContext(resource, intent.unknownFields, view), intent, {
          shape: 'response',
          maxRecords: 1,
        })
  const key = requireKey(resource.keys, intent.key)
  return {
    kind: 'get',
    key,
    where: matchKeys(resource.keys, [key]),
    projection,
    hasOtherRecords: select !== null && hasForeignValues(projection),
    preference: intent.preference,
  }
}
