import type { Sequelize } from 'sequelize'
import type { Dialect } from '../../../types/dialect.js'
import { serverOf } from '../server.js'
import { mariadb, mysql } from './mysql.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'

export type { Dialect, Grouping, Sum, TextTraits, ValueTraits } from '../../../types/dialect.js'
export { traitsOf, valueTraitsOf } from './dialect.js'

/** By Sequelize's names, what a database of a version is. The version is known from the first connection on. */
export type DialectTable = Readonly<Record<string, (version: unknown) => Dialect>>

/** The table of databases. */
export const DIALECTS: DialectTable = Object.freeze({
  sqlite: () => sqlite,
  mysql: (version: unknown) => (/ MariaDB$/.test(String(version)) && isFrom(version, 10, 5) ? mariadb : mysql),
  // The driver speaks to MySQL and to old servers as well.
  mariadb: (version: unknown) => (isFrom(version, 10, 5) ? mariadb : mysql),
  postgres: () => postgres,
})

/** The dialect of a Sequelize instance by Sequelize's name for it, or undefined where this package has none. */
export function dialectNamed(name: string, version?: unknown, table: DialectTable = DIALECTS): Dialect | undefined {
  return Object.hasOwn(table, name) ? table[name]?.(version) : undefined
}

/** @throws TypeError for a database that there is no dialect for */
export function dialectOf(sequelize: Sequelize, table: DialectTable): Dialect {
  const server = serverOf(sequelize)
  const last = lasts.get(sequelize)
  if (last !== undefined && last.server === server && last.table === table) return last.dialect
  const dialect = dialectNamed(sequelize.getDialect(), server, table)
  if (dialect === undefined) throw new TypeError(`the dialect ${sequelize.getDialect()} is not supported`)
  lasts.set(sequelize, { server, table, dialect })
  return dialect
}

interface Last {
  readonly server: string
  readonly table: DialectTable
  readonly dialect: Dialect
}

/** Requests ask for the dialect many times over, and it changes with what is known of the server alone. */
const lasts = new WeakMap<Sequelize, Last>()

function isFrom(version: unknown, major: number, minor: number): boolean {
  const [given = 0, second = 0] = String(version).split('.').map(Number)
  return given > major || (given === major && second >= minor)
}
