import type { CallOptions, ListParameters } from '../client/index.js'
import { allOf, type Condition } from './conditions.js'
import { type ProviderRecord, recordOf } from './records.js'
import type { Resource, Row } from './resources.js'

/** At most as many keys are in one request; hosts may allow 200, and pages may be short. */
const KEYS = 50

/** What a framework asks of a list, in the words of the service. */
export interface Asked {
  readonly condition: Condition
  readonly parameters: ListParameters
}

/** The parameters of a list, further ones of the application's own among them; null where no record can be in it. */
export function parametersOf({ condition, parameters }: Asked, meta: unknown): ListParameters | null {
  const { filter, ...own } = ownParameters(meta)
  const whole = allOf([condition, typeof filter === 'string' && filter !== '' ? filter : true])
  if (whole === false) return null
  return { ...parameters, ...own, ...(whole === true ? {} : { filter: whole }) }
}

/** `meta.parameters`: `select`, `count`, `filter`, parameters of collections and of the host. */
export function ownParameters(meta: unknown): Row {
  return membersOf(membersOf(meta).parameters)
}

function membersOf(value: unknown): Row {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** A sort by the fields that frameworks name; `id` is the key, whatever that is called. */
export function sortOf({ keys }: Resource, field: string, isDescending: boolean): string {
  const sign = isDescending ? '-' : ''
  return (field === 'id' ? keys : [field]).map((name) => `${sign}${name}`).join(',')
}

/** The field that a framework's name stands for. @throws TypeError for a key of several parts */
export function fieldOf({ name, keys }: Resource, field: string): string {
  if (field !== 'id') return field
  const [key, ...others] = keys
  if (key === undefined || others.length > 0)
    throw new TypeError(`${name}: the key has several fields; filter by these`)
  return key
}

/** The records of these keys that exist, in the order of the keys. An empty reference refers to no record. */
export async function recordsOf(
  resource: Resource,
  ids: readonly (string | number)[],
  meta: unknown,
  options: CallOptions,
): Promise<ProviderRecord[]> {
  const wanted = [...new Set(ids.map(String))].filter((id) => id !== '')
  const parts = Array.from({ length: Math.ceil(wanted.length / KEYS) }, (_, at) =>
    wanted.slice(at * KEYS, (at + 1) * KEYS),
  )
  const pages = await Promise.all(
    parts.map((keys) => resource.client.list({ ...ownParameters(meta), keys, count: 'none' }, options)),
  )
  const found = pages.flatMap(({ items }) => items.map((item) => recordOf(resource, item)))
  const byId = new Map(found.map((record) => [String(record.id), record]))
  return wanted.flatMap((id) => byId.get(id) ?? [])
}

/** Does something for each, and fails only when all of them have come to an end: what is asked for next is the whole truth. */
export async function forEach<T, R>(all: readonly T[], act: (each: T) => Promise<R>): Promise<R[]> {
  const settled = await Promise.allSettled(all.map(act))
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

export function signalOf(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { signal }
}
