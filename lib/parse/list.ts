import type { ListIntent } from '../../types/intent.js'
import type { Direction, FilterNode, Path, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import type { Total } from '../../types/settings.js'
import { QueryLimitError, QuerySyntaxError } from '../common/errors.js'
import { invalidQuery, problem } from '../common/problem.js'
import { parseFilter, parseSelect, parseSort } from '../language/query.js'
import { readKeys } from './keys.js'
import { gatherParameters, type Hidden, type Parameters, readParameters, refuseUnknown } from './parameters.js'
import { handlingOf } from './prefer.js'

/** What of a request a list is read from. */
interface ListRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** @throws Problem for parameters that are malformed or out of bounds; those that the mode ignores are not looked at */
export function readList(resource: Resource, { url, headers }: ListRequest, hidden: Hidden): ListIntent {
  return intentOf(resource, readParameters(resource, url, hidden), handlingOf(headers.prefer))
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

function intentOf(
  resource: Resource,
  { reserved, fields, unknown }: Parameters,
  handling: ReturnType<typeof handlingOf>,
): ListIntent {
  const { query, limits } = resource
  // Leniency is the host's to allow; strictness is anybody's to ask for.
  const applied = handling === 'lenient' && query.unknownFields === 'reject' ? null : handling
  if (applied === 'strict' || query.unknownParameters === 'reject') refuseUnknown(unknown)
  // An empty parameter is an absent one, but for `cursor`, where it starts from the beginning, and `keys`, where it is none.
  const given = (name: string): string | null => reserved.get(name) || null
  const counting = countingOf(given('count'))
  const mode = counting === 'only' ? 'count' : modeOf(resource, reserved, given)
  const isPage = mode === 'page' || mode === 'select'
  const isSorted = isPage && query.sortable
  const filter = given('filter')
  const sort = isSorted ? given('sort') : null
  const select = mode === 'select' ? given('select') : null
  const page = (isPage ? whole('page', given('page')) : null) ?? 1
  const keys = keysOf(resource, reserved.get('keys'))
  // A page without a size of its own holds all the records that were named.
  const usual = Math.max(query.pageSize, keys?.length ?? 0)
  const pageSize = mode === 'count' ? usual : pageSizeOf(resource, given('pageSize'), usual)
  if (!Number.isSafeInteger(page * pageSize)) throw invalidQuery('page', 'is beyond what can be counted.')
  return {
    kind: 'list',
    mode,
    page,
    pageSize,
    total: counting === 'exact' || counting === 'none' ? counting : query.total,
    filter: filter === null ? null : read('filter', () => parseFilterWithin(filter, limits)),
    sort: sort === null ? null : read('sort', () => parseSort(sort, limits)),
    sortBy: isSorted ? given('sortBy') : null,
    sortDirection: isSorted ? directionOf(given('sortDirection')) : null,
    select: select === null ? null : read('select', () => parseSelect(select, limits)),
    keys,
    after: mode === 'cursor' ? cursorOf(resource, reserved.get('cursor') ?? '') : undefined,
    // For a resource that removes its records the parameter does not exist.
    includeDeleted: resource.softDeletes && booleanOf('includeDeleted', given('includeDeleted')),
    parameters: fields.filter(([, text]) => text !== ''),
    unknownFields: applied === 'strict' ? 'reject' : query.unknownFields,
    preference: { applied, varies: query.unknownFields === 'ignore' || unknown.names.length > 0 },
  }
}

function modeOf(
  { keyset }: Resource,
  reserved: ReadonlyMap<string, string>,
  given: (name: string) => string | null,
): ListIntent['mode'] {
  if (keyset && reserved.has('cursor')) return 'cursor'
  return given('select') === null ? 'page' : 'select'
}

/** What `count` asks for: the number alone, a page with a total or without, or null for what the host's settings say. */
function countingOf(text: string | null): Total | 'only' | null {
  const word = text?.toLowerCase() ?? 'false'
  if (word === 'exact' || word === 'none') return word
  if (word === 'true' || word === 'false') return word === 'true' ? 'only' : null
  throw invalidQuery('count', 'must be true, false, exact or none.')
}

function parseFilterWithin(text: string, limits: Resource['limits']): FilterNode {
  const maximum = limits.filterLength
  if (text.length > maximum) throw new QueryLimitError({ parameter: 'filter', limit: 'filterLength', maximum })
  return parseFilter(text, limits)
}

/** Turns what the parser throws into the answer: where it went wrong, what was expected, and a picture. */
function read<T extends FilterNode | readonly SortNode[] | readonly Path[]>(
  parameter: 'filter' | 'sort' | 'select',
  parse: () => T,
): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof QueryLimitError) throw invalidQuery(parameter, error.message)
    if (!(error instanceof QuerySyntaxError)) throw error
    throw problem(`malformed-${parameter}`, {
      errors: { [parameter]: [error.message] },
      detail: `${error.message}\n${error.picture}`,
    })
  }
}

/** However many digits it has: what is too large is said by whoever knows how large it may be. */
function whole(name: string, text: string | null): number | null {
  if (text === null) return null
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number < 1) throw invalidQuery(name, 'must be a whole number from 1.')
  return number
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
