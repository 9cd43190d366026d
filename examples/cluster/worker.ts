import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdapter } from '@socket.io/redis-streams-adapter'
import express from 'express'
import { createClient, SocketClosedUnexpectedlyError } from 'redis'
import { crudRouter, Operations } from 'sequelize-crud-router'
import { Server } from 'socket.io'
import { connect, databaseOf } from './database.js'
import { define } from './models.js'

/** Runs one of the server processes, which serves the orders over HTTP and their hub. */
export async function serve(): Promise<void> {
  const { PORT = '3000', REDIS_URL = 'redis://127.0.0.1:6379', RUN = 'orders', DATABASE_NAME } = process.env
  const me = String(process.pid)

  const redis = createClient({ url: REDIS_URL })
  // Without a listener, the first lost connection would end the process. The client of Redis reconnects by itself.
  redis.on('error', (error: Error) => console.error(`${me} redis: ${error.message}`))
  await redis.connect()
  // The adapter does not handle errors of some commands. If Redis dies while it runs such a command, the rejection would
  // end the process.
  process.on('unhandledRejection', (reason) => {
    const isLost = reason instanceof SocketClosedUnexpectedlyError || Object(reason).code === 'ECONNRESET'
    if (!isLost) throw reason
    console.error(`${me} redis: ${String(reason)}`)
  })

  const app = express()
  const server = createServer(app)
  const io = new Server(server, {
    adapter: createAdapter(redis, { streamName: RUN, sessionKeyPrefix: `${RUN}:session:`, channelPrefix: RUN }),
    connectionStateRecovery: { maxDisconnectionDuration: 2 * 60 * 1000 },
    // The hub ignores events of clients, so clients need not send large messages.
    maxHttpBufferSize: 10_000,
    // Each client uses one WebSocket. Long polling would need sticky sessions at the load balancer.
    transports: ['websocket'],
  })

  const sequelize = connect(databaseOf(process.env, RUN), DATABASE_NAME)
  const orders = crudRouter(define(sequelize), {
    operations: Operations.AllWithBulk,
    push: { io },
    onError: (error) => console.error(`${me} push: ${error instanceof Error ? error.message : String(error)}`),
  })
  // The application may use the namespace itself. Here, clients learn which process serves them.
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
    // `io.close()` also closes the HTTP server. Clients recover their sessions from Redis on another process. Calling
    // `orders.close()` before it would end the sessions, but would spare clients of other processes an `OnMissed`.
    await io.close()
    await sequelize.close()
    // `close` waits for pending commands. Without a connection to Redis, it would wait forever.
    if (redis.isOpen) await Promise.race([redis.close(), sleep(2000)])
    process.exit()
  }
  process.on('SIGTERM', end)
  // Ctrl-C in a terminal sends SIGINT to all processes. The primary process ends the other processes.
  process.on('SIGINT', () => undefined)
}
