import { setTimeout as wait } from 'node:timers/promises'
import type { Sequelize, Transaction } from 'sequelize'
import type { Dialect } from './dialect/index.js'
import { connectionsOf } from './model.js'

/** A connection of Sequelize's, whatever the driver. `uuid` is the transaction's that it belongs to. */
export interface Connection {
  uuid?: string | undefined
}

/** Sequelize's connection manager, as far as writes need it. */
export interface Connections {
  readonly config: { readonly replication?: { readonly write?: object } | false }
  getConnection(wanted: {
    readonly uuid?: string
    readonly type?: string
    readonly useMaster?: boolean
  }): Promise<Connection>
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
  await patiently(runAside(sequelize, interrupt.write(connection)))
  if (interrupt.kills) await heardOf(sequelize, connection)
}

/** Waits until the driver has heard that its connection was killed: one that is told to end first never tells anybody. */
async function heardOf(sequelize: Sequelize, connection: Connection): Promise<void> {
  const end = performance.now() + PATIENCE
  while (connectionsFor(sequelize)._validate(connection) && performance.now() < end) await pause(5)
}

/** Not over the pool's connections, all of which may wait for the same lock. */
async function runAside(sequelize: Sequelize, sql: string): Promise<void> {
  const connections = connectionsFor(sequelize)
  const { replication } = connections.config
  const main = (replication ? replication.write : undefined) ?? connections.config
  const connection = await connections._connect(main)
  try {
    // As Sequelize itself asks a server for its version: of a transaction it wants the connection only.
    await sequelize.query(sql, { transaction: { connection } as object as Transaction })
  } finally {
    await connections._disconnect(connection)
  }
}

/** Waits for the end of something, good or bad, but not for long. */
export async function patiently(work: Promise<unknown>): Promise<void> {
  await Promise.race([work.then(ignore, ignore), pause(PATIENCE)])
}

function pause(milliseconds: number): Promise<void> {
  return wait(milliseconds, undefined, { ref: false })
}

function ignore(): void {}
