/** Data provider and live provider for Refine, built on the client. */

import type { DataProvider, GetListParams } from '@refinedev/core'
import type { CallOptions, ListParameters } from '../client/index.js'
import { forEach, ownParameters, parametersOf, recordsOf, signalOf } from '../providers/calls.js'
import { bodyOf, changesOf, type ProviderRecord, recordOf, versionOf } from '../providers/records.js'
import { type ProviderOptions, type Resource, resourcesOf } from '../providers/resources.js'
import { httpErrorsBy } from './errors.js'
import { filtersOf, sortersOf } from './filters.js'
import { allPagesOf, keysetPageOf, type Listed, pageOf } from './pages.js'

export type { ProviderRecord } from '../providers/records.js'
export type { ProviderOptions, ProviderResource } from '../providers/resources.js'
export { liveProvider } from './live.js'

/**
 * Data provider over the resources below an address.
 *
 * Records have `id`. They have `_etag` if the resource has versions. Variables with `_etag` are written under that version. If
 * somebody else has changed the record, the call rejects with an `HttpError` of status 412, whose message says so.
 */
export function dataProvider(apiUrl: string, options: ProviderOptions = {}): Required<Omit<DataProvider, 'custom'>> {
  const resourceOf = resourcesOf(apiUrl, options)
  const any: CallOptions = { ifMatch: '*' }
  const withHttpErrors = httpErrorsBy(options.messages)

  return {
    getApiUrl: () => apiUrl,

    getList: ({ resource: name, ...params }) =>
      withHttpErrors(async () => {
        const { data, ...rest } = await listed(resourceOf(name), params)
        return { data: data.map((record) => told(record)), ...rest }
      }),

    getOne: ({ resource: name, id, meta }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        return { data: told(recordOf(resource, await resource.client.get(id, ownParameters(meta), queryOf(meta)))) }
      }),

    getMany: ({ resource: name, ids, meta }) =>
      withHttpErrors(async () => {
        const records = await recordsOf(resourceOf(name), ids, meta, queryOf(meta))
        return { data: records.map((record) => told(record)) }
      }),

    create: ({ resource: name, variables }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        return { data: told(recordOf(resource, await resource.client.create(bodyOf(resource, Object(variables))))) }
      }),

    createMany: ({ resource: name, variables }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const rows = await resource.client.bulkCreate(variables.map((each) => bodyOf(resource, Object(each))))
        return { data: rows.map((row) => told(recordOf(resource, row))) }
      }),

    update: ({ resource: name, id, variables, meta }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const previous: unknown = meta?.previousData
        const changes = changesOf(resource, Object(variables), previous)
        if (previous !== undefined && Object.keys(changes).length === 0) return { data: told(Object(previous)) }
        const row = await resource.client.update(id, changes, versionOf(variables, previous))
        return { data: told(recordOf(resource, row)) }
      }),

    updateMany: ({ resource: name, ids, variables }) =>
      withHttpErrors(async () => {
        const resource = resourceOf(name)
        const changes = changesOf(resource, Object(variables), undefined)
        const rows = await forEach(ids, (id) => resource.client.update(id, changes, any))
        return { data: rows.map((row) => told(recordOf(resource, row))) }
      }),

    deleteOne: ({ resource: name, id, variables }) =>
      withHttpErrors(async () => {
        await resourceOf(name).client.delete(id, versionOf(variables))
        return { data: told({ id }) }
      }),

    deleteMany: ({ resource: name, ids }) =>
      withHttpErrors(async () => {
        const { client } = resourceOf(name)
        await forEach(ids, (id) => client.delete(id, any))
        return { data: ids.map((id) => told({ id })) }
      }),
  }
}

async function listed(
  resource: Resource,
  { pagination, sorters = [], filters = [], meta }: Omit<GetListParams, 'resource'>,
): Promise<Listed> {
  const { condition, parameters: found } = filtersOf(resource, filters)
  const { mode = 'server', pageSize } = pagination ?? {}
  // In an infinite list, `currentPage` is the cursor of the next page instead of a number.
  const page: unknown = pagination?.currentPage
  const parameters: ListParameters = {
    ...(typeof page === 'number' ? { page } : {}),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...sortersOf(resource, sorters),
    ...found,
  }
  const asked = parametersOf({ condition, parameters }, meta)
  if (asked === null) return { data: [], total: 0 }
  const options = queryOf(meta)
  if (mode !== 'server') {
    const { page: _, pageSize: __, ...rest } = asked
    return allPagesOf(resource, rest, options)
  }
  const cursor: unknown = typeof page === 'string' ? page : meta?.cursor
  return typeof cursor === 'string' ? keysetPageOf(resource, cursor, asked, options) : pageOf(resource, asked, options)
}

function queryOf(meta: GetListParams['meta']): CallOptions {
  return signalOf(meta?.queryContext?.signal)
}

/** The caller's record type is trusted, as with any JSON from a service. */
function told<T>(record: ProviderRecord | { readonly id: string | number }): T {
  return record as T
}
