import type { KeysetPage } from '../../types/reply.js'
import type { CallOptions, ListParameters } from '../client/index.js'
import { type ProviderRecord, recordOf } from '../providers/records.js'
import type { Resource } from '../providers/resources.js'

export interface Listed {
  readonly data: ProviderRecord[]
  readonly total: number
  /** Of keyset pages: what `meta.cursor` takes for the next page and for the one before. */
  readonly cursor?: { readonly next?: string; readonly prev?: string }
}

/** Stands before a cursor that leads back. */
const BACK = '<'

/** A page by number; what there is at least, where the service does not count. */
export async function pageOf(resource: Resource, parameters: ListParameters, options: CallOptions): Promise<Listed> {
  const { items, totalCount, page, pageSize, hasNextPage } = await resource.client.list(parameters, options)
  const atLeast = (page - 1) * pageSize + items.length + (hasNextPage ? 1 : 0)
  return { data: items.map((item) => recordOf(resource, item)), total: totalCount ?? atLeast }
}

/** The page that a cursor leads to; the empty one leads to the first. */
export async function keysetPageOf(
  resource: Resource,
  cursor: string,
  { page: _, ...parameters }: ListParameters,
  options: CallOptions,
): Promise<Listed> {
  const place = cursor.startsWith(BACK) ? { before: cursor.slice(BACK.length) } : { after: cursor }
  const page: object = await resource.client.list({ ...parameters, ...place }, options)
  if (!isKeyset(page)) throw new TypeError(`${resource.name}: the service has no keyset pages`)
  const { items, nextCursor, previousCursor } = page
  const data = items.map((item) => recordOf(resource, item))
  return {
    data,
    total: data.length,
    cursor: {
      ...(nextCursor === null ? {} : { next: nextCursor }),
      ...(previousCursor === null ? {} : { prev: `${BACK}${previousCursor}` }),
    },
  }
}

function isKeyset(page: object): page is KeysetPage {
  return 'nextCursor' in page && 'previousCursor' in page
}

/** All records, over keyset pages. */
export async function allPagesOf(
  resource: Resource,
  parameters: ListParameters,
  options: CallOptions,
): Promise<Listed> {
  const data: ProviderRecord[] = []
  for await (const item of resource.client.all(parameters, options)) data.push(recordOf(resource, item))
  return { data, total: data.length }
}
