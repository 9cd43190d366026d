import type { CrudFilter, CrudOperators, CrudSort } from '@refinedev/core'
import { filter } from '../client/index.js'
import { fieldOf, sortOf } from '../providers/calls.js'
import {
  allOf,
  among,
  anyOf,
  type Condition,
  operand,
  operandOrNull,
  operands,
  outside,
} from '../providers/conditions.js'
import type { Resource } from '../providers/resources.js'

type Compare = (field: string, value: unknown) => Condition
type Fold = { readonly ignoreCase: boolean }

const FOLDED: Fold = { ignoreCase: true }
const EXACT: Fold = { ignoreCase: false }

/** Equality. `fold` applies to texts that are not empty, since only these have case. */
function equality(compare: typeof filter.eq, fold: Fold): Compare {
  return (field, value) =>
    compare(field, operandOrNull(field, value), typeof value === 'string' && value !== '' ? fold : EXACT)
}

/** Substring comparison. `ofEmpty` is the result for an empty text, which every text contains. */
function text(compare: typeof filter.contains, fold: Fold, ofEmpty: boolean): Compare {
  return (field, value) => {
    const written = String(operand(field, value))
    return written === '' ? ofEmpty : compare(field, written, fold)
  }
}

/** The four operators of a text comparison: with `n` for its complement, with `s` for exact case. */
function texts(
  name: 'contains' | 'startswith' | 'endswith',
  compare: typeof filter.contains,
  complement: typeof filter.contains,
): readonly (readonly [CrudOperators, Compare])[] {
  return [
    [name, text(compare, FOLDED, true)],
    [`n${name}`, text(complement, FOLDED, false)],
    [`${name}s`, text(compare, EXACT, true)],
    [`n${name}s`, text(complement, EXACT, false)],
  ]
}

function order(compare: typeof filter.gt): Compare {
  return (field, value) => compare(field, operand(field, value))
}

function range(compare: (field: string, low: unknown, high: unknown) => Condition): Compare {
  return (field, value) => {
    if (!Array.isArray(value) || value.length !== 2)
      throw new TypeError(`${field}: a range must be an array of two values.`)
    return compare(field, value[0], value[1])
  }
}

/** Comparisons by operator. Array operators are missing, because filters do not support them. */
const OPERATORS: ReadonlyMap<string, Compare> = new Map<CrudOperators, Compare>([
  ['eq', equality(filter.eq, FOLDED)],
  ['ne', equality(filter.ne, FOLDED)],
  ['eqs', equality(filter.eq, EXACT)],
  ['nes', equality(filter.ne, EXACT)],
  ['lt', order(filter.lt)],
  ['gt', order(filter.gt)],
  ['lte', order(filter.lte)],
  ['gte', order(filter.gte)],
  ['in', (field, value) => among(field, operands(field, value))],
  ['nin', (field, value) => outside(field, operands(field, value))],
  ['between', range((field, low, high) => allOf([order(filter.gte)(field, low), order(filter.lte)(field, high)]))],
  ['nbetween', range((field, low, high) => anyOf([order(filter.lt)(field, low), order(filter.gt)(field, high)]))],
  ['null', (field) => filter.isNull(field)],
  ['nnull', (field) => filter.notNull(field)],
  ...texts('contains', filter.contains, filter.notContains),
  ...texts('startswith', filter.startsWith, filter.notStartsWith),
  ...texts('endswith', filter.endsWith, filter.notEndsWith),
])

/** Filters of Refine as a condition, with the search words and the keys from `id` apart. */
export interface Filters {
  readonly condition: Condition
  readonly parameters: { readonly search?: string; readonly keys?: readonly unknown[] }
}

/** @throws TypeError for unsupported operators and values */
export function filtersOf(resource: Resource, given: readonly CrudFilter[]): Filters {
  const conditions: Condition[] = []
  const parameters: { search?: string; keys?: readonly unknown[] } = {}
  for (const each of given) {
    if ('field' in each && each.value === undefined) continue
    if ('field' in each && resource.hasSearch && each.field === 'q') {
      parameters.search = String(operand('q', each.value))
    } else if ('field' in each && each.field === 'id' && parameters.keys === undefined && KEYED.has(each.operator)) {
      parameters.keys = operands('id', each.value)
      conditions.push(parameters.keys.length > 0)
    } else {
      conditions.push(conditionOf(resource, each))
    }
  }
  return { condition: allOf(conditions), parameters }
}

/** Operators on `id` that become the parameter `keys`. Keys need not be filterable. */
const KEYED: ReadonlySet<string> = new Set<CrudOperators>(['eq', 'eqs', 'in'])

function conditionOf(resource: Resource, given: CrudFilter): Condition {
  if (!('field' in given)) {
    const conditions = given.value.map((each) => conditionOf(resource, each))
    return given.operator === 'or' ? anyOf(conditions) : allOf(conditions)
  }
  const compare = OPERATORS.get(given.operator)
  if (compare === undefined) throw new TypeError(`${resource.name}: the operator ${given.operator} is not supported.`)
  return given.value === undefined ? true : compare(fieldOf(resource, given.field), given.value)
}

export function sortersOf(resource: Resource, sorters: readonly CrudSort[]): { readonly sort?: string } {
  if (sorters.length === 0) return {}
  return { sort: sorters.map(({ field, order }) => sortOf(resource, field, order === 'desc')).join(',') }
}
