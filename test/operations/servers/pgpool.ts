import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/program.js'
import { type DatabaseServer, onServer, postgresAt } from './postgres.js'
import { newFolder, startProgram } from './process.js'
import { programOf } from './programs.js'

/** The programs that `startPgpool` needs, beside those of the servers behind it. */
export const PGPOOL = ['pgpool']

/** Starts pgpool-II before a primary and its replica. It sends each SELECT outside a transaction that writes to the replica. */
export async function startPgpool(primary: DatabaseServer, replica: DatabaseServer): Promise<DatabaseServer> {
  const port = await freePort()
  const folder = newFolder('pgpool')
  const settings: Record<string, string | number> = {
    backend_clustering_mode: 'streaming_replication',
    listen_addresses: '127.0.0.1',
    port,
    socket_dir: folder,
    pcp_listen_addresses: '127.0.0.1',
    pcp_port: await freePort(),
    pcp_socket_dir: folder,
    pid_file_name: join(folder, 'pid'),
    logdir: folder,
    enable_pool_hba: 'off',
    num_init_children: 40,
    max_pool: 1,
    load_balance_mode: 'on',
    statement_level_load_balance: 'on',
    sr_check_period: 1,
    sr_check_user: 'postgres',
    sr_check_database: 'postgres',
    // However far the replica is behind.
    delay_threshold: 0,
  }
  for (const [at, { port: behind }] of [primary, replica].entries()) {
    settings[`backend_hostname${at}`] = '127.0.0.1'
    settings[`backend_port${at}`] = behind
    settings[`backend_weight${at}`] = at
    settings[`backend_flag${at}`] = 'ALLOW_TO_FAILOVER'
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`)
  const file = join(folder, 'pgpool.conf')
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o644 })
  const options = postgresAt(port)
  const args = ['-n', '-f', file, '-F', join(folder, 'pcp.conf'), '-a', join(folder, 'pool_hba.conf')]
  const ready = (): Promise<void> => onServer(options, 'SELECT 1')
  const running = await startProgram({ port, folder, program: programOf('pgpool'), args, stopBy: 'SIGINT', ready })
  return { ...running, options }
}
