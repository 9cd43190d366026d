import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Express } from 'express'
import type { Sequelize } from 'sequelize'
import { driver } from './driver.js'

/** An example: its application, and its database. */
export interface Example {
  /** Name of the example's folder and of its SQLite file. */
  readonly name: string
  readonly connect: (storage: string, driver?: object) => Sequelize
  /** Creates the application. The server is passed for code that needs more than requests, such as Socket.IO. */
  readonly app: (server: Server) => Express
  readonly seed: (sequelize: Sequelize) => Promise<void>
  /** Address to listen on. Default: all addresses of this machine. */
  readonly host?: string
  /** Closes connections other than requests, which would prevent the server from closing. */
  readonly release?: () => void | Promise<void>
}

export interface ExampleServer {
  readonly port: number
  /** Path of the SQLite file. The file is created at the start and removed at the end. */
  readonly storage: string
  /** Waits for in-flight requests, closes the database and removes its file. Further calls have no effect. */
  readonly close: () => Promise<void>
}

/** Serves an example on a port. Port 0 selects a free port. Rejects with EADDRINUSE if the port is in use. */
export async function serve(
  { name, connect, app, seed, host, release }: Example,
  port: number,
): Promise<ExampleServer> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`))
  const storage = join(folder, `${name}.sqlite`)
  const sequelize = connect(storage, driver)
  const server = createServer((request, response) => answer(request, response))
  const answer: RequestListener = app(server)

  async function tidy(): Promise<void> {
    await sequelize.close()
    await rm(folder, { recursive: true, force: true })
  }

  try {
    await seed(sequelize)
    server.listen({ port, ...(host === undefined ? {} : { host }) })
    await once(server, 'listening')
  } catch (error) {
    await tidy()
    throw error
  }

  async function shutDown(): Promise<void> {
    server.close()
    // Requests that are still in flight after five seconds are aborted.
    const deadline = setTimeout(() => server.closeAllConnections(), 5000)
    await Promise.all([once(server, 'close'), release?.()])
    clearTimeout(deadline)
    await tidy()
  }

  let closed: Promise<void> | undefined
  return {
    port: (server.address() as AddressInfo).port,
    storage,
    close: () => {
      closed ??= shutDown()
      return closed
    },
  }
}
