import { nodeSqlite } from 'sequelize-crud-router/node-sqlite'

/** SQLite as Node has it, for which nothing is compiled. Undefined before Node 22.13: Sequelize takes sqlite3 then. */
export const driver: object | undefined =
  process.getBuiltinModule?.('node:sqlite') === undefined ? undefined : nodeSqlite
