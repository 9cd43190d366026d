/** A driver for Sequelize over `node:sqlite`, which Node 22.13 and later have: `new Sequelize({ dialect: 'sqlite', dialectModule: nodeSqlite })`. */

import { FLAGS, type Flags } from './codes.js'
import { Database } from './database.js'
import { Statement } from './statement.js'

export { Database, Statement }

/** Settings of the driver. */
export interface NodeSqliteOptions {
  /** Whether `loadExtension` of its databases loads code from files. Default: false. */
  readonly allowsExtension?: boolean
}

/** The driver as a module like sqlite3, with the flags of `new Database`. */
export type NodeSqlite = Flags & {
  readonly Database: typeof Database
  readonly Statement: typeof Statement
}

/** The driver with settings. */
export function createNodeSqlite({ allowsExtension = false }: NodeSqliteOptions = {}): NodeSqlite {
  class Configured extends Database {
    static override readonly allowsExtension = allowsExtension
  }
  return { ...FLAGS, Database: allowsExtension ? Configured : Database, Statement }
}

export const nodeSqlite: NodeSqlite = createNodeSqlite()
