import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Options, Sequelize } from 'sequelize'
import { type DatabaseName, onServer, serverOptions } from '../../test/support/servers.js'

export interface EmptyDatabase {
  readonly options: Options
  readonly remove: () => Promise<void>
}

/** Creates an empty database for exclusive use, with a function that removes it. */
export async function openEmpty(name: DatabaseName): Promise<EmptyDatabase> {
  const own = `crud_export_${randomBytes(6).toString('hex')}`
  if (name === 'sqlite') {
    const storage = join(tmpdir(), `${own}.sqlite`)
    const options: Options = { dialect: 'sqlite', storage }
    const sequelize = new Sequelize({ ...options, logging: false })
    await sequelize.query('PRAGMA journal_mode = WAL')
    await sequelize.close()
    return {
      options,
      remove: async () => {
        for (const suffix of ['', '-wal', '-shm']) await rm(storage + suffix, { force: true })
      },
    }
  }
  await onServer(name, `CREATE DATABASE ${own}${name === 'postgres' ? '' : ' CHARACTER SET utf8mb4'}`)
  return { options: { ...serverOptions(name), database: own }, remove: () => onServer(name, `DROP DATABASE ${own}`) }
}
