// What the channels of node:diagnostics_channel tell of requests, statements and events, and that it is no value of a field.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import { setTimeout as wait } from 'node:timers/promises'
import { inspect } from 'node:util'
import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { io as connect } from 'socket.io-client'
import {
  type CrudOptions,
  crudRouter,
  type EventMessage,
  Operations,
  type RequestMessage,
  type StatementMessage,
} from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import type { TestServer } from '../../support/server.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

// The channels are those of the process.
const test = ava.serial

type Message = RequestMessage | StatementMessage | EventMessage

/** An event of a channel with its message, and what was known of it by then. */
type Heard = readonly [what: string, message: Message, then: Message]

const CHANNELS = ['request', 'statement', 'event'] as const
const STEPS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

function channel(name: (typeof CHANNELS)[number]): TracingChannel<unknown, Message> {
  return tracingChannel(`sequelize-crud-router.${name}`)
}

/** Listens to some of the channels until the end of the test. */
function listen(t: ExecutionContext, names: readonly (typeof CHANNELS)[number][] = CHANNELS): Heard[] {
  const heard: Heard[] = []
  for (const name of names) {
    for (const step of STEPS) {
      const hear = (message: unknown): void => {
        const told = message as Message
        heard.push([`${name} ${step}`, told, { ...told }])
      }
      channel(name)[step].subscribe(hear)
      t.teardown(() => channel(name)[step].unsubscribe(hear))
    }
  }
  return heard
}

/** What was told of at its end. */
function ended<K extends Message['kind']>(heard: readonly Heard[], kind: K): Extract<Message, { kind: K }>[] {
  return heard.flatMap(([what, message]) =>
    what === `${kind} asyncEnd` ? [message as Extract<Message, { kind: K }>] : [],
  )
}

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  readonly Thing: ModelStatic<Model>
  readonly Owner: ModelStatic<Model>
}

const CANARY = 'canary'

async function bench(t: ExecutionContext, options: CrudOptions = {}, io?: Server): Promise<Bench> {
  const server = await openStage({ sequelize: { logging: false } })
  const { app, sequelize } = server
  const plain = { timestamps: false }
  const Owner = sequelize.define('owner', { name: DataTypes.STRING }, plain)
  const Thing = sequelize.define(
    'thing',
    { name: { type: DataTypes.STRING, unique: true }, level: DataTypes.INTEGER },
    plain,
  )
  Owner.hasMany(Thing, { as: 'things', foreignKey: 'ownerId' })
  Thing.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId' })
  const operations = Operations.AllWithBulk | Operations.Export | Operations.Aggregate
  const silent = { operations, onError: () => undefined }
  app.use(
    crudRouter(Thing, {
      ...silent,
      relations: { owner: true },
      ...options,
      ...(io === undefined ? {} : { push: { io } }),
    }),
  )
  app.use(crudRouter(Owner, { ...silent, relations: { things: { routes: true } } }))
  await sequelize.sync()
  await Owner.create({ name: 'Anna' })
  await Thing.bulkCreate([1, 2, 3].map((level) => ({ name: `${CANARY}${level}`, level, ownerId: 1 })))
  t.teardown(server.close)
  return { ...server, Thing, Owner }
}

test('a request is told from its beginning to its end by one object, to which is added what becomes known', async (t) => {
  const server = await bench(t)
  const heard = listen(t, ['request'])
  await server.get('/api/things?filter=Level>1')
  t.deepEqual(
    heard.map(([what]) => what),
    ['request start', 'request end', 'request asyncStart', 'request asyncEnd'],
  )
  const [[, message, then] = [], ...others] = heard
  t.true(others.every(([, each]) => each === message))
  t.like(then, { status: null, duration: null, rows: null, error: null, statements: 0 })
  const { duration, parseTime, planTime, databaseTime, ...told } = message as RequestMessage
  t.deepEqual(told, {
    kind: 'request',
    resource: 'thing',
    route: '/api/things',
    relation: null,
    operation: 'getList',
    method: 'GET',
    status: 200,
    aborted: false,
    rows: 2,
    statements: 1,
    error: null,
  })
  t.true(duration !== null && duration > 0 && databaseTime > 0 && databaseTime <= duration, inspect(message))
  t.true(parseTime > 0 && planTime > 0 && parseTime + planTime <= Number(duration), inspect(message))
})

type Send = (server: TestServer) => Promise<unknown>

const REQUESTS: readonly (readonly [what: string, send: Send, told: Partial<RequestMessage>])[] = [
  ['GET', (server) => server.get('/api/things/1'), { operation: 'getById', status: 200, rows: 1 }],
  ['count', (server) => server.get('/api/things?count=true'), { operation: 'getList', rows: null }],
  ['cursor', (server) => server.get('/api/things?cursor='), { operation: 'getList', rows: 3 }],
  ['aggregate', (server) => server.get('/api/things?aggregate=Count'), { operation: 'aggregate', rows: 1 }],
  ['file', (server) => server.get('/api/things?format=csv'), { operation: 'export', rows: 3 }],
  ['POST', (server) => server.post('/api/things', { name: 'a' }), { operation: 'create', status: 201, rows: 1 }],
  ['PATCH', (server) => server.patch('/api/things/1', { name: 'a' }), { operation: 'update', status: 200, rows: 1 }],
  ['DELETE', (server) => server.delete('/api/things/1'), { operation: 'delete', status: 204, rows: null }],
  [
    'bulk create',
    (server) => server.post('/api/things/bulk', [{ name: 'a' }, { name: 'b' }]),
    { operation: 'bulkCreate', status: 201, rows: 2 },
  ],
  [
    'bulk delete',
    (server) => server.post('/api/things/bulk-delete', [1, 2, 9]),
    { operation: 'bulkDelete', status: 200, rows: 2 },
  ],
  [
    'a route of a relation',
    (server) => server.get('/api/owners/1/things'),
    { resource: 'owner', relation: 'things', operation: 'getList', rows: 3 },
  ],
  [
    'another',
    (server) => server.post('/api/owners/1/things', { name: 'a' }),
    { resource: 'owner', relation: 'things', operation: 'create', status: 201, rows: 1 },
  ],
]

for (const [what, send, told] of REQUESTS) {
  test(`${what} is told with its operation and its records`, async (t) => {
    const server = await bench(t)
    const heard = listen(t)
    await send(server)
    const [request, ...others] = ended(heard, 'request')
    t.like(request, told)
    t.is(others.length, 0)
    const statements = ended(heard, 'statement')
    t.true(statements.length > 0 && statements.every(({ cause }) => cause === request))
    t.is(request?.statements, statements.length)
  })
}

const FAILURES: readonly (readonly [what: string, send: Send, told: object])[] = [
  ['404', (server) => server.get('/api/things/99'), { code: 'not-found', name: 'Problem' }],
  ['400', (server) => server.get(`/api/things?filter=${CANARY}=1`), { code: 'unknown-field', name: 'Problem' }],
  ['a broken rule', (server) => server.post('/api/things', { level: CANARY }), { code: 'validation', name: 'Problem' }],
  [
    '409',
    (server) => server.post('/api/things', { name: `${CANARY}1` }),
    { code: 'conflict', name: 'SequelizeUniqueConstraintError' },
  ],
  ['500', (server) => server.get('/api/things?level=7'), { code: 'internal', name: 'RangeError' }],
]

for (const [what, send, told] of FAILURES) {
  test(`${what} is told as an error by its code and class`, async (t) => {
    const scope: NonNullable<CrudOptions['scope']> = ({ request }) => {
      if (request.query.level === '7') throw new RangeError(CANARY)
      return null
    }
    const server = await bench(t, { scope })
    const heard = listen(t, ['request'])
    const { status } = (await send(server)) as { status: number }
    const [, , [step, error] = []] = heard
    t.is(step, 'request error')
    t.like(error, { status, error: told })
    t.is(ended(heard, 'request').length, 1)
    t.notRegex(inspect(heard, { depth: 9, getters: true }), new RegExp(CANARY))
  })
}

test('statements are told in their order with those of transactions, and their request is theirs', async (t) => {
  const hooks: CrudOptions['hooks'] = {
    beforeCreate: async ({ transaction }) => {
      await server.Owner.findAll({ where: { name: CANARY }, transaction })
    },
  }
  const server = await bench(t, { hooks })
  const heard = listen(t)
  await server.post('/api/things', { name: `${CANARY}4`, level: 4711 })
  const [request] = ended(heard, 'request')
  const statements = ended(heard, 'statement')
  const commands = statements.map(({ command }) => command)
  t.is(commands.at(-1), 'COMMIT')
  t.regex(commands.join(' '), /^(?:START|BEGIN) .*SELECT INSERT/)
  t.true(statements.every(({ cause, duration, error }) => cause === request && duration !== null && error === null))
  t.like(statements[0], { dialect: databaseName === 'mysql' ? 'mysql' : databaseName })
  const select = statements.find(({ command }) => command === 'SELECT')
  t.is(select?.rows, 0)
  t.regex(select?.text ?? '', /owners?/)
  t.is(request?.statements, statements.length)
})

test('a statement that fails is told with the code of the database, and no value in its text', async (t) => {
  const server = await bench(t)
  const heard = listen(t)
  await server.post('/api/things', { name: `${CANARY}1` })
  const failed = heard.find(([what]) => what === 'statement error')?.[1] as StatementMessage
  t.is(failed.command, 'INSERT')
  t.regex(failed.error?.code ?? '', /^(?:SQLITE_CONSTRAINT|23505|ER_DUP_ENTRY|1062)$/)
  t.regex(failed.text, /INSERT .*INTO .things/)
  t.notRegex(inspect(heard, { depth: 9, getters: true }), new RegExp(CANARY))
})

test('no value is told, whoever has written it into a statement', async (t) => {
  const server = await bench(t)
  server.Thing.addScope(
    'defaultScope',
    { where: { ownerId: 1, name: { [Symbol.for('ne')]: `${CANARY}0` } } },
    { override: true },
  )
  server.Thing.addHook('afterFind', () => undefined)
  const heard = listen(t)
  await server.get(`/api/things?filter=Name=${CANARY}1,Owner.Name!=${CANARY}&search=x`)
  await server.get(`/api/things?name=${CANARY}2`)
  await server.patch('/api/things/1', { name: `${CANARY}9`, level: 987_654 })
  await server.patch('/api/owners/1', { name: `it's ${CANARY}` })
  await server.post('/api/things/bulk', [{ name: `${CANARY}"1` }, { name: `${CANARY}'2\\`, level: 987_654 }])
  await server.post('/api/things', { name: CANARY.repeat(100) })
  t.true(ended(heard, 'statement').length > 5)
  const told = inspect(
    heard.map(([what, message]) => [what, message, 'text' in message ? message.text : '']),
    { depth: 9, showHidden: true, getters: true, maxArrayLength: null },
  )
  t.notRegex(told, /canary|987654/)
})

test('requests at once have their own statements', async (t) => {
  const server = await bench(t)
  const heard = listen(t)
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? server.get('/api/things?pageSize=1') : server.patch('/api/things/1', { level: index }),
    ),
  )
  const requests = ended(heard, 'request')
  t.is(requests.length, 40)
  for (const request of requests) {
    const own = ended(heard, 'statement').filter(({ cause }) => cause === request)
    t.is(own.length, request.statements)
    t.true(request.operation === 'update' || own.every(({ command }) => command === 'SELECT'))
    // An instance in which nothing has changed is not stored.
    t.true(request.operation === 'getList' || !isFast || own.some(({ command }) => command === 'UPDATE'))
  }
})

test('a store that is bound to the beginning is there until the end, in hooks of the host too', async (t) => {
  const spans = new AsyncLocalStorage<object>()
  const seen: unknown[] = []
  const server = await bench(t, { hooks: { afterCreate: () => void seen.push(spans.getStore()) } })
  const { start } = channel('request')
  start.bindStore(spans, (message) => ({ of: message }))
  t.teardown(() => start.unbindStore(spans))
  const heard = listen(t, ['request'])
  await server.post('/api/things', { name: 'a' })
  t.deepEqual(seen, [{ of: heard[0]?.[1] }])
})

test('where nobody listens Sequelize is left as it is, and what was heard last is the last that was told', async (t) => {
  const server = await bench(t)
  await server.post('/api/things', { name: 'a' })
  t.false(Object.hasOwn(server.sequelize, 'query'))
  const heard: unknown[] = []
  const hear = { asyncEnd: (message: unknown): unknown => heard.push(message) }
  const requests = tracingChannel('sequelize-crud-router.request')
  requests.subscribe(hear as never)
  await server.get('/api/things/1')
  requests.unsubscribe(hear as never)
  await server.get('/api/things/1')
  t.is(heard.length, 1)
})

test('an event is told with whom it went to, how long it has waited, and the request that made it', async (t) => {
  const io = new Server()
  const server = await bench(t, {}, io)
  io.attach(server.server)
  t.teardown(() => io.engine.close())
  const sockets = [1, 2].map(() =>
    connect(`${server.url}/api/things/hub`, { transports: ['websocket'], forceNew: true }),
  )
  for (const socket of sockets) t.teardown(() => socket.disconnect())
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', () => resolve(null)))))
  const heard = listen(t)
  await server.post('/api/things', { name: CANARY })
  await server.delete('/api/things/1')
  while (ended(heard, 'event').length < 2) await wait(5)
  const [created, deleted] = ended(heard, 'event')
  const [post, remove] = ended(heard, 'request')
  t.like(created, {
    resource: 'thing',
    path: '/api/things/hub',
    event: 'OnCreated',
    payloads: 1,
    rooms: 0,
    recipients: 2,
  })
  t.like(deleted, { event: 'OnDeleted', recipients: 2, error: null })
  t.is(created?.cause, post)
  t.is(deleted?.cause, remove)
  for (const { waited, duration } of [created, deleted].flatMap((each) => each ?? [])) {
    t.true(waited >= 0 && duration !== null && duration >= 0)
  }
  t.notRegex(inspect(ended(heard, 'event'), { depth: 9 }), new RegExp(CANARY))
})

test('an event that goes to rooms says how many, and what it read is its own', async (t) => {
  const io = new Server()
  const scope: NonNullable<CrudOptions['scope']> = ({ request }) => ({
    ownerId: Number(request.headers['x-owner'] ?? 1),
  })
  const server = await bench(t, { scope }, io)
  io.attach(server.server)
  t.teardown(() => io.engine.close())
  const sockets = [1, 1, 2].map((owner) =>
    connect(`${server.url}/api/things/hub`, {
      transports: ['websocket'],
      forceNew: true,
      extraHeaders: { 'x-owner': String(owner) },
    }),
  )
  for (const socket of sockets) t.teardown(() => socket.disconnect())
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', () => resolve(null)))))
  const heard = listen(t)
  await server.patch('/api/things/1', { level: 9 })
  while (ended(heard, 'event').length < 1) await wait(5)
  const [event] = ended(heard, 'event')
  t.like(event, { event: 'OnUpdated', payloads: 1, rooms: 1, recipients: 2 })
  t.is(event?.statements, ended(heard, 'statement').filter(({ cause }) => cause === event).length)
})
