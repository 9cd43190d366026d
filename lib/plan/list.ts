import type { ListIntent } from '../../types/intent.js'
import type { CountPlan, KeysetPlan, PagePlan, Predicate, View } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { invalidQuery } from '../common/problem.js'
import { compareField } from './compare.js'
import { type Context, contextOf } from './context.js'
import { junction, planFilter } from './filter.js'
import { afterKey, readKey } from './key.js'
import { columnOf } from './path.js'
import { fullProjection, selectProjection } from './projection.js'
import { planSort } from './sort.js'
import { describeType, readFilterValue } from './value.js'

/** What a list request means. @throws Problem for names, operators and values that mean nothing here */
export function planList(resource: Resource, intent: ListIntent, view: View): PagePlan | CountPlan | KeysetPlan {
  const context = contextOf(resource, intent.unknownFields, view)
  const where = whereOf(context, resource, intent)
  const { includeDeleted, preference } = intent
  switch (intent.mode) {
    case 'count':
      return { kind: 'count', where, includeDeleted, preference, isAsked: isAsked(intent) }
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
        projection:
          intent.mode === 'select' && intent.select !== null
            ? selectProjection(context, intent.select)
            : fullProjection(resource, 'list', view),
        preference,
        isAsked: isAsked(intent),
      }
  }
}

function whereOf(context: Context, resource: Resource, { filter, parameters }: ListIntent): Predicate | null {
  const given = filter === null ? null : planFilter(context, filter)
  const typed = parameters.map(([name, text]) => typedParameter(context, resource, name, text))
  return junction('and', [given, ...typed])
}

/** A field parameter is equality. One that the caller may not read is no parameter at all. */
function typedParameter({ view }: Context, resource: Resource, name: string, text: string): Predicate | null {
  const field = resource.parameters.get(name)
  if (field === undefined || !view.readable(field, null)) return null
  const value = readFilterValue(field.valueType, text)
  if (value === null) throw invalidQuery(field.json, `"${text}" is not ${describeType(field.valueType)}.`)
  return compareField(columnOf([], field), 'eq', { hasNull: false, values: [value] }, false)
}

/** Any text may be the last key of a page, the empty one too, which is no key in a path. */
function readLast(key: Resource['key'], text: string): string | number | null {
  if (key.valueType.type !== 'string') return readKey(key, text)
  return readFilterValue(key.valueType, text) === null ? null : text
}

function isAsked({ filter, sort, select, parameters }: ListIntent): boolean {
  return filter !== null || sort !== null || select !== null || parameters.length > 0
}

function keysetOf(resource: Resource, intent: ListIntent, where: Predicate | null, view: View): KeysetPlan {
  const { key } = resource
  const { after, pageSize, includeDeleted, preference } = intent
  const last = typeof after === 'string' ? readLast(key, after) : null
  if (typeof after === 'string' && last === null) throw invalidQuery('cursor', 'is not a cursor of this resource.')
  return {
    kind: 'keyset',
    includeDeleted,
    where: junction('and', [where, last === null ? null : afterKey(key, last)]),
    order: [{ column: columnOf([], key), direction: 'asc' }],
    pageSize,
    projection: fullProjection(resource, 'response', view),
    preference,
    isAsked: isAsked(intent),
  }
}
