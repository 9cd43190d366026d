import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Dialect, type Options, Sequelize } from 'sequelize'
import { nodeSqlite } from '../../lib/node-sqlite/index.js'
import { giveBack, takeDatabase } from './postgresDatabases.js'
import {
  type DatabaseName,
  fileFolder,
  isDatabaseName,
  newName,
  newRun,
  onServer,
  type ServerName,
  serverOptions,
} from './servers.js'
import { hasSqlite3 } from './sqlite3.js'

export type { DatabaseName }

const wanted = process.env.TEST_DATABASE ?? 'sqlite'

/** Database of this test run. Default: SQLite in a file. */
export const databaseName: DatabaseName = named(wanted === 'node-sqlite' ? 'sqlite' : wanted)

const hasOwnDriver = wanted === 'node-sqlite' || !hasSqlite3

/**
 * Whether SQLite uses the package's own driver. True if `TEST_DATABASE=node-sqlite` is set, or if sqlite3 is not
 * installed.
 */
export const isNodeSqlite: boolean = databaseName === 'sqlite' && hasOwnDriver

/** Options of all SQLite databases in this test run. */
export const sqliteOptions: Options = { dialect: 'sqlite', ...(hasOwnDriver ? { dialectModule: nodeSqlite } : {}) }

/** Options of a Sequelize instance that never connects. */
export function dialectOptions(dialect: Dialect): Options {
  return dialect === 'sqlite' ? sqliteOptions : { dialect }
}

/** Adds the driver of this test run to options that were JSON, which cannot contain a driver. */
export function withDriver(options: Options): Options {
  return options.dialect === 'sqlite' ? { ...options, ...sqliteOptions } : options
}

const run = process.env.TEST_RUN ?? newRun()

function named(name: string): DatabaseName {
  if (isDatabaseName(name)) return name
  throw new RangeError(`TEST_DATABASE=${name} is no database that the tests know`)
}

/** A database for one test, with a function that removes it. */
export interface TestDatabase {
  readonly sequelize: Sequelize
  readonly name: DatabaseName
  /** Executed statements. The newest is last. */
  readonly statements: string[]
  readonly close: () => Promise<void>
}

/** Opens an empty database that no other test uses. */
export async function openDatabase(options: Options = {}): Promise<TestDatabase> {
  const statements: string[] = []
  const common: Options = { logging: (sql) => statements.push(sql), ...options }
  if (databaseName === 'sqlite') return openFile(join(fileFolder, `${newName(run)}.sqlite`), statements, common)
  const name = await createDatabase()
  // Servers allow about a hundred connections, and many tests run at the same time.
  const sequelize = new Sequelize({ pool: { max: 3 }, ...serverOptions(databaseName), ...common, database: name })
  return {
    sequelize,
    name: databaseName,
    statements,
    close: async () => {
      await sequelize.close()
      await removeDatabase(name)
    },
  }
}

async function createDatabase(): Promise<string> {
  if (databaseName === 'postgres') return takeDatabase(run)
  const name = newName(run)
  await onServer(databaseName as ServerName, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  return name
}

/** Drops a database on a server. The database must have no open connections. */
export async function removeDatabase(name: string): Promise<void> {
  if (databaseName === 'postgres') await giveBack(name)
  else await onServer(databaseName as ServerName, `DROP DATABASE ${name}`)
}

/** Opens a test's database with separate connections, as another program would. The caller closes the connections. */
export function openAgain(sequelize: Sequelize): Sequelize {
  const storage = String(Reflect.get(sequelize, 'options').storage)
  return new Sequelize(
    databaseName === 'sqlite'
      ? { ...sqliteOptions, storage, logging: false }
      : { ...serverOptions(databaseName), database: sequelize.getDatabaseName(), logging: false },
  )
}

async function openFile(storage: string, statements: string[], options: Options): Promise<TestDatabase> {
  const sequelize = new Sequelize({ ...sqliteOptions, storage, ...options })
  await sequelize.query('PRAGMA journal_mode = WAL')
  return {
    sequelize,
    name: 'sqlite',
    statements,
    close: async () => {
      await sequelize.close()
      for (const suffix of ['', '-wal', '-shm']) await rm(storage + suffix, { force: true })
    },
  }
}
