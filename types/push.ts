import type { Request } from './express.js'
import type { Field, JsonValue } from './field.js'
import type { Row } from './outcome.js'
import type { Column, KeyValue, Plan } from './plan.js'
import type { RecordBefore, Tracking } from './rooms.js'
import type { Namespace, Server, Socket } from './socket.js'
import type { Standing } from './standing.js'

export interface PushOptions {
  /** The host's own server. `createCrud({ io })` gives it to all of its resources. */
  readonly io?: Server
  /** The namespace. Default: the resource's route and `/hub`, `/api/players/hub`, wherever the router is mounted. */
  readonly path?: string
  /**
   * Who is told: those who may list the records, each what they may see of them; or `all` who connect, which is for
   * resources without policies, masks and scope. Default `permitted`.
   */
  readonly audience?: 'permitted' | 'all'
}

/** What the clients of a hub hear. */
export type PushEvent = 'OnCreated' | 'OnUpdated' | 'OnDeleted'

/** A record that was written, for the hub to tell of. */
export interface Change {
  readonly event: PushEvent
  readonly key: JsonValue
  readonly columns: readonly Column[]
  /** The values of the columns after the write, or of a deleted record before it; null where they are still to be read. */
  readonly row: Row | null
  /** What asked for the write, for `onError`. */
  readonly request: Request
  /** Whether nobody knows if others have written the record since: then what is told is what is there. */
  readonly isDoubtful: boolean
  /** The record before the write; null if it was not read then. */
  readonly before: RecordBefore | null
  /** Whether the record itself was not written. Only rooms that it has entered or left get an event then. */
  readonly isMove: boolean
  /** Whether a route made the change; false for the host's own code. */
  readonly isRouted: boolean
}

/** One whose values are there. */
export interface ReadChange extends Change {
  readonly row: Row
}

/** Where changes go, in the order of their commits. */
export interface Publisher {
  /** The fields that any subscriber may see, or is chosen by. */
  readonly watched: () => readonly Field[]
  /** Those by which subscribers are chosen alone. */
  readonly confining: () => readonly Field[]
  /** Those that the events of deleted records need. */
  readonly reported: () => readonly Field[]
  /** Does one write of a record after the other, so that they are told in the order of their commits. */
  readonly inTurn: <T>(keys: readonly KeyValue[], write: () => Promise<T>) => Promise<T>
  /** Lets somebody tell of some records behind those who wrote them before. */
  readonly stand: (place: Standing, keys: () => readonly JsonValue[]) => void
  /** Awaits a write of one statement. */
  readonly expect: (place: Standing) => void
  /** Whether others have written a record since such a write was expected, and may have done so before or after it. */
  readonly isDoubtful: (place: Standing, key: JsonValue) => boolean
  /** What must be known of the records of a write before it; null for nothing. */
  readonly tracked: (plan: Plan) => Tracking | null
  /** Never throws, and waits for nobody. */
  readonly publish: (changes: readonly Change[]) => void
}

/** Tells a hub of what was written past the routes. Each returns at once, and waits for the transaction around it. */
export interface Notifier {
  /** Reads the record of this key and pushes `OnCreated`. */
  readonly created: (key: string | number) => void
  /** Reads the record of this key and pushes `OnUpdated`. */
  readonly updated: (key: string | number) => void
  /**
   * Pushes `OnDeleted` with the record's key. It takes the record as it was, by attribute; a key alone will do where the
   * resource has no scope.
   */
  readonly deleted: (record: string | number | Readonly<Record<string, unknown>>) => void
  /**
   * Reads the record of this key before your code deletes it, or moves it out of scopes. Call the function that it resolves with
   * afterwards: it pushes `OnDeleted` to the clients that had the record.
   */
  readonly deleting: (key: string | number) => Promise<() => void>
}

export type { Namespace, Server, Socket }
