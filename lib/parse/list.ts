import type { ListIntent, Seek } from '../../types/intent.js'
import type { Direction } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import type { Total } from '../../types/settings.js'
import { invalidQuery } from '../common/problem.js'
import { readAggregation } from './aggregation.js'
import { filterOnce, sortOnce } from './kept.js'
import { readKeys } from './keys.js'
import { gatherParameters, type Parameters, readParameters } from './parameters.js'
import { handlingOf, isCounted } from './prefer.js'
import { readSearch } from './search.js'
import { readShapes } from './shapes.js'
import { readFilter, readSelect, readSort, whole } from './texts.js'
import { appliedHandling, type Hidden } from './unknown.js'

/** The parts of a request that describe a list. */
export interface ListRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** @throws Problem for malformed parameters and exceeded limits. Parameters that the mode ignores are not read. */
export function readList(resource: Resource, { url, headers }: ListRequest, hidden: Hidden): ListIntent {
  return intentOf(resource, readParameters(resource, url, hidden), handlingOf(headers.prefer))
}

/**
 * Reads an export: a list without pages, optionally after a position.
 *
 * @throws Problem as above, and for modes without records or with pages
 */
export function readExport(
  resource: Resource,
  { url, headers }: ListRequest,
  { hidden, formats }: { readonly hidden: Hidden; readonly formats: readonly string[] },
): ListIntent {
  const intent = intentOf(resource, readParameters(resource, url, hidden), handlingOf(headers.prefer), formats)
  return { ...intent, isCounted: isCounted(headers.prefer) }
}

/** Reads a list from an object of decoded parameters, for `queryOf`. */
export function readQuery(resource: Resource, query: Readonly<Record<string, unknown>>, hidden: Hidden): ListIntent {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return []
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return [[name, String(value)]]
    }
    throw invalidQuery(name, 'must be given once, as text.')
  })
  return intentOf(resource, gatherParameters(resource, pairs, hidden), null)
}

// Hides every field: field parameters differ by caller, but do not affect the mode.
const EVERY_FIELD: Hidden = Object.freeze({ has: () => true })

/** The mode of a request's query; null if it is malformed, which is reported when it is read. */
export function modeIn(resource: Resource, url: string): ListIntent['mode'] | null {
  return readable(() => modeOf(resource, readParameters(resource, url, EVERY_FIELD).reserved))
}

/** The mode of an object of decoded parameters. */
export function modeOfQuery(resource: Resource, query: Readonly<Record<string, unknown>>): ListIntent['mode'] | null {
  return readable(() =>
    modeOf(resource, new Map(Object.entries(query).map(([name, value]) => [name, String(value ?? '')]))),
  )
}

function readable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** The parameters that a mode reads besides conditions. Others are ignored. */
interface ModeTraits {
  /** Pages have numbers. */
  readonly isNumbered?: true
  /** Pages start at a position in the order. */
  readonly seeks?: true
  /** Records are in the requested order. */
  readonly isSorted?: true
  readonly selects?: true
  readonly isSized?: true
}

const MODES: Readonly<Record<ListIntent['mode'], ModeTraits>> = {
  page: { isNumbered: true, isSorted: true, isSized: true },
  select: { isNumbered: true, isSorted: true, selects: true, isSized: true },
  count: {},
  cursor: { isSized: true },
  seek: { seeks: true, isSorted: true, selects: true, isSized: true },
  aggregate: { isNumbered: true, isSized: true },
  export: { seeks: true, isSorted: true, selects: true },
}

type Given = (name: string) => string | null

function intentOf(
  resource: Resource,
  { reserved, fields, unknown }: Parameters,
  handling: ReturnType<typeof handlingOf>,
  formats: readonly string[] | null = null,
): ListIntent {
  const { query } = resource
  const applied = appliedHandling(query, unknown, handling)
  // An empty parameter counts as missing. Exceptions: `cursor` and `after` start at the beginning, and empty `keys` is
  // no key.
  const given: Given = (name) => reserved.get(name) || null
  const counting = countingOf(given('count'))
  const asked = modeOf(resource, reserved)
  const mode = formats === null ? asked : exportOf(asked, given)
  // A condition on groups without groups is an error, because ignoring it would return too much.
  if (given('having') !== null && given('group') === null) throw invalidQuery('having', 'needs group.')
  const seek = MODES[mode].seeks === true ? seekOf(reserved) : null
  const window = windowOf(resource, mode, reserved, given)
  return {
    kind: 'list',
    mode,
    ...window,
    total: counting === 'exact' || counting === 'none' ? counting : query.total,
    filter: filterOf(resource, given('filter')),
    ...orderOf(resource, mode, given),
    shapes: MODES[mode].isSorted === true ? readShapes(resource, reserved, window.select) : [],
    aggregation: mode === 'aggregate' ? readAggregation(resource, given) : null,
    search: searchOf(resource, given('search')),
    after: mode === 'cursor' ? cursorOf(resource, reserved.get('cursor') ?? '') : undefined,
    format: formats === null ? null : formatOf(formats, given('format')),
    seek,
    // The parameter is unknown to a resource without soft delete.
    includeDeleted: resource.softDeletes && booleanOf('includeDeleted', given('includeDeleted')),
    parameters: fields.filter(([, text]) => text !== ''),
    unknownFields: applied === 'strict' ? 'reject' : query.unknownFields,
    preference: { applied, varies: query.unknownFields === 'ignore' || unknown.given.length > 0 },
  }
}

/** The page, the keys and the selection of a list. */
function windowOf(
  resource: Resource,
  mode: ListIntent['mode'],
  reserved: Parameters['reserved'],
  given: Given,
): Pick<ListIntent, 'page' | 'pageSize' | 'keys' | 'select'> {
  const { query, limits } = resource
  const { isNumbered, isSized, selects } = MODES[mode]
  const page = (isNumbered === true ? whole('page', given('page')) : null) ?? 1
  const keys = keysOf(resource, reserved.get('keys'))
  // The default page size has room for all given keys.
  const usual = Math.max(query.pageSize, mode === 'aggregate' ? 0 : (keys?.length ?? 0))
  const pageSize = isSized === true ? pageSizeOf(resource, given('pageSize'), usual) : usual
  const text = selects === true ? given('select') : null
  const select = text === null ? null : readSelect(text, limits)
  if (!Number.isSafeInteger(page * pageSize)) throw invalidQuery('page', 'is too large.')
  return { page, pageSize, keys, select }
}

function orderOf(
  resource: Resource,
  mode: ListIntent['mode'],
  given: Given,
): Pick<ListIntent, 'sort' | 'sortBy' | 'sortDirection'> {
  if (MODES[mode].isSorted !== true || !resource.query.sortable)
    return { sort: null, sortBy: null, sortDirection: null }
  const sort = given('sort')
  return {
    sort: sort === null ? null : sortOnce(resource, sort, () => readSort(sort, resource.limits)),
    sortBy: given('sortBy'),
    sortDirection: directionOf(given('sortDirection')),
  }
}

function filterOf(resource: Resource, text: string | null): ListIntent['filter'] {
  return text === null ? null : filterOnce(resource, text, () => readFilter(text, resource.limits))
}

function searchOf(resource: Resource, text: string | null): ListIntent['search'] {
  return text === null ? null : readSearch(resource, text)
}

/** The first matching parameter decides. */
function modeOf({ keyset, operations }: Resource, reserved: ReadonlyMap<string, string>): ListIntent['mode'] {
  const isGiven = (name: string): boolean => (reserved.get(name) ?? '') !== ''
  if (countingOf(reserved.get('count') || null) === 'only') return 'count'
  if (keyset && reserved.has('cursor')) return 'cursor'
  if (reserved.has('after') || isGiven('before')) return 'seek'
  if (operations.has('aggregate') && (isGiven('aggregate') || isGiven('group'))) return 'aggregate'
  return isGiven('select') ? 'select' : 'page'
}

/** An export has the records of the list, all of them or those after a position. */
function exportOf(mode: ListIntent['mode'], given: Given): 'export' {
  const others = ['before', 'aggregate', 'group'].filter((each) => given(each) !== null)
  const name = mode === 'count' || mode === 'cursor' ? mode : others[0]
  if (name === undefined) return 'export'
  const isPlace = name === 'cursor' || name === 'before'
  throw invalidQuery(name, `cannot be exported${isPlace ? ': leave it out, or take "after"' : ''}.`)
}

function formatOf(formats: readonly string[], name: string | null): string | null {
  if (name === null || formats.includes(name)) return name
  throw invalidQuery('format', `must be ${formats.join(' or ')}.`)
}

/** An empty `after` is the first page; an empty `before` counts as missing. */
function seekOf(reserved: ReadonlyMap<string, string>): Seek {
  const [after, before] = [reserved.get('after'), reserved.get('before') || undefined]
  if (after !== undefined && before !== undefined) throw invalidQuery('before', 'cannot be given together with after.')
  return before === undefined ? { parameter: 'after', token: after || null } : { parameter: 'before', token: before }
}

/** The value of `count`: only the number, a page with or without a total, or null for the resource's default. */
function countingOf(text: string | null): Total | 'only' | null {
  const word = text?.toLowerCase() ?? 'false'
  if (word === 'exact' || word === 'none') return word
  if (word === 'true' || word === 'false') return word === 'true' ? 'only' : null
  throw invalidQuery('count', 'must be true, false, exact or none.')
}

function pageSizeOf({ query: { maxPageSize } }: Resource, text: string | null, usual: number): number {
  const size = whole('pageSize', text) ?? usual
  if (size > maxPageSize) throw invalidQuery('pageSize', `must be at most ${maxPageSize}.`)
  return size
}

function keysOf(resource: Resource, text: string | undefined): readonly string[] | null {
  return text === undefined ? null : readKeys(resource, text)
}

function booleanOf(name: string, text: string | null): boolean {
  const word = text?.toLowerCase() ?? 'false'
  if (word === 'true' || word === 'false') return word === 'true'
  throw invalidQuery(name, 'must be true or false.')
}

function directionOf(text: string | null): Direction | null {
  const word = text?.toLowerCase() ?? null
  if (word === null || word === 'asc' || word === 'desc') return word
  throw invalidQuery('sortDirection', 'must be asc or desc.')
}

function cursorOf({ cursor }: Resource, token: string): string | null {
  if (token === '') return null
  const key = cursor.decode(token)
  if (key === null) throw invalidQuery('cursor', 'is not a cursor of this resource.')
  return key
}
