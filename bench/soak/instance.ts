import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, closeSync, constants, mkdtempSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DialectName, open, type Target } from './models.js'

/** Supported database servers. */
export type ServerName = 'mariadb' | 'postgres'

/** How a server ends: by a shutdown, or killed, so that it must recover when it starts again. */
export type Ending = 'orderly' | 'crash'

/** A database server of this program in its own folder. The server can be stopped and restarted. */
export interface Instance {
  readonly target: Target
  /** Resolves when the server accepts connections. */
  readonly start: () => Promise<void>
  /** Resolves when the server's process has ended. */
  readonly stop: (ending: Ending) => Promise<void>
  /** Stops the server and removes its files. */
  readonly remove: () => Promise<void>
}

/** User that runs the server's process. PostgreSQL does not run as root. */
interface Owner {
  readonly uid?: number
  readonly gid?: number
}

interface Kind {
  readonly username: string
  readonly folders: readonly string[]
  /** Required programs. The first one is the server. */
  readonly programs: readonly [server: string, installer: string]
  readonly orderly: NodeJS.Signals
  readonly owner: () => Owner
  readonly install: (data: string) => readonly string[]
  readonly run: (data: string, port: number) => readonly string[]
}

const PATIENCE = 60_000

function user(name: string): Owner {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

// Programs and options of each server. The last options protect committed writes from a crash. These options are the
// defaults of both servers, but are set explicitly.
const KINDS: Readonly<Record<ServerName, Kind>> = {
  mariadb: {
    username: 'root',
    folders: ['/usr/sbin', '/usr/local/sbin', '/usr/local/mysql/bin', '/opt/homebrew/bin'],
    programs: ['mariadbd', 'mariadb-install-db'],
    orderly: 'SIGTERM',
    owner: () => ({}),
    install: (data) => [
      '--no-defaults',
      `--datadir=${data}`,
      `--user=${userInfo().username}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
    ],
    run: (data, port) => [
      '--no-defaults',
      `--datadir=${data}`,
      `--user=${userInfo().username}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(data, 'socket')}`,
      `--pid-file=${join(data, 'pid')}`,
      '--character-set-server=utf8mb4',
      '--innodb-flush-log-at-trx-commit=1',
    ],
  },
  postgres: {
    username: 'postgres',
    folders: [...versioned('/usr/lib/postgresql'), '/usr/local/pgsql/bin', '/opt/homebrew/bin'],
    programs: ['postgres', 'initdb'],
    orderly: 'SIGINT',
    owner: () => user('postgres'),
    install: (data) => ['-D', data, '-U', 'postgres', '-A', 'trust', '--encoding=UTF8', '--locale=C'],
    run: (data, port) => [
      ...['-D', data, '-p', String(port), '-k', data, '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'fsync=on', '-c', 'synchronous_commit=on'],
    ],
  },
}

function versioned(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((version) => join(folder, version, 'bin'))
  } catch {
    return []
  }
}

function find(program: string, folders: readonly string[]): string {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), ...folders]) {
    const path = join(folder, program)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {}
  }
  throw new Error(`${program} is neither in the PATH nor in ${folders.join(', ')}: install the server to run the soak`)
}

/** Installs a server into a new folder. The server is not started. */
export async function install(name: ServerName, dialect: DialectName): Promise<Instance> {
  const kind = KINDS[name]
  const owner = kind.owner()
  const [server, installer] = kind.programs.map((program) => find(program, kind.folders))
  if (server === undefined || installer === undefined) throw new TypeError('a server without programs')
  const folder = mkdtempSync(join(tmpdir(), `soak-${name}-`))
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  const port = await freePort()
  const target: Target = { dialect, port, username: kind.username, database: 'soak' }
  let child: ChildProcess | null = null
  let isCreated = false

  function run(program: string, args: readonly string[]): ChildProcess {
    const output = openSync(log, 'a')
    const started = spawn(program, args, { cwd: folder, stdio: ['ignore', output, output], ...owner })
    closeSync(output)
    return started
  }

  async function start(): Promise<void> {
    const started = run(server ?? '', kind.run(data, port))
    child = started
    // Databases that exist from the beginning: the maintenance database of PostgreSQL, and MariaDB's own database.
    const first = name === 'postgres' ? 'postgres' : 'mysql'
    await until(started, () => answers({ ...target, database: isCreated ? target.database : first }))
    if (isCreated) return
    const sequelize = open({ ...target, database: first })
    await sequelize.query(`CREATE DATABASE ${target.database}`)
    await sequelize.close()
    isCreated = true
  }

  async function until(started: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + PATIENCE
    while (!(await isReady())) {
      if (isOver(started) || Date.now() > deadline) throw new Error(`${name} did not start:\n${tail(log)}`)
      await sleep(50)
    }
  }

  async function stop(ending: Ending): Promise<void> {
    if (child === null || isOver(child)) return
    const gone = once(child, 'exit')
    if (ending === 'orderly') child.kill(kind.orderly)
    else killAll(child)
    await gone
  }

  async function remove(): Promise<void> {
    await stop('crash')
    // The last processes of PostgreSQL may still write files.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }

  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const installing = run(installer, kind.install(data))
  const [status] = await once(installing, 'exit')
  if (status !== 0) throw new Error(`${installer} ended with status ${status}:\n${tail(log)}`)
  return { target, start, stop, remove }
}

/** Kills the server's process and its children at once, so that no process can clean up. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return
  // The server is stopped before its children are listed, so that it starts no further child.
  process.kill(pid, 'SIGSTOP')
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number)
  } catch {
    // pgrep has an error status if it finds no process.
    return []
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function answers(target: Target): Promise<boolean> {
  const sequelize = open(target)
  try {
    await sequelize.authenticate()
    return true
  } catch {
    return false
  } finally {
    await sequelize.close()
  }
}

function tail(log: string): string {
  return readFileSync(log, 'utf8').split('\n').slice(-20).join('\n')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new TypeError('a server without a port')
  return address.port
}
