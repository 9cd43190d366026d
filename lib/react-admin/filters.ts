import { filter } from '../client/index.js'
import { fieldOf } from '../providers/calls.js'
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

/** Creates a comparison with a text. The empty text matches every record. */
function compareText(compare: (field: string, value: string) => string): Compare {
  return (field, value) => {
    const written = String(toOperand(field, value))
    return written === '' ? true : compare(field, written)
  }
}

/** Suffixes of filter names that select a comparison. The first match applies. */
const SUFFIXES: readonly (readonly [suffix: string, compare: Compare])[] = [
  ['_neq_any', (field, value) => equalsNone(field, toOperands(field, value))],
  ['_eq_any', (field, value) => equalsAny(field, toOperands(field, value))],
  [
    '_inc_any',
    (field, value) =>
      joinConditionsByOr(toOperands(field, value).map((each) => compareText(filter.contains)(field, each))),
  ],
  ['_neq', (field, value) => filter.ne(field, toOperandOrNull(field, value))],
  ['_eq', (field, value) => filter.eq(field, toOperandOrNull(field, value))],
  ['_gte', (field, value) => filter.gte(field, toOperand(field, value))],
  ['_lte', (field, value) => filter.lte(field, toOperand(field, value))],
  ['_gt', (field, value) => filter.gt(field, toOperand(field, value))],
  ['_lt', (field, value) => filter.lt(field, toOperand(field, value))],
  ['_q', compareText((field, value) => filter.contains(field, value, { ignoreCase: true }))],
]

/** Filters of react-admin, translated: a condition, the search words and the keys from `id`. */
export interface Filters {
  readonly condition: Condition
  readonly parameters: { readonly search?: string; readonly keys?: readonly unknown[] }
}

/**
 * Translates filters of react-admin.
 * @throws TypeError for search words if the resource has no `search`, and for values that filters do not support
 */
export function toFilters(resource: ClientResource, given: unknown): Filters {
  const { q, id, ...fields } = Object(given) as Readonly<Record<string, unknown>>
  const keys = id === undefined ? undefined : toOperands('id', id)
  const condition = joinConditionsByAnd([...toConditions(resource, fields, ''), keys?.length !== 0])
  const keyParameters = keys === undefined ? {} : { keys }
  if (q === undefined || q === null || q === '') return { condition, parameters: keyParameters }
  if (!resource.hasSearch) {
    throw new TypeError(`${resource.name}: the filter "q" needs the setting search: true of this resource.`)
  }
  return { condition, parameters: { ...keyParameters, search: String(toOperand('q', q)) } }
}

function toConditions(
  resource: ClientResource,
  fields: Readonly<Record<string, unknown>>,
  prefix: string,
): Condition[] {
  return Object.entries(fields).map(([name, value]) => {
    if (value === undefined) return true
    const path = prefix + name
    // Inputs with a path as name, such as `team.name`, become nested objects.
    if (isNested(value)) return joinConditionsByAnd(toConditions(resource, { ...value }, `${path}.`))
    const [suffix, compare] = SUFFIXES.find(([suffix]) => path.endsWith(suffix)) ?? ['', undefined]
    const field = fieldOf(resource, path.slice(0, path.length - suffix.length))
    if (compare !== undefined) return compare(field, value)
    return Array.isArray(value)
      ? equalsAny(field, toOperands(field, value))
      : filter.eq(field, toOperandOrNull(field, value))
  })
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
