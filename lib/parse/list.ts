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

/** What of a request a list is read from. */
export interface ListRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** @throws Problem for parameters that are malformed or out of bounds; those that the mode ignores are not looked at */
export function readList(resource: Resource, { url, headers }: ListRequest, hidden: Hidden): ListIntent {
  return intentOf(resource, readParameters(resource, url, hidden), handlingOf(headers.prefer))
}

/**
 * An export: a list without pages, from `after` on where it is given.
 *
 * @throws Problem for the same, and for modes that have no records to export, or not all of them
 */
export function readExport(
  resource: Resource,
  { url, headers }: ListRequest,
  { hidden, formats }: { readonly hidden: Hidden; readonly formats: readonly string[] },
): ListIntent {
  const intent = intentOf(resource, readParameters(resource, url, hidden), handlingOf(headers.prefer), formats)
  return { ...intent, isCounted: isCounted(headers.prefer) }
}

/** The same from an object of decoded parameters, for `queryOf`. */
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

// Which fields are parameters differs by caller; the mode does not.
const EVERY_FIELD: Hidden = Object.freeze({ has: () => true })

/** The mode of a request's query; null for one that cannot be read, which is told when it is. */
export function modeIn(resource: Resource, url: string): ListIntent['mode'] | null {
  return readable(() => modeOf(resource, readParameters(resource, url, EVERY_FIELD).reserved))
}

/** The same of an object of decoded parameters. */
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

/** The parameters that a mode of lists reads besides the conditions. Others are ignored. */
interface ModeTraits {
  /** Has pages by number. */
  readonly isNumbered?: true
  /** Goes on from a place in the order. */
  readonly seeks?: true
  /** Has records in the order that the request asks for. */
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
  // An empty parameter is an absent one, but for `cursor` and `after`, which it starts, and `keys`, where it is none.
  const given: Given = (name) => reserved.get(name) || null
  const counting = countingOf(given('count'))
  const asked = modeOf(resource, reserved)
  const mode = formats === null ? asked : exportOf(asked, given)
  // Records are not groups, and what is said of those must not pass unheard.
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
    // For a resource that removes its records the parameter does not exist.
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
  // A page without a size of its own holds all the records that were named.
  const usual = Math.max(query.pageSize, mode === 'aggregate' ? 0 : (keys?.length ?? 0))
  const pageSize = isSized === true ? pageSizeOf(resource, given('pageSize'), usual) : usual
  const text = selects === true ? given('select') : null
  const select = text === null ? null : readSelect(text, limits)
  if (!Number.isSafeInteger(page * pageSize)) throw invalidQuery('page', 'is beyond what can be counted.')
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

/** The first that is there decides, whatever else is. */
function modeOf({ keyset, operations }: Resource, reserved: ReadonlyMap<string, string>): ListIntent['mode'] {
  const isGiven = (name: string): boolean => (reserved.get(name) ?? '') !== ''
  if (countingOf(reserved.get('count') || null) === 'only') return 'count'
  if (keyset && reserved.has('cursor')) return 'cursor'
  if (reserved.has('after') || isGiven('before')) return 'seek'
  if (operations.has('aggregate') && (isGiven('aggregate') || isGiven('group'))) return 'aggregate'
  return isGiven('select') ? 'select' : 'page'
}

/** What is exported are the list's records, all of them or from a place on. */
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

/** An empty `after` starts, and an empty `before` is an absent one. */
function seekOf(reserved: ReadonlyMap<string, string>): Seek {
  const [after, before] = [reserved.get('after'), reserved.get('before') || undefined]
  if (after !== undefined && before !== undefined) throw invalidQuery('before', 'cannot be given together with after.')
  return before === undefined ? { parameter: 'after', token: after || null } : { parameter: 'before', token: before }
}

/** What `count` asks for: the number alone, a page with a total or without, or null for what the host's settings say. */
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
