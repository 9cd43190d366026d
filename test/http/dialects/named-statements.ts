// Statements that PostgreSQL prepares once on each connection, and all that can come between a name and what is behind it.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, type Options, QueryTypes, Sequelize } from 'sequelize'
import { type CrudOptions, createCrud, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, type TestDatabase } from '../../support/database.js'
import { listPath } from '../../support/league.js'
import { freePort } from '../../support/program.js'
import { serve, type TestServer } from '../../support/server.js'
import { serverOptions } from '../../support/servers.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'postgres' ? ava.serial : ava.serial.skip
// Nothing has a name where Sequelize sends every statement.
const named = isFast ? test : ava.serial.skip

interface Served extends TestDatabase, TestServer {
  readonly Item: ModelStatic<Model>
}

function itemOf(sequelize: Sequelize): ModelStatic<Model> {
  return sequelize.define(
    'Item',
    { name: DataTypes.STRING(40), level: DataTypes.INTEGER, kind: DataTypes.STRING(10) },
    { timestamps: false, indexes: [{ fields: ['kind'] }] },
  )
}

function routerOf(Item: ModelStatic<Model>, options: CrudOptions = {}): ReturnType<typeof crudRouter> {
  return crudRouter(Item, { operations: Operations.AllWithBulk, ...options })
}

/** Ten items behind one connection, whatever it is told to do. */
async function served(t: ExecutionContext, options: CrudOptions = {}, more: Options = {}): Promise<Served> {
  const server = await openStage({ sequelize: { pool: { max: 1 }, ...more } })
  const Item = itemOf(server.sequelize)
  await server.sequelize.sync()
  await Item.bulkCreate(
    Array.from({ length: 10 }, (_, index) => ({ name: `item ${index + 1}`, level: index, kind: 'a' })),
  )
  server.app.use(routerOf(Item, options))
  t.teardown(server.close)
  return { ...server, Item }
}

interface Prepared {
  readonly name: string
  readonly statement: string
  readonly runs: number
}

/** What is prepared by a name on the connection of the pool. */
async function preparedOn(sequelize: Sequelize): Promise<readonly Prepared[]> {
  const sql =
    'SELECT name, statement, (generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements ORDER BY 1'
  return sequelize.query<Prepared>(sql, { type: QueryTypes.SELECT, logging: false })
}

async function times(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) await work(index)
}

named('a statement that runs often is parsed once on a connection', async (t) => {
  const { sequelize, get } = await served(t)
  await times(4, () => get('/api/items/3'))
  t.deepEqual(await preparedOn(sequelize), [])
  await times(16, async (index) => t.is((await get(`/api/items/${1 + (index % 10)}`)).body.id, 1 + (index % 10)))
  const found = await preparedOn(sequelize)
  t.is(found.length, 1)
  t.is(found[0]?.runs, 16)
  t.regex(found[0]?.name ?? '', /^crud_[0-9a-z]+_[0-9a-f]{40}$/)
  t.regex(found[0]?.statement ?? '', /FROM "Items".* = \$1/)
})

named('writes have names as well', async (t) => {
  const { sequelize, post, patch, delete: remove } = await served(t)
  await times(10, async (index) => {
    const { status, body } = await post('/api/items', { name: `new ${index}`, level: index })
    t.is(status, 201)
    t.is((await patch(`/api/items/${body.id}`, { level: 7 })).body.level, 7)
    t.is((await remove(`/api/items/${body.id}`)).status, 204)
  })
  const words = (await preparedOn(sequelize)).map(({ statement }) => /^\w+/.exec(statement)?.[0])
  for (const word of ['INSERT', 'UPDATE', 'DELETE']) t.true(words.includes(word), `${word}: ${words.join()}`)
})

test('the rows of a bulk create are no statement to keep', async (t) => {
  const { sequelize, post } = await served(t)
  await times(8, () => post('/api/items/bulk', [{ name: 'x' }, { name: 'y' }]))
  t.deepEqual(await preparedOn(sequelize), [])
})

for (const [where, options] of [
  ['the resource', { router: { namedStatements: false }, all: {} }],
  ['createCrud', { router: {}, all: { namedStatements: false } }],
] as const) {
  test(`namedStatements: false of ${where} leaves statements without a name`, async (t) => {
    const server = await openStage({ sequelize: { pool: { max: 1 } } })
    const { app, sequelize } = server
    const Item = itemOf(sequelize)
    await sequelize.sync()
    app.use(createCrud(options.all).crudRouter(Item, options.router))
    t.teardown(server.close)
    await times(10, () => server.get('/api/items'))
    t.deepEqual(await preparedOn(sequelize), [])
  })
}

test('where the host has hooks around queries or tries failed ones again, all goes through Sequelize', async (t) => {
  const { sequelize, get } = await served(t, {}, { retry: { match: [/deadlock/], max: 2 } })
  await times(10, () => get('/api/items/3'))
  t.deepEqual(await preparedOn(sequelize), [])
  const hooked = await served(t)
  // The first request reads the types of columns, too.
  await hooked.get('/api/items/3')
  let seen = 0
  hooked.sequelize.addHook('beforeQuery', () => {
    seen += 1
  })
  await times(10, () => hooked.get('/api/items/3'))
  t.is(seen, 10)
  t.deepEqual(await preparedOn(hooked.sequelize), [])
})

named('a new connection prepares by itself', async (t) => {
  const { sequelize, get } = await served(t)
  await times(10, () => get('/api/items/3'))
  const pool = Object(sequelize).connectionManager.pool
  const lost = once(await theOnly(sequelize), 'error').catch((error: unknown) => [error])
  const aside = new Sequelize({ ...serverOptions('postgres'), logging: false })
  await aside.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${sequelize.config.database}'`,
  )
  await aside.close()
  await lost
  while (pool.size > 0) await wait(5)
  await times(10, async () => t.is((await get('/api/items/3')).status, 200))
  const [found] = await preparedOn(sequelize)
  t.is(found?.runs, 10)
})

/** The driver's client of a pool of one. */
async function theOnly(sequelize: Sequelize): Promise<import('node:events').EventEmitter> {
  const manager = Object(sequelize).connectionManager
  const client = await manager.getConnection({ type: 'SELECT' })
  manager.releaseConnection(client)
  return client
}

test('a host that lets go of all that is prepared breaks nothing', async (t) => {
  const { sequelize, get, post, patch } = await served(t, { hooks: { beforeUpdate: () => undefined } })
  const work = async (): Promise<void> => {
    t.is((await get('/api/items/3')).status, 200)
    t.is((await post('/api/items', { name: 'x' })).status, 201)
    t.is((await patch('/api/items/4', { level: 1 })).status, 200)
  }
  await times(8, work)
  await sequelize.query('DEALLOCATE ALL', { logging: false })
  await times(8, work)
  t.is(await sequelize.models.Item?.count(), 26)
})

test('what has a name survives a change of its table', async (t) => {
  const { sequelize, get, patch } = await served(t, { hooks: { beforeUpdate: () => undefined } })
  const work = async (): Promise<void> => {
    t.is((await get('/api/items/3')).body.name, 'item 3')
    t.is((await get('/api/items?sort=name&pageSize=2')).body.items[1].name, 'item 10')
    const { status, text } = await patch('/api/items/4', { level: 1, name: 'item 4' })
    t.is(status, 200, text)
  }
  await times(8, work)
  await sequelize.query('ALTER TABLE "Items" ALTER COLUMN name TYPE text', { logging: false })
  await times(8, work)
  // By names of their own, so that it is prepared again.
  const names = (await preparedOn(sequelize)).map(({ name }) => name)
  t.true(!isFast || names.length > 3, names.join())
})

test('a write whose transaction is lost because a name was is done anew', async (t) => {
  const { sequelize, get, patch } = await served(t, { hooks: { beforeUpdate: () => undefined } })
  await times(8, () => patch('/api/items/4', { level: 1 }))
  await sequelize.query('DEALLOCATE ALL', { logging: false })
  t.is((await patch('/api/items/4', { level: 2 })).status, 200)
  t.is((await get('/api/items/4')).body.level, 2)
})

/** Filters of two comparisons, no two of one shape. */
const SHAPES = ['name', 'level', 'name,level', 'level,name'].flatMap((sort) =>
  ['=', '!=', '<', '<=', '>', '>='].flatMap((one) =>
    ['=', '!=', '<', '<=', '>', '>='].flatMap((other) =>
      [',', '|'].map((word) => ({ filter: `name${one}1${word}level${other}1`, sort, count: 'none', select: 'name' })),
    ),
  ),
)

/** A resource whose model promises more than its columns hold until another program changes them. */
async function changing(t: ExecutionContext, options: CrudOptions) {
  const server = await openStage({ sequelize: { pool: { max: 1 } } })
  const { app, sequelize } = server
  const attributes = { n: DataTypes.BIGINT, ratio: DataTypes.DOUBLE, at: DataTypes.DATE(3), version: DataTypes.BIGINT }
  const Sample = sequelize.define('Sample', attributes, { timestamps: false })
  await sequelize.query(
    'CREATE TABLE "Samples" (id serial PRIMARY KEY, n int, ratio real, at date, version bigint NOT NULL DEFAULT 0)',
  )
  app.use(crudRouter(Sample, options))
  t.teardown(server.close)
  return server
}

test('a column that another program makes wider takes its values at once, alone and in transactions', async (t) => {
  const { sequelize, get, post, patch } = await changing(t, {
    concurrency: { rowVersion: 'version' },
    operations: Operations.AllWithBulk,
  })
  const requests = [
    (n: number) => get(`/api/samples?n=${n}`),
    (n: number) => post('/api/samples', { n }),
    (n: number) => patch('/api/samples/1', { n }, { 'If-Match': '*' }),
    (n: number) => post('/api/samples/bulk', [{ n }, { n: n + 1 }]),
  ]
  await times(8, async (index) => {
    for (const request of requests) t.true((await request(index)).status < 300)
  })
  t.true(!isFast || (await preparedOn(sequelize)).length >= 2)
  t.is((await get('/api/samples?n=3000000000')).body.totalCount, 0)
  t.is((await post('/api/samples', { n: 3_000_000_000 })).status, 400)
  await sequelize.query('ALTER TABLE "Samples" ALTER COLUMN n TYPE bigint')
  for (const request of requests) {
    const { status, text } = await request(3_000_000_000)
    t.true(status < 300, text)
  }
  t.is((await get('/api/samples?n=3000000000')).body.totalCount, 3)
})

test('names end after some minutes, since old types compare values without an error', async (t) => {
  const { sequelize, get } = await changing(t, {})
  await sequelize.query(`INSERT INTO "Samples" (ratio, at) VALUES (0.1, '2024-05-06'), (0.1, '2024-05-06')`)
  const countBy = (filter: string) => async (): Promise<unknown> =>
    (await get(`/api/samples?count=true&${filter}`)).text
  const byRatio = countBy('ratio=0.1')
  const byInstant = countBy('at=2024-05-06T07:08:09.000Z')
  await times(8, byRatio)
  await times(8, byInstant)
  await sequelize.query(`ALTER TABLE "Samples" ALTER COLUMN ratio TYPE double precision USING 0.1,
    ALTER COLUMN at TYPE timestamptz USING '2024-05-06 07:08:09+00'`)
  const now = performance.now
  t.teardown(() => {
    performance.now = now
  })
  performance.now = () => now.call(performance) + 121_000
  t.is(await byRatio(), '{"count":2}')
  t.is(await byInstant(), '{"count":2}')
})

named('names are bounded on every connection, whatever shapes come', async (t) => {
  const { sequelize, get } = await served(t)
  for (const shape of SHAPES.slice(0, 260)) {
    const path = listPath('/api/items', shape)
    for (const { status, text } of await Promise.all(Array.from({ length: 6 }, () => get(path))))
      t.is(status, 200, text)
  }
  const count = (await preparedOn(sequelize)).length
  t.true(count >= 150 && count <= 250, String(count))
})

named('a filter whose values are skewed is planned by its value', async (t) => {
  const { sequelize, get, Item } = await served(t)
  const rows = Array.from({ length: 20_000 }, (_, index) => ({ name: `n ${index}`, level: index, kind: 'common' }))
  await Item.bulkCreate(rows, { logging: false })
  await sequelize.query('ANALYZE "Items"', { logging: false })
  const path = (kind: string): string => listPath('/api/items', { filter: `kind=${kind}`, sort: '-id', count: 'none' })
  // Read from the end of the key's index, all rows would be looked through for the ten at its beginning.
  await times(30, () => get(path('common')))
  t.is((await get(path('a'))).body.items.length, 10)
  const [found] = await preparedOn(sequelize)
  const sql = `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "${found?.name}"('a', 21, 0)`
  const [plan] = await sequelize.query(sql, { type: QueryTypes.SELECT, logging: false })
  t.log(JSON.stringify(plan))
  t.true(rowsRead(plan) < 100)
})

/** The rows that a plan has looked at. */
function rowsRead(plan: unknown): number {
  if (typeof plan !== 'object' || plan === null) return 0
  const own = Number(Reflect.get(plan, 'Actual Rows') ?? 0) + Number(Reflect.get(plan, 'Rows Removed by Filter') ?? 0)
  return own + Object.values(plan).reduce<number>((sum, each) => sum + rowsRead(each), 0)
}

/** A pooler that gives each transaction another process of the server, or null where the machine has none. */
async function pooler(t: ExecutionContext, database: string): Promise<number | null> {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' })
  } catch {
    return null
  }
  const { host, port: upstream, username, password } = serverOptions('postgres')
  const folder = await mkdtemp(join(tmpdir(), 'crud-pgbouncer-'))
  const port = await freePort()
  const settings = [
    '[databases]',
    `${database} = host=${host} port=${upstream} user=${username}${password === '' ? '' : ` password=${password}`}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 3',
    'ignore_startup_parameters = extra_float_digits,options',
    // Hands out the process that has rested longest, so that each transaction meets another one.
    'server_round_robin = 1',
  ]
  await writeFile(join(folder, 'pgbouncer.ini'), settings.join('\n'))
  // It does not run as root.
  const who = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  execFileSync('chmod', ['-R', 'a+rX', folder])
  const child = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...who })
  t.teardown(async () => {
    const gone = child.exitCode === null ? once(child, 'exit') : null
    child.kill('SIGINT')
    await gone
    await rm(folder, { recursive: true, force: true })
  })
  for (let tries = 0; tries < 200; tries += 1) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
    if (isThere) return port
    await wait(50)
  }
  throw new Error('pgbouncer never listened')
}

test('behind pgbouncer in transaction mode nothing has a name, and every answer is the right one', async (t) => {
  const { sequelize, Item } = await served(t)
  const port = await pooler(t, String(sequelize.config.database))
  if (port === null) {
    t.log('there is no pgbouncer on this machine')
    t.pass()
    return
  }
  const options: Options = { ...serverOptions('postgres'), database: String(sequelize.config.database), port }
  // Two applications behind one pooler, each with a pool of its own.
  const servers = await Promise.all(
    [0, 1].map(async () => {
      const through = new Sequelize({ ...options, dialectOptions: {}, logging: false, pool: { max: 4 } })
      const server = await serve(express().use(routerOf(itemOf(through), { hooks: { beforeUpdate: () => undefined } })))
      t.teardown(async () => {
        await server.close()
        await through.close()
      })
      return { server, through }
    }),
  )
  const work = async ({ server }: (typeof servers)[number], index: number): Promise<void> => {
    const id = 1 + (index % 10)
    t.like(await server.get(`/api/items/${id}`), { status: 200, body: { id, name: `item ${id}` } })
    const list = await server.get(listPath('/api/items', { filter: `name=item ${id}`, sort: '-name' }))
    t.is(list.body.items?.[0].id, id, list.text)
    t.is((await server.patch(`/api/items/${id}`, { level: index })).status, 200)
  }
  await Promise.all(servers.flatMap((one) => [0, 1, 2, 3].map((at) => times(15, (index) => work(one, index + at)))))
  for (const { through } of servers) t.deepEqual(await preparedOn(through), [])
  t.is(await Item.count(), 10)
})
