// What a request gets when its connection to the database ends, or the database gives a statement up: 503 with
// `Retry-After`, and the pool finds connections that work again; and what goes to which of several servers. SQLite has no
// connection to lose.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import {
  DataTypes,
  type Model,
  type ModelStatic,
  type Options,
  QueryTypes,
  Sequelize,
  type Transaction,
} from 'sequelize'
import { Server } from 'socket.io'
import { io as client } from 'socket.io-client'
import { type CrudOptions, crudRouter, type Hook, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase, type TestDatabase } from '../../support/database.js'
import { type Answer, serve, type TestServer } from '../../support/server.js'
import { serverOptions } from '../../support/servers.js'

const test = databaseName === 'sqlite' ? ava.serial.skip : ava.serial

// Sequelize says on the console that a broken connection could not be rolled back.
console.warn = () => undefined

function serverOfTests(): ReturnType<typeof serverOptions> {
  if (databaseName === 'sqlite') throw new TypeError('SQLite has no server')
  return serverOptions(databaseName)
}

interface Bench extends TestServer {
  readonly Thing: ModelStatic<Model>
}

async function bench(t: ExecutionContext, sequelize: Sequelize, options: CrudOptions = {}): Promise<Bench> {
  const server = await serveThings(t, sequelize, options)
  await sequelize.sync()
  return server
}

const attributes = { name: DataTypes.STRING }
const plain = { timestamps: false }

async function serveThings(t: ExecutionContext, sequelize: Sequelize, options: CrudOptions = {}): Promise<Bench> {
  const Thing = sequelize.define('thing', attributes, plain)
  const app = express()
  app.use(crudRouter(Thing, { operations: Operations.AllWithBulk, onError: () => undefined, ...options }))
  const server = await serve(app)
  t.teardown(server.close)
  return { ...server, Thing }
}

/** An empty database until the end of the test. */
async function opened(t: ExecutionContext, options: Options = {}): Promise<TestDatabase> {
  const database = await openDatabase(options)
  // AVA tears down in reverse: the server, which is opened later, goes first.
  t.teardown(database.close)
  return database
}

function assertUnavailable(t: ExecutionContext, { status, headers, body }: Answer, what: string): void {
  t.is(status, 503, what)
  t.is(headers.get('retry-after'), '1', what)
  t.is(headers.get('content-type'), 'application/problem+json', what)
  t.is(body.title, 'Service Unavailable', what)
}

/** Ends a connection of another Sequelize from the server's side, and waits until the server is rid of it. */
async function kill(server: Sequelize, connection: object): Promise<void> {
  // The drivers' own connections, which Sequelize does not declare.
  const { processID, threadId } = connection as { processID?: number; threadId?: number }
  const id = Number(processID ?? threadId)
  const [end, left] =
    databaseName === 'postgres'
      ? [`SELECT pg_terminate_backend(${id})`, `SELECT 1 FROM pg_stat_activity WHERE pid = ${id}`]
      : [`KILL ${id}`, `SELECT 1 FROM information_schema.processlist WHERE id = ${id}`]
  // It may be gone already.
  await server.query(end).catch(() => undefined)
  for (;;) {
    const rows = await server.query(left, { type: QueryTypes.SELECT })
    if (rows.length === 0) return
  }
}

const REQUESTS: readonly (readonly [what: string, send: (server: TestServer) => Promise<Answer>])[] = [
  ['GET', (server) => server.get('/api/things/1')],
  ['list', (server) => server.get('/api/things?filter=Name=one&pageSize=1')],
  ['count', (server) => server.get('/api/things?count=true')],
  ['POST', (server) => server.post('/api/things', { name: 'new' })],
  ['PATCH', (server) => server.patch('/api/things/1', { name: 'new' })],
  ['DELETE', (server) => server.delete('/api/things/1')],
  ['bulk create', (server) => server.post('/api/things/bulk', [{ name: 'new' }, { name: 'newer' }])],
  ['bulk delete', (server) => server.post('/api/things/bulk-delete', [1, 2])],
]

const HOOKED: CrudOptions = { hooks: { beforeCreate: pass, beforeUpdate: pass, beforeDelete: pass } }

function pass(): void {}

for (const [how, options] of [
  ['', {}],
  [' with hooks', HOOKED],
] as const) {
  for (const [what, send] of REQUESTS) {
    test(`${what}${how} whose connection ends before any of its statements is 503 and changes nothing`, async (t) => {
      const { sequelize } = await opened(t)
      const server = await bench(t, sequelize, options)
      const other = new Sequelize({ ...serverOfTests(), database: sequelize.getDatabaseName(), logging: false })
      t.teardown(() => other.close())
      const rows = (): Promise<object[]> => other.query('SELECT * FROM things ORDER BY id', { type: QueryTypes.SELECT })
      await server.Thing.bulkCreate([{ name: 'one' }, { name: 'two' }])
      const before = await rows()
      // The catalogue is read before the first request.
      await server.get('/api/things/1')
      let statements = 0
      let doomed = 0
      sequelize.addHook('beforeQuery', async (_, { connection }) => {
        statements += 1
        if (statements === doomed) await kill(other, connection as object)
      })
      // On behind the last statement, which is the COMMIT where there is one.
      for (;;) {
        statements = 0
        doomed += 1
        const answer = await send(server)
        if (statements >= doomed) {
          assertUnavailable(t, answer, `${what} before statement ${doomed}`)
          t.deepEqual(await rows(), before)
        } else if (answer.status === 503) {
          // The driver had not heard yet that the connection that was killed last is gone.
          doomed -= 1
        } else {
          t.true(answer.status < 300, `${what} after ${statements} statements: ${answer.status}`)
          break
        }
      }
      t.true(statements > 0)
    })
  }
}

/** Lets bytes through to the server of the tests until it is cut: then whoever asked hears nothing any more. */
async function openProxy(t: ExecutionContext) {
  const { host, port } = serverOfTests()
  /** Begins for each open connection what lets nothing through any more. */
  const silencing = new Set<() => void>()
  const silence = (): void => {
    for (const each of silencing) each()
  }
  const proxy = { port: 0, cutAfter: null as string | null, silence }
  const listener = createServer((client) => {
    const upstream = connect(port, host)
    let isCut = false
    let isSilent = false
    const fallSilent = (): void => {
      isSilent = true
    }
    silencing.add(fallSilent)
    client.on('close', () => silencing.delete(fallSilent))
    client.on('data', (chunk) => {
      if (isSilent) return
      isCut ||= proxy.cutAfter !== null && chunk.includes(proxy.cutAfter)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (isSilent) return
      if (isCut) client.destroy()
      else client.write(chunk)
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => socket.destroy())
      socket.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  proxy.port = (listener.address() as AddressInfo).port
  t.teardown(() => listener.close())
  return proxy
}

test('a connection that breaks behind the COMMIT is 503, although the write has happened', async (t) => {
  const proxy = await openProxy(t)
  const { sequelize } = await opened(t, { host: '127.0.0.1', port: proxy.port })
  const server = await bench(t, sequelize, HOOKED)
  proxy.cutAfter = 'COMMIT'
  assertUnavailable(t, await server.post('/api/things', { name: 'there' }), 'POST')
  proxy.cutAfter = null
  const { status, body } = await server.get('/api/things?name=there')
  t.is(status, 200)
  t.is(body.totalCount, 1)
})

for (const [what, hook] of [
  ['statements', null],
  ['instances', 'beforeFind'],
] as const) {
  test(`connections that fall silent while they read by ${what} fail one request each, and the pool goes on`, async (t) => {
    const proxy = await openProxy(t)
    const max = 2
    const { sequelize } = await opened(t, { host: '127.0.0.1', port: proxy.port, pool: { max, acquire: 30_000 } })
    const server = await bench(t, sequelize, { limits: { statementTime: 2000 } })
    if (hook !== null) server.Thing.addHook(hook, () => undefined)
    await server.post('/api/things', { name: 'one' })
    const ask = (): Promise<readonly Answer[]> =>
      Promise.all(Array.from({ length: 8 }, () => server.get('/api/things/1')))
    // All connections are open then: no limit of statements holds for one that falls silent while it is being opened.
    const held = await Promise.all(Array.from({ length: max }, () => sequelize.transaction()))
    await Promise.all(held.map((transaction) => transaction.commit()))
    for (const { status } of await ask()) t.is(status, 200)
    proxy.silence()
    const answers = await ask()
    const refused = answers.filter(({ status }) => status !== 200)
    t.true(refused.length > 0 && refused.length <= max, `${refused.length}`)
    for (const answer of refused) {
      assertUnavailable(t, answer, 'GET')
      t.is(answer.body.code, 'timeout')
    }
    for (const { status } of await ask()) t.is(status, 200)
  })
}

for (const [what, options] of [
  ['a write of one statement', {}],
  ['a write in a transaction', HOOKED],
] as const) {
  test(`${what} on a connection that falls silent is 503 in time, and is not written`, async (t) => {
    const proxy = await openProxy(t)
    const { sequelize } = await opened(t, { host: '127.0.0.1', port: proxy.port, pool: { max: 1, acquire: 30_000 } })
    const server = await bench(t, sequelize, { limits: { statementTime: 2000, writeTime: 4000 }, ...options })
    t.is((await server.post('/api/things', { name: 'one' })).status, 201)
    proxy.silence()
    const [first, second] = await Promise.all([
      server.post('/api/things', { name: 'lost' }),
      wait(100).then(() => server.get('/api/things/1')),
    ])
    assertUnavailable(t, first, 'POST')
    t.is(second.status, 200)
    t.is((await server.get('/api/things?name=lost')).body.totalCount, 0)
  })
}

/** What makes the database give up, from within a transaction. */
type GiveUp = (sequelize: Sequelize, transaction: Transaction) => Promise<unknown>

const CANCEL = databaseName === 'postgres' ? 'SELECT pg_cancel_backend(pg_backend_pid())' : 'KILL QUERY CONNECTION_ID()'

const GIVEN_UP: readonly (readonly [what: string, giveUp: GiveUp])[] = [
  ['that somebody cancels', (sequelize, transaction) => sequelize.query(CANCEL, { transaction })],
  [
    'that takes longer than the server allows',
    async (sequelize, transaction) => {
      if (databaseName === 'postgres') {
        await sequelize.query("SET LOCAL statement_timeout = '10ms'", { transaction })
        return sequelize.query('SELECT pg_sleep(60)', { transaction })
      }
      // A sleep may end early without an error, on MariaDB when its time is over before the sleep begins. A join does not.
      const columns = 'information_schema.columns'
      const join = `COUNT(*) FROM ${columns} a, ${columns} b, ${columns} c`
      const isMariaDB = /MariaDB/.test(await sequelize.databaseVersion())
      const sql = isMariaDB
        ? `SET STATEMENT max_statement_time = 0.01 FOR SELECT ${join}`
        : `SELECT /*+ MAX_EXECUTION_TIME(10) */ ${join}`
      return sequelize.query(sql, { transaction })
    },
  ],
]

for (const [what, giveUp] of GIVEN_UP) {
  test(`a statement ${what} is 503, and nothing is written`, async (t) => {
    const { sequelize } = await opened(t)
    let isTrying = true
    const afterCreate: Hook = async ({ transaction }) => {
      if (isTrying) await giveUp(sequelize, transaction)
    }
    const server = await bench(t, sequelize, { hooks: { afterCreate } })
    assertUnavailable(t, await server.post('/api/things', { name: 'new' }), 'POST')
    t.is(await server.Thing.count(), 0)
    isTrying = false
    t.is((await server.post('/api/things', { name: 'new' })).status, 201)
  })
}

for (const [how, options] of [
  ['', {}],
  [' with hooks', HOOKED],
] as const) {
  test(`a database that is read-only, as one that has lost its rank, is 503 for writes${how} and answers reads`, async (t) => {
    // One connection, on which everything that is set stays set.
    const { sequelize } = await opened(t, { pool: { max: 1, idle: 60_000 } })
    const server = await bench(t, sequelize, options)
    await server.post('/api/things/bulk', [{ name: 'one' }, { name: 'two' }])
    const onlyReads =
      databaseName === 'postgres' ? 'SET default_transaction_read_only = on' : 'SET SESSION TRANSACTION READ ONLY'
    for (const [what, send] of REQUESTS) {
      // A connection that refuses a write is closed, and the next one is another.
      await sequelize.query(onlyReads)
      const answer = await send(server)
      if (/GET|list|count/.test(what)) t.is(answer.status, 200, what)
      else assertUnavailable(t, answer, what)
    }
  })
}

test('a pool that has no connection to give in time is 503', async (t) => {
  const sequelize = new Sequelize({ ...serverOfTests(), logging: false, pool: { max: 1, acquire: 500 } })
  t.teardown(() => sequelize.close())
  // Where the time is too short for the first connection, that is there a little later.
  const holder = await sequelize.transaction().catch(() => sequelize.transaction())
  const server = await serveThings(t, sequelize)
  const answers = await Promise.all(REQUESTS.map(async ([what, send]) => [what, await send(server)] as const))
  for (const [what, answer] of answers) assertUnavailable(t, answer, what)
  await holder.rollback()
})

/** Writes to one database and reads from another, which is never told of anything. */
function replicated(t: ExecutionContext, main: TestDatabase, replica: TestDatabase): Sequelize {
  const named = ({ sequelize }: TestDatabase): object => ({ ...serverOfTests(), database: sequelize.getDatabaseName() })
  const replication = { write: named(main), read: [named(replica)] }
  const sequelize = new Sequelize({ ...serverOfTests(), logging: false, replication })
  t.teardown(() => sequelize.close())
  return sequelize
}

for (const [how, options] of [
  ['', {}],
  [' with hooks', HOOKED],
] as const) {
  test(`where reads go to a replica, writes${how} and what they read do not, however far it is behind`, async (t) => {
    const [main, replica] = [await opened(t), await opened(t)]
    const sequelize = replicated(t, main, replica)
    const server = await serveThings(t, sequelize, options)
    const things = [main, replica].map((database) => database.sequelize.define('thing', attributes, plain))
    for (const Thing of things) await Thing.sync()
    const rows = (): Promise<unknown[]> => Promise.all(things.map((Thing) => Thing.findAll({ raw: true })))
    t.like(await server.post('/api/things', { name: 'one' }), { status: 201, body: { id: 1, name: 'one' } })
    t.like(await server.patch('/api/things/1', { name: 'changed' }), { status: 200, body: { id: 1, name: 'changed' } })
    const many = await server.post('/api/things/bulk', [{ name: 'two' }, { name: 'three' }])
    t.is(many.status, 201)
    t.deepEqual(many.body[1], { id: 3, name: 'three' })
    t.deepEqual(await rows(), [
      [
        { id: 1, name: 'changed' },
        { id: 2, name: 'two' },
        { id: 3, name: 'three' },
      ],
      [],
    ])
    t.is((await server.get('/api/things/1')).status, 404)
    t.is((await server.get('/api/things')).body.totalCount, 0)
    t.deepEqual((await server.post('/api/things/bulk-delete', [2, 3, 4])).body, { deleted: 2 })
    t.is((await server.delete('/api/things/1')).status, 204)
    t.deepEqual(await rows(), [[], []])
  })
}

const HIDING: readonly (readonly [how: string, hide: (Thing: ModelStatic<Model>) => void])[] = [
  ['a default scope', (Thing) => Thing.addScope('defaultScope', { where: {} }, { override: true })],
  ['find hooks', (Thing) => Thing.addHook('beforeFind', pass)],
]

for (const [how, hide] of HIDING) {
  test(`under ${how}, what is pushed is read where it was written, however far a replica is behind`, async (t) => {
    const [main, replica] = [await opened(t), await opened(t)]
    const sequelize = replicated(t, main, replica)
    const io = new Server()
    const server = await serveThings(t, sequelize, { push: { io } })
    io.attach(server.server)
    t.teardown(() => io.engine.close())
    hide(server.Thing)
    for (const { sequelize: each } of [main, replica]) await each.define('thing', attributes, plain).sync()
    const socket = client(`${server.url}/api/things/hub`, { transports: ['websocket'], forceNew: true })
    t.teardown(() => socket.disconnect())
    await new Promise((resolve) => socket.once('connect', () => resolve(null)))
    const heard: unknown[] = []
    socket.onAny((...event) => heard.push(event))
    const { body } = await server.post('/api/things', { name: 'one' })
    const end = performance.now() + 10_000
    while (heard.length === 0 && performance.now() < end) await wait(10)
    t.deepEqual(heard, [['OnCreated', body]])
    t.is((await server.get('/api/things/1')).status, 404)
  })
}

test('whether a record is there is asked where it is written, also for a write that has nothing to write', async (t) => {
  const [main, replica] = [await opened(t), await opened(t)]
  const sequelize = replicated(t, main, replica)
  const server = await serveThings(t, sequelize, { concurrency: true })
  const versioned = { ...attributes, rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 } }
  for (const { sequelize: each } of [main, replica]) await each.define('thing', versioned, plain).sync()
  t.is((await server.post('/api/things', { name: 'one' })).status, 201)
  const current = { 'if-match': 'W/"0"' }
  t.is((await server.patch('/api/things/1', { name: 5 }, current)).status, 400)
  t.is((await server.patch('/api/things/1', { name: 'x' }, { 'if-match': 'W/"7"' })).status, 412)
  t.is((await server.patch('/api/things/1', { name: 'x' })).status, 428)
  t.is((await server.delete('/api/things/1', { 'if-match': 'W/"7"' })).status, 412)
  t.is((await server.patch('/api/things/1', {}, current)).status, 200)
})

test('a write that is empty answers with the record as it was written, however far a replica is behind', async (t) => {
  const [main, replica] = [await opened(t), await opened(t)]
  const server = await serveThings(t, replicated(t, main, replica))
  for (const { sequelize: each } of [main, replica]) await each.define('thing', attributes, plain).sync()
  t.is((await server.post('/api/things', { name: 'one' })).status, 201)
  t.like(await server.patch('/api/things/1', {}), { status: 200, body: { id: 1, name: 'one' } })
  t.is((await server.patch('/api/things/1', { name: 5 })).status, 400)
})
