import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdapter } from '@socket.io/redis-streams-adapter'
import express from 'express'
import { createClient } from 'redis'
import { crudRouter, Operations } from 'sequelize-crud-router'
import { Server } from 'socket.io'
import { connect, databaseOf } from './database.js'
import { define } from './models.js'

/** One of the processes: the orders over HTTP, and their hub. */
export async function serve(): Promise<void> {
  const { PORT = '3000', REDIS_URL = 'redis://127.0.0.1:6379', RUN = 'orders', DATABASE_NAME } = process.env
  const me = String(process.pid)

  const redis = createClient({ url: REDIS_URL })
  // Without a listener the first lost connection would end the process. The client connects again by itself.
  redis.on('error', (error: Error) => console.error(`${me} redis: ${error.message}`))
  await redis.connect()

  const app = express()
  const server = createServer(app)
  const io = new Server(server, {
    adapter: createAdapter(redis, { streamName: RUN, sessionKeyPrefix: `${RUN}:session:`, channelPrefix: RUN }),
    connectionStateRecovery: { maxDisconnectionDuration: 2 * 60 * 1000 },
    // The hub hears nothing from its clients, so that they need not send much.
    maxHttpBufferSize: 10_000,
    // One connection each. With long polling too, what balances the load would have to know the sessions.
    transports: ['websocket'],
  })

  const sequelize = connect(databaseOf(process.env, RUN), DATABASE_NAME)
  const orders = crudRouter(define(sequelize), {
    operations: Operations.AllWithBulk,
    push: { io },
    onError: (error) => console.error(`${me} push: ${error instanceof Error ? error.message : String(error)}`),
  })
  // A hook of the host's own: clients learn which process has them.
  orders.resource.hub?.on('connection', (socket) => socket.emit('server', me))

  app.use((_req, res, next) => {
    res.set('X-Served-By', me)
    next()
  })
  app.use(orders)
  server.listen(Number(PORT))

  let isEnding = false
  async function end(): Promise<void> {
    if (isEnding) return
    isEnding = true
    // This closes the server too. Clients recover their sessions from Redis on another process. `orders.close()` before it would end these
    // sessions, but spare the clients of other processes an `OnMissed`.
    await io.close()
    await sequelize.close()
    // It waits for what it has asked of Redis, for ever where the connection is gone.
    if (redis.isOpen) await Promise.race([redis.close(), sleep(2000)])
    process.exit()
  }
  process.on('SIGTERM', end)
  // Ctrl-C in a terminal goes to all processes; the first one ends the others.
  process.on('SIGINT', () => undefined)
}
