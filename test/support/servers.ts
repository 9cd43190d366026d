// Where the databases of the tests are, and what they are called.

import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Options, QueryTypes, Sequelize } from 'sequelize'
import { nodeSqlite } from '../../lib/node-sqlite/index.js'
import { hasSqlite3 } from './sqlite3.js'

/** The databases that the tests know, by Sequelize's names, with the drivers that it takes for them. */
export const DRIVERS = { sqlite: 'sqlite3', mariadb: 'mariadb', mysql: 'mysql2', postgres: 'pg' } as const

export type DatabaseName = keyof typeof DRIVERS
export type ServerName = Exclude<DatabaseName, 'sqlite'>

export function isDatabaseName(name: string): name is DatabaseName {
  return Object.hasOwn(DRIVERS, name)
}

/** What the variables of the environment begin with, the first that is set winning, and what holds without them. */
const SERVERS = {
  // By itself this driver gives up after a second, which a busy machine may take.
  mariadb: { prefixes: ['MARIADB_', 'MYSQL_'], port: '3306', user: 'root', driver: { connectTimeout: 30_000 } },
  mysql: { prefixes: ['MYSQL_'], port: '3306', user: 'root', driver: {} },
  // Waiting for the disk at each COMMIT, and compiling statements over tables of a few rows, doubles the time of the tests.
  postgres: {
    prefixes: ['PG'],
    port: '5432',
    user: 'postgres',
    driver: { options: '-c synchronous_commit=off -c jit=off' },
  },
} as const

/** How to connect to a server, as one who may create databases. */
export function serverOptions(name: ServerName): Options & { host: string; port: number } {
  const { prefixes, port, user, driver } = SERVERS[name]
  const setting = (key: string, fallback: string): string =>
    prefixes.map((prefix) => process.env[prefix + key]).find((value) => value !== undefined) ?? fallback
  return {
    dialect: name,
    host: setting('HOST', '127.0.0.1'),
    port: Number(setting('PORT', port)),
    username: setting('USER', user),
    password: setting('PASSWORD', ''),
    database: setting('DATABASE', 'test'),
    dialectOptions: { ...driver },
  }
}

/** Does something with a connection that is gone afterwards. */
async function connected<T>(options: Options, work: (server: Sequelize) => Promise<T>): Promise<T> {
  const server = new Sequelize({ ...options, logging: false })
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

/** Runs a statement on a server, outside the databases of the tests. */
export async function onServer(name: ServerName, sql: string): Promise<void> {
  await connected(serverOptions(name), (server) => server.query(sql))
}

/** The product and the version that answer to a name. Rejects when nothing does. */
export async function versionOf(name: DatabaseName): Promise<string> {
  const driver = hasSqlite3 ? {} : { dialectModule: nodeSqlite }
  const options: Options = name === 'sqlite' ? { dialect: name, ...driver, storage: ':memory:' } : serverOptions(name)
  const version = await connected(options, (server) => server.databaseVersion())
  // Both drivers speak to both servers, and only MariaDB names itself.
  const product = { sqlite: 'SQLite', mariadb: 'MySQL', mysql: 'MySQL', postgres: 'PostgreSQL' }
  return `${/MariaDB/.test(version) ? 'MariaDB' : product[name]} ${/^[\d.]*/.exec(version)?.[0]}`
}

// A name says which run it is of and when that run began, so that its databases can be told from those of other runs,
// which may be under way on the same server from other machines.

const DAY = 24 * 60 * 60 * 1000
const NAME = /^crud_test_(([0-9a-z]{8})_[0-9a-f]{6})_[0-9a-f]{8}\b/

export function newRun(): string {
  return `${Date.now().toString(36)}_${randomBytes(3).toString('hex')}`
}

export function newName(run: string): string {
  return `crud_test_${run}_${randomBytes(4).toString('hex')}`
}

/** The run's own databases, and those that runs of days ago have left behind. */
function isOver(name: string, run: string): boolean {
  const [, itsRun, began = ''] = NAME.exec(name) ?? []
  return itsRun !== undefined && (itsRun === run || Number.parseInt(began, 36) < Date.now() - DAY)
}

/** Drops what tests that crashed or were stopped have not closed. */
export async function sweep(name: DatabaseName, run: string): Promise<void> {
  if (name === 'sqlite') {
    const files = (await readdir(tmpdir())).filter((file) => isOver(file, run))
    await Promise.all(files.map((file) => rm(join(tmpdir(), file), { force: true })))
    return
  }
  await connected(serverOptions(name), async (server) => {
    const sql = name === 'postgres' ? 'SELECT datname AS name FROM pg_database' : 'SHOW DATABASES'
    const rows = await server.query<Record<string, string>>(sql, { type: QueryTypes.SELECT })
    for (const database of rows.flatMap(Object.values).filter((row) => isOver(row, run))) {
      // PostgreSQL drops no database that somebody is connected to, as those who crashed may be for a while.
      await server.query(`DROP DATABASE IF EXISTS ${database}${name === 'postgres' ? ' WITH (FORCE)' : ''}`)
    }
  })
}
