import { QueryTypes, type Sequelize } from 'sequelize'
import { type Connection, type ConnectionOptions, connectionsFor, limitOf } from './connections.js'
import { assertConnected, StatementTimer, timerOf } from './statementTimeout.js'

/**
 * Makes Sequelize use separate SQLite connections for queries with a statement timeout. Each connection serves one
 * query at a time, because an interrupt stops all statements of a connection.
 */
export function useTimedConnections(sequelize: Sequelize): void {
  const connections = connectionsFor(sequelize)
  // A database in memory has only one connection.
  if (timedManagers.has(connections) || isInMemory(sequelize)) return
  timedManagers.add(connections)
  const { getConnection, releaseConnection } = connections
  const openNamed = (uuid: string): Promise<Connection> => getConnection.call(connections, { uuid }).then(waitForSetup)
  const handles = new ReadConnections(openNamed)
  connections.getConnection = async (options: ConnectionOptions = {}) => {
    const limit = limitOf(options)
    if (limit === undefined) return getConnection.call(connections, options)
    const autocommits = options.type !== QueryTypes.SELECT
    const client = autocommits ? null : limit.client
    assertConnected(client)
    const { uuid } = options
    const connection = await (uuid === undefined ? handles.acquire() : openNamed(uuid))
    try {
      // If the client disconnected during the wait, the connection is returned at once.
      assertConnected(client)
    } catch (error) {
      connections.releaseConnection(connection)
      throw error
    }
    new StatementTimer(sequelize, limit, connection, { client, autocommits })
    return connection
  }
  connections.releaseConnection = (connection) => {
    timerOf(connection)?.stop()
    if (!handles.release(connection)) releaseConnection.call(connections, connection)
  }
}

const timedManagers = new WeakSet<object>()

function isInMemory(sequelize: Sequelize): boolean {
  const { storage, host } = Reflect.get(sequelize, 'options') as { storage?: string; host?: string }
  return (storage ?? host ?? ':memory:') === ':memory:'
}

const idleConnections = new WeakSet<Connection>()

/** Waits until Sequelize and the driver have initialized a connection. */
export async function waitForSetup(connection: Connection): Promise<Connection> {
  if (idleConnections.has(connection)) return connection
  idleConnections.add(connection)
  await waitForStatements(connection)
  return connection
}

/** Waits until the SQLite driver has finished all statements of a connection. */
export async function waitForStatements(connection: Connection): Promise<void> {
  const { wait } = connection as { wait?: (done: () => void) => void }
  if (wait !== undefined) await new Promise<void>((resolve) => wait.call(connection, resolve))
}

/** Name of the SQLite connection for writes, which run one at a time. */
export const WRITER = 'crud-writer'

/**
 * Number of connections for reads. Without statement timeouts, SQLite also runs two statements at a time, so that other
 * threads stay free.
 */
const MAX_READERS = 2

/** SQLite connections for reads, each for one read at a time, in request order. */
class ReadConnections {
  readonly #open: (name: string) => Promise<Connection>
  readonly #free: string[] = Array.from({ length: MAX_READERS }, (_, index) => `crud-reader-${index + 1}`)
  readonly #used = new Map<Connection, string>()
  readonly #waiting: ((name: string) => void)[] = []

  constructor(open: (name: string) => Promise<Connection>) {
    this.#open = open
  }

  async acquire(): Promise<Connection> {
    const name = this.#free.pop() ?? (await new Promise<string>((resolve) => this.#waiting.push(resolve)))
    try {
      const connection = await this.#open(name)
      this.#used.set(connection, name)
      return connection
    } catch (error) {
      this.#release(name)
      throw error
    }
  }

  /** Takes back a connection. Returns false if the connection is not a connection for reads. */
  release(connection: Connection): boolean {
    const name = this.#used.get(connection)
    if (name === undefined) return false
    this.#used.delete(connection)
    this.#release(name)
    return true
  }

  #release(name: string): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(name)
    else next(name)
  }
}
