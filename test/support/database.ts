import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Options, Sequelize } from 'sequelize'

/** The databases that the tests know, by what `TEST_DATABASE` calls them. */
export type DatabaseName = 'sqlite' | 'mysql' | 'mariadb' | 'postgres'

/** The database of this run: SQLite in a file, unless the environment says otherwise. */
export const databaseName: DatabaseName = named(process.env.TEST_DATABASE ?? 'sqlite')

function named(name: string): DatabaseName {
  if (name === 'sqlite' || name === 'mysql' || name === 'mariadb' || name === 'postgres') return name
  throw new RangeError(`TEST_DATABASE=${name} is none of sqlite, mysql, mariadb and postgres`)
}

/** A database of a test's own, and the way to be rid of it. */
export interface TestDatabase {
  readonly sequelize: Sequelize
  readonly name: DatabaseName
  /** Every statement that ran, newest last. */
  readonly statements: string[]
  readonly close: () => Promise<void>
}

/** Opens an empty database that nobody else uses. */
export async function openDatabase(options: Options = {}): Promise<TestDatabase> {
  const statements: string[] = []
  const common: Options = { logging: (sql) => statements.push(sql), ...options }
  const name = `crud_${process.pid}_${randomBytes(4).toString('hex')}`
  if (databaseName === 'sqlite') return openFile(join(tmpdir(), `${name}.sqlite`), statements, common)
  const charset = databaseName === 'postgres' ? '' : ' CHARACTER SET utf8mb4'
  await onServer(databaseName, `CREATE DATABASE ${name}${charset}`)
  // Servers have a hundred connections or so, and many tests are under way at once.
  const sequelize = new Sequelize({ pool: { max: 3 }, ...serverOptions(databaseName), ...common, database: name })
  return {
    sequelize,
    name: databaseName,
    statements,
    close: async () => {
      await sequelize.close()
      await onServer(databaseName, `DROP DATABASE ${name}`)
    },
  }
}

/** Runs a statement by a connection that is gone afterwards. */
async function onServer(name: Exclude<DatabaseName, 'sqlite'>, sql: string): Promise<void> {
  const server = new Sequelize({ ...serverOptions(name), logging: false })
  await server.query(sql)
  await server.close()
}

async function openFile(storage: string, statements: string[], options: Options): Promise<TestDatabase> {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage, ...options })
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

function serverOptions(dialect: Exclude<DatabaseName, 'sqlite'>): Options {
  const env = process.env
  return dialect === 'postgres'
    ? {
        dialect,
        host: env.PGHOST ?? '127.0.0.1',
        port: Number(env.PGPORT ?? 5432),
        username: env.PGUSER ?? 'postgres',
        password: env.PGPASSWORD ?? '',
        database: env.PGDATABASE ?? 'test',
      }
    : {
        dialect,
        host: env.MYSQL_HOST ?? '127.0.0.1',
        port: Number(env.MYSQL_PORT ?? 3306),
        username: env.MYSQL_USER ?? 'root',
        password: env.MYSQL_PASSWORD ?? '',
        database: env.MYSQL_DATABASE ?? 'test',
      }
}
