import type { CommitPosition } from './commitPosition.js'
import type { Request } from './express.js'
import type { Field, JsonValue } from './field.js'
import type { Row } from './outcome.js'
import type { Column, KeyValue, Plan } from './plan.js'
import type { RecordBefore, Tracking } from './rooms.js'
import type { Namespace, Server, Socket } from './socket.js'

export interface PushOptions {
  /** The host's Socket.IO server. Default: the server of `createCrud({ io })`. */
  readonly io?: Server
  /**
   * The Socket.IO namespace. Default: the resource's route and `/hub`, such as `/api/players/hub`, independent of the
   * mount point.
   */
  readonly path?: string
  /**
   * The recipients of events. `permitted`: callers who may list the record, each with the fields that they may read.
   * `all`: every connected client, only without policies, masks and scope. Default `permitted`.
   */
  readonly audience?: 'permitted' | 'all'
}

/** The events that a resource's Socket.IO namespace (its hub) sends to clients. */
export type PushEvent = 'OnCreated' | 'OnUpdated' | 'OnDeleted'

/** A written record, as input of push events. */
export interface Change {
  readonly event: PushEvent
  readonly key: JsonValue
  readonly columns: readonly Column[]
  /** The values of the columns after the write, or before the deletion; null if they are not read yet. */
  readonly row: Row | null
  /** The request of the write, for `onError`. */
  readonly request: Request
  /** Whether another write may have changed the record since. If so, the record is read again for the event. */
  readonly isUncertain: boolean
  /** The record before the write; null if it was not read. */
  readonly before: RecordBefore | null
  /** Whether the record itself was not written. If so, only rooms that the record entered or left get an event. */
  readonly isMove: boolean
  /** Whether a route made the change; false for host code. */
  readonly isFromRoute: boolean
}

/** A change whose values are read. */
export interface ChangeWithValues extends Change {
  readonly row: Row
}

/** Publishes changes in commit order. */
export interface Publisher {
  /** The fields that any recipient may see, or that select recipients. */
  readonly pushedFields: () => readonly Field[]
  /** The fields that only select recipients. */
  readonly scopeFields: () => readonly Field[]
  /** The fields that events of deleted records need. */
  readonly deletionFields: () => readonly Field[]
  /** Runs writes of the same record one at a time, so that their events are in commit order. */
  readonly serializeWrites: <T>(keys: readonly KeyValue[], write: () => Promise<T>) => Promise<T>
  /** Orders the events of the records after the events of earlier writes. */
  readonly noteCommitOrder: (position: CommitPosition, keys: () => readonly JsonValue[]) => void
  /** Registers a write of one statement before it runs. */
  readonly expectWrite: (position: CommitPosition) => void
  /**
   * Whether another write of the record has finished since `expectWrite`. If so, the commit order of both writes is
   * unknown.
   */
  readonly isOrderUnknown: (position: CommitPosition, key: JsonValue) => boolean
  /** The data to read about records before a write changes them; null if none is needed. */
  readonly selectTracking: (plan: Plan, hasModelHooks: boolean) => Tracking | null
  /**
   * Publishes without waiting. Never throws. Events are sent after `after`. The promise resolves when they are sent, and
   * never rejects.
   */
  readonly publish: (changes: readonly Change[], after: Promise<void> | null) => Promise<void>
}

/**
 * Sends push events for writes outside the routes. Each method returns at once. Events are sent after the commit of the
 * surrounding transaction.
 */
export interface Notifier {
  /** Reads the record of this key and pushes `OnCreated`. */
  readonly created: (key: string | number) => void
  /** Reads the record of this key and pushes `OnUpdated`. */
  readonly updated: (key: string | number) => void
  /**
   * Pushes `OnDeleted` with the record's key. `record` has the former values by attribute. A key alone suffices if the
   * resource has no scope.
   */
  readonly deleted: (record: string | number | Readonly<Record<string, unknown>>) => void
  /**
   * Reads the record before host code deletes it or moves it out of a scope. Resolves to a function that the host calls
   * afterwards. The function pushes `OnDeleted` to the clients that could see the record.
   */
  readonly deleting: (key: string | number) => Promise<() => void>
}

export type { Namespace, Server, Socket }
