import { createServer, type Server } from 'node:http'
import type { Express } from 'express'
import type { Options, Sequelize } from 'sequelize'
import { connect } from '../models.js'

/** How to connect to the database of this server: the parent says it on the command line. */
export function target(): Options {
  return JSON.parse(process.argv[2] ?? '')
}

/** Opens the database named on the command line. */
export async function open(): Promise<Sequelize> {
  const sequelize = connect(target())
  // Without a disk flush for every commit, so that the figures are those of the program and not of the disk.
  if (sequelize.getDialect() === 'sqlite') await sequelize.query('PRAGMA synchronous = NORMAL')
  return sequelize
}

/** Serves on a free port and tells the parent which. */
export function listen(server: Pick<Server, 'listen' | 'address'>): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.({ port: address?.port })
  })
  process.once('disconnect', () => process.exit())
}

/** Serves an application over Sequelize's models as Express teaches it. */
export async function serve(build: () => Express): Promise<void> {
  await open()
  listen(createServer(build()))
}
