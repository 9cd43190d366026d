/** Data provider for react-admin, built on the client. */

import type { DataProvider, GetListParams, GetListResult } from 'ra-core'
import type { Page } from '../../types/reply.js'
import { type CallOptions, filter, type ListParameters, ProblemError } from '../client/index.js'
import { forEach, ownParameters, readRecords, toListParameters, toSort } from '../providers/calls.js'
import { joinConditionsByAnd, toOperand } from '../providers/conditions.js'
import { explain, fieldPath, type Messages } from '../providers/messages.js'
import { changedMembers, expectedVersion, toCreateBody, toProviderRecord } from '../providers/records.js'
import { type ClientResource, createResourceFinder, type ProviderOptions } from '../providers/resources.js'
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
  const withFormErrors = formErrorsBy(options.messages)

  return {
    supportAbortSignal: true,
    ...createRealtime(resourceOf),

    getList: (name, params) =>
      withFormErrors(async () => {
        const resource = resourceOf(name)
        return toListResult(resource, resource.client.list, params)
      }),

    getOne: (name, { id, meta, signal }) =>
      withFormErrors(async () => {
        const resource = resourceOf(name)
        const row = await resource.client.get(id, ownParameters(meta), { signal })
        return { data: toProviderRecord(resource, row) }
      }),

    getMany: (name, { ids, meta, signal }) =>
      withFormErrors(async () => {
        return { data: await readRecords(resourceOf(name), ids, meta, { signal }) }
      }),

    getManyReference: (name, { target, id, ...params }) =>
      withFormErrors(async () => {
        const resource = resourceOf(name)
        // `teams/players` is the route below the owner. Without a slash, the target is a field with the owner's key.
        const [owner, relation] = target.split('/')
        return owner === undefined || relation === undefined
          ? toListResult(resource, resource.client.list, params, filter.eq(target, toOperand(target, id)))
          : toListResult(resource, resourceOf(owner).client.related(id, relation).list, params)
      }),

    create: (name, { data }) =>
      withFormErrors(async () => {
        const resource = resourceOf(name)
        const row = await resource.client.create(toCreateBody(resource, data))
        return { data: toProviderRecord(resource, row) }
      }),

    update: (name, { id, data, previousData }) =>
      withFormErrors(async () => {
        const resource = resourceOf(name)
        const changes = changedMembers(resource, data, previousData)
        if (previousData !== undefined && Object.keys(changes).length === 0) return { data: previousData }
        const row = await resource.client.update(id, changes, expectedVersion(previousData, data))
        return { data: toProviderRecord(resource, row) }
      }),

    updateMany: (name, { ids, data }) =>
      withFormErrors(async () => {
        const resource = resourceOf(name)
        const changes = changedMembers(resource, data, undefined)
        await forEach(ids, (id) => resource.client.update(id, changes, any))
        return { data: ids }
      }),

    delete: (name, { id, previousData }) =>
      withFormErrors(async () => {
        await resourceOf(name).client.delete(id, expectedVersion(previousData))
        return { data: previousData ?? { id } }
      }),

    deleteMany: (name, { ids }) =>
      withFormErrors(async () => {
        const { client } = resourceOf(name)
        await forEach(ids, (id) => client.delete(id, any))
        return { data: ids }
      }),
  }
}

async function toListResult(
  resource: ClientResource,
  list: List,
  { pagination, sort, filter: given, meta, signal }: GetListParams,
  ...conditions: readonly string[]
): Promise<GetListResult> {
  const { condition, parameters: found } = toFilters(resource, given)
  const listParameters = toListParameters(
    {
      condition: joinConditionsByAnd([condition, ...conditions]),
      parameters: {
        page: pagination?.page,
        pageSize: pagination?.perPage,
        sort: sort && toSort(resource, sort.field, sort.order === 'DESC'),
        ...found,
      },
    },
    meta,
  )
  if (listParameters === null) return { data: [], total: 0 }
  const { items, totalCount, hasNextPage, hasPreviousPage } = await list(listParameters, { signal })
  const data = items.map((item) => toProviderRecord(resource, item))
  return totalCount === null ? { data, pageInfo: { hasNextPage, hasPreviousPage } } : { data, total: totalCount }
}

/**
 * Returns a function that runs a call. A rejected problem gets its message, and `body.errors`, from which react-admin's
 * forms show messages per input. The caller's record type is not checked at run time.
 */
function formErrorsBy(messages?: Messages): <T>(call: () => Promise<unknown>) => Promise<T> {
  return async <T>(call: () => Promise<unknown>) => {
    try {
      return (await call()) as T
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const title = explain(error, messages)
      const fields = Object.entries(error.errors)
      throw fields.length === 0 ? error : Object.assign(error, { body: { errors: formErrors(title, fields) } })
    }
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
