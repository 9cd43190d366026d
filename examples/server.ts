import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Express } from 'express'
import type { Sequelize } from 'sequelize'
import { driver } from './driver.js'

/** What an example serves, and from which database. */
export interface Example {
  /** Of its folder and of its file. */
  readonly name: string
  readonly connect: (storage: string, driver?: object) => Sequelize
  /** The server is there for what listens to more of it than requests, such as Socket.IO. */
  readonly app: (server: Server) => Express
  readonly seed: (sequelize: Sequelize) => Promise<void>
  /** The address to listen on; all of this machine's where none is given. */
  readonly host?: string
  /** Lets go of connections that are no requests, which would keep the server from its end. */
  readonly release?: () => void | Promise<void>
}

export interface ExampleServer {
  readonly port: number
  /** The SQLite file. It is new at every start and gone at the end. */
  readonly storage: string
  /** Answers what is under way, then closes the database and removes its file. Once is enough, twice does no harm. */
  readonly close: () => Promise<void>
}

/** Serves an example on a port; 0 takes a free one. Rejects with EADDRINUSE when the port is taken. */
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
    // Whoever has not got an answer by then gets none.
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
