import { join } from 'node:path'
import { freePort } from '../../support/program.js'
import { type DatabaseServer, onServer } from './postgres.js'
import { newFolder, runProgram, startProgram } from './process.js'
import { programOf } from './programs.js'

/** The programs that `startMariaDb` needs. */
export const MARIADB = ['mariadb-install-db', 'mariadbd']

/** Sequelize's dialects for MariaDB, each with a driver of its own. */
export type MariaDbDialect = 'mariadb' | 'mysql'

/** Connects Sequelize to a MariaDB server, or to what stands before one, on a port. */
export function mariaDbAt(
  port: number,
  dialect: MariaDbDialect = 'mariadb',
  database = 'test',
): DatabaseServer['options'] {
  // By itself the driver gives up after a second, which a busy machine may take.
  const driver = dialect === 'mariadb' ? { connectTimeout: 30_000 } : {}
  return { dialect, host: '127.0.0.1', port, username: 'root', database, logging: false, dialectOptions: driver }
}

export interface MariaDbSettings {
  /** Options of mariadbd without `--`, such as `{ 'server-id': 2 }`. */
  readonly settings?: Readonly<Record<string, string | number>>
}

/** Starts a MariaDB server with the database `test`, where root needs no password. */
export async function startMariaDb({ settings = {} }: MariaDbSettings = {}): Promise<DatabaseServer> {
  const folder = newFolder('mariadb')
  const data = join(folder, 'data')
  const make = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db']
  runProgram(folder, programOf('mariadb-install-db'), make)
  const port = await freePort()
  const own = {
    'bind-address': '127.0.0.1',
    port,
    socket: join(folder, 'socket'),
    'pid-file': join(folder, 'pid'),
    'innodb-flush-log-at-trx-commit': 0,
    'innodb-buffer-pool-size': '64M',
    'max-connections': 300,
  }
  const args = Object.entries({ ...own, ...settings }).map(([name, value]) => `--${name}=${value}`)
  const server = await startProgram({
    port,
    folder,
    program: programOf('mariadbd'),
    args: ['--no-defaults', `--datadir=${data}`, ...args],
    ready: () => onServer(mariaDbAt(port, 'mysql', 'mysql'), 'SELECT 1'),
  })
  await onServer(mariaDbAt(port, 'mysql', 'mysql'), 'CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4')
  return { ...server, options: mariaDbAt(port) }
}
