// Uses the drivers of Sequelize without Sequelize. Pools have the size of Sequelize's pools.

import type { PoolConnection } from 'mysql2'
import type { Options } from 'sequelize'
import { nodeSqlite } from '../../../lib/node-sqlite/index.js'
import type { Target } from '../../models.js'

export type Row = Readonly<Record<string, unknown>>

/** A database. SQL texts have `?` for values and double quotes around names. */
export interface Driver {
  readonly name: 'sqlite' | 'mysql' | 'postgres'
  rows(text: string, values: readonly unknown[]): Promise<readonly Row[]>
  /** Runs work in a transaction. If the driver has several connections, the transaction has its own. */
  transaction<T>(work: (rows: Driver['rows']) => Promise<T>): Promise<T>
}

type Rows = Driver['rows']

async function runInTransaction<T>(rows: Rows, begin: string, work: (rows: Rows) => Promise<T>): Promise<T> {
  await rows(begin, [])
  try {
    const done = await work(rows)
    await rows('COMMIT', [])
    return done
  } catch (error) {
    await rows('ROLLBACK', [])
    throw error
  }
}

const POOL = 5

/** Creates the driver for a database. With `prepared`, statements are compiled once per connection. */
export async function driverFor(options: Target, prepared: boolean): Promise<Driver> {
  switch (options.dialect) {
    case 'sqlite':
      return sqlite(options, prepared)
    case 'mysql':
      return mysql(options, prepared)
    case 'postgres':
      return postgres(options, prepared)
    default:
      throw new RangeError(`there is no ${options.dialect} in this benchmark`)
  }
}

/** Caches the results of a function by its argument. */
function memoize<V>(make: (key: string) => V): (key: string) => V {
  const results = new Map<string, V>()
  return (key) => {
    const known = results.get(key)
    if (known !== undefined) return known
    const made = make(key)
    results.set(key, made)
    return made
  }
}

async function sqlite({ storage = '', driver }: Target, prepared: boolean): Promise<Driver> {
  const { Database } = driver === undefined ? (await import('sqlite3')).default : nodeSqlite
  const database = new Database(storage)
  await new Promise((resolve) => void database.exec('PRAGMA synchronous = NORMAL', resolve))
  const statement = memoize((text) => database.prepare(text))
  const rows: Rows = (text, values) =>
    new Promise((resolve, reject) => {
      const done = (error: Error | null, rows: Row[]): void => (error === null ? resolve(rows) : reject(error))
      if (prepared) statement(text).all(values, done)
      else database.all(text, values, done)
    })
  return { name: 'sqlite', rows, transaction: (work) => runInTransaction(rows, 'BEGIN IMMEDIATE', work) }
}

async function mysql(options: Options, prepared: boolean): Promise<Driver> {
  const { host = '', port = 3306, username = '', password = '', database = '' } = options
  const { createPool } = await import('mysql2')
  const pool = createPool({ host, port, user: username, password, database, connectionLimit: POOL, timezone: 'Z' })
  const quoted = memoize((text) => text.replaceAll('"', '`'))
  const by =
    (connection: Pick<typeof pool, 'execute' | 'query'>): Rows =>
    (text, values) =>
      new Promise((resolve, reject) => {
        const done = (error: Error | null, rows: unknown): void =>
          error === null ? resolve(Array.isArray(rows) ? rows : []) : reject(error)
        const sql = quoted(text)
        const given: unknown[] = [...values]
        if (prepared) connection.execute(sql, given as string[], done)
        else connection.query(sql, given, done)
      })
  return {
    name: 'mysql',
    rows: by(pool),
    transaction: async (work) => {
      const connection = await new Promise<PoolConnection>((resolve, reject) => {
        pool.getConnection((error, taken) => (error === null ? resolve(taken) : reject(error)))
      })
      try {
        return await runInTransaction(by(connection), 'START TRANSACTION', work)
      } finally {
        connection.release()
      }
    },
  }
}

async function postgres(
  { host, port, username, password, database, dialectOptions }: Options,
  prepared: boolean,
): Promise<Driver> {
  const { default: module } = await import('pg')
  const pool = new module.Pool({ host, port, user: username, password, database, max: POOL, ...dialectOptions })
  let names = 0
  const numbered = memoize((text) => {
    let number = 0
    names += 1
    return { name: `s${names}`, text: text.replaceAll('?', () => `$${++number}`) }
  })
  const by =
    (connection: Pick<typeof pool, 'query'>): Rows =>
    async (text, values) => {
      const { name, text: own } = numbered(text)
      const { rows } = await connection.query(prepared ? { name, text: own, values } : { text: own, values })
      return rows
    }
  const driver: Driver = {
    name: 'postgres',
    rows: by(pool),
    transaction: async (work) => {
      const connection = await pool.connect()
      try {
        return await runInTransaction(by(connection), 'BEGIN', work)
      } finally {
        connection.release()
      }
    },
  }
  return driver
}
