// The observed process, with four resources that have every behaviour. The process also answers questions of its parent
// process. The process is never restarted.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { getHeapCodeStatistics } from 'node:v8'
import express from 'express'
import { Server } from 'socket.io'
import { authenticated, createCrud, Operations } from '../../lib/index.js'
import { identityOf, scopeOf } from './callers.js'
import { define, open, type Target } from './models.js'

/** Questions of the parent process. */
export type Question = 'memory' | 'causes'

/** Memory after a garbage collection, in bytes. */
export interface Memory {
  /** Size of compiled code. The engine compiles for more than half an hour, whatever the program does. */
  readonly code: number
  /** Size of the heap without compiled code. */
  readonly heap: number
  readonly rss: number
}

/** Number of occurrences of each error passed to `onError`, and of each text passed to `console.warn`. */
export type Causes = Readonly<Record<string, number>>

export interface Answers {
  readonly port?: number
  readonly memory?: Memory
  readonly causes?: Causes
}

const target: Target = JSON.parse(process.argv[2] ?? '{}')
const causes = new Map<string, number>()

function count(text: string): void {
  // Numbers are replaced, because keys, ports and transaction names would make each text distinct.
  const key = text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>').replace(/conn:\d+|\b\d{5,}\b/g, '<n>')
  causes.set(key, (causes.get(key) ?? 0) + 1)
}

function onError(error: unknown): void {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) {
    count(`500 ${String(cause)}`)
    return
  }
  const { original } = cause as Error & { original?: { code?: unknown; errno?: unknown; sqlState?: unknown } }
  const codes = [original?.code, original?.errno, original?.sqlState].filter((code) => code !== undefined)
  // For a 503, `onError` receives a problem whose cause is the error. Any other error causes a 500. A 500 is counted
  // with the error's stack.
  const prefix = error === cause ? `500 ${cause.stack}` : '503'
  count(`${prefix} ${cause.name} [${codes.join(' ')}] ${cause.message}`)
}

// Sequelize reports failed commits with `console.warn`.
console.warn = (text: unknown) => count(`console.warn ${String(text)}`)
process.on('unhandledRejection', (error) => {
  console.error('unhandled rejection', error)
  process.exit(1)
})

const sequelize = open(target, 10)
const { Account, Item, Task, Tag } = define(sequelize)
const app = express()
const server = createServer(app)
const io = new Server(server)
const { crudRouter } = createCrud({ identity: identityOf, idempotency: { ttl: '10m' } })
const ALL =
  Operations.AllWithBulk + Operations.BulkUpdate + Operations.Replace + Operations.Aggregate + Operations.Export
const limits = { statementTime: 30_000 }
const common = { operations: ALL, authorizePolicy: authenticated, scope: scopeOf, limits, onError } as const
app.use(
  crudRouter(Account, {
    ...common,
    mask: { budget: 'money' },
    relations: { items: { routes: true, write: true }, tags: { routes: true, write: true } },
  }),
)
app.use(
  crudRouter(Item, {
    ...common,
    concurrency: true,
    push: { io },
    relations: { account: { routes: true } },
    query: { search: ['name', 'note', 'account.name'] },
    fields: { meta: { members: { color: 'string', size: 'integer' } } },
  }),
)
app.use(
  crudRouter(Task, {
    ...common,
    operations: ALL + Operations.Restore,
    concurrency: true,
    softDelete: true,
    audit: true,
    // With a hook, every write is a transaction of several statements, on every database.
    hooks: { beforeCreate: () => undefined, beforeUpdate: () => undefined, afterDelete: () => undefined },
  }),
)
app.use(crudRouter(Tag, common))
await sequelize.sync()

process.on('message', (question: Question) => {
  if (question === 'causes') {
    process.send?.({ causes: Object.fromEntries(causes) } satisfies Answers)
    return
  }
  // The garbage collection runs twice, because the first run may only call finalizers.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const compiled = getHeapCodeStatistics()
  const code = compiled.code_and_metadata_size + compiled.bytecode_and_metadata_size
  process.send?.({ memory: { code, heap: heapUsed - code, rss } } satisfies Answers)
})
process.once('disconnect', () => process.exit())

// A client on a busy machine may be idle for more than Node's five seconds. The client could send a request while
// Node.js closes the connection.
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
if (typeof address === 'object' && address !== null) process.send?.({ port: address.port } satisfies Answers)
