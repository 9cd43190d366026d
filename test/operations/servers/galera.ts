import { chownSync, cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { QueryTypes, Sequelize } from 'sequelize'
import { freePort } from '../../support/program.js'
import { MARIADB, mariaDbAt } from './mariadb.js'
import { type DatabaseServer, onServer } from './postgres.js'
import { newFolder, runProgram, startProgram } from './process.js'
import { programOf } from './programs.js'

const PROVIDERS = ['/usr/lib/galera/libgalera_smm.so', '/usr/lib64/galera-4/libgalera_smm.so']
const provider = PROVIDERS.find((path) => existsSync(path))

/** The programs that `startGalera` needs. A library that is missing has the name of its package. */
export const GALERA = [...MARIADB, 'rsync', ...(provider === undefined ? ['galera-4'] : [])]

interface Node {
  readonly port: number
  readonly group: number
  readonly transfer: number
  readonly snapshot: number
}

/** Starts a cluster of MariaDB servers with the database `test`, each of which takes writes. */
export async function startGalera(
  count: number,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<readonly DatabaseServer[]> {
  const origin = newFolder('galera')
  const made = join(origin, 'data')
  const make = ['--no-defaults', `--datadir=${made}`, '--auth-root-authentication-method=normal', '--skip-test-db']
  runProgram(origin, programOf('mariadb-install-db'), make)
  const nodes: Node[] = []
  for (let at = 0; at < count; at += 1) {
    nodes.push({
      port: await freePort(),
      group: await freePort(),
      transfer: await freePort(),
      snapshot: await freePort(),
    })
  }
  const members = nodes.map(({ group }) => `127.0.0.1:${group}`).join(',')
  const servers: DatabaseServer[] = []
  try {
    for (const node of nodes) {
      servers.push(await startNode(node, { made, members, settings, first: servers.length === 0 }))
    }
  } finally {
    rmSync(origin, { recursive: true, force: true })
  }
  const [first] = nodes
  if (first !== undefined) {
    await onServer(mariaDbAt(first.port, 'mysql', 'mysql'), 'CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4')
  }
  return servers
}

interface Making {
  readonly made: string
  readonly members: string
  readonly settings: Readonly<Record<string, string | number>>
  readonly first: boolean
}

async function startNode(
  { port, group, transfer, snapshot }: Node,
  { made, members, settings, first }: Making,
): Promise<DatabaseServer> {
  const folder = newFolder('galera')
  const data = join(folder, 'data')
  cpSync(made, data, { recursive: true })
  giveAway(data)
  const all = {
    'bind-address': '127.0.0.1',
    port,
    socket: join(folder, 'socket'),
    'pid-file': join(folder, 'pid'),
    'innodb-flush-log-at-trx-commit': 0,
    'innodb-buffer-pool-size': '64M',
    'innodb-autoinc-lock-mode': 2,
    'binlog-format': 'ROW',
    'wsrep-on': 'ON',
    'wsrep-provider': provider ?? '',
    'wsrep-cluster-address': `gcomm://${first ? '' : members}`,
    'wsrep-node-address': '127.0.0.1',
    'wsrep-sst-method': 'rsync',
    'wsrep-sst-receive-address': `127.0.0.1:${snapshot}`,
    'wsrep-provider-options': [
      `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
      `ist.recv_addr=127.0.0.1:${transfer}`,
      'gcache.size=16M',
    ].join(';'),
    ...settings,
  }
  const args = Object.entries(all).map(([name, value]) => `--${name}=${value}`)
  const running = await startProgram({
    port,
    folder,
    program: programOf('mariadbd'),
    args: ['--no-defaults', `--datadir=${data}`, ...args],
    ready: () => isSynced(port),
  })
  return { ...running, options: mariaDbAt(port) }
}

/** Rejects unless the node has all that the cluster has. */
async function isSynced(port: number): Promise<void> {
  const sequelize = new Sequelize(mariaDbAt(port, 'mysql', 'mysql'))
  try {
    const sql = "SHOW STATUS LIKE 'wsrep_local_state_comment'"
    const rows = await sequelize.query(sql, { type: QueryTypes.SELECT })
    const state: unknown = Object(rows[0]).Value
    if (state !== 'Synced') throw new Error(`the node is ${state}`)
  } finally {
    await sequelize.close()
  }
}

/** Gives the files to the user of the servers, whose the folder is. */
function giveAway(folder: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(join(folder, '..'))
  chownSync(folder, uid, gid)
  for (const name of readdirSync(folder, { recursive: true })) chownSync(join(folder, String(name)), uid, gid)
}
