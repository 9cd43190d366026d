import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/program.js'
import type { Certificate } from './certificate.js'
import { type DatabaseServer, onServer, postgresAt } from './postgres.js'
import { newFolder, startProgram } from './process.js'
import { programOf } from './programs.js'

/** The programs that `startPgBouncer` needs, beside those of the server behind it. */
export const PGBOUNCER = ['pgbouncer']

export interface PgBouncerSettings {
  /** The port of the PostgreSQL server behind it. */
  readonly server: number
  /** `transaction`, unless it says so. */
  readonly mode?: 'transaction' | 'session'
  /** Who it is to the server. `postgres`, unless it says so. */
  readonly user?: string
  /** Connections to the server. */
  readonly size?: number
  /** Clients have to be connected by TLS, and to show this certificate. */
  readonly certificate?: Certificate
  /** Further settings of the section `[pgbouncer]`. */
  readonly settings?: Readonly<Record<string, string | number>>
}

/** Starts PgBouncer before a PostgreSQL server, in transaction mode. */
export async function startPgBouncer({
  server,
  mode = 'transaction',
  user = 'postgres',
  size = 20,
  certificate,
  settings = {},
}: PgBouncerSettings): Promise<DatabaseServer> {
  const port = await freePort()
  const folder = newFolder('pgbouncer')
  const file = join(folder, 'pgbouncer.ini')
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: size,
    max_client_conn: 500,
    // Sequelize sends them with each new connection.
    ignore_startup_parameters: 'extra_float_digits,options,client_encoding,application_name',
    ...(certificate === undefined ? {} : secured(certificate)),
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  const behind = `* = host=127.0.0.1 port=${server} user=${user}`
  writeFileSync(file, `[databases]\n${behind}\n\n[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 })
  const secure = certificate === undefined ? {} : { dialectOptions: { ssl: certificate.ssl } }
  const options = { ...postgresAt(port), ...secure }
  const ready = (): Promise<void> => onServer(options, 'SELECT 1')
  const running = await startProgram({ port, folder, program: programOf('pgbouncer'), args: [file], ready })
  return { ...running, options }
}

function secured({ certFile, keyFile }: Certificate): Readonly<Record<string, string>> {
  return {
    client_tls_sslmode: 'verify-ca',
    client_tls_ca_file: certFile,
    client_tls_cert_file: certFile,
    client_tls_key_file: keyFile,
  }
}
