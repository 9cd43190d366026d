import { tmpdir } from 'node:os'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, type Options, Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations, Problem } from '../../../lib/index.js'
import { databaseName, openDatabase, sqliteOptions, type TestDatabase } from '../../support/database.js'
import { type Answer, serve, type TestServer } from '../../support/server.js'

const test = ava.serial

interface Bench extends TestServer {
  readonly database: TestDatabase
  readonly Plain: ModelStatic<Model>
  readonly Hooked: ModelStatic<Model>
  readonly heard: unknown[]
}

/** Two models over a database of the test's own: one that takes the short ways, one with a hook. */
async function bench(t: ExecutionContext, database: TestDatabase, options: CrudOptions = {}): Promise<Bench> {
  const { sequelize } = database
  const Plain = sequelize.define('plain', { name: DataTypes.STRING, level: DataTypes.INTEGER }, named('plain'))
  const Hooked = sequelize.define(
    'hooked',
    { name: DataTypes.STRING, level: DataTypes.INTEGER },
    { ...named('hooked'), hooks: { afterSave: () => undefined, afterDestroy: () => undefined } },
  )
  await sequelize.sync()
  const heard: unknown[] = []
  const app = express()
  for (const model of [Plain, Hooked]) {
    const onError = (error: unknown) => void heard.push(error)
    app.use(crudRouter(model, { operations: Operations.AllWithBulk, onError, ...options }))
  }
  const server = await serve(app)
  t.teardown(async () => {
    await server.close()
    await database.close()
  })
  return { ...server, database, Plain, Hooked, heard }
}

function named(name: string): { name: { singular: string; plural: string } } {
  return { name: { singular: name, plural: name } }
}

type Send = (server: TestServer, base: string) => Promise<Answer>

const EVERY: readonly (readonly [what: string, send: Send])[] = [
  ['GET', (server, base) => server.get(`${base}/1`)],
  ['list', (server, base) => server.get(`${base}?filter=Name=x&sort=-Name`)],
  ['count', (server, base) => server.get(`${base}?count=true`)],
  ['POST', (server, base) => server.post(base, { name: 'x' })],
  ['PATCH', (server, base) => server.patch(`${base}/1`, { name: 'x' })],
  ['empty PATCH', (server, base) => server.patch(`${base}/1`, {})],
  ['DELETE', (server, base) => server.delete(`${base}/1`)],
  ['bulk create', (server, base) => server.post(`${base}/bulk`, [{ name: 'x' }])],
  ['bulk delete', (server, base) => server.post(`${base}/bulk-delete`, [1, 2])],
]

function assertUnavailable(t: ExecutionContext, { status, headers, body }: Answer, what: string): void {
  t.is(status, 503, what)
  t.is(headers.get('retry-after'), '1', what)
  t.is(headers.get('content-type'), 'application/problem+json', what)
  t.deepEqual(
    body,
    {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.6.4',
      title: 'Service Unavailable',
      code: 'unavailable',
      status: 503,
      detail: 'The database is not available at the moment. Try again later.',
    },
    what,
  )
}

test('a closed Sequelize is 503 with Retry-After on every route, and onError hears why', async (t) => {
  const server = await bench(t, await openDatabase())
  await server.post('/api/plain', { name: 'x' })
  const { sequelize } = server.database
  await sequelize.close()
  // The end of the test closes it too, which not every driver bears twice.
  sequelize.close = async () => undefined
  for (const base of ['/api/plain', '/api/hooked']) {
    for (const [what, send] of EVERY) {
      server.heard.length = 0
      assertUnavailable(t, await send(server, base), `${what} ${base}`)
      const [error] = server.heard
      t.true(error instanceof Problem && error.cause instanceof Error, what)
      t.is(server.heard.length, 1, what)
    }
  }
})

/** A Sequelize whose database is not there. */
function unreachable(): Sequelize {
  // A folder is no file, and nobody listens on the port that is for discarding.
  return databaseName === 'sqlite'
    ? new Sequelize({ ...sqliteOptions, storage: tmpdir(), logging: false })
    : new Sequelize({ dialect: databaseName, host: '127.0.0.1', port: 9, logging: false })
}

for (const [what, send] of EVERY) {
  test(`a database that cannot be reached is 503: ${what}`, async (t) => {
    const Lost = unreachable().define('lost', { name: DataTypes.STRING }, named('lost'))
    const app = express()
    app.use(crudRouter(Lost, { operations: Operations.AllWithBulk, onError: () => undefined }))
    const server = await serve(app)
    t.teardown(server.close)
    assertUnavailable(t, await send(server, '/api/lost'), what)
  })
}

/** A database that does not wait long for locks. */
async function openImpatient(): Promise<TestDatabase> {
  const database = await openDatabase({ retry: { max: 1 } })
  if (database.name === 'sqlite') {
    await database.sequelize.query('PRAGMA busy_timeout = 20')
  } else {
    // MySQL waits for at least a second.
    const wait = database.name === 'postgres' ? "SET lock_timeout = '100ms'" : 'SET innodb_lock_wait_timeout = 0'
    database.sequelize.addHook('afterConnect', async (connection) => {
      // The drivers' own connections, which Sequelize does not declare.
      await new Promise<unknown>((resolve, reject) => {
        const { query } = connection as { query(sql: string, done?: (error: unknown) => void): unknown }
        const result = query.call(connection, wait, (error: unknown) => (error ? reject(error) : resolve(null)))
        if (result instanceof Promise) result.then(resolve, reject)
      })
    })
  }
  return database
}

test('a record that another transaction has locked is 503, and can be written when that one has ended', async (t) => {
  const server = await bench(t, await openImpatient(), { limits: { retries: 1 } })
  // Where BEGIN fails Sequelize says on the console that there is nothing to roll back.
  const { warn } = console
  console.warn = () => undefined
  t.teardown(() => {
    console.warn = warn
  })
  const { sequelize } = server.database
  for (const model of [server.Plain, server.Hooked]) {
    const base = `/api/${model.name}`
    const { id } = (await server.post(base, { name: 'before' })).body
    const blocker = await sequelize.transaction()
    try {
      await model.update({ level: 5 }, { where: { id }, transaction: blocker, hooks: false })
      assertUnavailable(t, await server.patch(`${base}/${id}`, { name: 'x' }), `PATCH ${base}`)
      assertUnavailable(t, await server.delete(`${base}/${id}`), `DELETE ${base}`)
      assertUnavailable(t, await server.post(`${base}/bulk-delete`, [id]), `bulk delete ${base}`)
      // Readers do not wait for writers.
      t.is((await server.get(`${base}/${id}`)).body.level, null)
    } finally {
      await blocker.rollback()
    }
    t.like((await server.patch(`${base}/${id}`, { name: 'after' })).body, { name: 'after', level: null })
    t.is((await server.delete(`${base}/${id}`)).status, 204)
  }
})

/** As the drivers tell of a deadlock. */
function deadlock(): Error {
  return Object.assign(new Error('deadlock detected'), { code: '40P01' })
}

const SAVE_HOOKS = ['beforeValidate', 'beforeSave', 'afterCreate', 'afterSave'] as const

for (const hook of SAVE_HOOKS) {
  test(`a deadlock in ${hook} is tried once more, and the record is there once`, async (t) => {
    const server = await bench(t, await openDatabase())
    let calls = 0
    server.Hooked.addHook(hook, 'deadlock', () => {
      calls += 1
      if (calls === 1) throw deadlock()
    })
    const { status, body, headers } = await server.post('/api/hooked', { name: 'once' })
    t.is(status, 201)
    t.is(calls, 2)
    t.is(await server.Hooked.count(), 1)
    t.deepEqual((await server.get(headers.get('location') ?? '')).body, body)
    calls = 0
    const bulk = await server.post('/api/hooked/bulk', [{ name: 'one' }, { name: 'two' }])
    t.is(bulk.status, 201)
    t.deepEqual(
      bulk.body.map(({ name }: { name: string }) => name),
      ['one', 'two'],
    )
    t.is(await server.Hooked.count(), 3)
  })
}

test('a deadlock in a PATCH and a DELETE is tried once more', async (t) => {
  const server = await bench(t, await openDatabase())
  const { headers } = await server.post('/api/hooked', { name: 'x' })
  const path = headers.get('location') ?? ''
  const calls: string[] = []
  const once = (name: string) => () => {
    calls.push(name)
    if (calls.filter((each) => each === name).length === 1) throw deadlock()
  }
  server.Hooked.addHook('afterUpdate', once('update'))
  server.Hooked.addHook('afterDestroy', once('destroy'))
  t.is((await server.patch(path, { name: 'y' })).body.name, 'y')
  t.is((await server.delete(path)).status, 204)
  t.deepEqual(calls, ['update', 'update', 'destroy', 'destroy'])
})

test('a deadlock that stays one is 503, and nothing is written', async (t) => {
  const server = await bench(t, await openDatabase())
  let calls = 0
  server.Hooked.addHook('afterCreate', () => {
    calls += 1
    throw deadlock()
  })
  assertUnavailable(t, await server.post('/api/hooked', { name: 'x' }), 'POST')
  t.is(calls, 1 + 5)
  t.is(await server.Hooked.count(), 0)
})

test('what is unexpected is 500 without internals, and onError hears the error and the request', async (t) => {
  const database = await openDatabase()
  const heard: [unknown, string][] = []
  const server = await bench(t, database, { onError: (error, request) => heard.push([error, request.originalUrl]) })
  await server.Plain.drop()
  for (const [what, send] of EVERY) {
    heard.length = 0
    const { status, body, headers } = await send(server, '/api/plain')
    t.is(status, 500, what)
    t.is(headers.get('content-type'), 'application/problem+json')
    t.deepEqual(body, {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.6.1',
      title: 'Internal Server Error',
      code: 'internal',
      status: 500,
      detail: 'An unexpected error occurred.',
    })
    t.is(heard.length, 1, what)
    t.regex(String(heard[0]?.[0]), /plain/)
    t.regex(heard[0]?.[1] ?? '', /^\/api\/plain/)
  }
})

for (const [what, onError] of [
  [
    'throws',
    () => {
      throw new Error('the logger is down')
    },
  ],
  ['rejects', () => Promise.reject(new Error('the logger is far away and down'))],
] satisfies readonly (readonly [string, NonNullable<CrudOptions['onError']>])[]) {
  test(`an onError that ${what} harms neither the reply nor the process`, async (t) => {
    const server = await bench(t, await openDatabase(), { onError })
    await server.Plain.drop()
    for (const _ of [1, 2]) t.is((await server.get('/api/plain')).status, 500)
    t.is((await server.get('/api/hooked')).status, 200)
  })
}

for (const thrown of ['text', null, undefined, 5, { status: 404 }, Symbol('odd')]) {
  test(`a hook that throws ${String(thrown)} is 500, and nothing is written`, async (t) => {
    const server = await bench(t, await openDatabase())
    server.Hooked.addHook('afterCreate', () => {
      throw thrown
    })
    const { status, body } = await server.post('/api/hooked', { name: 'x' })
    t.is(status, 500)
    t.is(body.title, 'Internal Server Error')
    t.deepEqual(server.heard, [thrown])
    t.is(await server.Hooked.count(), 0)
  })
}

test('a hundred writes at once all succeed', async (t) => {
  const server = await bench(t, await openDatabase())
  for (const base of ['/api/plain', '/api/hooked']) {
    const created = await Promise.all(
      Array.from({ length: 100 }, (_, level) => server.post(base, { name: 'crowd', level })),
    )
    t.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]))
    t.is(new Set(created.map(({ body }) => body.id)).size, 100)
    const patched = await Promise.all(created.map(({ body }) => server.patch(`${base}/${body.id}`, { name: 'moved' })))
    t.deepEqual(new Set(patched.map(({ status }) => status)), new Set([200]))
    t.deepEqual(
      patched.map(({ body }) => body.level),
      created.map(({ body }) => body.level),
    )
  }
})

test('a hundred writes of every kind and reads between them all succeed', async (t) => {
  const server = await bench(t, await openDatabase())
  const rows = await server.post(
    '/api/hooked/bulk',
    Array.from({ length: 40 }, () => ({ name: 'x' })),
  )
  const ids: readonly number[] = rows.body.map(({ id }: { id: number }) => id)
  const answers = await Promise.all(
    ids.flatMap((id, index) => {
      const path = `/api/hooked/${id}`
      return [
        server.post('/api/plain', { name: 'y' }),
        server.get(`/api/hooked?filter=Level>${index}`),
        index % 2 === 0 ? server.patch(path, { level: index }) : server.delete(path),
        index % 4 === 0 ? server.post('/api/hooked/bulk', [{ name: 'a' }, { name: 'b' }]) : server.get('/api/plain'),
      ]
    }),
  )
  t.deepEqual(
    answers.map(({ status }) => status).filter((status) => status >= 300),
    [],
  )
  t.is(await server.Plain.count(), 40)
  t.is(await server.Hooked.count(), 20 + 20)
})

test('a hundred increments that race for one record through a hook are each whole', async (t) => {
  const server = await bench(t, await openDatabase())
  const { id } = (await server.post('/api/hooked', { name: 'x', level: 0 })).body
  // Read, change and write: without the lock on the record two of them would meet.
  server.Hooked.addHook('beforeUpdate', (instance) => {
    instance.set('level', Number(instance.previous('level')) + 1)
  })
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => server.patch(`/api/hooked/${id}`, { name: `n${index}` })),
  )
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.is((await server.get(`/api/hooked/${id}`)).body.level, 100)
})

test('writers of two processes, which no queue connects, wait for each other', async (t) => {
  const first = await bench(t, await openDatabase())
  const { config, options } = first.database.sequelize as Sequelize & { readonly options: Options }
  const { database = '', username = '', password } = config as typeof config & { readonly username?: string }
  const sequelize = new Sequelize(database, username, password ?? '', options)
  // Before the first is closed, whose files are deleted then.
  t.teardown(() => sequelize.close())
  const Hooked = first.Hooked.name
  const own = sequelize.define(
    Hooked,
    { name: DataTypes.STRING, level: DataTypes.INTEGER },
    { ...named('hooked'), hooks: { afterSave: () => undefined } },
  )
  const second = await serve(express().use(crudRouter(own)))
  t.teardown(second.close)
  const keys = await Promise.all(
    Array.from({ length: 2 }, async () => (await first.post('/api/hooked', { name: 'x', level: 0 })).body.id),
  )
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      (index % 2 === 0 ? first : second).patch(`/api/hooked/${keys[index % 4 < 2 ? 0 : 1]}`, { level: index }),
    ),
  )
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
})

test('a writer that fails does not hold up those that wait behind it', async (t) => {
  const server = await bench(t, await openDatabase())
  server.Hooked.addHook('afterCreate', (instance) => {
    if (Number(instance.get('level')) % 3 === 0) throw new Error('no')
  })
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, level) => server.post('/api/hooked', { name: 'x', level })),
  )
  t.deepEqual(
    answers.map(({ status }) => status),
    Array.from({ length: 30 }, (_, level) => (level % 3 === 0 ? 500 : 201)),
  )
  t.is(await server.Hooked.count(), 20)
})

test('hooks of the Sequelize instance itself run, those given to its constructor and those added later', async (t) => {
  const seen: string[] = []
  const database = await openDatabase({
    hooks: { beforeCreate: () => void seen.push('constructor') },
    define: { hooks: { afterCreate: () => void seen.push('define') } },
  })
  const server = await bench(t, database)
  t.is((await server.post('/api/plain', { name: 'x' })).status, 201)
  t.deepEqual(seen.splice(0), ['constructor', 'define'])
  t.is((await server.post('/api/plain/bulk', [{ name: 'x' }])).status, 201)
  t.deepEqual(seen.splice(0), ['constructor', 'define'])
  database.sequelize.addHook('beforeUpdate', () => void seen.push('later'))
  t.is((await server.patch('/api/plain/1', { name: 'y' })).status, 200)
  t.deepEqual(seen, ['later'])
})

test('null clears under the omitNull of the host, alone and through hooks', async (t) => {
  const server = await bench(t, await openDatabase({ omitNull: true }))
  for (const base of ['/api/plain', '/api/hooked']) {
    const { id } = (await server.post(base, { name: 'x', level: 5 })).body
    const { status, body } = await server.patch(`${base}/${id}`, { level: null })
    t.is(status, 200)
    t.like(body, { name: 'x', level: null })
  }
})

for (const [what, options, defaultScope] of [
  ['the option query', { query: { raw: true } }, {}],
  ['the default scope', {}, { raw: true }],
] as const) {
  test(`records are read as instances if ${what} sets raw`, async (t) => {
    const database = await openDatabase(options)
    const noop = (): void => undefined
    const Note = database.sequelize.define(
      'note',
      { title: { type: DataTypes.STRING, get: () => 'shown' }, body: DataTypes.STRING },
      { timestamps: false, defaultScope, hooks: { beforeFind: noop, beforeDestroy: noop, beforeUpdate: noop } },
    )
    const heard: unknown[] = []
    const onError = (error: unknown) => void heard.push(error)
    const app = express()
    app.use(crudRouter(Note, { operations: Operations.AllWithBulk, idempotency: true, onError }))
    await database.sequelize.sync()
    const server = await serve(app)
    t.teardown(async () => {
      await server.close()
      await database.close()
    })
    const keyed = { 'idempotency-key': 'one' }
    const created = { id: 1, title: 'shown', body: 'a' }
    for (const replayed of [null, 'true']) {
      const answer = await server.post('/api/notes', { title: 'x', body: 'a' }, keyed)
      t.is(answer.status, 201)
      t.deepEqual(answer.body, created)
      t.is(answer.headers.get('idempotency-replayed'), replayed)
    }
    t.is((await server.post('/api/notes/bulk', [{ body: 'b' }, { body: 'c' }])).status, 201)
    t.deepEqual((await server.get('/api/notes/1')).body, created)
    t.deepEqual((await server.get('/api/notes?filter=body=a&select=title,body')).body.items, [
      { title: 'shown', body: 'a' },
    ])
    t.deepEqual((await server.patch('/api/notes/1', { body: 'd' })).body, { ...created, body: 'd' })
    t.is((await server.delete('/api/notes/1')).status, 204)
    t.deepEqual((await server.post('/api/notes/bulk-delete', [1, 2, 3])).body, { deleted: 2 })
    t.deepEqual(heard, [])
  })
}
