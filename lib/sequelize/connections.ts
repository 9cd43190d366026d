import { setTimeout as wait } from 'node:timers/promises'
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { requestCancel } from './cancel.js'
import type { Dialect } from './dialect/index.js'
import { interruptHandle } from './handles.js'
import { statementLogging } from './logging.js'
import { connectionsOf } from './model.js'
import { markSpread, SERVER, seatOf } from './seats.js'
import { reset } from './socket.js'
import type { StatementLimit } from './statementTime.js'

/** Among the options of a query: how long its statement may take. Whoever gets a connection for it is handed them all. */
const LIMITED = 'crudStatementLimit'

/** The options of a query whose statement may take so long. */
export function limitedTo(limit: StatementLimit | null | undefined): Pick<Wanted, typeof LIMITED> {
  return limit ? { [LIMITED]: limit } : {}
}

/** How long the statements may take for which a connection is wanted. */
export function limitOf(wanted: Wanted): StatementLimit | undefined {
  return wanted[LIMITED]
}

/** A connection of Sequelize's, whatever the driver. `uuid` is the transaction's that it belongs to. */
export interface Connection {
  uuid?: string | undefined
  /** Whether it is one to a replica, where there are any. */
  readonly queryType?: 'read' | 'write'
}

/** What is asked of a connection: whose it is on SQLite, and whether a replica will not do. */
export interface Wanted {
  readonly uuid?: string
  readonly type?: string
  readonly useMaster?: boolean
  /** How long its statements may take. */
  readonly [LIMITED]?: StatementLimit
}

/** Sequelize's connection manager, as far as writes need it. */
export interface Connections {
  readonly config: { readonly replication?: { readonly write?: object; readonly read?: readonly object[] } | false }
  getConnection(wanted?: Wanted): Promise<Connection>
  releaseConnection(connection: Connection): void
  destroyConnection(connection: Connection): Promise<void>
  _validate(connection: Connection): boolean
  _connect(config: object): Promise<Connection>
  _disconnect(connection: Connection): Promise<void>
}

/** How long a server is waited for when a connection is given up. */
const PATIENCE = 1000

/** The error of `KILL` where the connection has ended already. */
const NO_SUCH_THREAD = 1094

/** How often another connection is opened to find the server of one, where an address leads to several. */
const TIMES = 10

export function connectionsFor(sequelize: Sequelize): Connections {
  return connectionsOf(sequelize) as Connections
}

/** Number of requests that wait for a connection of the pool, or for one that another request waits for. SQLite has no pool. */
export function waitingFor(sequelize: Sequelize): number {
  const pool: unknown = Reflect.get(connectionsFor(sequelize), 'pool')
  const { read, write } = Object(pool)
  const own = behind.get(sequelize) ?? 0
  return [pool, read, write].reduce<number>((sum, each) => sum + (Number(Object(each).waiting) || 0), own)
}

/** Numbers of requests that wait for a statement of another request. */
const behind = new WeakMap<Sequelize, number>()

/** Waits for a statement that several requests wait for, and counts this one among those that wait. */
export async function waitBehind<T>(sequelize: Sequelize, shared: Promise<T>): Promise<T> {
  behind.set(sequelize, (behind.get(sequelize) ?? 0) + 1)
  try {
    return await shared
  } finally {
    behind.set(sequelize, (behind.get(sequelize) ?? 1) - 1)
  }
}

/** Has the server end what runs on a connection that is given up. It never rejects, and ends soon whatever the server does. */
export async function interrupt(sequelize: Sequelize, { interrupt }: Dialect, connection: Connection): Promise<void> {
  if (interrupt === null) return
  if (interrupt.kill === null) return cancel(sequelize, connection)
  if (await kill(sequelize, interrupt.kill.connection(connection), connection)) await heardOf(sequelize, connection)
}

/** Has the database end the statement that runs on a connection, which stays. It never rejects, and ends soon. */
export async function endStatement(
  sequelize: Sequelize,
  { interrupt }: Dialect,
  connection: Connection,
): Promise<void> {
  if (interrupt === null) interruptHandle(connection)
  else if (interrupt.kill === null) await cancel(sequelize, connection)
  else await kill(sequelize, interrupt.kill.statement(connection), connection)
}

/** Sends a cancel request. Where none arrives, writes need a transaction that ends with their connection. */
async function cancel(sequelize: Sequelize, connection: Connection): Promise<void> {
  const isDelivered = await requestCancel(connection, PATIENCE)
  if (!isDelivered && connection.queryType !== 'read') markSpread(sequelize)
}

/** Runs a `KILL`. False if it did not arrive: writes need a transaction then, as for a cancel request. */
async function kill(sequelize: Sequelize, sql: string, of: Connection): Promise<boolean> {
  const isDelivered = (await patiently(runAside(sequelize, sql, of))) === true
  if (!isDelivered && seatOf(of) !== undefined && of.queryType !== 'read') markSpread(sequelize)
  return isDelivered
}

/**
 * Takes a connection out of the pool and closes it, whatever runs on it and whether or not the server answers. The pool may open another one
 * at once. It never rejects, and ends soon.
 */
export async function closeConnection(sequelize: Sequelize, connection: Connection): Promise<void> {
  const connections = connectionsFor(sequelize)
  const closed = connections
    .destroyConnection(connection)
    .catch(ignore)
    .then(() => true)
  if (await Promise.race([closed, pause(CLOSING)])) return
  reset(connection)
  // The pool looks at those who wait only when it is asked for a connection.
  const wanted = { type: QueryTypes.SELECT, useMaster: connection.queryType !== 'read' }
  connections.getConnection(wanted).then((other) => connections.releaseConnection(other), ignore)
}

/**
 * Does the same to a connection whose server gives no answer. What the server has not received is not sent again, so that no statement arrives
 * after it was given up.
 */
export function cutConnection(sequelize: Sequelize, connection: Connection): Promise<void> {
  reset(connection)
  return closeConnection(sequelize, connection)
}

/** Milliseconds that a driver may take to close a connection before its socket is destroyed. */
const CLOSING = 50

/** Waits until the driver has heard that its connection was killed: one that is told to end first never tells anybody. */
async function heardOf(sequelize: Sequelize, connection: Connection): Promise<void> {
  const end = performance.now() + PATIENCE
  while (connectionsFor(sequelize)._validate(connection) && performance.now() < end) await pause(5)
}

/**
 * Runs a statement about a connection on the server of that connection, and tells whether it did. Another server has the number for somebody
 * else. It runs not over the pool's connections, all of which may wait for the same lock.
 */
async function runAside(sequelize: Sequelize, sql: string, of: Connection): Promise<boolean> {
  const seat = seatOf(of)
  if (seat?.isDirect === true && seat.server !== null) {
    const servers = serversOf(connectionsFor(sequelize), of)
    for (let times = 0; times < TIMES; times += 1) {
      const server = servers[times % servers.length]
      if (server !== undefined && (await runOn(sequelize, sql, { server, name: seat.server }))) return true
    }
  }
  return false
}

async function runOn(
  sequelize: Sequelize,
  sql: string,
  { server, name }: { readonly server: object; readonly name: string },
): Promise<boolean> {
  const connections = connectionsFor(sequelize)
  const connection = await connections._connect(server)
  try {
    // As Sequelize itself asks a server for its version: of a transaction it wants the connection only.
    const transaction = { connection } as object as Transaction
    const options = { transaction, ...statementLogging(sequelize) }
    const [row] = await sequelize.query(`SELECT ${SERVER} AS name`, { ...options, type: QueryTypes.SELECT })
    if (String(Object(row).name) !== name) return false
    await sequelize.query(sql, options).catch((error: unknown) => {
      if (Object(Object(error).original).errno !== NO_SUCH_THREAD) throw error
    })
    return true
  } finally {
    await connections._disconnect(connection)
  }
}

/** Where a connection may lead, by what Sequelize was told. */
function serversOf({ config }: Connections, { queryType }: Connection): readonly object[] {
  const { replication } = config
  if (!replication) return [config]
  return queryType === 'read' ? (replication.read ?? []) : [replication.write ?? config]
}

/** Waits for the end of something, good or bad, but not for long. */
export async function patiently<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work.catch(ignore), pause(PATIENCE)])
}

function pause(milliseconds: number): Promise<undefined> {
  return wait(milliseconds, undefined, { ref: false })
}

function ignore(): undefined {}
