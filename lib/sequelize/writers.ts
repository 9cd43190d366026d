import type { Sequelize } from 'sequelize'
import { type Connection, type Connections, connectionsFor } from './connections.js'

/** A handle of SQLite between two transactions, and what handles came from then: closing puts something else in its place. */
interface Kept {
  readonly handle: Connection
  readonly getConnection: Connections['getConnection']
}

const kept = new WeakMap<Sequelize, Kept>()

/**
 * The handle of the last transaction, for one alone. Sequelize opens a file anew for each, which takes longer than a small
 * transaction, and compiles all of its statements anew. Null where there is none.
 */
export function takeWriter(sequelize: Sequelize): Connection | null {
  const found = kept.get(sequelize)
  if (found === undefined) return null
  kept.delete(sequelize)
  if (found.getConnection === connectionsFor(sequelize).getConnection) return found.handle
  return null
}

/** Keeps the handle of a transaction that has ended well for the next one. False where it is not to be kept. */
export function keepWriter(sequelize: Sequelize, handle: Connection): boolean {
  const filename: unknown = Reflect.get(handle, 'filename')
  // In memory everybody has the one handle. Another one may be kept already, where writes did not wait for each other.
  if (typeof filename !== 'string' || filename === ':memory:' || kept.has(sequelize)) return false
  kept.set(sequelize, { handle, getConnection: connectionsFor(sequelize).getConnection })
  return true
}
