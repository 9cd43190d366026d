import type { CallOptions, ListParameters } from '../client/index.js'
import { type Condition, joinConditionsByAnd } from './conditions.js'
import { type ProviderRecord, toProviderRecord } from './records.js'
import type { ClientResource, Row } from './resources.js'

/** Maximum number of keys in a request. Servers may allow 200 keys, but their pages may be shorter. */
const MAX_KEYS = 50

/** A framework's list request, translated to the service's filter and parameters. */
export interface ProviderListRequest {
  readonly condition: Condition
  /** Undefined parameters are not sent. */
  readonly parameters: Row
}

/**
 * Builds the parameters of a list, including parameters of the application from `meta`. Returns null if the condition
 * excludes every record.
 */
export function toListParameters({ condition, parameters }: ProviderListRequest, meta: unknown): ListParameters | null {
  const { filter, ...own } = ownParameters(meta)
  const whole = joinConditionsByAnd([condition, typeof filter === 'string' && filter !== '' ? filter : true])
  if (whole === false) return null
  return { ...parameters, ...own, ...(whole === true ? {} : { filter: whole }) }
}

/**
 * The application's own parameters in `meta.parameters`, such as `select`, `count`, `filter`, or parameters of
 * collections and of the host.
 */
export function ownParameters(meta: unknown): Row {
  return toRow(toRow(meta).parameters)
}

function toRow(value: unknown): Row {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Builds the sort parameter for a field of the framework. `id` becomes the names of the key. */
export function toSort({ keys }: ClientResource, field: string, isDescending: boolean): string {
  const sign = isDescending ? '-' : ''
  return (field === 'id' ? keys : [field]).map((name) => `${sign}${name}`).join(',')
}

/**
 * Converts the framework's name of a field to the service's name: `id` becomes the name of the key. @throws TypeError
 * for a composite key
 */
export function fieldOf({ name, keys }: ClientResource, field: string): string {
  if (field !== 'id') return field
  const [key, ...others] = keys
  if (key === undefined || others.length > 0)
    throw new TypeError(`${name}: the key has several fields. Filter and sort by them instead of "id".`)
  return key
}

/**
 * Reads the records with the given keys, in the order of the keys. Empty references and missing records are skipped.
 */
export async function readRecords(
  resource: ClientResource,
  ids: readonly (string | number)[],
  meta: unknown,
  options: CallOptions,
): Promise<ProviderRecord[]> {
  const distinct = [...new Set(ids.map(String))].filter((id) => id !== '')
  const parts = Array.from({ length: Math.ceil(distinct.length / MAX_KEYS) }, (_, at) =>
    distinct.slice(at * MAX_KEYS, (at + 1) * MAX_KEYS),
  )
  const pages = await Promise.all(
    parts.map((keys) => resource.client.list({ ...ownParameters(meta), keys, count: 'none' }, options)),
  )
  const found = pages.flatMap(({ items }) => items.map((item) => toProviderRecord(resource, item)))
  const byId = new Map(found.map((record) => [String(record.id), record]))
  return distinct.flatMap((id) => byId.get(id) ?? [])
}

/** Runs a call for each item. Rejects only after all calls have settled, so that a reload shows the final state. */
export async function forEach<T, R>(all: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> {
  const settled = await Promise.allSettled(all.map(act))
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
