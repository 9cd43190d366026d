import { setTimeout as wait } from 'node:timers/promises'
import type { Sequelize, Transaction } from 'sequelize'
import type { Dialect } from './dialect/index.js'
import { interruptHandle } from './handles.js'
import { statementLogging } from './logging.js'
import { connectionsOf } from './model.js'
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

export function connectionsFor(sequelize: Sequelize): Connections {
  return connectionsOf(sequelize) as Connections
}

/** Has the server end what runs on a connection. It never rejects, and ends soon whatever the server does. */
export async function interrupt(sequelize: Sequelize, { interrupt }: Dialect, connection: Connection): Promise<void> {
  if (interrupt === null) return
  await patiently(runAside(sequelize, interrupt.write(connection), connection))
  if (interrupt.kills) await heardOf(sequelize, connection)
}

/** Has the database end the statement that runs on a connection, which stays. It never rejects, and ends soon. */
export async function endStatement(
  sequelize: Sequelize,
  { interrupt }: Dialect,
  connection: Connection,
): Promise<void> {
  if (interrupt === null) interruptHandle(connection)
  else await patiently(runAside(sequelize, interrupt.statement(connection), connection))
}

/** Waits until the driver has heard that its connection was killed: one that is told to end first never tells anybody. */
async function heardOf(sequelize: Sequelize, connection: Connection): Promise<void> {
  const end = performance.now() + PATIENCE
  while (connectionsFor(sequelize)._validate(connection) && performance.now() < end) await pause(5)
}

/** Not over the pool's connections, all of which may wait for the same lock. */
async function runAside(sequelize: Sequelize, sql: string, of: Connection): Promise<void> {
  const connections = connectionsFor(sequelize)
  const server = serverOf(connections, of)
  if (server === null) return
  const connection = await connections._connect(server)
  try {
    // As Sequelize itself asks a server for its version: of a transaction it wants the connection only.
    const transaction = { connection } as object as Transaction
    await sequelize.query(sql, { transaction, ...statementLogging(sequelize) })
  } finally {
    await connections._disconnect(connection)
  }
}

const servers = new WeakMap<Connection, object>()
const remembering = new WeakSet<Connections>()

/** From here on it is known of a connection to which of several replicas it leads. */
export function rememberServers(sequelize: Sequelize): void {
  const connections = connectionsFor(sequelize)
  if (!connections.config.replication || remembering.has(connections)) return
  remembering.add(connections)
  const { _connect: connect } = connections
  connections._connect = async (config) => {
    const connection = await connect.call(connections, config)
    servers.set(connection, config)
    return connection
  }
}

/** Where a connection leads, or null where nobody knows: on another server its number is somebody else's. */
function serverOf({ config }: Connections, connection: Connection): object | null {
  const { replication } = config
  if (!replication) return config
  if (connection.queryType !== 'read') return replication.write ?? config
  const { read = [] } = replication
  return servers.get(connection) ?? (read.length === 1 ? (read[0] ?? null) : null)
}

/** Waits for the end of something, good or bad, but not for long. */
export async function patiently(work: Promise<unknown>): Promise<void> {
  await Promise.race([work.then(ignore, ignore), pause(PATIENCE)])
}

function pause(milliseconds: number): Promise<void> {
  return wait(milliseconds, undefined, { ref: false })
}

function ignore(): void {}
