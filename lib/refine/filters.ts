import type { CrudFilter, CrudOperators, CrudSort } from '@refinedev/core'
import { filter } from '../client/index.js'
import { fieldOf, toSort } from '../providers/calls.js'
import {
  type Condition,
  equalsAny,
  equalsNone,
  joinConditionsByAnd,
  joinConditionsByOr,
  toOperand,
  toOperandOrNull,
  toOperands,
} from '../providers/conditions.js'
import type { ClientResource } from '../providers/resources.js'

type Compare = (field: string, value: unknown) => Condition
type CaseOption = { readonly ignoreCase: boolean }

const IGNORE_CASE: CaseOption = { ignoreCase: true }
const MATCH_CASE: CaseOption = { ignoreCase: false }

/** Creates an equality comparison. `fold` applies only to non-empty texts, because other values have no case. */
function compareEqual(compare: typeof filter.eq, fold: CaseOption): Compare {
  return (field, value) =>
    compare(field, toOperandOrNull(field, value), typeof value === 'string' && value !== '' ? fold : MATCH_CASE)
}

/** Creates a substring comparison. Every text contains the empty text, so `ofEmpty` is the result for an empty text. */
function compareText(compare: typeof filter.contains, fold: CaseOption, ofEmpty: boolean): Compare {
  return (field, value) => {
    const written = String(toOperand(field, value))
    return written === '' ? ofEmpty : compare(field, written, fold)
  }
}

/** Comparisons of the four operators for a text comparison. `n` marks the negation, and `s` marks an exact case. */
function texts(
  name: 'contains' | 'startswith' | 'endswith',
  compare: typeof filter.contains,
  complement: typeof filter.contains,
): readonly (readonly [CrudOperators, Compare])[] {
  return [
    [name, compareText(compare, IGNORE_CASE, true)],
    [`n${name}`, compareText(complement, IGNORE_CASE, false)],
    [`${name}s`, compareText(compare, MATCH_CASE, true)],
    [`n${name}s`, compareText(complement, MATCH_CASE, false)],
  ]
}

function compareOrder(compare: typeof filter.gt): Compare {
  return (field, value) => compare(field, toOperand(field, value))
}

function compareRange(compare: (field: string, low: unknown, high: unknown) => Condition): Compare {
  return (field, value) => {
    if (!Array.isArray(value) || value.length !== 2) throw new TypeError(`${field}: a range must have two values.`)
    return compare(field, value[0], value[1])
  }
}

/**
 * Comparisons by Refine's operators. Array operators are missing, because the service's filters do not support arrays.
 */
const COMPARE_BY_OPERATOR: ReadonlyMap<string, Compare> = new Map<CrudOperators, Compare>([
  ['eq', compareEqual(filter.eq, IGNORE_CASE)],
  ['ne', compareEqual(filter.ne, IGNORE_CASE)],
  ['eqs', compareEqual(filter.eq, MATCH_CASE)],
  ['nes', compareEqual(filter.ne, MATCH_CASE)],
  ['lt', compareOrder(filter.lt)],
  ['gt', compareOrder(filter.gt)],
  ['lte', compareOrder(filter.lte)],
  ['gte', compareOrder(filter.gte)],
  ['in', (field, value) => equalsAny(field, toOperands(field, value))],
  ['nin', (field, value) => equalsNone(field, toOperands(field, value))],
  [
    'between',
    compareRange((field, low, high) =>
      joinConditionsByAnd([compareOrder(filter.gte)(field, low), compareOrder(filter.lte)(field, high)]),
    ),
  ],
  [
    'nbetween',
    compareRange((field, low, high) =>
      joinConditionsByOr([compareOrder(filter.lt)(field, low), compareOrder(filter.gt)(field, high)]),
    ),
  ],
  ['null', (field) => filter.isNull(field)],
  ['nnull', (field) => filter.notNull(field)],
  ...texts('contains', filter.contains, filter.notContains),
  ...texts('startswith', filter.startsWith, filter.notStartsWith),
  ...texts('endswith', filter.endsWith, filter.notEndsWith),
])

/** Filters of Refine, translated: a condition, the search words and the keys from `id`. */
export interface Filters {
  readonly condition: Condition
  readonly parameters: { readonly search?: string; readonly keys?: readonly unknown[] }
}

/** Translates filters of Refine. @throws TypeError for unsupported operators and values */
export function toFilters(resource: ClientResource, given: readonly CrudFilter[]): Filters {
  const conditions: Condition[] = []
  const parameters: { search?: string; keys?: readonly unknown[] } = {}
  for (const each of given) {
    if ('field' in each && each.value === undefined) continue
    if ('field' in each && resource.hasSearch && each.field === 'q') {
      parameters.search = String(toOperand('q', each.value))
    } else if (
      'field' in each &&
      each.field === 'id' &&
      parameters.keys === undefined &&
      KEY_OPERATORS.has(each.operator)
    ) {
      parameters.keys = toOperands('id', each.value)
      conditions.push(parameters.keys.length > 0)
    } else {
      conditions.push(toCondition(resource, each))
    }
  }
  return { condition: joinConditionsByAnd(conditions), parameters }
}

/** Operators that, on `id`, become the parameter `keys`. Keys need not be filterable. */
const KEY_OPERATORS: ReadonlySet<string> = new Set<CrudOperators>(['eq', 'eqs', 'in'])

function toCondition(resource: ClientResource, given: CrudFilter): Condition {
  if (!('field' in given)) {
    const conditions = given.value.map((each) => toCondition(resource, each))
    return given.operator === 'or' ? joinConditionsByOr(conditions) : joinConditionsByAnd(conditions)
  }
  const compare = COMPARE_BY_OPERATOR.get(given.operator)
  if (compare === undefined) throw new TypeError(`${resource.name}: the operator ${given.operator} is not supported.`)
  return given.value === undefined ? true : compare(fieldOf(resource, given.field), given.value)
}

export function toSorts(resource: ClientResource, sorters: readonly CrudSort[]): string | undefined {
  return sorters.map(({ field, order }) => toSort(resource, field, order === 'desc')).join(',') || undefined
}
