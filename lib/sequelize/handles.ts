import type { Sequelize } from 'sequelize'
import { connectionsOf } from './model.js'

/** A handle on a SQLite file, as the sqlite3 driver has it. `uuid` is the transaction's that it belongs to. */
interface Handle {
  readonly filename: string
  readonly uuid?: string | undefined
  interrupt(): void
  serialize(work: () => void): void
  run(sql: string, done: () => void): void
  all(sql: string, done: (error: Error | null, rows?: Readonly<Record<string, unknown>>[]) => void): void
  close(done: () => void): void
}

/** Where Sequelize keeps the handles of a SQLite database: by transaction, by `default`, or the only one of memory. */
interface Handles {
  readonly connections: Record<string | number, Handle>
  getConnection(options?: Wanted): Promise<Handle>
  destroyConnection(handle: Handle): Promise<void>
}

/** What is asked of `getConnection`, which writes into it what it made of it. */
interface Wanted {
  readonly uuid?: string
  readonly inMemory?: number
}

const mended = new WeakSet<Handles>()

/** How the names of handles begin that are opened here, and kept. */
const OWN = 'crud-'

/**
 * Teaches Sequelize to let go of a SQLite handle that it cannot use. By itself it keeps one whose BEGIN, COMMIT or
 * ROLLBACK failed, open and with the locks of its transaction, until the process ends; and one that could not be opened,
 * so that the file stays out of reach. The host's own transactions end by the same functions.
 */
export function mendHandles(sequelize: Sequelize): void {
  const handles = connectionsOf(sequelize) as Handles
  if (mended.has(handles)) return
  mended.add(handles)
  const open = handles.getConnection
  handles.getConnection = async (wanted: Wanted = {}) => {
    const { uuid = 'default' } = wanted
    const known = handles.connections[uuid]
    try {
      const handle = await open.call(handles, wanted)
      if (handle !== known && uuid.startsWith(OWN)) await adopt(handles.connections.default, handle)
      return handle
    } catch (error) {
      delete handles.connections[wanted.inMemory || uuid]
      throw error
    }
  }
  handles.destroyConnection = async (handle) => {
    if (handle.filename === ':memory:') return rolledBack(handle)
    for (const [name, each] of Object.entries(handles.connections)) {
      if (each === handle) delete handles.connections[name]
    }
    return closed(handle)
  }
}

/** What a host sets for the one handle that it knows, and means for all: each handle has its own. */
const SETTINGS = [
  ...['synchronous', 'busy_timeout', 'cache_size', 'mmap_size', 'temp_store', 'foreign_keys', 'fullfsync'],
  ...['ignore_check_constraints', 'recursive_triggers', 'secure_delete', 'wal_autocheckpoint'],
]

/** Has a handle work as another one does. What a build of SQLite does not know is left out. */
async function adopt(from: Handle | undefined, to: Handle): Promise<void> {
  if (from === undefined || from === to) return
  for (const name of SETTINGS) {
    const value = await new Promise<unknown>((resolve) => {
      from.all(`PRAGMA ${name}`, (_error, rows = []) => resolve(Object.values(rows[0] ?? {})[0]))
    })
    if (typeof value === 'number') {
      await new Promise<void>((resolve) => to.run(`PRAGMA ${name} = ${value}`, () => resolve()))
    }
  }
}

/** In memory the handle is everybody's, and what it holds would go with it. */
function rolledBack(handle: Handle): Promise<void> {
  return new Promise((resolve) => {
    handle.serialize(() => handle.run('ROLLBACK', resolve))
  })
}

/**
 * What is under way is not waited for, and the rest is given to the driver at once, so that no statement comes between
 * them. Each may fail, where there is nothing left to end.
 */
function closed(handle: Handle): Promise<void> {
  interruptHandle(handle)
  return new Promise((resolve) => {
    handle.serialize(() => handle.run('ROLLBACK', () => undefined))
    handle.close(() => resolve())
  })
}

/** Ends what runs on a handle, whatever it is. */
export function interruptHandle(handle: object): void {
  try {
    if ('interrupt' in handle && typeof handle.interrupt === 'function') handle.interrupt()
  } catch {
    // It is being closed already.
  }
}
