import type { Field } from '../../types/field.js'
import type { ListIntent } from '../../types/intent.js'
import type { ExportPlan, KeysetPlan, ListPlan, PagePlan, Predicate, Projection, SeekPlan } from '../../types/plan.js'
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

/** What a list request means. @throws Problem for names, operators and values that mean nothing here */
export function planList(resource: Resource, intent: ListIntent, view: View): ListPlan {
  if (intent.mode === 'page') return pageOf(resource, intent, view)
  if (intent.mode === 'seek') return seekPageOf(resource, intent, view)
  if (intent.mode === 'export') return exportOf(resource, intent, view)
  const context = contextOf(resource, intent.unknownFields, view)
  const where = whereOf(context, resource, intent)
  const { includeDeleted, preference } = intent
  switch (intent.mode) {
    case 'count':
      return { kind: 'count', where, includeDeleted, preference, isAsked: isAsked(intent) }
    case 'aggregate': {
      const { page, pageSize, total, aggregation } = intent
      if (aggregation === null) throw new TypeError('an aggregate without anything to aggregate')
      const aggregate = planAggregate(context, resource, aggregation)
      return {
        kind: 'aggregate',
        where,
        includeDeleted,
        ...aggregate,
        page,
        pageSize,
        total,
        preference,
        isAsked: true,
      }
    }
    case 'cursor':
      return keysetOf(resource, intent, where, view)
    default:
      return {
        kind: 'page',
        where,
        includeDeleted,
        order: planSort(context, resource, intent),
        page: intent.page,
        pageSize: intent.pageSize,
        total: intent.total,
        projection: projectionOf(context, resource, intent),
        preference,
        isAsked: isAsked(intent),
      }
  }
}

/** What a numbered page is of, and in which order. */
interface Listed extends Pick<PagePlan, 'where' | 'order'> {}

function pageOf(resource: Resource, intent: ListIntent, view: View): PagePlan {
  const { where, order } = listedOf(resource, intent, view)
  refuseShapes(intent.shapes)
  return {
    kind: 'page',
    where,
    order,
    includeDeleted: intent.includeDeleted,
    page: intent.page,
    pageSize: intent.pageSize,
    total: intent.total,
    projection: fullProjection(resource, 'list', view),
    preference: intent.preference,
    isAsked: isAsked(intent),
  }
}

function seekPageOf(resource: Resource, intent: ListIntent, view: View): SeekPlan {
  const { where, order } = listedOf(resource, intent, view)
  const { back, from, mark } = placeIn(resource, intent, order)
  return {
    kind: 'seek',
    where,
    order,
    back,
    from,
    mark,
    includeDeleted: intent.includeDeleted,
    pageSize: intent.pageSize,
    projection: projectionOf(contextOf(resource, intent.unknownFields, view), resource, intent),
    preference: intent.preference,
    isAsked: isAsked(intent),
  }
}

function exportOf(resource: Resource, intent: ListIntent, view: View): ExportPlan {
  const { format, isCounted = false } = intent
  const { exportItems: limit } = resource.limits
  return { ...seekPageOf(resource, intent, view), kind: 'export', format, limit, isCounted }
}

function listedOf(resource: Resource, intent: ListIntent, view: View): Listed {
  const context = contextOf(resource, intent.unknownFields, view)
  return { where: whereOf(context, resource, intent), order: planSort(context, resource, intent) }
}

function projectionOf(context: Context, resource: Resource, intent: ListIntent): Projection {
  const { select, shapes, mode, pageSize, embedTotal } = intent
  if (select !== null) {
    // Of an export as many are in memory as it reads at once.
    const records = mode === 'export' ? BATCH : pageSize
    return selectProjection({ resource, shape: 'list', records, embedTotal }, context, { select, shapes })
  }
  refuseShapes(shapes)
  return fullProjection(resource, 'list', context.view)
}

function whereOf(context: Context, resource: Resource, intent: ListIntent): Predicate | null {
  const { filter, parameters, keys } = intent
  const named = keys === null ? null : byKey(resource.keys, distinctKeys(resource.keys, keys))
  const given = filter === null ? null : planFilter(context, filter)
  const found = planSearch(context, resource, intent)
  return junction('and', [named, given, found, ...parameters.map(([field, text]) => typedParameter(field, text))])
}

/** A field parameter is equality. */
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

function keysetOf(resource: Resource, intent: ListIntent, where: Predicate | null, view: View): KeysetPlan {
  const { keys } = resource
  const { after, pageSize, includeDeleted, preference } = intent
  const last = typeof after === 'string' ? readLastKey(keys, after) : null
  if (typeof after === 'string' && last === null) throw invalidQuery('cursor', 'is not a cursor of this resource.')
  return {
    kind: 'keyset',
    includeDeleted,
    isWhole: where === null,
    where: junction('and', [where, last === null ? null : afterKey(keys, last)]),
    order: keys.map((key) => ({ column: ownColumn(key), direction: 'asc' })),
    pageSize,
    projection: fullProjection(resource, 'response', view),
    preference,
    isAsked: isAsked(intent),
  }
}
