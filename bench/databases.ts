import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Options } from 'sequelize'
import { onServer, serverOptions } from '../test/support/servers.js'
import { seed } from './data.js'
import type { Target } from './models.js'

/** Sequelize's dialect names. `mysql` means the driver mysql2, for MySQL or MariaDB. */
export type Database = 'sqlite' | 'mysql' | 'postgres'

/** A database, or SQLite with the package's own driver. */
export type DatabaseOrDriver = Database | 'node-sqlite'

export function isDatabase(name: string): name is Database {
  return ['sqlite', 'mysql', 'postgres'].includes(name)
}

export function isDatabaseOrDriver(name: string): name is DatabaseOrDriver {
  return isDatabase(name) || name === 'node-sqlite'
}

/** A filled database. Each server gets a copy. */
export interface Databases {
  /** Creates a copy for exclusive use. Returns its connection options. */
  copy(): Promise<Options>
  remove(): Promise<void>
}

export function prepareDatabase(database: DatabaseOrDriver): Promise<Databases> {
  if (database === 'sqlite') return prepareFiles({ dialect: 'sqlite' })
  return database === 'node-sqlite' ? prepareFiles({ dialect: 'sqlite', driver: database }) : prepareSchemas(database)
}

async function prepareFiles(common: Target): Promise<Databases> {
  const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-bench-'))
  const original = join(folder, 'original.sqlite')
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  let copies = 0
  await seed({ ...common, storage: original }).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  return {
    copy: async () => {
      copies += 1
      const storage = join(folder, `${copies}.sqlite`)
      await copyFile(original, storage)
      return { ...common, storage }
    },
    remove,
  }
}

const TABLES = ['teams', 'players', 'employees']

async function prepareSchemas(name: 'mysql' | 'postgres'): Promise<Databases> {
  const stem = `crud_bench_${randomBytes(6).toString('hex')}`
  const known: string[] = []
  const add = async (database: string, from: string): Promise<Options> => {
    known.push(database)
    await onServer(name, `CREATE DATABASE ${database}${from}`)
    return { ...serverOptions(name), database }
  }
  const remove = async (): Promise<void> => {
    for (const each of known) await onServer(name, `DROP DATABASE IF EXISTS ${each}`)
  }
  try {
    await seed(await add(stem, name === 'mysql' ? ' CHARACTER SET utf8mb4' : ''))
  } catch (error) {
    await remove()
    throw error
  }
  return {
    copy: async () => {
      const database = `${stem}_${known.length}`
      if (name === 'postgres') return add(database, ` TEMPLATE ${stem}`)
      const options = await add(database, ' CHARACTER SET utf8mb4')
      for (const table of TABLES) {
        await onServer(name, `CREATE TABLE ${database}.${table} LIKE ${stem}.${table}`)
        await onServer(name, `INSERT INTO ${database}.${table} SELECT * FROM ${stem}.${table}`)
        await onServer(name, `ANALYZE TABLE ${database}.${table}`)
      }
      return options
    },
    remove,
  }
}
