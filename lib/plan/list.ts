import type { BoundList } from '../../types/bound.js'
import type { Field } from '../../types/field.js'
import type { ListIntent } from '../../types/intent.js'
import type { CountPlan, KeysetPlan, PagePlan, Predicate } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { ownColumn } from '../common/columns.js'
import { junction } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { compareField } from './compare.js'
import { type Context, contextOf } from './context.js'
import { planFilter } from './filter.js'
import { afterKey, byKey, distinctKeys, readKey } from './key.js'
import { fullProjection, selectProjection } from './projection.js'
import { planSort } from './sort.js'
import { describeType, readFilterValue } from './value.js'

/** What a list request means. @throws Problem for names, operators and values that mean nothing here */
export function planList(resource: Resource, bound: BoundList, view: View): PagePlan | CountPlan | KeysetPlan {
  const { intent, select, flattened } = bound
  const context = contextOf(resource, intent.unknownFields, view)
  const where = whereOf(context, resource, bound)
  const { includeDeleted, preference } = intent
  switch (intent.mode) {
    case 'count':
      return { kind: 'count', where, includeDeleted, preference, isAsked: isAsked(intent) }
    case 'cursor':
      return keysetOf(resource, bound, where, view)
    default:
      return {
        kind: 'page',
        where,
        includeDeleted,
        order: planSort(context, resource, bound),
        page: intent.page,
        pageSize: intent.pageSize,
        total: intent.total,
        projection:
          intent.mode === 'select' && select !== null
            ? selectProjection(context, select)
            : fullProjection(resource, 'list', view, flattened),
        preference,
        isAsked: isAsked(intent),
      }
  }
}

function whereOf(context: Context, { key }: Resource, { filter, intent }: BoundList): Predicate | null {
  const { parameters, keys } = intent
  const named = keys === null ? null : byKey(key, distinctKeys(key, keys))
  const given = filter === null ? null : planFilter(context, filter)
  return junction('and', [named, given, ...parameters.map(([field, text]) => typedParameter(field, text))])
}

/** A field parameter is equality. */
function typedParameter(field: Field, text: string): Predicate {
  const value = readFilterValue(field.valueType, text)
  if (value === null) throw invalidQuery(field.json, `"${text}" is not ${describeType(field.valueType)}.`)
  return compareField(ownColumn(field), 'eq', { hasNull: false, values: [value] }, false)
}

/** Any text may be the last key of a page, the empty one too, which is no key in a path. */
function readLast(key: Resource['key'], text: string): string | number | null {
  if (key.valueType.type !== 'string') return readKey(key, text)
  return readFilterValue(key.valueType, text) === null ? null : text
}

function isAsked({ filter, sort, select, keys, parameters }: ListIntent): boolean {
  return filter !== null || keys !== null || sort !== null || select !== null || parameters.length > 0
}

function keysetOf(resource: Resource, bound: BoundList, where: Predicate | null, view: View): KeysetPlan {
  const { key } = resource
  const { intent, flattened } = bound
  const { after, pageSize, includeDeleted, preference } = intent
  const last = typeof after === 'string' ? readLast(key, after) : null
  if (typeof after === 'string' && last === null) throw invalidQuery('cursor', 'is not a cursor of this resource.')
  return {
    kind: 'keyset',
    includeDeleted,
    where: junction('and', [where, last === null ? null : afterKey(key, last)]),
    order: [{ column: ownColumn(key), direction: 'asc' }],
    pageSize,
    projection: fullProjection(resource, 'response', view, flattened),
    preference,
    isAsked: isAsked(intent),
  }
}
