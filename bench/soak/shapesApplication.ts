// The observed process, with two resources and a few rows. The process also answers questions of its parent process.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { getHeapCodeStatistics } from 'node:v8'
import express from 'express'
import { QueryTypes } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import { generator, playerBody } from '../data.js'
import { connect, Player, Team } from '../models.js'
import type { Memory } from './application.js'

export interface ShapesAnswers {
  readonly port?: number
  /** Memory of the process, and the number of prepared statements on a PostgreSQL connection. */
  readonly sample?: Memory & { readonly names: number }
}

const sequelize = connect(JSON.parse(process.argv[2] ?? '{}'))
await sequelize.sync()
await Team.bulkCreate(Array.from({ length: 200 }, (_, index) => ({ name: `Team ${index + 1}` })))
const random = generator(7)
await Player.bulkCreate(Array.from({ length: 500 }, () => playerBody(random)))
const app = express()
app.use(crudRouter(Player), crudRouter(Team))

async function countNames(): Promise<number> {
  if (sequelize.getDialect() !== 'postgres') return 0
  const counts = await Promise.all(
    Array.from({ length: 4 }, () =>
      sequelize.query<{ count: number }>('SELECT count(*)::int AS count FROM pg_prepared_statements', {
        type: QueryTypes.SELECT,
      }),
    ),
  )
  return Math.max(...counts.map(([row]) => row?.count ?? 0))
}

process.on('message', async () => {
  const names = await countNames()
  // The garbage collection runs twice, because the first run may only call finalizers.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const compiled = getHeapCodeStatistics()
  const code = compiled.code_and_metadata_size + compiled.bytecode_and_metadata_size
  process.send?.({ sample: { code, heap: heapUsed - code, rss, names } } satisfies ShapesAnswers)
})
process.once('disconnect', () => process.exit())

const server = createServer(app)
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
if (typeof address === 'object' && address !== null) process.send?.({ port: address.port } satisfies ShapesAnswers)
