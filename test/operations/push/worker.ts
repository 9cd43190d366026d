// One of the processes behind the rig of push: orders in PostgreSQL, and a hub that Redis Streams connects with the others.
// Environment: PORT of this process, DATABASE_PORT, REDIS_URL.

import { createServer } from 'node:http'
import { createAdapter } from '@socket.io/redis-streams-adapter'
import express from 'express'
import { createClient } from 'redis'
import { Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { crudRouter } from '../../../lib/http/router.js'
import { Operations } from '../../../lib/index.js'
import { postgresAt } from '../servers/postgres.js'
import { defineOrder } from './models.js'

const { PORT, DATABASE_PORT, REDIS_URL = '' } = process.env

const redis = createClient({ url: REDIS_URL })
redis.on('error', () => undefined)
await redis.connect()

const app = express()
const server = createServer(app)
const io = new Server(server, {
  adapter: createAdapter(redis, { streamName: 'orders', channelPrefix: 'orders', sessionKeyPrefix: 'orders:session:' }),
  connectionStateRecovery: { maxDisconnectionDuration: 120_000 },
  transports: ['websocket', 'polling'],
})
const sequelize = new Sequelize({ ...postgresAt(Number(DATABASE_PORT)), pool: { max: 5 } })
app.use(
  crudRouter(defineOrder(sequelize), {
    operations: Operations.AllWithBulk,
    concurrency: { inBody: true },
    query: { pageSize: 5000, maxPageSize: 5000 },
    push: { io },
    onError: (error) => console.log(`onError: ${error instanceof Error ? error.message : String(error)}`),
  }),
)
server.listen(Number(PORT), '127.0.0.1', () => console.log('ready'))
