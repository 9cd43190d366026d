// Statements that take longer than limits.statementTime: the database ends them, the client is told 503 `timeout`, and
// nobody else notices.

import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes, QueryTypes, Sequelize } from 'sequelize'
import { compile } from '../../../lib/compile/index.js'
import { type CrudOptions, crudRouter, errorText, type Hook, Operations } from '../../../lib/index.js'
import { databaseName, isNodeSqlite, sqliteOptions } from '../../support/database.js'
import { type Answer, serve, type TestServer } from '../../support/server.js'
import { assertEnded, type Bench, BRIEF, READS, SLOW, slowBench, slowStatement, trueAfter } from '../../support/slow.js'

// By `node:sqlite` nothing ends a statement: one that takes forever would stop this process.
const test = isNodeSqlite ? ava.serial.skip : ava.serial
const isSqlite = databaseName === 'sqlite'
const onServers = isSqlite ? ava.serial.skip : ava.serial
const onSqlite = isSqlite ? test : ava.serial.skip
const onMysql = databaseName === 'mysql' || databaseName === 'mariadb' ? ava.serial : ava.serial.skip

/** Milliseconds that a statement may take in these tests. */
const TIME = 300
/** The milliseconds in which everything must be over, on a machine that has much to do: the statements would take minutes. */
const SOON = 15_000

function bench(
  t: ExecutionContext,
  options: CrudOptions = {},
  more: Parameters<typeof slowBench>[2] = {},
): Promise<Bench> {
  return slowBench(t, { ...options, limits: { statementTime: TIME, ...options.limits } }, more)
}

function assertTimeout(t: ExecutionContext, { status, headers, body }: Answer, what: string): void {
  t.is(status, 503, `${what}: ${JSON.stringify(body)}`)
  t.is(headers.get('retry-after'), '1', what)
  t.is(headers.get('content-type'), 'application/problem+json', what)
  t.is(body.code, 'timeout', what)
  t.is(body.title, 'Service Unavailable', what)
}

/** That everything can be read and written, by more requests at once than there are connections. */
async function assertWell(t: ExecutionContext, server: Bench): Promise<void> {
  const ask = (): Promise<readonly Answer[]> =>
    Promise.all([
      // Each another one: PostgreSQL evaluates what is slow where a row was locked, whether or not it is asked for.
      server.patch('/calm/api/things/2', { level: 1 }),
      ...Array.from({ length: 6 }, () => server.get('/api/things/3')),
      ...Array.from({ length: 6 }, () => server.get('/calm/api/things')),
      server.patch('/api/things/3', { level: 1 }),
    ])
  const areWell = (answers: readonly Answer[]): boolean => answers.every(({ status }) => status === 200)
  let answers = await ask()
  // On a machine that has much to do, any statement may take too long.
  for (let times = 0; times < 3 && !areWell(answers); times += 1) answers = await ask()
  t.true(areWell(answers), answers.map(({ status, text }) => `${status} ${text}`).join('\n'))
}

for (const [kind, hook] of [
  ['statements', null],
  ['instances', 'beforeFind'],
] as const) {
  test(`reads by ${kind} whose statement takes too long are 503 timeout, and are ended in the database`, async (t) => {
    const server = await bench(t, {}, { pool: { max: 2 } })
    if (hook !== null) server.Thing.addHook(hook, () => undefined)
    await server.turn('slow')
    const started = performance.now()
    for (const [what, path, accept = 'application/json'] of READS) {
      assertTimeout(t, await server.get(path, { accept }), what)
      await assertEnded(t, server, what)
    }
    t.true(performance.now() - started > TIME * READS.length)
    t.is(server.errors.length, READS.length)
    t.regex(String(Reflect.get(Object(server.errors[0]), 'cause')), /limits\.statementTime/)
    const many = await Promise.all(Array.from({ length: 6 }, () => server.get('/api/things?count=true')))
    for (const answer of many) assertTimeout(t, answer, 'many at once')
    await assertEnded(t, server, 'many at once')
    await server.turn('fast')
    const since = performance.now()
    await assertWell(t, server)
    t.true(performance.now() - since < SOON)
  })
}

type Send = (server: TestServer) => Promise<Answer>

const WRITES: readonly (readonly [what: string, send: Send])[] = [
  ['PATCH', (server) => server.patch('/api/things/1', { name: 'new' })],
  ['DELETE', (server) => server.delete('/api/things/1')],
  ['bulk delete', (server) => server.post('/api/things/bulk-delete', [1, 2])],
]

test('what onError hears of a statement that took too long has the statement in it, without its values', async (t) => {
  const server = await bench(t)
  await server.turn('slow')
  assertTimeout(t, await server.get('/api/things?filter=Name!=Anna-7421'), 'a filtered page')
  const text = errorText(server.errors.at(-1))
  t.regex(text, /did not end within the 300 milliseconds of limits\.statementTime/)
  t.regex(text, /\n +sql: SELECT .*\bthings\b/)
  t.notRegex(text, /Anna-7421/)
})

for (const [what, send] of WRITES) {
  for (const hooked of [false, true]) {
    test(`${what}${hooked ? ' with hooks' : ''} whose statement takes too long is 503 timeout, and nothing of it is done`, async (t) => {
      const pass: Hook = () => undefined
      const hooks = hooked ? { beforeUpdate: pass, beforeDelete: pass } : {}
      const server = await bench(t, { hooks })
      const there = await server.rows()
      await server.turn('slow')
      for (const answer of await Promise.all([send(server), send(server)])) assertTimeout(t, answer, what)
      await assertEnded(t, server, what)
      t.deepEqual(await server.rows(), there)
      await server.turn('fast')
      await assertWell(t, server)
      t.true((await send(server)).status < 300)
    })
  }
}

onMysql(
  'what the server answers to a statement that it was told to stop does not count, though it is no error',
  async (t) => {
    const beforeCreate: Hook = async ({ transaction }) => {
      await server.sequelize.query("SELECT GET_LOCK('held', 300)", { type: QueryTypes.SELECT, transaction })
    }
    const locks = (sequelize: Sequelize): RequestHandler => {
      const Lock = sequelize.define('lock', { held: DataTypes.INTEGER }, { timestamps: false })
      return crudRouter(Lock, { limits: { statementTime: TIME } })
    }
    const server = await bench(t, { hooks: { beforeCreate } }, { first: [locks] })
    const there = await server.rows()
    await server.other.query('DROP TABLE locks')
    await server.other.query("CREATE VIEW locks AS SELECT id, GET_LOCK('held', 300) AS held FROM things")
    const holder = await server.other.transaction()
    t.teardown(() => holder.rollback())
    await server.other.query("SELECT GET_LOCK('held', 0)", { type: QueryTypes.SELECT, transaction: holder })
    for (const path of ['/api/locks/1', '/api/locks']) assertTimeout(t, await server.get(path), path)
    assertTimeout(t, await server.post('/api/things', { name: 'new' }), 'POST')
    t.deepEqual(await server.rows(), there)
    await server.other.query("SELECT RELEASE_LOCK('held')", { type: QueryTypes.SELECT, transaction: holder })
    t.is((await server.get('/api/locks/1')).status, 200)
  },
)

/** Keeps the process busy for longer than a statement may take, once as many more statements as `after` says have been sent. */
function busyLogging(): { after: number; readonly logging: () => void } {
  const busy = {
    after: 0,
    logging: (): void => {
      busy.after -= 1
      if (busy.after !== 0) return
      setImmediate(() => {
        for (const end = performance.now() + TIME + 50; performance.now() < end; );
      })
    },
  }
  return busy
}

test('a statement that ends in time is no timeout, though other work keeps the process busy for longer', async (t) => {
  const busy = busyLogging()
  const server = await bench(t, { hooks: { beforeUpdate: () => undefined } }, { logging: busy.logging })
  const requests: readonly (readonly [what: string, statements: number, send: () => Promise<Answer>])[] = [
    ['a page', 1, () => server.get('/api/things')],
    ['GET', 1, () => server.get('/api/things/1')],
    ['a count', 1, () => server.get('/api/things?count=true')],
    ['PATCH', 3, () => server.patch('/api/things/1', { name: 'new' })],
  ]
  for (const [what, statements, send] of requests) {
    t.is((await send()).status, 200)
    for (let statement = 1; statement <= statements; statement += 1) {
      busy.after = statement
      t.is((await send()).status, 200, `${what}, statement ${statement}`)
      t.true(busy.after <= 0, `${what} has fewer than ${statement} statements`)
    }
  }
})

// The driver prepares a statement in one step and runs it in another. The process is needed in between.
onSqlite('nor does the time count in which the process was too busy to start a statement', async (t) => {
  const busy = busyLogging()
  const server = await bench(t, { hooks: { beforeUpdate: () => undefined } }, { logging: busy.logging })
  await server.other.query(`CREATE TRIGGER brief BEFORE UPDATE ON things BEGIN SELECT ${trueAfter(0.03)}; END`)
  for (let statement = 1; statement <= 3; statement += 1) {
    busy.after = statement
    t.is((await server.patch('/api/things/1', { name: `${statement}` })).status, 200)
  }
})

test('all that a write has done before the statement that takes too long is undone, and its key may be used again', async (t) => {
  let isSlow = true
  const afterCreate: Hook = async ({ transaction }) => {
    await server.sequelize.query("INSERT INTO things (name) VALUES ('by the hook')", { transaction })
    if (isSlow) await server.sequelize.query(isSqlite ? slowStatement() : `SELECT ${SLOW}`, { transaction })
  }
  const server = await bench(t, { hooks: { afterCreate }, idempotency: true })
  const there = await server.rows()
  const headers = { 'idempotency-key': '"a key"' }
  assertTimeout(t, await server.post('/api/things', { name: 'new' }, headers), 'POST')
  await assertEnded(t, server, 'POST')
  t.deepEqual(await server.rows(), there)
  isSlow = false
  const again = await server.post('/api/things', { name: 'new' }, headers)
  t.is(again.status, 201, JSON.stringify(again.body))
  t.is((await server.rows()).length, there.length + 2)
  await assertWell(t, server)
})

test('a filter over a relation without an index, on twenty thousand records, is ended in time', async (t) => {
  const server = await bench(t)
  const { other } = server
  const digits =
    '(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)'
  const number = 'a.d + 10 * b.d + 100 * c.d + 1000 * e.d'
  for (let times = 0; times < 2; times += 1) {
    await other.query(
      `INSERT INTO things (name, level, ${databaseName === 'postgres' ? '"ownerId"' : 'ownerId'}) SELECT 'many', ${number}, ${number} FROM ${digits} a, ${digits} b, ${digits} c, ${digits} e`,
    )
  }
  const started = performance.now()
  const path = `/api/things?filter=${encodeURIComponent('Parts.Count(Name=*zz|Level>1)>100|Parts.Count(Level<5,Name=*q)>7')}&count=true`
  assertTimeout(t, await server.get(path), 'the filter')
  t.true(performance.now() - started < SOON)
  await assertEnded(t, server, 'the filter')
  await assertWell(t, server)
})

test('what is not of the resource takes as long as it likes on the same pool, meanwhile and afterwards', async (t) => {
  const server = await bench(t, {}, { pool: { max: 2 } })
  const { sequelize } = server
  await server.turn('slow')
  for (let times = 0; times < 4; times += 1) {
    const [own, timeout] = await Promise.all([
      sequelize.query(BRIEF, { type: QueryTypes.SELECT }),
      server.get('/api/things?count=true'),
    ])
    t.is(own.length, 1)
    assertTimeout(t, timeout, 'the resource')
    t.is((await sequelize.query(BRIEF, { type: QueryTypes.SELECT })).length, 1)
  }
})

test('servers limit the time of statements by default, SQLite does not, and false is no limit', (t) => {
  const sequelize = new Sequelize({ dialect: databaseName, ...(isSqlite ? sqliteOptions : {}), logging: false })
  const Thing = sequelize.define('thing', { name: DataTypes.STRING })
  t.is(compile(Thing).limits.statementTime, isSqlite ? false : 30_000)
  t.is(compile(Thing, { limits: { statementTime: 5 } }).limits.statementTime, 5)
  t.is(compile(Thing, { limits: { statementTime: false } }).limits.statementTime, false)
})

onServers('the pool has all of its connections again after many timeouts', async (t) => {
  const server = await bench(t, {}, { pool: { max: 3, acquire: 5000 } })
  await server.turn('slow')
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.get('/api/things')))
    for (const answer of answers) assertTimeout(t, answer, `round ${round}`)
  }
  await server.turn('fast')
  const holders = await Promise.all([1, 2, 3].map(() => server.sequelize.transaction()))
  for (const holder of holders) await holder.rollback()
  await assertWell(t, server)
})

onSqlite('statements of the resource do not keep those of others waiting', async (t) => {
  const server = await bench(t, { limits: { statementTime: 3000 } })
  await server.turn('slow')
  const slow = Promise.all([1, 2, 3].map(() => server.get('/api/things?count=true')))
  await wait(100)
  const started = performance.now()
  t.is((await server.sequelize.query('SELECT COUNT(*) AS n FROM switches', { type: QueryTypes.SELECT })).length, 1)
  t.true(performance.now() - started < 2500)
  for (const answer of await slow) assertTimeout(t, answer, 'slow')
})

onSqlite('in memory, where everybody has the same handle, there is no limit', async (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  const app = express()
  app.use(crudRouter(Thing, { limits: { statementTime: 1 }, operations: Operations.AllWithBulk }))
  await sequelize.sync()
  const server = await serve(app)
  t.teardown(() => server.close())
  t.is((await server.post('/api/things', { name: 'new' })).status, 201)
  t.is((await server.get('/api/things/1')).status, 200)
})
