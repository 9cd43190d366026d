import { keyOf, keyText } from '../client/address.js'
import { parseVersion } from '../client/eventOrder.js'
import { etagOf } from '../client/index.js'
import type { ClientResource, Row } from './resources.js'

/** A record for a framework. `id` is the record's key, and `_etag` its entity tag. */
export interface ProviderRecord extends Row {
  readonly id: string | number
  readonly _etag?: string
}

export function toProviderRecord(resource: ClientResource, row: Row): ProviderRecord {
  const version = parseVersion(row[resource.version])
  const tag = etagOf(row) ?? (version === null ? null : `W/"${version}"`)
  return { ...row, id: idOf(resource, row), ...(tag === null ? {} : { _etag: tag }) }
}

/** Id of a record. Parts of a composite key are joined as in paths, so that an `id` is valid wherever a key is. */
function idOf({ keys }: ClientResource, row: Row): string | number {
  const key = keyOf(row, keys)
  return typeof key === 'number' ? key : keyText(key)
}

/**
 * Id of a record, as an array with one element. The array is empty if the record lacks its key, for example because the
 * key is masked.
 */
export function idsOf(resource: ClientResource, row: Row): readonly (string | number)[] {
  return resource.keys.every((name) => name in row) ? [idOf(resource, row)] : []
}

/** Finds the expected version of a write: the `_etag` of the first record that has an `_etag`. */
export function expectedVersion(...records: readonly unknown[]): { readonly ifMatch?: string } {
  for (const record of records) {
    const tag = memberOf(record, '_etag')
    if (typeof tag === 'string') return { ifMatch: tag }
  }
  return {}
}

/**
 * Builds the body of a new record. Members that `toProviderRecord` adds and the version of a copied record are removed.
 */
export function toCreateBody(resource: ClientResource, data: object): Row {
  const added = addedNames(resource, data)
  return Object.fromEntries(Object.entries(data).filter(([name]) => !added.has(name)))
}

/** Members that differ from the previous record. Returns all members if the previous record is unknown. */
export function changedMembers(resource: ClientResource, data: object, previous: unknown): Row {
  const members = Object.entries(toCreateBody(resource, data))
  return Object.fromEntries(
    members.filter(
      ([name, value]) => name !== 'id' && value !== undefined && !isEqualJson(value, memberOf(previous, name)),
    ),
  )
}

function addedNames({ keys, version }: ClientResource, data: object): ReadonlySet<string> {
  const added = new Set(['_etag'])
  if ('_etag' in data) added.add(version)
  if (keys.length > 1 || keys[0] !== 'id') added.add('id')
  return added
}

function memberOf(record: unknown, name: string): unknown {
  return typeof record === 'object' && record !== null
    ? Object.getOwnPropertyDescriptor(record, name)?.value
    : undefined
}

/** Whether two values are equal as JSON. The order of members does not matter. */
function isEqualJson(one: unknown, other: unknown): boolean {
  const [a, b] = [normalizeJson(one), normalizeJson(other)]
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => isEqualJson(memberOf(a, name), memberOf(b, name)))
}

function normalizeJson(value: unknown): unknown {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : value
}
