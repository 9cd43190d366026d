import type { JsonValue } from '../../types/field.js'
import type { Change, Notifier, PushEvent } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import { ownColumn } from '../common/columns.js'
import { isKeyOf, isKeyPart, joinKeyParts, planKeyJson } from '../common/keys.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { commitOf } from '../perform/index.js'
import { readKeyParts } from '../plan/index.js'
import { matchRecord, readRow } from '../read.js'
import { hubOf } from './hub.js'

/**
 * Creates the functions by which the host sends events for changes outside the routes. The payloads equal those of
 * routes. Returns null if the resource has no hub.
 */
export function createNotifier(resource: Resource): Notifier | null {
  const hub = hubOf(resource)
  if (hub === null) return null
  const publish = (change: Pick<Change, 'event' | 'key' | 'columns' | 'row'> & Partial<Change>): void =>
    commitOf(resource).afterCommit(() => void hub.publish([{ ...HOST_CHANGE, ...change }], null))
  const publishKey = (event: PushEvent, key: unknown): void => {
    const columns = hub.pushedFields().map((field) => ownColumn(field))
    publish({ event, key: readNotifiedKey(resource, key), columns, row: null })
  }
  return Object.freeze({
    created: (key: string | number) => publishKey('OnCreated', key),
    updated: (key: string | number) => publishKey('OnUpdated', key),
    deleted: (record: string | number | Readonly<Record<string, unknown>>) => {
      const isRecord = typeof record === 'object'
      if (!isRecord && resource.behaviours.resolveScope !== null) {
        throw new TypeError(
          `${resource.name}: notify.deleted needs the whole record instead of its key, because the resource has a scope`,
        )
      }
      const key = isRecord ? readRecordKey(resource, record) : readNotifiedKey(resource, record)
      const known = isRecord ? hub.deletionFields().filter(({ name }) => record[name] !== undefined) : []
      const needed = isRecord ? hub.scopeFields() : []
      const columns = [...new Set([...needed, ...known])].map((field) => ownColumn(field))
      const row = isRecord ? columns.map(({ field }) => record[field.name]) : []
      const unknown = columns[row.indexOf(undefined)]
      if (unknown)
        throw new TypeError(
          `${resource.name}: the record passed to notify.deleted has no value for "${unknown.field.name}"`,
        )
      publish({ event: 'OnDeleted', key, columns, row })
    },
    deleting: async (given: string | number) => {
      const key = readNotifiedKey(resource, given)
      const columns = [...new Set([...resource.keys, ...hub.deletionFields()])].map((field) => ownColumn(field))
      const before = await hub.readBefore(key)
      const row = await readRow(resource, matchRecord(resource, key), { columns, members: [] })
      return () => {
        if (row !== null) publish({ event: 'OnDeleted', key, columns, row, before })
      }
    },
  })
}

/** Members of a change by the host's own code. The record's earlier state is unknown. */
const HOST_CHANGE = {
  isUncertain: false,
  request: NO_REQUEST,
  before: null,
  isMove: false,
  isFromRoute: false,
} as const

function readNotifiedKey({ name, keys }: Resource, given: unknown): JsonValue {
  const value = isKeyOf(keys, given) ? readKeyParts(keys, String(given)) : null
  if (value === null)
    throw new TypeError(`${name}: notify got the value "${String(given)}", which cannot be a key of this resource`)
  return planKeyJson(keys, value)
}

function readRecordKey(resource: Resource, record: Readonly<Record<string, unknown>>): JsonValue {
  const [only, ...others] = resource.keys
  if (only !== undefined && others.length === 0) return readNotifiedKey(resource, record[only.name])
  const values = resource.keys.map(({ name }) => record[name])
  return readNotifiedKey(resource, values.every(isKeyPart) ? joinKeyParts(values) : undefined)
}
