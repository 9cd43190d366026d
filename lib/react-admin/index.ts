/** Data provider for react-admin, built on the client. */

import type { DataProvider, GetListParams, GetListResult } from 'ra-core'
import type { Page } from '../../types/reply.js'
import { type CallOptions, filter, type ListParameters, ProblemError } from '../client/index.js'
import { forEach, ownParameters, readRecords, signalOptions, toListParameters, toSort } from '../providers/calls.js'
import { joinConditionsByAnd, toOperand } from '../providers/conditions.js'
import { explain, fieldPath, type Messages } from '../providers/messages.js'
import { changedMembers, expectedVersion, toCreateBody, toProviderRecord } from '../providers/records.js'
import { type ClientResource, createResourceFinder, type ProviderOptions, type Row } from '../providers/resources.js'
import { toFilters } from './filters.js'
import { createRealtime, type Realtime } from './realtime.js'

export type { ProviderRecord } from '../providers/records.js'
export type { ProviderOptions, ProviderResource } from '../providers/resources.js'
export type { Realtime, RealtimeEvent } from './realtime.js'

/** A function that requests a page from the resource's own list, or from the list of a relation below a record. */
type List = (parameters: ListParameters, options: CallOptions) => Promise<Page>

/**
 * Creates a data provider for the resources below an address. The provider has react-admin's nine methods, `subscribe`
 * and `unsubscribe`.
 *
 * Records have `id`. Records of a resource with versions also have `_etag`. If another user has changed the record
 * since it was read, a write rejects with a `ProblemError` of status 412. The error's message explains the conflict.
 */
export function dataProvider(apiUrl: string, options: ProviderOptions = {}): DataProvider & Realtime {
  const resourceOf = createResourceFinder(apiUrl, options)
  const any: CallOptions = { ifMatch: '*' }
  const { messages } = options

  return {
    supportAbortSignal: true,
    ...createRealtime(resourceOf),

    getList: async (name, params) => {
      const resource = resourceOf(name)
      return toListResult(resource, (...given) => resource.client.list(...given), params)
    },

    getOne: async (name, { id, meta, signal }) => {
      const resource = resourceOf(name)
      return {
        data: trustType(
          toProviderRecord(resource, await resource.client.get(id, ownParameters(meta), signalOptions(signal))),
        ),
      }
    },

    getMany: async (name, { ids, meta, signal }) => ({
      data: (await readRecords(resourceOf(name), ids, meta, signalOptions(signal))).map((record) => trustType(record)),
    }),

    getManyReference: async (name, { target, id, ...params }) => {
      const resource = resourceOf(name)
      // `teams/players` is the route below the owner. Without a slash, the target is a field with the owner's key.
      const [owner, relation] = target.split('/')
      if (owner === undefined || relation === undefined) {
        const list: List = (...given) => resource.client.list(...given)
        return toListResult(resource, list, params, filter.eq(target, toOperand(target, id)))
      }
      const related = resourceOf(owner).client.related(id, relation)
      return toListResult(resource, (...given) => related.list(...given), params)
    },

    create: async (name, { data }) => {
      const resource = resourceOf(name)
      return withFormErrors(messages, async () => ({
        data: trustType(toProviderRecord(resource, await resource.client.create(toCreateBody(resource, data)))),
      }))
    },

    update: async (name, { id, data, previousData }) => {
      const resource = resourceOf(name)
      const changes = changedMembers(resource, data, previousData)
      if (previousData !== undefined && Object.keys(changes).length === 0) return { data: previousData }
      return withFormErrors(messages, async () => {
        const row = await resource.client.update(id, changes, expectedVersion(previousData, data))
        return { data: trustType(toProviderRecord(resource, row)) }
      })
    },

    updateMany: async (name, { ids, data }) => {
      const resource = resourceOf(name)
      const changes = changedMembers(resource, data, undefined)
      await withFormErrors(messages, () => forEach(ids, (id) => resource.client.update(id, changes, any)))
      return { data: ids }
    },

    delete: async (name, { id, previousData }) => {
      const { client } = resourceOf(name)
      await withFormErrors(messages, () => client.delete(id, expectedVersion(previousData)))
      return { data: previousData ?? trustType({ id }) }
    },

    deleteMany: async (name, { ids }) => {
      const { client } = resourceOf(name)
      await forEach(ids, (id) => client.delete(id, any))
      return { data: ids }
    },
  }
}

async function toListResult<T>(
  resource: ClientResource,
  list: List,
  { pagination, sort, filter: given, meta, signal }: GetListParams,
  ...conditions: readonly string[]
): Promise<GetListResult<T & { id: never }>> {
  const { condition, parameters: found } = toFilters(resource, given)
  const listParameters = toListParameters(
    {
      condition: joinConditionsByAnd([condition, ...conditions]),
      parameters: {
        ...(pagination === undefined ? {} : { page: pagination.page, pageSize: pagination.perPage }),
        ...(sort === undefined ? {} : { sort: toSort(resource, sort.field, sort.order === 'DESC') }),
        ...found,
      },
    },
    meta,
  )
  if (listParameters === null) return { data: [], total: 0 }
  const { items, totalCount, hasNextPage, hasPreviousPage } = await list(listParameters, signalOptions(signal))
  const data = items.map((item) => trustType<T & { id: never }>(toProviderRecord(resource, item)))
  return totalCount === null ? { data, pageInfo: { hasNextPage, hasPreviousPage } } : { data, total: totalCount }
}

/** The caller's record type is not checked at run time. */
function trustType<T>(record: Row): T {
  return record as T
}

/** Runs a call. A rejected problem gets `body.errors`, from which react-admin's forms show messages per input. */
async function withFormErrors<T>(messages: Messages | undefined, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const title = explain(error, messages)
    const fields = Object.entries(error.errors)
    throw fields.length === 0 ? error : Object.assign(error, { body: { errors: formErrors(title, fields) } })
  }
}

/** Builds messages by input name. `root` has all messages, because the form may lack some inputs. */
function formErrors(title: string, fields: readonly (readonly [string, readonly string[]])[]): object {
  const all = fields.flatMap(([name, messages]) => messages.map((message) => `${name} ${message}`))
  return {
    ...Object.fromEntries(fields.map(([name, messages]) => [fieldPath(name), messages.join(' ')])),
    root: { serverError: [title, ...all].join('\n') },
  }
}
