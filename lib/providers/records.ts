import { keyOf, keyText } from '../client/address.js'
import { etagOf } from '../client/index.js'
import type { Resource, Row } from './resources.js'

/** A record as frameworks want it: `id` is its key whatever that is called, and `_etag` the tag of its version. */
export interface ProviderRecord extends Row {
  readonly id: string | number
  readonly _etag?: string
}

export function recordOf(resource: Resource, row: Row): ProviderRecord {
  const tag = etagOf(row) ?? tagOf(row[resource.version])
  return { ...row, id: idOf(resource, row), ...(tag === null ? {} : { _etag: tag }) }
}

/** Several parts are joined as they are in paths, so that an `id` is the key everywhere. */
function idOf({ keys }: Resource, row: Row): string | number {
  const key = keyOf(row, keys)
  return typeof key === 'number' ? key : keyText(key)
}

/** The id of a record that may be without its key, because nobody may read that. */
export function idsOf(resource: Resource, row: Row): readonly (string | number)[] {
  return resource.keys.every((name) => name in row) ? [idOf(resource, row)] : []
}

function tagOf(version: unknown): string | null {
  return (typeof version === 'number' || typeof version === 'string') && /^\d+$/.test(String(version))
    ? `W/"${version}"`
    : null
}

/** The version under which a record is written: what `_etag` says of whichever of these has one. */
export function versionOf(...records: readonly unknown[]): { readonly ifMatch?: string } {
  for (const record of records) {
    const tag = memberOf(record, '_etag')
    if (typeof tag === 'string') return { ifMatch: tag }
  }
  return {}
}

/** The members of a new record: without what `recordOf` adds, and without the version of the record it is a copy of. */
export function bodyOf(resource: Resource, data: object): Row {
  const added = addedTo(resource, data)
  return Object.fromEntries(Object.entries(data).filter(([name]) => !added.has(name)))
}

/** What differs from the record as it was, or all of it where nobody says how it was. */
export function changesOf(resource: Resource, data: object, previous: unknown): Row {
  const members = Object.entries(bodyOf(resource, data))
  return Object.fromEntries(
    members.filter(([name, value]) => name !== 'id' && value !== undefined && !isSame(value, memberOf(previous, name))),
  )
}

function addedTo({ keys, version }: Resource, data: object): ReadonlySet<string> {
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

/** Whether two values are the same JSON, whatever the order of members. */
function isSame(one: unknown, other: unknown): boolean {
  const [a, b] = [jsonOf(one), jsonOf(other)]
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => isSame(memberOf(a, name), memberOf(b, name)))
}

function jsonOf(value: unknown): unknown {
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : value
}
