import { setTimeout as wait } from 'node:timers/promises'
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { requestCancel } from './cancel.js'
import type { Dialect } from './dialect/index.js'
import { internalsOf } from './internals.js'
import { statementLoggingOf } from './logging.js'
import { markSeveralServers, SERVER_EXPRESSION, serverSideOf } from './serverSides.js'
import { resetSocket } from './socket.js'
import { interruptStatement } from './sqliteConnections.js'
import type { StatementLimit } from './statementTimeout.js'

/** Name of the query option with the statement timeout. Sequelize passes all query options to `getConnection`. */
const LIMIT_OPTION = 'crudStatementLimit'

/** Creates the query options for a statement timeout. */
export function limitOptionsOf(limit: StatementLimit | null | undefined): Pick<ConnectionOptions, typeof LIMIT_OPTION> {
  return limit ? { [LIMIT_OPTION]: limit } : {}
}

/** Returns the statement timeout from the options of a query. */
export function limitOf(options: ConnectionOptions): StatementLimit | undefined {
  return options[LIMIT_OPTION]
}

/** A Sequelize connection of any driver. `uuid` identifies its transaction. */
export interface Connection {
  uuid?: string | undefined
  /** `read` for a replica, `write` for the primary. Absent without replication. */
  readonly queryType?: 'read' | 'write'
}

/** Requirements for a connection: the transaction on SQLite (`uuid`), and whether the primary is needed. */
export interface ConnectionOptions {
  readonly uuid?: string
  readonly type?: string
  readonly useMaster?: boolean
  readonly [LIMIT_OPTION]?: StatementLimit
}

/** Members of Sequelize's connection manager that writes need. */
export interface Connections {
  readonly config: { readonly replication?: { readonly write?: object; readonly read?: readonly object[] } | false }
  getConnection(options?: ConnectionOptions): Promise<Connection>
  releaseConnection(connection: Connection): void
  destroyConnection(connection: Connection): Promise<void>
  _validate(connection: Connection): boolean
  _connect(config: object): Promise<Connection>
  _disconnect(connection: Connection): Promise<void>
}

/** Maximum time to wait for a server that must stop a statement, in milliseconds. */
const MAX_WAIT = 1000

/** Error code of `KILL` for a connection that has already ended. */
const NO_SUCH_THREAD = 1094

/** Number of connections that are opened to reach one particular server behind an address of several servers. */
const MAX_ATTEMPTS = 10

export function connectionsFor(sequelize: Sequelize): Connections {
  return internalsOf(sequelize).connectionManager as object as Connections
}

/** Number of requests that wait for a connection of the pool, or for a statement of another request. SQLite has no pool. */
export function countWaiting(sequelize: Sequelize): number {
  const pool: unknown = Reflect.get(connectionsFor(sequelize), 'pool')
  const { read, write } = Object(pool)
  const own = waitingBySequelize.get(sequelize) ?? 0
  return [pool, read, write].reduce<number>((sum, each) => sum + (Number(Object(each).waiting) || 0), own)
}

/** Numbers of requests that wait for a statement of another request. */
const waitingBySequelize = new WeakMap<Sequelize, number>()

/** Waits for a statement that several requests share, and counts the request as waiting. */
export async function waitForShared<T>(sequelize: Sequelize, shared: Promise<T>): Promise<T> {
  waitingBySequelize.set(sequelize, (waitingBySequelize.get(sequelize) ?? 0) + 1)
  try {
    return await shared
  } finally {
    waitingBySequelize.set(sequelize, (waitingBySequelize.get(sequelize) ?? 1) - 1)
  }
}

/**
 * Stops the statement on a connection that the caller then closes. Never rejects, and returns soon even if the server
 * hangs.
 */
export async function interrupt(sequelize: Sequelize, { interrupt }: Dialect, connection: Connection): Promise<void> {
  if (interrupt === null) return
  if (interrupt.kill === null) return cancelStatement(sequelize, connection)
  if (await runKill(sequelize, interrupt.kill.connection(connection), connection))
    await waitForDriver(sequelize, connection)
}

/**
 * Stops the statement on a connection that stays open. Never rejects, and returns soon. `isRunning` tells whether the
 * statement still runs. A late request would stop the next statement.
 */
export async function stopStatement(
  sequelize: Sequelize,
  { interrupt }: Dialect,
  connection: Connection,
  isRunning: () => boolean,
): Promise<void> {
  if (interrupt === null) interruptStatement(connection)
  else if (interrupt.kill === null) await cancelStatement(sequelize, connection, isRunning)
  else await runKill(sequelize, interrupt.kill.statement(connection), connection, isRunning)
}

const always = (): boolean => true

/**
 * Sends a cancel request. If the request cannot be delivered, the server may still commit the statement. All later
 * writes then use transactions, which the server rolls back when their connection ends.
 */
async function cancelStatement(
  sequelize: Sequelize,
  connection: Connection,
  isNeeded: () => boolean = always,
): Promise<void> {
  const isDelivered = await requestCancel(connection, MAX_WAIT, isNeeded)
  if (!isDelivered && connection.queryType !== 'read') markSeveralServers(sequelize)
}

/**
 * Runs a `KILL`. Returns false if the server did not receive the `KILL`. The server may then still commit the statement
 * that should be stopped. All later writes therefore use transactions, which the server rolls back when their
 * connection ends.
 */
async function runKill(
  sequelize: Sequelize,
  sql: string,
  of: Connection,
  isNeeded: () => boolean = always,
): Promise<boolean> {
  const isDelivered = (await settleSoon(runOnSameServer(sequelize, sql, of, isNeeded))) === true
  if (!isDelivered && serverSideOf(of) !== undefined && of.queryType !== 'read') markSeveralServers(sequelize)
  return isDelivered
}

/**
 * Removes a connection from the pool and closes it, even during a statement and if the server hangs. The pool may open
 * another connection at once. Never rejects, and returns soon.
 */
export async function closeConnection(sequelize: Sequelize, connection: Connection): Promise<void> {
  const connections = connectionsFor(sequelize)
  const closed = connections
    .destroyConnection(connection)
    .catch(ignore)
    .then(() => true)
  if (await Promise.race([closed, pause(CLOSING)])) return
  resetSocket(connection)
  // The pool serves waiting requests only when another connection is requested.
  const options = { type: QueryTypes.SELECT, useMaster: connection.queryType !== 'read' }
  connections.getConnection(options).then((other) => connections.releaseConnection(other), ignore)
}

/**
 * Closes a connection to a server that does not respond. Unsent data is discarded. Otherwise a statement could reach
 * the server after its timeout.
 */
export function abortConnection(sequelize: Sequelize, connection: Connection): Promise<void> {
  resetSocket(connection)
  return closeConnection(sequelize, connection)
}

/** Time for a driver to close a connection, in milliseconds. Afterwards the socket is destroyed. */
const CLOSING = 50

/**
 * Waits until the driver notices that its connection was killed. A driver that is closed earlier never reports the
 * error.
 */
async function waitForDriver(sequelize: Sequelize, connection: Connection): Promise<void> {
  const end = performance.now() + MAX_WAIT
  while (connectionsFor(sequelize)._validate(connection) && performance.now() < end) await pause(5)
}

/**
 * Runs a statement that names a connection number, on the server of that connection. Returns false if the server was
 * not reached. On another server the number would belong to an unrelated connection. Does not use the pool, whose
 * connections may all wait for one lock.
 */
async function runOnSameServer(
  sequelize: Sequelize,
  sql: string,
  of: Connection,
  isNeeded: () => boolean,
): Promise<boolean> {
  const seat = serverSideOf(of)
  if (seat?.isDirect === true && seat.server !== null) {
    const servers = serversOf(connectionsFor(sequelize), of)
    for (let times = 0; times < MAX_ATTEMPTS; times += 1) {
      const server = servers[times % servers.length]
      const { server: name } = seat
      if (server !== undefined && (await runOnConnection(sequelize, sql, { server, name, isNeeded }))) return true
    }
  }
  return false
}

async function runOnConnection(
  sequelize: Sequelize,
  sql: string,
  { server, name, isNeeded }: { readonly server: object; readonly name: string; readonly isNeeded: () => boolean },
): Promise<boolean> {
  const connections = connectionsFor(sequelize)
  const connection = await connections._connect(server)
  try {
    // `sequelize.query` uses only the connection of this transaction. Sequelize's own version query does the same.
    const transaction = { connection } as object as Transaction
    const options = { transaction, ...statementLoggingOf(sequelize) }
    const [row] = await sequelize.query(`SELECT ${SERVER_EXPRESSION} AS name`, { ...options, type: QueryTypes.SELECT })
    if (String(Object(row).name) !== name) return false
    if (!isNeeded()) return true
    await sequelize.query(sql, options).catch((error: unknown) => {
      if (Object(Object(error).original).errno !== NO_SUCH_THREAD) throw error
    })
    return true
  } finally {
    await connections._disconnect(connection)
  }
}

/** Returns the configured servers that a connection may lead to. */
function serversOf({ config }: Connections, { queryType }: Connection): readonly object[] {
  const { replication } = config
  if (!replication) return [config]
  return queryType === 'read' ? (replication.read ?? []) : [replication.write ?? config]
}

/** Waits until a promise settles, but at most MAX_WAIT. Returns undefined after a timeout or a rejection. */
export async function settleSoon<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work.catch(ignore), pause(MAX_WAIT)])
}

function pause(milliseconds: number): Promise<undefined> {
  return wait(milliseconds, undefined, { ref: false })
}

function ignore(): undefined {}
