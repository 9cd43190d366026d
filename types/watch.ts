import type { OperationName } from '../lib/operations.js'
import type { ResourceInfo } from './info.js'
import type { PushEvent } from './push.js'

/** What went wrong, without a word of what was sent or stored. */
export interface WatchedError {
  /** Of a request, the `code` of its problem document; of a statement, the code of the database or driver; null for none. */
  readonly code: string | null
  /** The class of the error: of a request, of what caused the problem. */
  readonly name: string
}

interface Watched {
  /** Milliseconds from beginning to end; null before the end. */
  readonly duration: number | null
  /** Null where nothing has gone wrong, or not yet. */
  readonly error: WatchedError | null
}

/**
 * A request for an operation, as the channels of `sequelize-crud-router.request` tell it: one object from its beginning to its
 * end, to which is added what becomes known. No value of a field is in it.
 */
export interface RequestMessage extends Watched {
  readonly kind: 'request'
  /** The resource: the name of its model. */
  readonly resource: string
  /** Its path below the mount point, `/api/players`. */
  readonly route: string
  /** The relation, where the path goes on to one: `players` in `/api/teams/1/players`; null elsewhere. */
  readonly relation: string | null
  /** What is done: below a relation, with the records behind it. Null there until it is known, and for what is no operation. */
  readonly operation: OperationName | null
  /** The name of the action that stands for the operation; absent for the operation itself. */
  readonly action?: string
  /** The HTTP method. */
  readonly method: string
  /** The status of the answer; null before its end. */
  readonly status: number | null
  /** Whether the client had gone before it had its answer. */
  readonly aborted: boolean
  /** Records in the answer, those of a file included, or deleted; null where it tells of none. */
  readonly rows: number | null
  /** Milliseconds in which the body was received and the request parsed. */
  readonly parseTime: number
  /** Milliseconds in which names were resolved and resources authorized, policies of the host's included. */
  readonly planTime: number
  /** Statements so far, those of hooks and policies of the host's included. */
  readonly statements: number
  /** Milliseconds that these took, waiting for a connection included. What runs at once counts twice. */
  readonly databaseTime: number
}

/** A statement that a request or an event made run, as the channels of `sequelize-crud-router.statement` tell it. */
export interface StatementMessage extends Watched {
  readonly kind: 'statement'
  /** What made it run: the same object as in that one's own messages. */
  readonly cause: RequestMessage | EventMessage
  /** Sequelize's name of the database: `postgres`, `mysql`, `mariadb`, `sqlite`. */
  readonly dialect: string
  /** Its first word, in capitals: `SELECT`, `BEGIN`. */
  readonly command: string
  /**
   * The SQL with a placeholder for every value, at most 10,000 characters. It is written when it is first read, which costs about as
   * much as to run a small statement.
   */
  readonly text: string
  /** The rows that it gave, or changed; null where the driver does not tell. */
  readonly rows: number | null
}

/** A change told to the subscribers of a hub, as the channels of `sequelize-crud-router.event` tell it. */
export interface EventMessage extends Watched {
  readonly kind: 'event'
  /** The resource: the name of its model. */
  readonly resource: string
  /** The namespace of the hub. */
  readonly path: string
  readonly event: PushEvent
  /** The request that made the change; null for what the host's code told. */
  readonly cause: RequestMessage | null
  /** Milliseconds between the commit and the beginning. */
  readonly waited: number
  /** The different payloads that were sent, of which each is for those who may see the same. */
  readonly payloads: number
  /** The rooms that they went to; 0 where they went to all who are connected. */
  readonly rooms: number
  /** The sockets of this process that they went to. */
  readonly recipients: number
  readonly statements: number
  readonly databaseTime: number
}

/** A route of a resource, as it is mounted. */
export interface MountedRoute {
  /** In capitals. */
  readonly method: string
  /** Below the mount point, `/api/players/:id`. Those of `crudController` are where the host puts its handlers. */
  readonly path: string
  /** What requests for it do; what they send decides between several. */
  readonly operations: readonly OperationName[]
  /** The action that it runs; null for none. */
  readonly action: string | null
  /** The operations, or the action, that no policy of the resource covers. */
  readonly open: readonly string[]
}

/** A resource that was mounted, as the channel `sequelize-crud-router.mount` tells it. */
export interface MountMessage {
  readonly kind: 'mount'
  readonly by: 'crudRouter' | 'crudController' | 'createHandler'
  readonly resource: ResourceInfo
  readonly routes: readonly MountedRoute[]
  /** Paths below a record, where policies of the records behind the relation are evaluated as well. */
  readonly nested: readonly string[]
}
