import type { Sequelize } from 'sequelize'
import type { Dialect } from '../../../types/dialect.js'
import { serverVersionOf } from '../serverVersion.js'
import { mariadb, mysql, mysqlByMariadbDriver } from './mysql.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'

export type { Dialect, Grouping, SumExpressions, TextTraits, ValueTraits } from '../../../types/dialect.js'
export { traitsOf, valueTraitsOf } from './dialect.js'

/**
 * Functions that return the dialect for a server version, by Sequelize's dialect name. The version is known after the
 * first connection.
 */
export type DialectTable = Readonly<Record<string, (version: unknown) => Dialect>>

export const DIALECTS: DialectTable = Object.freeze({
  sqlite: () => sqlite,
  mysql: (version: unknown) => (/ MariaDB$/.test(String(version)) && isVersionFrom(version, 10, 5) ? mariadb : mysql),
  // The mariadb driver also connects to MySQL and to old servers.
  mariadb: (version: unknown) => (isVersionFrom(version, 10, 5) ? mariadb : mysqlByMariadbDriver),
  postgres: () => postgres,
})

/** Returns the dialect for Sequelize's dialect name, or undefined if the database is not supported. */
export function findDialect(name: string, version?: unknown, table: DialectTable = DIALECTS): Dialect | undefined {
  return Object.hasOwn(table, name) ? table[name]?.(version) : undefined
}

/**
 * Returns the dialect of a Sequelize instance.
 * @throws TypeError for an unsupported database
 */
export function dialectOf(sequelize: Sequelize, table: DialectTable): Dialect {
  const version = serverVersionOf(sequelize)
  const last = lastBySequelize.get(sequelize)
  if (last !== undefined && last.version === version && last.table === table) return last.dialect
  const dialect = findDialect(sequelize.getDialect(), version, table)
  if (dialect === undefined) throw new TypeError(`the Sequelize dialect "${sequelize.getDialect()}" is not supported`)
  lastBySequelize.set(sequelize, { version, table, dialect })
  return dialect
}

interface LastDialect {
  readonly version: string
  readonly table: DialectTable
  readonly dialect: Dialect
}

/**
 * Last dialect by Sequelize instance. The cache exists because each request looks up the dialect, which changes only
 * when the server version becomes known.
 */
const lastBySequelize = new WeakMap<Sequelize, LastDialect>()

function isVersionFrom(version: unknown, major: number, minor: number): boolean {
  const [given = 0, second = 0] = String(version).split('.').map(Number)
  return given > major || (given === major && second >= minor)
}
