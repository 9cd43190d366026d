import type { Field } from '../../types/field.js'
import type { ListIntent } from '../../types/intent.js'
import type { KeysetPlan, ListPlan, Predicate, Projection, SeekPlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { codecOf, readFilterValue } from '../codec/codecs.js'
import { ownColumn } from '../common/columns.js'
import { EXPORT_BATCH_SIZE } from '../common/exportBatch.js'
import { matchKeys, seekAfterKey } from '../common/keys.js'
import { joinPredicates } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { planAggregate } from './aggregate.js'
import { compareField } from './compare.js'
import { type Context, createContext } from './context.js'
import { rejectCollectionQueries } from './embeds.js'
import { planFilter } from './filter.js'
import { distinctKeys, readLastKey } from './key.js'
import { fullProjection } from './projection.js'
import { planSearch } from './search.js'
import { readPosition } from './seek.js'
import { selectProjection } from './select.js'
import { planSort } from './sort.js'

/** Plans a list. @throws Problem for unknown names, operators and invalid values */
export function planList(resource: Resource, intent: ListIntent, view: View): ListPlan {
  const context = createContext(resource, intent.unknownFields, view)
  const where = planWhere(context, intent)
  const { mode, includeDeleted, preference, page, pageSize, total, isCounted = false } = intent
  const { filter, sort, select, keys, search, parameters } = intent
  const hasQuery = [filter, sort, select, keys, search].some((part) => part !== null) || parameters.length > 0
  const listing = { where, includeDeleted, preference, hasQuery }
  switch (mode) {
    case 'count':
      return { ...listing, kind: 'count' }
    case 'aggregate':
      return { ...listing, kind: 'aggregate', ...planAggregate(context, intent), page, pageSize, total, hasQuery: true }
    case 'cursor':
      return { ...listing, kind: 'keyset', ...planKeyset(resource, intent, where, view), pageSize }
    case 'seek':
      return { ...listing, kind: 'seek', ...planSeek(context, intent), pageSize, isCounted }
    case 'export': {
      const { format } = intent
      const { exportItems: limit } = resource.limits
      return { ...listing, kind: 'export', ...planSeek(context, intent), pageSize, format, limit, isCounted }
    }
    default: {
      const order = planSort(context, intent)
      return { ...listing, kind: 'page', order, page, pageSize, total, projection: planProjection(context, intent) }
    }
  }
}

type SeekMembers = Pick<SeekPlan, 'order' | 'isBackward' | 'position' | 'sortSignature' | 'projection'>

/** Plans the order, the start position and the members of a page. Paths of members have a separate query cost. */
function planSeek(context: Context, intent: ListIntent): SeekMembers {
  const { view, root } = context
  const order = planSort(context, intent)
  const place = readPosition(root.resource, intent, order)
  const projection = planProjection(createContext(root.resource, intent.unknownFields, view), intent)
  return { order, ...place, projection }
}

function planProjection(context: Context, intent: ListIntent): Projection {
  const { select, collections, mode, pageSize } = intent
  if (select !== null) {
    // An export has only one batch in memory.
    return selectProjection(context, intent, {
      shape: 'list',
      maxRecords: mode === 'export' ? EXPORT_BATCH_SIZE : pageSize,
    })
  }
  rejectCollectionQueries(collections)
  return fullProjection(context.root.resource, 'list', context.view)
}

function planWhere(context: Context, intent: ListIntent): Predicate | null {
  const { resource } = context.root
  const { filter, parameters, keys } = intent
  const named = keys === null ? null : matchKeys(resource.keys, distinctKeys(resource.keys, keys))
  const given = filter === null ? null : planFilter(context, filter)
  const found = planSearch(context, intent)
  return joinPredicates('and', [named, given, found, ...parameters.map(([field, text]) => planParameter(field, text))])
}

/** Plans a field parameter, which tests equality. */
function planParameter(field: Field, text: string): Predicate {
  const value = readFilterValue(field.valueType, text)
  if (value === null)
    throw invalidQuery(field.json, `"${truncateEcho(text)}" is not ${codecOf(field.valueType).noun(field.valueType)}.`)
  return compareField(ownColumn(field), 'eq', { hasNull: false, values: [value] }, false)
}

function planKeyset(
  resource: Resource,
  { after }: ListIntent,
  where: Predicate | null,
  view: View,
): Pick<KeysetPlan, 'isKeysetOnly' | 'where' | 'order' | 'projection'> {
  const { keys } = resource
  const last = typeof after === 'string' ? readLastKey(keys, after) : null
  if (typeof after === 'string' && last === null) throw invalidQuery('cursor', 'is not a cursor of this resource.')
  return {
    isKeysetOnly: where === null,
    where: joinPredicates('and', [where, last === null ? null : seekAfterKey(keys, last)]),
    order: keys.map((key) => ({ column: ownColumn(key), direction: 'asc' })),
    projection: fullProjection(resource, 'response', view),
  }
}
