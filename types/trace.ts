import type { OperationName } from '../lib/operations.js'
import type { ResourceInfo } from './info.js'
import type { PushEvent } from './push.js'

/** An error without any sent or stored values. */
export interface WatchedError {
  /**
   * The code of the error; null for an error without a code. For a request it is the `code` of the problem document, for a
   * statement the code of the database or driver.
   */
  readonly code: string | null
  /** The class name of the error. For a request it is the class of the error that caused the problem. */
  readonly name: string
}

interface Traced {
  /** The total time in milliseconds; null before the end. */
  readonly duration: number | null
  /** The error; null before the end, or without an error. */
  readonly error: WatchedError | null
}

/**
 * The message of the channels `sequelize-crud-router.request`. One object describes a request from beginning to end,
 * and its members are set on the way. It has no field values.
 */
export interface RequestMessage extends Traced {
  readonly kind: 'request'
  /** The name of the resource's model. */
  readonly resource: string
  /** The resource's path below the mount point, `/api/players`. */
  readonly route: string
  /** The relation of a nested route: `players` in `/api/teams/1/players`; null for other routes. */
  readonly relation: string | null
  /**
   * The operation; on a nested route, the operation on the related records. Null until it is known, and for requests
   * without an operation.
   */
  readonly operation: OperationName | null
  /** The name of the action that the request calls. Absent if the request calls no action. */
  readonly action?: string
  /** The HTTP method. */
  readonly method: string
  /** The status of the response; null before the end. */
  readonly status: number | null
  /** Whether the client disconnected before the response was complete. */
  readonly aborted: boolean
  /** The number of records in the response, exports included, or of deleted records; null for other responses. */
  readonly rows: number | null
  /** Milliseconds of receiving the body and parsing the request. */
  readonly parseTime: number
  /** Milliseconds of resolving names and authorizing resources, including the host's policies. */
  readonly planTime: number
  /** The number of statements so far, including statements of hooks and policies. */
  readonly statements: number
  /** Milliseconds of all statements, including waiting for a connection. Concurrent statements count separately. */
  readonly databaseTime: number
}

/** The message of the channels `sequelize-crud-router.statement`: a statement of a request or a push event. */
export interface StatementMessage extends Traced {
  readonly kind: 'statement'
  /**
   * The message of the request or event that ran the statement. It is the object that the channels of the request or
   * event publish.
   */
  readonly cause: RequestMessage | EventMessage
  /** The name of the dialect in Sequelize: `postgres`, `mysql`, `mariadb`, `sqlite`. */
  readonly dialect: string
  /** The first word of the statement, in capitals: `SELECT`, `BEGIN`. */
  readonly command: string
  /**
   * The SQL with placeholders for all values, at most 10,000 characters. It is produced on first access, at about the
   * cost of a small statement.
   */
  readonly text: string
  /** The number of returned or changed rows; null if the driver does not report it. */
  readonly rows: number | null
}

/** The message of the channels `sequelize-crud-router.event`: a push event of a hub. */
export interface EventMessage extends Traced {
  readonly kind: 'event'
  /** The name of the resource's model. */
  readonly resource: string
  /** The Socket.IO namespace of the hub. */
  readonly path: string
  readonly event: PushEvent
  /** The request of the write; null for a change reported by host code. */
  readonly cause: RequestMessage | null
  /** Milliseconds between the commit and the start of sending. */
  readonly waited: number
  /** The number of different payloads. Recipients with the same view share a payload. */
  readonly payloads: number
  /** The number of rooms; 0 if every connected client is a recipient. */
  readonly rooms: number
  /** The number of recipient sockets of this process. */
  readonly recipients: number
  readonly statements: number
  readonly databaseTime: number
}

/** A mounted route of a resource. */
export interface MountedRoute {
  /** The HTTP method in capitals. */
  readonly method: string
  /**
   * The path below the mount point, `/api/players/:id`. The host may mount the handlers of `crudController` at other
   * paths.
   */
  readonly path: string
  /** The operations of the route. If there are several, the request selects one. */
  readonly operations: readonly OperationName[]
  /** The name of the action; null for another operation. */
  readonly action: string | null
  /** The names of the operations, or of the action, that have no policy of the resource. */
  readonly open: readonly string[]
}

/** The message of the channel `sequelize-crud-router.mount`: a mounted resource. */
export interface MountMessage {
  readonly kind: 'mount'
  readonly by: 'crudRouter' | 'crudController' | 'createHandler'
  readonly resource: ResourceInfo
  readonly routes: readonly MountedRoute[]
  /** Paths below a record. The policies of the related resource are evaluated as well. */
  readonly nested: readonly string[]
  /** Whether no policy covers connections to the hub. False without a hub. */
  readonly hubOpen: boolean
}
