import type { JsonValue } from '../../types/field.js'
import type { Change, Notifier, PushEvent } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import { ownColumn } from '../common/columns.js'
import { isKeyPart, isKeyValue, keyOfParts, planKeyJson } from '../common/keys.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { commitOf } from '../perform/index.js'
import { readKeyOf } from '../plan/index.js'
import { recordWith, rowWhere } from '../read.js'
import { hubOf } from './hub.js'

/**
 * Sends events for changes that were made outside the routes, with the same payloads. Returns null if the resource has
 * no hub.
 */
export function notifierOf(resource: Resource): Notifier | null {
  const hub = hubOf(resource)
  if (hub === null) return null
  const publish = (change: Pick<Change, 'event' | 'key' | 'columns' | 'row'> & Partial<Change>): void =>
    commitOf(resource).follow(() => hub.publish([{ ...UNKNOWN, ...change }]))
  const tell = (event: PushEvent, key: unknown): void => {
    const columns = hub.watched().map((field) => ownColumn(field))
    publish({ event, key: keyOf(resource, key), columns, row: null })
  }
  return Object.freeze({
    created: (key: string | number) => tell('OnCreated', key),
    updated: (key: string | number) => tell('OnUpdated', key),
    deleted: (record: string | number | Readonly<Record<string, unknown>>) => {
      const isRecord = typeof record === 'object'
      if (!isRecord && resource.behaviours.confine !== null) {
        throw new TypeError(`${resource.name}: deleted() needs the whole record, because the resource has a scope`)
      }
      const key = isRecord ? keyIn(resource, record) : keyOf(resource, record)
      const known = isRecord ? hub.reported().filter(({ name }) => record[name] !== undefined) : []
      const needed = isRecord ? hub.confining() : []
      const columns = [...new Set([...needed, ...known])].map((field) => ownColumn(field))
      const row = isRecord ? columns.map(({ field }) => record[field.name]) : []
      const unknown = columns[row.indexOf(undefined)]
      if (unknown) throw new TypeError(`${resource.name}: the deleted record lacks ${unknown.field.name}`)
      publish({ event: 'OnDeleted', key, columns, row })
    },
    deleting: async (given: string | number) => {
      const key = keyOf(resource, given)
      const columns = [...new Set([...resource.keys, ...hub.reported()])].map((field) => ownColumn(field))
      const before = await hub.before(key)
      const row = await rowWhere(resource, recordWith(resource, key), { columns, members: [] })
      return () => {
        if (row !== null) publish({ event: 'OnDeleted', key, columns, row, before })
      }
    },
  })
}

/** Members of a change that the host's own code has made: the record's earlier state is unknown. */
const UNKNOWN = { isDoubtful: false, request: NO_REQUEST, before: null, isMove: false, isRouted: false } as const

function keyOf({ name, keys }: Resource, given: unknown): JsonValue {
  const value = isKeyValue(given) ? readKeyOf(keys, String(given)) : null
  if (value === null) throw new TypeError(`${name}: ${String(given)} is not a key`)
  return planKeyJson(keys, value)
}

function keyIn(resource: Resource, record: Readonly<Record<string, unknown>>): JsonValue {
  const [only, ...others] = resource.keys
  if (only !== undefined && others.length === 0) return keyOf(resource, record[only.name])
  const values = resource.keys.map(({ name }) => record[name])
  return keyOf(resource, values.every(isKeyPart) ? keyOfParts(values) : undefined)
}
