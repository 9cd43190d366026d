// What is printed where the host has no onError: every kind of failure, with values that no line may carry.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Options, type Sequelize, UniqueConstraintError } from 'sequelize'
import { Server } from 'socket.io'
import { io as connect } from 'socket.io-client'
import { type CrudOptions, crudRouter, type Hook, Operations, problemHandler } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import type { Answer, TestServer } from '../../support/server.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

// The console is that of the process.
const test = ava.serial
const onServers = databaseName === 'sqlite' ? ava.serial.skip : ava.serial

const CANARY = 'canary'

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  readonly Thing: ModelStatic<Model>
  readonly lines: string[]
}

/** A resource without onError, and what is printed. */
async function bench(t: ExecutionContext, options: CrudOptions = {}, more: Options = {}): Promise<Bench> {
  const { error } = console
  const lines: string[] = []
  console.error = (...given: readonly unknown[]) => lines.push(given.map(String).join(' '))
  t.teardown(() => {
    console.error = error
  })
  const server = await openStage({ sequelize: { logging: false, ...more } })
  const { app, sequelize } = server
  const attributes = { name: { type: DataTypes.STRING, unique: true }, level: DataTypes.INTEGER, data: DataTypes.JSON }
  const Thing = sequelize.define('thing', attributes, { timestamps: false })
  app.use(crudRouter(Thing, { operations: Operations.AllWithBulk | Operations.Export, ...options }))
  app.get('/own', () => {
    throw Object.assign(new TypeError('mine'), { sql: CANARY, value: CANARY })
  })
  app.use(problemHandler())
  await sequelize.sync()
  await Thing.bulkCreate([{ name: `${CANARY}1`, level: 1 }, { name: `${CANARY}2` }])
  t.teardown(server.close)
  return { ...server, Thing, lines }
}

function assertSilent(t: ExecutionContext, { lines }: Bench, { status, text }: Answer, what = ''): void {
  t.true(status === 500 || status === 503, `${what}: ${status} ${text}`)
  t.true(lines.length > 0, what)
  const said = lines.splice(0).join('\n')
  t.notRegex(said, /canary/i, what)
  t.regex(said, /^\S+.*\n {4}at /, what)
}

for (const [way, hooks] of [
  ['by statements', []],
  ['by instances', ['beforeSave', 'beforeFind', 'beforeDestroy', 'beforeBulkDestroy']],
] as const) {
  for (const benchmark of [false, true]) {
    test(`a logging function that fails changes no reply, and onError is told: ${way}, benchmark ${benchmark}`, async (t) => {
      const errors: unknown[] = []
      let isBroken = false
      let calls = 0
      let failed = 0
      const logging = (): unknown => {
        calls += 1
        if (isBroken) failed += 1
        if (isBroken && calls % 2 === 0) throw new Error('no disk')
        return isBroken ? Promise.reject(new Error('no disk')) : undefined
      }
      const options: CrudOptions = { onError: (error) => errors.push(error), idempotency: true }
      const server = await bench(t, options, { logging: logging as () => void, benchmark })
      const { Thing } = server
      for (const hook of hooks) Thing.addHook(hook, () => undefined)
      const requests: readonly (readonly [status: number, send: () => Promise<Answer>])[] = [
        [201, () => server.post('/api/things', { name: 'new', level: 3 }, { 'Idempotency-Key': 'one' })],
        [200, () => server.patch('/api/things/1', { level: 7 })],
        [200, () => server.get('/api/things/1')],
        [200, () => server.get('/api/things?filter=level=7')],
        [409, () => server.patch('/api/things/2', { name: 'new' })],
        [201, () => server.post('/api/things/bulk', [{ name: 'b1' }, { name: 'b2' }])],
        [409, () => server.post('/api/things/bulk', [{ name: 'b3' }, { name: 'b1' }])],
        [200, () => server.post('/api/things/bulk-delete', [2])],
        [204, () => server.delete('/api/things/3')],
      ]
      for (const [status, send] of requests) {
        isBroken = true
        errors.length = 0
        failed = 0
        const answer = await send()
        isBroken = false
        t.is(answer.status, status, answer.text)
        // With `benchmark`, Sequelize logs no statement that the database refuses.
        t.true(failed > 0 || (status === 409 && benchmark && !isFast))
        t.is(errors.length, failed)
        t.true(errors.every((error) => error instanceof Error && error.message === 'no disk'))
      }
      const rows = await Thing.findAll({ order: ['id'], attributes: ['name', 'level'], raw: true })
      t.deepEqual(rows as readonly object[], [
        { name: `${CANARY}1`, level: 7 },
        { name: 'b1', level: null },
        { name: 'b2', level: null },
      ])
    })
  }
}

const THROWN: readonly (readonly [what: string, thrown: () => unknown])[] = [
  ['text', () => `the ${CANARY}`],
  ['an object', () => ({ name: CANARY })],
  ['an error with members', () => Object.assign(new Error('x'), { record: { name: CANARY }, input: CANARY })],
  ['an error with a cause', () => new Error('x', { cause: CANARY })],
  [
    'several errors of another table',
    () => {
      const said = { sqlState: '23000', sqlMessage: CANARY }
      const parent = Object.assign(new Error(`Duplicate entry '${CANARY}'`), said, {
        sql: `INSERT INTO t VALUES ('${CANARY}')`,
      })
      return new AggregateError([new UniqueConstraintError({ parent, fields: { [CANARY]: CANARY } })], 'several')
    },
  ],
]

for (const [what, thrown] of THROWN) {
  test(`a hook that throws ${what} is logged without a value`, async (t) => {
    const beforeCreate: Hook = () => {
      throw thrown()
    }
    const server = await bench(t, { hooks: { beforeCreate } })
    const answer = await server.post('/api/things', { name: `${CANARY}3` })
    t.is(answer.status, 500)
    const said = server.lines.join('\n')
    t.true(said.length > 0)
    t.notRegex(said, /canary/)
  })
}

const FAILING: readonly (readonly [what: string, sql: string])[] = [
  ['a table that is not there', `SELECT * FROM nowhere WHERE name = '${CANARY}'`],
  ['a column that is not there', `SELECT missing FROM things WHERE name = '${CANARY}'`],
  ['bad syntax', `SELECT FROM WHERE '${CANARY}' ORDER things '${CANARY}'`],
  ['a comment', `SELECT missing /* ${CANARY} */ FROM things -- ${CANARY}`],
]

for (const [what, sql] of FAILING) {
  test(`a statement of a hook that fails for ${what} is logged without a value, with its text`, async (t) => {
    const beforeUpdate: Hook = async ({ transaction }) => {
      await server.sequelize.query(sql, { transaction })
    }
    const server = await bench(t, { hooks: { beforeUpdate } })
    const answer = await server.patch('/api/things/1', { name: `${CANARY}3` })
    t.regex(server.lines.join('\n'), /sql: SELECT/)
    assertSilent(t, server, answer)
  })
}

test('a table that is gone is logged without a value, whatever is asked of it', async (t) => {
  const server = await bench(t)
  await server.Thing.drop()
  const requests: readonly (() => Promise<Answer>)[] = [
    () => server.get(`/api/things?filter=Name=${CANARY}`),
    () => server.get(`/api/things?name=${CANARY}`),
    () => server.get(`/api/things?filter=Name=${CANARY}&format=csv`),
    () => server.post('/api/things', { name: CANARY, data: { [CANARY]: CANARY } }),
    () => server.patch('/api/things/1', { name: CANARY }),
    () => server.post('/api/things/bulk', [{ name: CANARY }, { name: `${CANARY}4`, data: [CANARY] }]),
    () => server.post('/api/things/bulk-delete', [1, 2]),
    () => server.delete('/api/things/1'),
  ]
  for (const send of requests) assertSilent(t, server, await send(), String(send))
})

test('a stored value that cannot be read is logged without it', async (t) => {
  if (databaseName !== 'sqlite') return t.pass()
  const server = await bench(t)
  await server.sequelize.query(`UPDATE things SET data = '{"a": ${CANARY}'`)
  const { status } = await server.get('/api/things/1')
  t.true(status === 200 || status === 500)
  t.notRegex(server.lines.join('\n'), /canary/)
})

test('identities, scopes and policies that fail are logged without a value', async (t) => {
  const fail = (): never => {
    throw Object.assign(new RangeError('no'), { token: CANARY, claims: { name: CANARY } })
  }
  for (const options of [{ identity: fail }, { scope: fail }, { authorizePolicy: fail }] as const) {
    const server = await bench(t, options)
    assertSilent(t, server, await server.get(`/api/things?name=${CANARY}`), Object.keys(options).join())
  }
})

test('errors of routes of the host are logged without their members', async (t) => {
  const server = await bench(t)
  assertSilent(t, server, await server.get(`/own?name=${CANARY}`))
})

test('a write whose time is over is logged without a value', async (t) => {
  const beforeCreate: Hook = () => new Promise(() => undefined)
  const server = await bench(t, { hooks: { beforeCreate }, limits: { writeTime: 100 } })
  assertSilent(t, server, await server.post('/api/things', { name: CANARY }))
})

test('a database that is gone is logged without a value', async (t) => {
  const server = await bench(t)
  const { sequelize } = server
  await sequelize.close()
  assertSilent(t, server, await server.get(`/api/things?name=${CANARY}`), 'GET')
  assertSilent(t, server, await server.post('/api/things', { name: CANARY }), 'POST')
})

onServers('a pool that is exhausted is logged without a value', async (t) => {
  const server = await bench(t, {}, { pool: { max: 1, acquire: 500 } })
  const holder = await server.sequelize.transaction()
  assertSilent(t, server, await server.get(`/api/things?name=${CANARY}`), 'GET')
  assertSilent(t, server, await server.post('/api/things', { name: CANARY }), 'POST')
  await holder.rollback()
})

onServers('a statement that somebody cancels is logged without a value, with its text', async (t) => {
  const cancel =
    databaseName === 'postgres' ? 'SELECT pg_cancel_backend(pg_backend_pid())' : 'KILL QUERY CONNECTION_ID()'
  const afterCreate: Hook = async ({ transaction }) => {
    await server.sequelize.query(`${cancel} /* ${CANARY} */`, { transaction })
  }
  const server = await bench(t, { hooks: { afterCreate } })
  assertSilent(t, server, await server.post('/api/things', { name: CANARY }))
})

test('an event that cannot be told is logged without a value', async (t) => {
  const io = new Server()
  const server = await bench(t, { push: { io } })
  io.attach(server.server)
  t.teardown(() => io.engine.close())
  const socket = connect(`${server.url}/api/things/hub`, { transports: ['websocket'], forceNew: true })
  t.teardown(() => socket.disconnect())
  await new Promise((resolve) => socket.once('connect', () => resolve(null)))
  const { adapter } = io.of('/api/things/hub')
  adapter.broadcast = () => {
    throw Object.assign(new Error('no'), { packet: CANARY })
  }
  await server.patch('/api/things/1', { name: `${CANARY}9` })
  const end = performance.now() + 10_000
  while (server.lines.length === 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5))
  t.regex(
    server.lines.join('\n'),
    /^Error: push: OnUpdated of \/api\/things\/hub could not be sent\.\n[\s\S]*cause: Error: no\n/,
  )
  t.notRegex(server.lines.join('\n'), /canary/)
})
