import type { Express } from 'express'
import { connect } from '../models.js'

/** Opens the database named on the command line, serves the application on a free port and tells the parent which. */
export async function serve(build: () => Express): Promise<void> {
  const sequelize = connect(process.argv[2] ?? '')
  // Without a disk flush for every commit, so that the figures are those of the program and not of the disk.
  await sequelize.query('PRAGMA synchronous = NORMAL')
  const server = build().listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.({ port: address?.port })
  })
  process.once('disconnect', () => process.exit())
}
