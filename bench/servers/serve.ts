import { createServer, type Server } from 'node:http'
import type { Express } from 'express'
import type { Sequelize } from 'sequelize'
import { connect, type Target } from '../models.js'

/** Reads the connection options of this server's database from the command line. */
export function target(): Target {
  return JSON.parse(process.argv[2] ?? '')
}

/** Opens the database whose options are on the command line. */
export async function open(): Promise<Sequelize> {
  const sequelize = connect(target())
  // Commits do not flush to the disk, so that the benchmark measures the program instead of the disk.
  if (sequelize.getDialect() === 'sqlite') await sequelize.query('PRAGMA synchronous = NORMAL')
  return sequelize
}

/** Listens on a free port and sends the port to the parent process. */
export function listen(server: Pick<Server, 'listen' | 'address'>): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.({ port: address?.port })
  })
  process.once('disconnect', () => process.exit())
}

/** Serves an application with Sequelize models, as the documentation of Express shows. */
export async function serve(build: () => Express): Promise<void> {
  await open()
  listen(createServer(build()))
}
