// Addresses and names of the test databases.

import { randomBytes } from 'node:crypto'
import { existsSync, statfsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Options, QueryTypes, Sequelize } from 'sequelize'
import { nodeSqlite } from '../../lib/node-sqlite/index.js'
import { hasSqlite3 } from './sqlite3.js'

/** Supported databases by Sequelize's names, with their drivers. */
export const DRIVERS = { sqlite: 'sqlite3', mariadb: 'mariadb', mysql: 'mysql2', postgres: 'pg' } as const

export type DatabaseName = keyof typeof DRIVERS
export type ServerName = Exclude<DatabaseName, 'sqlite'>

export function isDatabaseName(name: string): name is DatabaseName {
  return Object.hasOwn(DRIVERS, name)
}

/** Prefixes of environment variables, in the order of precedence, and default values. */
const SERVERS = {
  // The driver's default timeout of one second is too short on a busy machine.
  mariadb: { prefixes: ['MARIADB_', 'MYSQL_'], port: '3306', user: 'root', driver: { connectTimeout: 30_000 } },
  mysql: { prefixes: ['MYSQL_'], port: '3306', user: 'root', driver: {} },
  // Waiting for the disk at each COMMIT and JIT compilation would double the time of the tests.
  postgres: {
    prefixes: ['PG'],
    port: '5432',
    user: 'postgres',
    driver: { options: '-c synchronous_commit=off -c jit=off' },
  },
} as const

/** Connection options of a server. The user may create databases. */
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

/** Runs work with a temporary connection, which is closed afterwards. */
async function withConnection<T>(options: Options, work: (server: Sequelize) => Promise<T>): Promise<T> {
  const server = new Sequelize({ ...options, logging: false })
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

/** Runs a statement on a server, outside of the test databases. */
export async function onServer(name: ServerName, sql: string): Promise<void> {
  await withConnection(serverOptions(name), (server) => server.query(sql))
}

/** Product and version of a database. Rejects if the database is unreachable. */
export async function versionOf(name: DatabaseName): Promise<string> {
  const driver = hasSqlite3 ? {} : { dialectModule: nodeSqlite }
  const options: Options = name === 'sqlite' ? { dialect: name, ...driver, storage: ':memory:' } : serverOptions(name)
  const version = await withConnection(options, (server) => server.databaseVersion())
  // Both drivers connect to MySQL and to MariaDB. Only MariaDB reports its name.
  const product = { sqlite: 'SQLite', mariadb: 'MySQL', mysql: 'MySQL', postgres: 'PostgreSQL' }
  return `${/MariaDB/.test(version) ? 'MariaDB' : product[name]} ${/^[\d.]*/.exec(version)?.[0]}`
}

// Database names contain the test run and the time of its start. Runs on one server can be distinguished by them.

const DAY = 24 * 60 * 60 * 1000
const NAME = /^crud_test_(([0-9a-z]{8})_[0-9a-f]{6})_[0-9a-f]{8}(?:_free)?\b/

export function newRun(): string {
  return `${Date.now().toString(36)}_${randomBytes(3).toString('hex')}`
}

export function newName(run: string): string {
  return `crud_test_${run}_${randomBytes(4).toString('hex')}`
}

/** Whether a database belongs to this test run, or to a run that started more than a day ago. */
function isLeftOver(name: string, run: string): boolean {
  const [, itsRun, began = ''] = NAME.exec(name) ?? []
  return itsRun !== undefined && (itsRun === run || Number.parseInt(began, 36) < Date.now() - DAY)
}

const MEMORY = '/dev/shm'

function hasRoomInMemory(): boolean {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > 2 ** 30
}

/**
 * Folder of the files of SQLite. SQLite waits for the disk at each commit and each new table, which is most of the time
 * of many tests. In memory it does not.
 */
export const fileFolder: string = hasRoomInMemory() ? MEMORY : tmpdir()

/** Drops databases that crashed or stopped tests have left. */
export async function sweep(name: DatabaseName, run: string): Promise<void> {
  if (name === 'sqlite') {
    const files = (await readdir(fileFolder)).filter((file) => isLeftOver(file, run))
    await Promise.all(files.map((file) => rm(join(fileFolder, file), { force: true })))
    return
  }
  await withConnection(serverOptions(name), async (server) => {
    const sql = name === 'postgres' ? 'SELECT datname AS name FROM pg_database' : 'SHOW DATABASES'
    const rows = await server.query<Record<string, string>>(sql, { type: QueryTypes.SELECT })
    for (const database of rows.flatMap(Object.values).filter((row) => isLeftOver(row, run))) {
      // PostgreSQL rejects dropping a database with open connections. Connections of crashed tests may stay open for a
      // while.
      await server.query(`DROP DATABASE IF EXISTS ${database}${name === 'postgres' ? ' WITH (FORCE)' : ''}`)
    }
  })
}
