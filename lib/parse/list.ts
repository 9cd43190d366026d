import type { ListIntent, Seek } from '../../types/intent.js'
import type { Direction } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import type { Total } from '../../types/settings.js'
import { invalidQuery } from '../common/problem.js'
import { isPlainObject } from '../config/inherited.js'
import { readCollectionQueries } from './collectionQueries.js'
import { readAggregation, readFilter, readPositiveInteger, readSelect, readSort } from './expressions.js'
import { readKeys } from './keys.js'
import { gatherParameters, type Parameters, readParameters } from './parameters.js'
import { hasTrailerRowPreference, readHandling } from './prefer.js'
import { readSearch } from './search.js'
import { TreeCache } from './treeCache.js'
import { applyHandling, type HiddenFields } from './unknownParameters.js'

/** The parts of a request that describe a list. */
export interface ListRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/**
 * Reads a list request. Parameters that the mode ignores are not parsed. @throws Problem for malformed parameters and
 * exceeded limits
 */
export function readList(resource: Resource, { url, headers }: ListRequest, hidden: HiddenFields): ListIntent {
  return readIntent(resource, readParameters(resource, url, hidden), readHandling(headers.prefer))
}

/**
 * Reads an export: a list without pages, optionally after a position.
 *
 * @throws Problem like `readList`, and for modes without records or with pages
 */
export function readExport(
  resource: Resource,
  { url, headers }: ListRequest,
  { hidden, formats }: { readonly hidden: HiddenFields; readonly formats: readonly string[] },
): ListIntent {
  const intent = readIntent(resource, readParameters(resource, url, hidden), readHandling(headers.prefer), formats)
  return { ...intent, isCounted: hasTrailerRowPreference(headers.prefer) }
}

/**
 * Reads a list from an object of decoded parameters, for `queryOf`.
 *
 * @throws TypeError for an object such as URLSearchParams, whose parameters are not own members and would be ignored
 */
export function readQuery(
  resource: Resource,
  query: Readonly<Record<string, unknown>>,
  hidden: HiddenFields,
): ListIntent {
  if (!isPlainObject(query))
    throw new TypeError(
      'The query must be a plain object of parameters by name. Convert URLSearchParams and Maps by Object.fromEntries.',
    )
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return []
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return [[name, String(value)]]
    }
    throw invalidQuery(name, 'must be given once, as text.')
  })
  return readIntent(resource, gatherParameters(resource, pairs, hidden), null)
}

// Hides every field. Field parameters differ by caller, but have no effect on the mode.
const EVERY_FIELD: HiddenFields = Object.freeze({ has: () => true })

/** Returns the mode of a request's query; null for a malformed query, whose error is reported when the list is read. */
export function modeOfUrl(resource: Resource, url: string): ListIntent['mode'] | null {
  return modeOf(resource, () => readParameters(resource, url, EVERY_FIELD).reserved)
}

/** Returns the mode of an object of decoded parameters; null if they are malformed. */
export function modeOfQuery(resource: Resource, query: Readonly<Record<string, unknown>>): ListIntent['mode'] | null {
  return modeOf(resource, () => new Map(Object.entries(query).map(([name, value]) => [name, String(value ?? '')])))
}

function modeOf(resource: Resource, read: () => ReservedParameters): ListIntent['mode'] | null {
  try {
    const reserved = read()
    return readMode(resource, reserved, readCount(textOf(reserved, 'count')))
  } catch {
    return null
  }
}

/** The parameters that a mode reads besides conditions. A mode ignores all other parameters. */
interface ModeTraits {
  /** Whether pages have numbers. */
  readonly isNumbered?: true
  /** Whether pages start at a position in the order. */
  readonly isSeeking?: true
  /** Whether the request chooses the order of the records. */
  readonly isSorted?: true
  readonly isSelecting?: true
  readonly isSized?: true
}

const MODES: Readonly<Record<ListIntent['mode'], ModeTraits>> = {
  page: { isNumbered: true, isSorted: true, isSized: true },
  select: { isNumbered: true, isSorted: true, isSelecting: true, isSized: true },
  count: {},
  cursor: { isSized: true },
  seek: { isSeeking: true, isSorted: true, isSelecting: true, isSized: true },
  aggregate: { isNumbered: true, isSized: true },
  export: { isSeeking: true, isSorted: true, isSelecting: true },
}

const filters = new TreeCache(readFilter)
const sorts = new TreeCache(readSort)

type ReservedParameters = Parameters['reserved']

/**
 * Returns the text of a reserved parameter. An empty parameter counts as missing. Exceptions: an empty `cursor` or
 * `after` requests the first page, and an empty `keys` matches no record.
 */
function textOf(reserved: ReservedParameters, name: string): string | null {
  return reserved.get(name) || null
}

function readIntent(
  resource: Resource,
  { reserved, fields, unknown }: Parameters,
  handling: ReturnType<typeof readHandling>,
  formats: readonly string[] | null = null,
): ListIntent {
  const { query } = resource
  const applied = applyHandling(query, unknown, handling)
  const counting = readCount(textOf(reserved, 'count'))
  const requested = readMode(resource, reserved, counting)
  const mode = formats === null ? requested : requireExportMode(requested, reserved)
  // A condition on groups without groups is an error. If it were ignored, the response would contain too much.
  if (textOf(reserved, 'having') !== null && textOf(reserved, 'group') === null)
    throw invalidQuery('having', 'needs the parameter "group".')
  const seek = MODES[mode].isSeeking === true ? readSeek(reserved) : null
  const { page, pageSize, keys, select } = readWindow(resource, mode, reserved)
  const filter = filters.read(resource, textOf(reserved, 'filter'))
  const { sort, sortBy, sortDirection } = readOrder(resource, mode, reserved)
  return {
    kind: 'list',
    mode,
    page,
    pageSize,
    keys,
    select,
    total: counting === 'exact' || counting === 'none' ? counting : query.total,
    filter,
    sort,
    sortBy,
    sortDirection,
    collections: MODES[mode].isSorted === true ? readCollectionQueries(resource, reserved, select) : [],
    aggregation: mode === 'aggregate' ? readAggregation(resource, (name) => textOf(reserved, name)) : null,
    search: readSearch(resource, textOf(reserved, 'search')),
    after: mode === 'cursor' ? readCursor(resource, reserved.get('cursor') ?? '') : undefined,
    format: formats === null ? null : readFormat(formats, textOf(reserved, 'format')),
    seek,
    // Without soft delete the parameter is unknown.
    includeDeleted: resource.softDeletes && readBoolean('includeDeleted', textOf(reserved, 'includeDeleted')),
    parameters: fields.filter(([, text]) => text !== ''),
    unknownFields: applied === 'strict' ? 'reject' : query.unknownFields,
    preference: { applied, varies: query.unknownFields === 'ignore' || unknown.given.length > 0 },
  }
}

/** Reads the page number, the page size, the keys and the selection of a list. */
function readWindow(
  resource: Resource,
  mode: ListIntent['mode'],
  reserved: ReservedParameters,
): Pick<ListIntent, 'page' | 'pageSize' | 'keys' | 'select'> {
  const { query, limits } = resource
  const { isNumbered, isSized, isSelecting } = MODES[mode]
  const page = (isNumbered === true ? readPositiveInteger('page', textOf(reserved, 'page')) : null) ?? 1
  const keys = readKeys(resource, reserved.get('keys'))
  // The default page size grows to the number of given keys.
  const usual = Math.max(query.pageSize, mode === 'aggregate' ? 0 : (keys?.length ?? 0))
  const pageSize = (isSized === true ? readPositiveInteger('pageSize', textOf(reserved, 'pageSize')) : null) ?? usual
  if (isSized === true && pageSize > query.maxPageSize)
    throw invalidQuery('pageSize', `must be at most ${query.maxPageSize}.`)
  const text = isSelecting === true ? textOf(reserved, 'select') : null
  const select = text === null ? null : readSelect(text, limits)
  if (!Number.isSafeInteger(page * pageSize)) throw invalidQuery('page', 'is too large.')
  return { page, pageSize, keys, select }
}

function readOrder(
  resource: Resource,
  mode: ListIntent['mode'],
  reserved: ReservedParameters,
): Pick<ListIntent, 'sort' | 'sortBy' | 'sortDirection'> {
  if (MODES[mode].isSorted !== true || !resource.query.sortable)
    return { sort: null, sortBy: null, sortDirection: null }
  return {
    sort: sorts.read(resource, textOf(reserved, 'sort')),
    sortBy: textOf(reserved, 'sortBy'),
    sortDirection: readDirection(textOf(reserved, 'sortDirection')),
  }
}

/** Returns the mode of a list. The first matching parameter decides. */
function readMode(
  { keyset, operations }: Resource,
  reserved: ReservedParameters,
  counting: ReturnType<typeof readCount>,
): ListIntent['mode'] {
  if (counting === 'only') return 'count'
  if (keyset && reserved.has('cursor')) return 'cursor'
  if (reserved.has('after') || reserved.get('before')) return 'seek'
  if (operations.has('aggregate') && (reserved.get('aggregate') || reserved.get('group'))) return 'aggregate'
  return reserved.get('select') ? 'select' : 'page'
}

/** Checks that an export has records: all records of the list, or all records after a position. */
function requireExportMode(mode: ListIntent['mode'], reserved: ReservedParameters): 'export' {
  const others = ['before', 'aggregate', 'group'].filter((each) => reserved.get(each))
  const name = mode === 'count' || mode === 'cursor' ? mode : others[0]
  if (name === undefined) return 'export'
  const isPlace = name === 'cursor' || name === 'before'
  throw invalidQuery(name, `cannot be combined with an export${isPlace ? '. Remove it, or use "after"' : ''}.`)
}

function readFormat(formats: readonly string[], name: string | null): string | null {
  if (name === null || formats.includes(name)) return name
  throw invalidQuery('format', `must be ${formats.join(' or ')}.`)
}

/** Reads `after` and `before`. An empty `after` is the first page; an empty `before` counts as missing. */
function readSeek(reserved: ReservedParameters): Seek {
  const [after, before] = [reserved.get('after'), reserved.get('before') || undefined]
  if (after !== undefined && before !== undefined)
    throw invalidQuery('before', 'cannot be combined with the parameter "after".')
  return before === undefined ? { parameter: 'after', token: after || null } : { parameter: 'before', token: before }
}

/** Parses `count`: only the number (`only`), a page with or without a total, or null for the resource's default. */
function readCount(text: string | null): Total | 'only' | null {
  const word = text?.toLowerCase() ?? 'false'
  if (word === 'exact' || word === 'none') return word
  if (word === 'true' || word === 'false') return word === 'true' ? 'only' : null
  throw invalidQuery('count', 'must be true, false, exact or none.')
}

function readBoolean(name: string, text: string | null): boolean {
  const word = text?.toLowerCase() ?? 'false'
  if (word === 'true' || word === 'false') return word === 'true'
  throw invalidQuery(name, 'must be true or false.')
}

function readDirection(text: string | null): Direction | null {
  const word = text?.toLowerCase() ?? null
  if (word === null || word === 'asc' || word === 'desc') return word
  throw invalidQuery('sortDirection', 'must be asc or desc.')
}

function readCursor({ cursor }: Resource, token: string): string | null {
  if (token === '') return null
  const key = cursor.decode(token)
  if (key === null) throw invalidQuery('cursor', 'is not a cursor of this resource.')
  return key
}
