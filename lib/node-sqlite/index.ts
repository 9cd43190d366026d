/**
 * A driver for Sequelize over `node:sqlite` of Node.js 22.13 and later: `new Sequelize({ dialect: 'sqlite',
 * dialectModule: nodeSqlite })`.
 */

import { FLAGS, type Flags } from './codes.js'
import { Database } from './database.js'
import { Statement } from './statement.js'

export { Database, Statement }

/** Settings of the driver. */
export interface NodeSqliteOptions {
  /** Whether `loadExtension` may load code from files. Default: false. */
  readonly allowsExtension?: boolean
}

/** A module with the exports of sqlite3, including the flags of `new Database`. */
export type NodeSqlite = Flags & {
  readonly Database: typeof Database
  readonly Statement: typeof Statement
}

/** Creates the driver with settings. */
export function createNodeSqlite({ allowsExtension = false }: NodeSqliteOptions = {}): NodeSqlite {
  class Configured extends Database {
    static override readonly allowsExtension = allowsExtension
  }
  return { ...FLAGS, Database: allowsExtension ? Configured : Database, Statement }
}

export const nodeSqlite: NodeSqlite = createNodeSqlite()
