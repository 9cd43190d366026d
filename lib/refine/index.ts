/** Data provider and live provider for Refine, built on the client. */

import type { DataProvider, GetListParams } from '@refinedev/core'
import { type CallOptions, ProblemError } from '../client/index.js'
import { forEach, ownParameters, readRecords, toListParameters } from '../providers/calls.js'
import { explain, fieldPath, type Messages } from '../providers/messages.js'
import { changedMembers, expectedVersion, toCreateBody, toProviderRecord } from '../providers/records.js'
import { type ClientResource, createResourceFinder, type ProviderOptions } from '../providers/resources.js'
import { toFilters, toSorts } from './filters.js'
import { type ListResult, readAllPages, readKeysetPage, readPage } from './pages.js'

export type { ProviderRecord } from '../providers/records.js'
export type { ProviderOptions, ProviderResource } from '../providers/resources.js'
export { liveProvider } from './live.js'

/**
 * Creates a data provider for the resources below an address.
 *
 * Records have `id`. Records of a resource with versions also have `_etag`. A write of variables with `_etag` expects
 * the version of that tag. If another user has changed the record, the call rejects with an `HttpError` of status 412.
 * The error's message explains the conflict.
 */
export function dataProvider(apiUrl: string, options: ProviderOptions = {}): Required<Omit<DataProvider, 'custom'>> {
  const resourceOf = createResourceFinder(apiUrl, options)
  const any: CallOptions = { ifMatch: '*' }
  const withHttpErrors = httpErrorsBy(options.messages)

  return {
    getApiUrl: () => apiUrl,

    getList: ({ resource: name, ...params }) => withHttpErrors(async () => listPage(resourceOf(name), params)),

    getOne: ({ resource: name, id, meta }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const row = await resource.client.get(id, ownParameters(meta), readCallOptions(meta))
        return { data: toProviderRecord(resource, row) }
      }),

    getMany: ({ resource: name, ids, meta }) =>
      withHttpErrors(async () => ({
        data: await readRecords(resourceOf(name), ids, meta, readCallOptions(meta)),
      })),

    create: ({ resource: name, variables }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const row = await resource.client.create(toCreateBody(resource, Object(variables)))
        return { data: toProviderRecord(resource, row) }
      }),

    createMany: ({ resource: name, variables }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const rows = await resource.client.bulkCreate(variables.map((each) => toCreateBody(resource, Object(each))))
        return { data: rows.map((row) => toProviderRecord(resource, row)) }
      }),

    update: ({ resource: name, id, variables, meta }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const previous: unknown = meta?.previousData
        const changes = changedMembers(resource, Object(variables), previous)
        if (previous !== undefined && Object.keys(changes).length === 0) return { data: Object(previous) }
        const row = await resource.client.update(id, changes, expectedVersion(variables, previous))
        return { data: toProviderRecord(resource, row) }
      }),

    updateMany: ({ resource: name, ids, variables }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const changes = changedMembers(resource, Object(variables), undefined)
        const rows = await forEach(ids, (id) => resource.client.update(id, changes, any))
        return { data: rows.map((row) => toProviderRecord(resource, row)) }
      }),

    deleteOne: ({ resource: name, id, variables }) =>
      withHttpErrors(async () => {
        await resourceOf(name).client.delete(id, expectedVersion(variables))
        return { data: { id } }
      }),

    deleteMany: ({ resource: name, ids }) =>
      withHttpErrors(async () => {
        const { client } = resourceOf(name)
        await forEach(ids, (id) => client.delete(id, any))
        return { data: ids.map((id) => ({ id })) }
      }),
  }
}

async function listPage(
  resource: ClientResource,
  { pagination, sorters = [], filters = [], meta }: Omit<GetListParams, 'resource'>,
): Promise<ListResult> {
  const { condition, parameters: found } = toFilters(resource, filters)
  // In an infinite list, `currentPage` is the cursor of the next page instead of a number.
  const {
    mode = 'server',
    pageSize,
    currentPage: page,
  }: { mode?: string; pageSize?: number; currentPage?: unknown } = pagination ?? {}
  const parameters = { page, pageSize, sort: toSorts(resource, sorters), ...found }
  const listParameters = toListParameters({ condition, parameters }, meta)
  if (listParameters === null) return { data: [], total: 0 }
  const options = readCallOptions(meta)
  if (mode !== 'server') {
    const { pageSize: _, ...rest } = listParameters
    return readAllPages(resource, rest, options)
  }
  const cursor: unknown = typeof page === 'string' ? page : meta?.cursor
  return typeof cursor === 'string'
    ? readKeysetPage(resource, cursor, listParameters, options)
    : readPage(resource, listParameters, options)
}

function readCallOptions(meta: GetListParams['meta']): CallOptions {
  return { signal: meta?.queryContext?.signal }
}

/**
 * Returns a function that runs a call. A rejected problem becomes an `HttpError` of Refine with `errors`, which
 * Refine's forms show. The caller's record type is not checked at run time.
 */
function httpErrorsBy(messages?: Messages): <T>(call: () => Promise<unknown>) => Promise<T> {
  return async <T>(call: () => Promise<unknown>) => {
    try {
      return (await call()) as T
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      explain(error, messages)
      const fields = Object.entries(error.errors)
      throw Object.assign(error, {
        statusCode: error.status,
        errors: Object.fromEntries(fields.map(([place, messages]) => [fieldPath(place), messages])),
      })
    }
  }
}
