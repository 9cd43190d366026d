import { nodeSqlite } from 'sequelize-crud-router/node-sqlite'

/**
 * Driver over Node's own SQLite, which needs no compilation. undefined before Node.js 22.13: Sequelize uses sqlite3
 * there.
 */
export const driver: object | undefined =
  process.getBuiltinModule?.('node:sqlite') === undefined ? undefined : nodeSqlite
