// A transaction around each request: of the host's, whose answers go out before COMMIT or wait for it, and of `transaction: 'request'`.
// A deferred constraint refuses each third write at COMMIT, and connections are killed meanwhile.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes, QueryTypes, Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { Namespace } from '../support/continuation.js'
import { serve } from '../support/server.js'
import { type DatabaseServer, onServer, POSTGRES, startPostgres } from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

const WRITES = 150
const AT_ONCE = 10

// It is global: this file is a process of its own.
Sequelize.useCLS(new Namespace())

const TABLES = [
  'CREATE TABLE owners (id SERIAL PRIMARY KEY)',
  'INSERT INTO owners DEFAULT VALUES',
  `CREATE TABLE things (id SERIAL PRIMARY KEY, name TEXT UNIQUE,
    "ownerId" INTEGER REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED)`,
  'CREATE TABLE logs (id SERIAL PRIMARY KEY, line TEXT)',
]

/** The first recipe that comes to mind: the answer goes out before COMMIT. */
function around(sequelize: Sequelize): RequestHandler {
  return (_req, res, next) => {
    sequelize
      .transaction(
        () =>
          new Promise<void>((resolve, reject) => {
            res.once('finish', () => (res.statusCode < 400 ? resolve() : reject(new Error('refused'))))
            res.once('close', () => reject(new Error('the client has left')))
            next()
          }),
      )
      .catch((error: unknown) => (res.headersSent ? undefined : next(error)))
  }
}

/** As docs/transactions.md has it. */
function held(sequelize: Sequelize): RequestHandler {
  return (_req, res, next) => {
    const end = res.end
    const answered = new Promise<unknown[]>((resolve) => {
      res.end = (...given: unknown[]) => {
        resolve(given)
        return res
      }
    })
    sequelize
      .transaction(async () => {
        next()
        const given = await answered
        if (res.statusCode >= 400) throw given
        return given
      })
      .catch((error: unknown) => {
        if (Array.isArray(error)) return error
        for (const name of res.getHeaderNames()) res.removeHeader(name)
        res.status(503).set('Retry-After', '1')
        return []
      })
      .then((given) => Reflect.apply(end, res, given))
  }
}

interface Figures {
  readonly requests: number
  readonly '2xx': number
  readonly '409': number
  readonly '503': number
  readonly other: number
  readonly '2xx and not written': number
  readonly 'written and not 2xx': number
  readonly 'logs without a record': number
}

async function load(t: ExecutionContext, server: DatabaseServer, by: string, kills: boolean): Promise<Figures> {
  await onServer(server.options, 'TRUNCATE things, logs')
  const sequelize = new Sequelize({ ...server.options, logging: false, pool: { max: 4 } })
  const admin = new Sequelize({ ...server.options, logging: false, pool: { max: 1 } })
  const plain = { timestamps: false }
  const Thing = sequelize.define('thing', { name: DataTypes.TEXT, ownerId: DataTypes.INTEGER }, plain)
  const Log = sequelize.define('log', { line: DataTypes.TEXT }, plain)
  const app = express()
  app.use((error: unknown, _req: unknown, res: express.Response, _next: unknown) => {
    res.status(503).json(String(error))
  })
  if (by === 'a transaction around') app.use(around(sequelize))
  if (by === 'a transaction that the answer waits for') app.use(held(sequelize))
  app.use(
    crudRouter(Thing, {
      operations: Operations.AllWithBulk,
      onError: () => undefined,
      hooks: { afterCreate: async ({ instance }) => void (await Log.create({ line: instance.get('name') })) },
      ...(by === "transaction: 'request'" ? { transaction: 'request' } : {}),
    }),
  )
  const { url, close } = await serve(app)
  let isOver = false
  const killing = (async () => {
    while (kills && !isOver) {
      await wait(30)
      // Not of a connection that is being opened: `pg` throws what ends one where nobody catches it.
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'
        AND backend_start < now() - interval '0.2 seconds' ORDER BY random() LIMIT 1`)
    }
  })()
  const statuses = new Map<string, number>()
  const send = async (at: number): Promise<void> => {
    const name = `thing ${at}`
    const response = await fetch(`${url}/api/things`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, ownerId: at % 3 === 0 ? 99 : 1 }),
    }).catch(() => null)
    await response?.text().catch(() => '')
    statuses.set(name, response?.status ?? 0)
  }
  for (let at = 0; at < WRITES; at += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(at + index)))
  }
  isOver = true
  await killing
  await wait(200)
  const namesIn = async (table: string, column: string): Promise<Set<string>> => {
    const rows = await admin.query(`SELECT ${column} AS name FROM ${table}`, { type: QueryTypes.SELECT })
    return new Set(rows.map((row) => String(Object(row).name)))
  }
  const [written, logged] = [await namesIn('things', 'name'), await namesIn('logs', 'line')]
  await close()
  await sequelize.close()
  await admin.close()
  const all = [...statuses]
  const count = (isOne: (status: number, name: string) => boolean): number =>
    all.filter(([name, status]) => isOne(status, name)).length
  const figures: Figures = {
    requests: all.length,
    '2xx': count((status) => status >= 200 && status < 300),
    '409': count((status) => status === 409),
    '503': count((status) => status === 503),
    other: count((status) => status >= 300 && status !== 409 && status !== 503),
    '2xx and not written': count((status, name) => status >= 200 && status < 300 && !written.has(name)),
    'written and not 2xx': count((status, name) => (status < 200 || status > 299) && written.has(name)),
    'logs without a record': [...logged].filter((name) => !written.has(name)).length,
  }
  tell(t, { by, kills: kills ? 'yes' : 'no', ...figures })
  return figures
}

rig(POSTGRES)('answers wait for the COMMIT of the transaction around a request', async (t) => {
  const server = using(t, await startPostgres())
  await onServer(server.options, ...TABLES)
  const refused = WRITES / 3
  // What the recipes are for.
  t.is((await load(t, server, 'a transaction around', false))['2xx and not written'], refused)
  const recipe = await load(t, server, 'a transaction that the answer waits for', false)
  t.like(recipe, { '2xx': WRITES - refused, '503': refused, '2xx and not written': 0, 'written and not 2xx': 0 })
  const option = await load(t, server, "transaction: 'request'", false)
  t.like(option, { '2xx': WRITES - refused, '409': refused, '2xx and not written': 0, 'written and not 2xx': 0 })
  t.is(option['logs without a record'], 0)
})

rig(POSTGRES)("with transaction: 'request' nothing is lost or half written while connections are killed", async (t) => {
  const server = using(t, await startPostgres())
  await onServer(server.options, ...TABLES)
  const figures = await load(t, server, "transaction: 'request'", true)
  t.like(figures, { other: 0, '2xx and not written': 0, 'logs without a record': 0 })
  // A connection that breaks during COMMIT tells nobody whether it was made.
  t.true(figures['written and not 2xx'] <= 3)
})
