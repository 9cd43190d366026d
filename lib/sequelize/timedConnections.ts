import { QueryTypes, type Sequelize } from 'sequelize'
import { type Connection, connectionsFor, limitOf, type Wanted } from './connections.js'
import { assertAwaited, clockOf, StatementClock } from './statementTime.js'

/**
 * Makes Sequelize use separate SQLite connections for queries with a statement timeout. Each serves one query at a time, because an
 * interrupt stops everything on a connection.
 */
export function timeConnections(sequelize: Sequelize): void {
  const connections = connectionsFor(sequelize)
  // A database in memory has only one connection.
  if (known.has(connections) || isInMemory(sequelize)) return
  known.add(connections)
  const { getConnection, releaseConnection } = connections
  const handle = (uuid: string): Promise<Connection> => getConnection.call(connections, { uuid }).then(idle)
  const handles = new ReadHandles(handle)
  connections.getConnection = async (wanted: Wanted = {}) => {
    const limit = limitOf(wanted)
    if (limit === undefined) return getConnection.call(connections, wanted)
    const leaving = wanted.type === QueryTypes.SELECT ? limit.leaving : null
    assertAwaited(leaving)
    const { uuid } = wanted
    const connection = await (uuid === undefined ? handles.take() : handle(uuid))
    try {
      // Returns the connection at once if the client disconnected during the wait.
      assertAwaited(leaving)
    } catch (error) {
      connections.releaseConnection(connection)
      throw error
    }
    new StatementClock(sequelize, limit, connection, leaving)
    return connection
  }
  connections.releaseConnection = (connection) => {
    clockOf(connection)?.stop()
    if (!handles.release(connection)) releaseConnection.call(connections, connection)
  }
}

const known = new WeakSet<object>()

function isInMemory(sequelize: Sequelize): boolean {
  const { storage, host } = Reflect.get(sequelize, 'options') as { storage?: string; host?: string }
  return (storage ?? host ?? ':memory:') === ':memory:'
}

const idled = new WeakSet<Connection>()

/** A connection after Sequelize's and the driver's initialization is done. */
export async function idle(connection: Connection): Promise<Connection> {
  if (idled.has(connection)) return connection
  idled.add(connection)
  await quiet(connection)
  return connection
}

/** Waits until the SQLite driver has finished all statements of a connection. */
export async function quiet(connection: Connection): Promise<void> {
  const { wait } = connection as { wait?: (done: () => void) => void }
  if (wait !== undefined) await new Promise<void>((resolve) => wait.call(connection, resolve))
}

/** The SQLite connection for writes, which run one at a time. */
export const WRITER = 'crud-writer'

/** Number of connections: the same as without statement timeouts, so that other threads stay free. */
const WIDTH = 2

/** SQLite connections for reads, each for one read at a time, in request order. */
class ReadHandles {
  readonly #open: (name: string) => Promise<Connection>
  readonly #free: string[] = Array.from({ length: WIDTH }, (_, index) => `crud-reader-${index + 1}`)
  readonly #taken = new Map<Connection, string>()
  readonly #waiting: ((name: string) => void)[] = []

  constructor(open: (name: string) => Promise<Connection>) {
    this.#open = open
  }

  async take(): Promise<Connection> {
    const name = this.#free.pop() ?? (await new Promise<string>((resolve) => this.#waiting.push(resolve)))
    try {
      const connection = await this.#open(name)
      this.#taken.set(connection, name)
      return connection
    } catch (error) {
      this.#give(name)
      throw error
    }
  }

  /** Returns a connection to the queue. False if it is not one of these. */
  release(connection: Connection): boolean {
    const name = this.#taken.get(connection)
    if (name === undefined) return false
    this.#taken.delete(connection)
    this.#give(name)
    return true
  }

  #give(name: string): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(name)
    else next(name)
  }
}
