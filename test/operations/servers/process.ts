// Servers of a rig's own, each with a folder and a port that nobody else uses.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** A server that runs until it is stopped, or until the process that started it ends. */
export interface RunningServer {
  readonly port: number
  /** Where its data are, which are removed when it is stopped. */
  readonly folder: string
  /** Stops it and removes its folder. It may be called more than once. */
  readonly stop: () => Promise<void>
  /** Sends a signal to the server: SIGKILL for a crash, SIGSTOP for one that falls silent. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** What it has logged so far. */
  readonly log: () => string
}

/** How a server is started in its folder. */
export interface ServerProgram {
  readonly port: number
  readonly folder: string
  readonly program: string
  readonly args: readonly string[]
  /** The signal that stops it. SIGTERM unless it says so. */
  readonly stopBy?: NodeJS.Signals
  /** Rejects until it answers. By default it answers when it accepts connections on its port. */
  readonly ready?: () => Promise<unknown>
}

const guard = fileURLToPath(new URL('guard.js', import.meta.url))

/** Milliseconds in which a server has to answer, on a machine that has much to do. */
const PATIENCE = 60_000

/** PostgreSQL and MariaDB refuse to run as root. */
const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : null

function idOf(what: '-u' | '-g'): number {
  return Number(spawnSync('id', [what, 'nobody'], { encoding: 'utf8' }).stdout)
}

/** A folder that servers may write into. Whoever starts no server in it removes it. */
export function newFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `crud-operations-${name}-`))
  if (user !== null) chownSync(folder, user.uid, user.gid)
  return folder
}

/** Runs a program to its end as the user of the servers. Throws what it has said where it fails. */
export function runProgram(folder: string, program: string, args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', ...user })
  if (status === 0) return
  rmSync(folder, { recursive: true, force: true })
  throw new Error(`${program} ended with ${status}: ${error?.message ?? ''}${stdout}${stderr}`)
}

/** Starts a server and waits until it answers. */
export async function startProgram(given: ServerProgram): Promise<RunningServer> {
  const { port, folder, program, args, stopBy = 'SIGTERM' } = given
  const ids = user === null ? ['-1', '-1'] : [String(user.uid), String(user.gid)]
  const keeper = spawn(process.execPath, [guard, folder, stopBy, ...ids, program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  // A rig that forgets its servers ends all the same, and its servers with it.
  keeper.unref()
  const ended = once(keeper, 'close')
  const [pid] = await once(createInterface({ input: keeper.stdout }), 'line')
  for (const stream of [keeper.stdin, keeper.stdout]) Reflect.get(stream, 'unref')?.call(stream)
  const log = (): string => {
    try {
      return readFileSync(join(folder, 'log'), 'utf8')
    } catch {
      return ''
    }
  }
  const stop = async (): Promise<void> => {
    keeper.ref()
    keeper.stdin.end()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const server: RunningServer = {
    port,
    folder,
    stop,
    signal: (signal) => process.kill(Number(pid), signal),
    log,
  }
  await ready(given, keeper, server)
  return server
}

/** Waits until a server answers. Throws what it has logged where it does not. */
async function ready(
  { ready = () => connects(given.port), ...given }: ServerProgram,
  keeper: { readonly exitCode: number | null },
  { stop, log }: RunningServer,
): Promise<void> {
  const deadline = performance.now() + PATIENCE
  for (;;) {
    try {
      return void (await ready())
    } catch (error) {
      if (keeper.exitCode === null && performance.now() < deadline) {
        await wait(50)
        continue
      }
      const said = log().slice(-3000)
      await stop()
      throw new Error(`${given.program} did not start: ${said}`, { cause: error })
    }
  }
}

async function connects(port: number): Promise<void> {
  const socket = createConnection({ host: '127.0.0.1', port })
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}
