import type { Field } from '../../types/field.js'
import type { ListIntent } from '../../types/intent.js'
import type { KeysetPlan, ListPlan, Predicate, Projection, SeekPlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { codecOf, readFilterValue } from '../codec/codecs.js'
import { BATCH } from '../common/batch.js'
import { ownColumn } from '../common/columns.js'
import { echoed } from '../common/echo.js'
import { afterKey } from '../common/keys.js'
import { junction } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { planAggregate } from './aggregate.js'
import { compareField } from './compare.js'
import { type Context, contextOf } from './context.js'
import { refuseShapes } from './embeds.js'
import { planFilter } from './filter.js'
import { byKey, distinctKeys, readLastKey } from './key.js'
import { fullProjection } from './projection.js'
import { planSearch } from './search.js'
import { placeIn } from './seek.js'
import { selectProjection } from './select.js'
import { planSort } from './sort.js'

/** Plans a list. @throws Problem for unknown names, operators and invalid values */
export function planList(resource: Resource, intent: ListIntent, view: View): ListPlan {
  const context = contextOf(resource, intent.unknownFields, view)
  const where = whereOf(context, intent)
  const { mode, includeDeleted, preference, page, pageSize, total, isCounted = false } = intent
  const listing = { where, includeDeleted, preference, isAsked: isAsked(intent) }
  switch (mode) {
    case 'count':
      return { kind: 'count', ...listing }
    case 'aggregate':
      return { kind: 'aggregate', ...listing, ...planAggregate(context, intent), page, pageSize, total, isAsked: true }
    case 'cursor':
      return { kind: 'keyset', ...listing, ...keysetOf(resource, intent, where, view), pageSize }
    case 'seek':
      return { kind: 'seek', ...listing, ...seekOf(context, intent), pageSize, isCounted }
    case 'export': {
      const { format } = intent
      const { exportItems: limit } = resource.limits
      return { kind: 'export', ...listing, ...seekOf(context, intent), pageSize, format, limit, isCounted }
    }
    default: {
      const order = planSort(context, intent)
      return { kind: 'page', ...listing, order, page, pageSize, total, projection: projectionOf(context, intent) }
    }
  }
}

type Seeking = Pick<SeekPlan, 'order' | 'back' | 'from' | 'mark' | 'projection'>

/** Plans the order, the start position and the members of a page. Paths of members have their own query cost. */
function seekOf(context: Context, intent: ListIntent): Seeking {
  const { view, root } = context
  const order = planSort(context, intent)
  const place = placeIn(root.resource, intent, order)
  const projection = projectionOf(contextOf(root.resource, intent.unknownFields, view), intent)
  return { order, ...place, projection }
}

function projectionOf(context: Context, intent: ListIntent): Projection {
  const { select, shapes, mode, pageSize } = intent
  if (select !== null) {
    // An export keeps only one batch in memory.
    return selectProjection(context, intent, { shape: 'list', records: mode === 'export' ? BATCH : pageSize })
  }
  refuseShapes(shapes)
  return fullProjection(context.root.resource, 'list', context.view)
}

function whereOf(context: Context, intent: ListIntent): Predicate | null {
  const { resource } = context.root
  const { filter, parameters, keys } = intent
  const named = keys === null ? null : byKey(resource.keys, distinctKeys(resource.keys, keys))
  const given = filter === null ? null : planFilter(context, filter)
  const found = planSearch(context, intent)
  return junction('and', [named, given, found, ...parameters.map(([field, text]) => typedParameter(field, text))])
}

/** Predicate of a field parameter, which tests equality. */
function typedParameter(field: Field, text: string): Predicate {
  const value = readFilterValue(field.valueType, text)
  if (value === null)
    throw invalidQuery(field.json, `"${echoed(text)}" is not ${codecOf(field.valueType).noun(field.valueType)}.`)
  return compareField(ownColumn(field), 'eq', { hasNull: false, values: [value] }, false)
}

function isAsked({ filter, sort, select, keys, search, parameters }: ListIntent): boolean {
  return (
    filter !== null || keys !== null || search !== null || sort !== null || select !== null || parameters.length > 0
  )
}

function keysetOf(
  resource: Resource,
  { after }: ListIntent,
  where: Predicate | null,
  view: View,
): Pick<KeysetPlan, 'isWhole' | 'where' | 'order' | 'projection'> {
  const { keys } = resource
  const last = typeof after === 'string' ? readLastKey(keys, after) : null
  if (typeof after === 'string' && last === null) throw invalidQuery('cursor', 'is not a cursor of this resource.')
  return {
    isWhole: where === null,
    where: junction('and', [where, last === null ? null : afterKey(keys, last)]),
    order: keys.map((key) => ({ column: ownColumn(key), direction: 'asc' })),
    projection: fullProjection(resource, 'response', view),
  }
}
