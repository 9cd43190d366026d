// `npm run example cluster` starts four server processes behind one port, with a database and Redis. A change through
// one process reaches the clients of all processes.

import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createDatabase, type DatabaseChoice, databaseOf, dropDatabase } from './database.js'
import { seed } from './seed.js'
import { serve } from './worker.js'

const PROCESSES = 4

if (cluster.isPrimary) await lead()
else await serve()

/** Creates the database, starts the processes, and ends everything at a signal. */
async function lead(): Promise<void> {
  let database: DatabaseChoice
  try {
    database = databaseOf(process.env, `orders_${randomBytes(4).toString('hex')}`)
    await createDatabase(database)
    await seed(database)
  } catch (error) {
    console.error(`The database does not answer: ${error instanceof Error ? error.message : String(error)}`)
    console.error('Start MariaDB or PostgreSQL, and Redis, or say where they are: DATABASE_URL, REDIS_URL.')
    process.exitCode = 1
    return
  }

  let isEnding = false
  const shared = { DATABASE_URL: database.url, DATABASE_NAME: database.name, RUN: database.name }
  const fork = () => cluster.fork(shared)
  const workers = Array.from({ length: PROCESSES }, fork)
  // A process that dies is replaced after a pause, because its replacement may die as well. The clients of the process
  // reconnect to another process and recover their sessions.
  cluster.on('exit', () => {
    setTimeout(() => {
      if (!isEnding) fork()
    }, 1000)
  })

  async function end(): Promise<void> {
    if (isEnding) return
    isEnding = true
    const living = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    const gone = living.map((worker) => once(worker, 'exit'))
    for (const worker of living) worker.process.kill('SIGTERM')
    await Promise.all(gone)
    await dropDatabase(database)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)

  const listening = workers.map((worker) => once(worker, 'listening'))
  const [[address]] = (await Promise.all(listening)) as [[{ port: number }]]
  console.log(`Four processes serve the orders at http://localhost:${address.port}/api/orders`)
  console.log(`from ${database.dialect}; the database ${database.name} is gone at the end. Follow them:\n`)
  console.log(`  node examples/cluster/follow.mjs ${address.port}\n`)
  console.log('and change them from another terminal. X-Served-By names the process:\n')
  console.log(
    `  curl -i -X POST 'localhost:${address.port}/api/orders' -H 'Content-Type: application/json' -d '{"product":"Mouse","total":19.9}'\n`,
  )
  console.log('Ctrl-C ends it.')
}
