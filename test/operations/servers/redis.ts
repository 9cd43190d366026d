import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { createClient } from 'redis'
import { freePort } from '../../support/program.js'
import { newFolder, type RunningServer, startProgram } from './process.js'
import { programOf } from './programs.js'

/** The programs that `startRedis` needs. */
export const REDIS = ['redis-server']

/** A Redis server that dies and comes back at its port. */
export interface RedisServer {
  readonly url: string
  readonly stop: () => Promise<void>
  /** Kills it, so that what it has not written is lost. */
  readonly kill: () => Promise<void>
  /** Starts it again, with what it had written, or with nothing. */
  readonly restart: (withData: boolean) => Promise<void>
}

/** Starts a Redis server that writes all that it is told, on a port and in folders of its own. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let data = newFolder('redis-data')
  let server = await started(port, url, data)

  async function kill(): Promise<void> {
    server.signal('SIGKILL')
    // Its folder has its log alone.
    await server.stop()
    while (!(await isFree(port))) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  return {
    url,
    kill,
    restart: async (withData) => {
      if (!withData) {
        rmSync(data, { recursive: true, force: true })
        data = newFolder('redis-data')
      }
      server = await started(port, url, data)
    },
    stop: async () => {
      await server.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

async function started(port: number, url: string, data: string): Promise<RunningServer> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', data]
  const kept = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  return startProgram({
    port,
    folder: newFolder('redis'),
    program: programOf('redis-server'),
    args: [...args, ...kept],
    ready: async () => {
      const client = createClient({ url, socket: { reconnectStrategy: false } })
      client.on('error', () => undefined)
      try {
        await client.connect()
        await client.ping()
      } finally {
        client.destroy()
      }
    },
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
