import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The folder that this test was compiled into, below the root. */
export const build = relative(root, fileURLToPath(new URL('../../', import.meta.url)))

/** A program that runs. */
export interface Program {
  /** Everything it has said so far. */
  readonly output: () => string
  /** Waits until what it has said matches. Rejects when it ends before. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Waits until it has ended by itself: its status, or the signal that ended it. */
  readonly ended: () => Promise<number | string>
  /** Sends a signal, and waits until it has ended; one that does not end in time is killed. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | string>
}

const PATIENCE = 30_000

/** Starts a Node program. It does not inherit the options that this test run was started with. */
export function start(
  args: readonly string[],
  { cwd = root, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Program {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const child = spawn(process.execPath, args, { cwd, env: { ...inherited, BUILD: build, ...env } })
  let said = ''
  const hear = (chunk: Buffer): void => {
    said += chunk.toString()
    child.emit('said')
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const end = once(child, 'close').then(([status, signal]): number | string => status ?? signal)

  async function says(pattern: RegExp): Promise<RegExpExecArray> {
    const signal = AbortSignal.timeout(PATIENCE)
    for (;;) {
      const match = pattern.exec(said)
      if (match !== null) return match
      const isOver = await Promise.race([heard(child, signal), end.then(() => true)])
      if (isOver && !pattern.test(said)) throw new Error(`${args.join(' ')} never said ${pattern}, but: ${said}`)
    }
  }

  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
    try {
      return await end
    } finally {
      clearTimeout(late)
    }
  }

  return { output: () => said, says, ended: () => end, stop }
}

async function heard(child: ChildProcess, signal: AbortSignal): Promise<boolean> {
  return once(child, 'said', { signal }).then(
    () => false,
    () => true,
  )
}

/** Starts one of the examples as `npm run example` does once it has compiled, on a port of its own. */
export function startExample(name: string, port = 0): Program {
  return start([join('examples', 'run.mjs'), name], { env: { PORT: String(port) } })
}

/** Below those that systems hand out by themselves, to connections too: one of these might be gone when it is needed. */
const PORTS = { first: 12_000, count: 18_000 }

/** Those of this process: test files run beside each other. */
const own = { first: PORTS.first + (process.pid % (PORTS.count / 1000)) * 1000, next: randomInt(1000) }

/** A port on which nobody listens, and another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = own.first + (own.next++ % 1000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Waits until somebody answers on a port. */
export async function answers(port: number): Promise<void> {
  const deadline = Date.now() + PATIENCE
  for (;;) {
    try {
      await fetch(`http://localhost:${port}/`)
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
