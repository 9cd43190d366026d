/** Data provider for react-admin, built on the client. */

import type { DataProvider, GetListParams, GetListResult } from 'ra-core'
import type { Page } from '../../types/reply.js'
import type { CallOptions, ListParameters } from '../client/index.js'
import { filter } from '../client/index.js'
import { forEach, ownParameters, parametersOf, recordsOf, signalOf, sortOf } from '../providers/calls.js'
import { allOf, operand } from '../providers/conditions.js'
import { bodyOf, changesOf, recordOf, versionOf } from '../providers/records.js'
import { type ProviderOptions, type Resource, type Row, resourcesOf } from '../providers/resources.js'
import { withFormErrors } from './errors.js'
import { filtersOf } from './filters.js'
import { type Realtime, realtimeOf } from './realtime.js'

export type { ProviderRecord } from '../providers/records.js'
export type { ProviderOptions, ProviderResource } from '../providers/resources.js'
export type { Realtime, RealtimeEvent } from './realtime.js'

/** A list request to the resource's own list, or to the list of a relation below a record. */
type List = (parameters: ListParameters, options: CallOptions) => Promise<Page>

/**
 * Data provider with its nine methods, `subscribe` and `unsubscribe`, over the resources below an address.
 *
 * Records have `id`. They have `_etag` if the resource has versions. If somebody else has changed the record since it was read, a write
 * rejects with a `ProblemError` of status 412, whose message says so.
 */
export function dataProvider(apiUrl: string, options: ProviderOptions = {}): DataProvider & Realtime {
  const resourceOf = resourcesOf(apiUrl, options)
  const any: CallOptions = { ifMatch: '*' }
  const { messages } = options

  return {
    supportAbortSignal: true,
    ...realtimeOf(resourceOf),

    getList: async (name, params) => {
      const resource = resourceOf(name)
      return listed(resource, (...given) => resource.client.list(...given), params)
    },

    getOne: async (name, { id, meta, signal }) => {
      const resource = resourceOf(name)
      return { data: told(recordOf(resource, await resource.client.get(id, ownParameters(meta), signalOf(signal)))) }
    },

    getMany: async (name, { ids, meta, signal }) => ({
      data: (await recordsOf(resourceOf(name), ids, meta, signalOf(signal))).map((record) => told(record)),
    }),

    getManyReference: async (name, { target, id, ...params }) => {
      const resource = resourceOf(name)
      // `teams/players` is the route below the owner. Otherwise the target is a field with the owner's key.
      const [owner, relation] = target.split('/')
      if (owner === undefined || relation === undefined) {
        const list: List = (...given) => resource.client.list(...given)
        return listed(resource, list, params, filter.eq(target, operand(target, id)))
      }
      const related = resourceOf(owner).client.related(id, relation)
      return listed(resource, (...given) => related.list(...given), params)
    },

    create: async (name, { data }) => {
      const resource = resourceOf(name)
      return withFormErrors(messages, async () => ({
        data: told(recordOf(resource, await resource.client.create(bodyOf(resource, data)))),
      }))
    },

    update: async (name, { id, data, previousData }) => {
      const resource = resourceOf(name)
      const changes = changesOf(resource, data, previousData)
      if (previousData !== undefined && Object.keys(changes).length === 0) return { data: previousData }
      return withFormErrors(messages, async () => {
        const row = await resource.client.update(id, changes, versionOf(previousData, data))
        return { data: told(recordOf(resource, row)) }
      })
    },

    updateMany: async (name, { ids, data }) => {
      const resource = resourceOf(name)
      const changes = changesOf(resource, data, undefined)
      await withFormErrors(messages, () => forEach(ids, (id) => resource.client.update(id, changes, any)))
      return { data: ids }
    },

    delete: async (name, { id, previousData }) => {
      const { client } = resourceOf(name)
      await withFormErrors(messages, () => client.delete(id, versionOf(previousData)))
      return { data: previousData ?? told({ id }) }
    },

    deleteMany: async (name, { ids }) => {
      const { client } = resourceOf(name)
      await forEach(ids, (id) => client.delete(id, any))
      return { data: ids }
    },
  }
}

async function listed<T>(
  resource: Resource,
  list: List,
  { pagination, sort, filter: given, meta, signal }: GetListParams,
  ...conditions: readonly string[]
): Promise<GetListResult<T & { id: never }>> {
  const { condition, parameters: found } = filtersOf(resource, given)
  const asked = parametersOf(
    {
      condition: allOf([condition, ...conditions]),
      parameters: {
        ...(pagination === undefined ? {} : { page: pagination.page, pageSize: pagination.perPage }),
        ...(sort === undefined ? {} : { sort: sortOf(resource, sort.field, sort.order === 'DESC') }),
        ...found,
      },
    },
    meta,
  )
  if (asked === null) return { data: [], total: 0 }
  const { items, totalCount, hasNextPage, hasPreviousPage } = await list(asked, signalOf(signal))
  const data = items.map((item) => told<T & { id: never }>(recordOf(resource, item)))
  return totalCount === null ? { data, pageInfo: { hasNextPage, hasPreviousPage } } : { data, total: totalCount }
}

/** The caller's record type is trusted, as with any JSON from a service. */
function told<T>(record: Row): T {
  return record as T
}
