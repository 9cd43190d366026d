import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Output folder of this compiled file, relative to the root. */
export const build = relative(root, fileURLToPath(new URL('../../', import.meta.url)))

/**
 * Options of Node.js for programs that load the package as this test does. In a run of all tests it is one file: loading its
 * modules one by one takes longer than most tests of such programs.
 */
export const likeThis: readonly string[] = process.execArgv

/** A running program. */
export interface Program {
  /** The output so far. */
  readonly output: () => string
  /** Waits until the output matches. Rejects if the program ends before that. */
  readonly waitForOutput: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Waits until the program ends by itself. Resolves to its exit status or signal. */
  readonly ended: () => Promise<number | string>
  /** Sends a signal and waits until the program ends. The program is killed if it does not end in time. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | string>
}

const START_TIMEOUT = 30_000

/** Starts a Node.js program, without the Node.js options of this test run. */
export function start(
  args: readonly string[],
  { cwd = root, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Program {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const child = spawn(process.execPath, args, { cwd, env: { ...inherited, BUILD: build, ...env } })
  let output = ''
  const collectOutput = (chunk: Buffer): void => {
    output += chunk.toString()
    child.emit('said')
  }
  child.stdout.on('data', collectOutput)
  child.stderr.on('data', collectOutput)
  const end = once(child, 'close').then(([status, signal]): number | string => status ?? signal)

  async function waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    const signal = AbortSignal.timeout(START_TIMEOUT)
    for (;;) {
      const match = pattern.exec(output)
      if (match !== null) return match
      const isOver = await Promise.race([hasNewOutput(child, signal), end.then(() => true)])
      if (isOver && !pattern.test(output)) throw new Error(`${args.join(' ')} never said ${pattern}, but: ${output}`)
    }
  }

  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT)
    try {
      return await end
    } finally {
      clearTimeout(late)
    }
  }

  return { output: () => output, waitForOutput, ended: () => end, stop }
}

async function hasNewOutput(child: ChildProcess, signal: AbortSignal): Promise<boolean> {
  return once(child, 'said', { signal }).then(
    () => false,
    () => true,
  )
}

/** Starts a compiled example as `npm run example` does, on a given or free port. */
export function startExample(name: string, port = 0): Program {
  return start([join('examples', 'run.mjs'), name], { env: { PORT: String(port) } })
}

/** Range of ports below the ephemeral ports, which outgoing connections could take. */
const PORTS = { first: 12_000, count: 18_000 }

/** Each process has its own thousand ports, because test files run in parallel processes. */
const own = { first: PORTS.first + (process.pid % (PORTS.count / 1000)) * 1000, next: randomInt(1000) }

/** Finds an unused port. Each call returns another port. */
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

/** Waits until a server accepts connections on a port. */
export async function waitUntilListening(port: number): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT
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
