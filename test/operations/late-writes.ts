// Writes that wait for a lock longer than `limits.writeTime`: they are answered 503, and must not be written when the lock is gone.
// Nor may another application's connections end with them.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Options, QueryTypes, Sequelize } from 'sequelize'
import { crudRouter, errorText, Operations } from '../../lib/index.js'
import { serve } from '../support/server.js'
import {
  type DatabaseServer,
  MARIADB,
  makeCertificate,
  mariaDbAt,
  OPENSSL,
  PGBOUNCER,
  POSTGRES,
  startMariaDb,
  startPgBouncer,
  startPostgres,
  startProxy,
} from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

const TIME = 400
/** Times that each of the writes is sent. */
const ROUNDS = 4
/** Connections of another application on each server, before and after those of the pool are opened. */
const STRANGERS = 25

function connect(t: ExecutionContext, options: Options): Sequelize {
  const sequelize = new Sequelize({ ...options, logging: false })
  t.teardown(() => sequelize.close())
  return sequelize
}

const MAKE = [
  'CREATE TABLE things (id SERIAL PRIMARY KEY, name VARCHAR(50) UNIQUE)',
  "INSERT INTO things (name) VALUES ('one'), ('two')",
]
const MEND = ['DELETE FROM things', "INSERT INTO things VALUES (1, 'one'), (2, 'two')"]

/** Opens connections of another application, and tells how many of them are still there. */
async function strangers(t: ExecutionContext, options: Options): Promise<() => Promise<number>> {
  const pool = { max: STRANGERS, min: STRANGERS, idle: 600_000 }
  const sequelize = connect(t, { ...options, pool })
  const number = sequelize.getDialect() === 'postgres' ? 'pg_backend_pid()' : 'CONNECTION_ID()'
  const numbers = async (): Promise<Set<number>> => {
    const sleep = sequelize.getDialect() === 'postgres' ? 'pg_sleep(0.3)' : 'SLEEP(0.3)'
    const asked = Array.from({ length: STRANGERS }, () =>
      sequelize
        .query(`SELECT ${number} AS number, ${sleep} AS slept`, { type: QueryTypes.SELECT })
        .then(([row]) => Number(Object(row).number))
        .catch(() => Number.NaN),
    )
    return new Set(await Promise.all(asked))
  }
  const before = await numbers()
  return async () => {
    const after = await numbers()
    return [...before].filter((each) => !after.has(each)).length
  }
}

/** Sends writes that wait for locks on all of these servers, by one address. */
async function contest(t: ExecutionContext, options: Options, servers: readonly DatabaseServer[]): Promise<void> {
  const all = servers.map((server) => connect(t, { ...server.options, pool: { max: 3 } }))
  const counts: (() => Promise<number>)[] = []
  for (const other of all) for (const sql of MAKE) await other.query(sql)
  for (const server of servers) counts.push(await strangers(t, server.options))
  const sequelize = connect(t, { ...options, pool: { max: 4 } })
  const Thing = sequelize.define('thing', { name: DataTypes.STRING(50) }, { timestamps: false })
  let last: unknown
  const app = express()
  const common = { operations: Operations.AllWithBulk, onError: (error: unknown) => (last = error) }
  app.use(crudRouter(Thing, { ...common, limits: { writeTime: TIME } }))
  const server = await serve(app)
  t.teardown(() => server.close())
  const ask = (): Promise<unknown> => server.get('/api/things/1')
  await Promise.all(Array.from({ length: 8 }, ask))
  for (const each of servers) counts.push(await strangers(t, each.options))

  const figures = { requests: 0, '503': 0, other: 0, 'written after 503': 0, 'strangers ended': 0 }
  const rows = (): Promise<unknown> =>
    Promise.all(all.map((other) => other.query('SELECT * FROM things ORDER BY id', { type: QueryTypes.SELECT })))
  const before = JSON.stringify(await rows())
  const writes = [
    () => server.post('/api/things', { name: 'new' }),
    () => server.patch('/api/things/1', { name: 'late' }),
    () => server.delete('/api/things/1'),
    () => server.post('/api/things/bulk-delete', [1]),
  ]
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const write of writes) {
      const locks = await Promise.all(all.map((other) => other.transaction()))
      for (const [at, other] of all.entries()) {
        const transaction = locks[at]
        if (transaction === undefined) continue
        await other.query("UPDATE things SET name = 'held' WHERE id = 1", { transaction })
        await other.query("INSERT INTO things (name) VALUES ('new')", { transaction })
      }
      const answers = await Promise.all([write(), write()])
      for (const { status } of answers) {
        figures.requests += 1
        figures[status === 503 ? '503' : 'other'] += 1
      }
      for (const lock of locks) await lock.rollback()
      await wait(300)
      if (JSON.stringify(await rows()) === before) continue
      figures['written after 503'] += 1
      for (const other of all) for (const sql of MEND) await other.query(sql)
    }
  }
  for (const count of counts) figures['strangers ended'] += await count()
  tell(t, figures)
  t.is(figures['503'], figures.requests)
  t.is(figures['written after 503'], 0)
  t.is(figures['strangers ended'], 0)
  // The pool goes on.
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.patch('/api/things/2', { name: 'two' })))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200], errorText(last))
}

rig(POSTGRES)('late writes on PostgreSQL are not written', async (t) => {
  const postgres = using(t, await startPostgres())
  await contest(t, postgres.options, [postgres])
})

rig(POSTGRES, PGBOUNCER)('late writes behind PgBouncer in transaction mode are not written', async (t) => {
  const postgres = using(t, await startPostgres())
  const pooler = using(t, await startPgBouncer({ server: postgres.port }))
  await contest(t, pooler.options, [postgres])
})

rig(POSTGRES, OPENSSL)('late writes on PostgreSQL over TLS are not written', async (t) => {
  const { certFile, keyFile, ssl } = using(t, makeCertificate())
  const settings = { ssl: 'on', ssl_cert_file: certFile, ssl_key_file: keyFile }
  const postgres = using(t, await startPostgres({ settings }))
  await contest(t, { ...postgres.options, dialectOptions: { ssl: { ca: ssl.ca } } }, [postgres])
})

rig(
  POSTGRES,
  PGBOUNCER,
  OPENSSL,
)('late writes behind PgBouncer that asks for certificates are not written', async (t) => {
  const certificate = using(t, makeCertificate())
  const postgres = using(t, await startPostgres())
  const pooler = using(t, await startPgBouncer({ server: postgres.port, certificate }))
  await contest(t, pooler.options, [postgres])
})

for (const dialect of ['mariadb', 'mysql'] as const) {
  rig(MARIADB)(`late writes on MariaDB by ${dialect} are not written`, async (t) => {
    const server = using(t, await startMariaDb())
    await contest(t, mariaDbAt(server.port, dialect), [{ ...server, options: mariaDbAt(server.port, 'mysql') }])
  })

  rig(MARIADB)(`late writes on two servers of MariaDB behind one address by ${dialect} are not written`, async (t) => {
    const servers = [using(t, await startMariaDb()), using(t, await startMariaDb({ settings: { 'server-id': 2 } }))]
    const proxy = using(t, await startProxy(...servers.map(({ port }) => port)))
    await contest(
      t,
      mariaDbAt(proxy.port, dialect),
      servers.map((server) => ({ ...server, options: mariaDbAt(server.port, 'mysql') })),
    )
  })
}
