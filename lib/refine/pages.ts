import type { CallOptions, ListParameters } from '../client/index.js'
import { type ProviderRecord, toProviderRecord } from '../providers/records.js'
import type { ClientResource } from '../providers/resources.js'

export interface ListResult {
  readonly data: ProviderRecord[]
  readonly total: number
  /** Cursors of the next and the previous keyset page, as values for `meta.cursor`. */
  readonly cursor?: { readonly next?: string; readonly prev?: string }
}

/** Prefix that marks a cursor of the previous page. */
const PREVIOUS_PREFIX = '<'

/** Reads a page by its number. Without a count, `total` is a lower bound. */
export async function readPage(
  resource: ClientResource,
  parameters: ListParameters,
  options: CallOptions,
): Promise<ListResult> {
  const { items, totalCount, page, pageSize, hasNextPage } = await resource.client.list(parameters, options)
  const atLeast = (page - 1) * pageSize + items.length + (hasNextPage ? 1 : 0)
  return { data: items.map((item) => toProviderRecord(resource, item)), total: totalCount ?? atLeast }
}

/** Reads the keyset page of a cursor. The empty cursor is the first page. */
export async function readKeysetPage(
  resource: ClientResource,
  cursor: string,
  { page: _, ...parameters }: ListParameters,
  options: CallOptions,
): Promise<ListResult> {
  const place = cursor.startsWith(PREVIOUS_PREFIX)
    ? { before: cursor.slice(PREVIOUS_PREFIX.length) }
    : { after: cursor }
  const { items, nextCursor, previousCursor } = await resource.client.list({ ...parameters, ...place }, options)
  if (nextCursor === undefined) throw new TypeError(`${resource.name}: the server returned no page with cursors.`)
  const data = items.map((item) => toProviderRecord(resource, item))
  return {
    data,
    total: data.length,
    cursor: {
      ...(nextCursor === null ? {} : { next: nextCursor }),
      ...(previousCursor === null ? {} : { prev: `${PREVIOUS_PREFIX}${previousCursor}` }),
    },
  }
}

/** Reads all records, in keyset pages. */
export async function readAllPages(
  resource: ClientResource,
  parameters: ListParameters,
  options: CallOptions,
): Promise<ListResult> {
  const data: ProviderRecord[] = []
  for await (const item of resource.client.all(parameters, options)) data.push(toProviderRecord(resource, item))
  return { data, total: data.length }
}
