import { QueryTypes, type Sequelize } from 'sequelize'
import { type Connection, connectionsFor, limitOf, type Wanted } from './connections.js'
import { assertAwaited, clockOf, StatementClock } from './statementTime.js'

/**
 * Has Sequelize give handles of SQLite on which a clock is looked at to the queries that say so, and to nobody else. They are
 * handles of their own, for one query at a time: what is told to end there is all that a handle does.
 */
export function timeConnections(sequelize: Sequelize): void {
  const connections = connectionsFor(sequelize)
  // There everybody has the one handle.
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
      // Callers who left while they waited keep the handle from nobody.
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

/** A handle on which what Sequelize does with new ones is done, the driver's part of it included. */
export async function idle(connection: Connection): Promise<Connection> {
  if (idled.has(connection)) return connection
  idled.add(connection)
  await quiet(connection)
  return connection
}

/** Waits until the driver of SQLite has done all that a handle was asked for. */
export async function quiet(connection: Connection): Promise<void> {
  const { wait } = connection as { wait?: (done: () => void) => void }
  if (wait !== undefined) await new Promise<void>((resolve) => wait.call(connection, resolve))
}

/** The one handle of SQLite for writes, which come one after the other. */
export const WRITER = 'crud-writer'

/** As many as statements are under way at once where nothing limits them: the other threads stay free. */
const WIDTH = 2

/** Handles of SQLite that read, each for one at a time, in the order of asking. */
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

  /** Whether it was one of these. */
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
