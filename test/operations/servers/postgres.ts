import { join } from 'node:path'
import { type Options, Sequelize } from 'sequelize'
import { freePort } from '../../support/program.js'
import { newFolder, type RunningServer, runProgram, startProgram } from './process.js'
import { programOf } from './programs.js'

/** A server that Sequelize connects to. */
export interface DatabaseServer extends RunningServer {
  /** Connects Sequelize to it, to the database `test`. */
  readonly options: Options & { readonly host: string; readonly port: number }
}

/** The programs that `startPostgres` needs. */
export const POSTGRES = ['initdb', 'postgres']

/** Connects Sequelize to a PostgreSQL server, or to what stands before one, on a port. */
export function postgresAt(port: number, database = 'test'): DatabaseServer['options'] {
  return { dialect: 'postgres', host: '127.0.0.1', port, username: 'postgres', database, logging: false }
}

/** Runs statements on a server with a connection that is closed afterwards. */
export async function onServer(options: Options, ...statements: readonly string[]): Promise<void> {
  const sequelize = new Sequelize({ ...options, logging: false, pool: { max: 1 } })
  try {
    for (const sql of statements) await sequelize.query(sql)
  } finally {
    await sequelize.close()
  }
}

export interface PostgresSettings {
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** A folder with data that another program has made, such as `pg_basebackup`. Without one a database is made. */
  readonly folder?: string
  readonly port?: number
}

/** Starts a PostgreSQL server with the database `test` and the user `postgres`, who needs no password. */
export async function startPostgres({ settings = {}, folder, port }: PostgresSettings = {}): Promise<DatabaseServer> {
  const where = folder ?? newFolder('postgres')
  const data = join(where, 'data')
  if (folder === undefined) {
    const args = ['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8']
    runProgram(where, programOf('initdb'), [...args, '--no-sync'])
  }
  const at = port ?? (await freePort())
  const own = {
    listen_addresses: '127.0.0.1',
    port: at,
    unix_socket_directories: '',
    fsync: 'off',
    max_connections: 200,
  }
  const args = Object.entries({ ...own, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const isNew = folder === undefined
  const server = await startProgram({
    port: at,
    folder: where,
    program: programOf('postgres'),
    args: ['-D', data, ...args],
    // SIGINT is its fast shutdown; SIGTERM would wait for its clients.
    stopBy: 'SIGINT',
    ready: () => onServer(postgresAt(at, 'postgres'), 'SELECT 1'),
  })
  if (isNew) await onServer(postgresAt(at, 'postgres'), 'CREATE DATABASE test')
  return { ...server, options: postgresAt(at) }
}

/** The programs that `startReplica` needs. */
export const REPLICA = [...POSTGRES, 'pg_basebackup']

/** Starts a streaming replica of a PostgreSQL server, with data of its own. It has what the server had committed by then. */
export async function startReplica(
  { port }: Pick<DatabaseServer, 'port'>,
  settings: PostgresSettings['settings'] = {},
): Promise<DatabaseServer> {
  const folder = newFolder('replica')
  const from = ['--host=127.0.0.1', `--port=${port}`, '--username=postgres']
  const how = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  runProgram(folder, programOf('pg_basebackup'), [`--pgdata=${join(folder, 'data')}`, ...from, ...how])
  return startPostgres({ folder, settings })
}
