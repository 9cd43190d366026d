import { createServer, type Server } from 'node:http'
import type { Express } from 'express'
import type { Sequelize } from 'sequelize'
import { connect, type Target } from '../models.js'

/** Connection options of this server's database, from the command line. */
export function target(): Target {
  return JSON.parse(process.argv[2] ?? '')
}

/** Opens the database named on the command line. */
export async function open(): Promise<Sequelize> {
  const sequelize = connect(target())
  // Without a disk flush per commit, to measure the program instead of the disk.
  if (sequelize.getDialect() === 'sqlite') await sequelize.query('PRAGMA synchronous = NORMAL')
  return sequelize
}

/** Serves on a free port and sends the port to the parent. */
export function listen(server: Pick<Server, 'listen' | 'address'>): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.({ port: address?.port })
  })
  process.once('disconnect', () => process.exit())
}

/** Serves an application with Sequelize models, as Express documents it. */
export async function serve(build: () => Express): Promise<void> {
  await open()
  listen(createServer(build()))
}
