// What a request leaves behind on SQLite when something fails half-way: no lock, no transaction, no file handle but the one
// of writes. Each transaction of a host's own has one there, on a file with the rollback journal that SQLite has by itself, in
// which one reader keeps every COMMIT waiting. In memory there is nothing but the one handle.

import { readdirSync, readlinkSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, type Options, QueryTypes, Sequelize, Transaction } from 'sequelize'
import { type CrudOptions, crudRouter, type Hook, Operations } from '../../../lib/index.js'
import { databaseName, isNodeSqlite, sqliteOptions } from '../../support/database.js'
import { type Answer, serve, type TestServer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'sqlite' && process.platform === 'linux' ? ava.serial : ava.serial.skip

// Sequelize says on the console which transactions of the host's it could not end.
console.warn = () => undefined

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  readonly Thing: ModelStatic<Model>
  /**
   * How many handles of the process are open on the file, its journals included. SQLite closes one in truth when nobody
   * in the process holds a lock on the file any more.
   */
  readonly handles: () => number
  /** Another connection to the file, in a transaction. */
  readonly other: (type: Transaction.TYPES, sql: string) => Promise<Transaction>
}

const pass: Hook = () => undefined
const HOOKED: CrudOptions = {
  hooks: { beforeCreate: pass, beforeUpdate: pass, beforeDelete: pass, beforeRestore: pass },
}

/** A resource over a file with a rollback journal. A lock that stays is given up after a second. */
async function bench(t: ExecutionContext, options: CrudOptions = HOOKED, more: Options = {}): Promise<Bench> {
  const server = await openStage({ sequelize: { retry: { max: 1 }, ...more } })
  const { app, sequelize } = server
  await sequelize.query('PRAGMA journal_mode = DELETE')
  const Thing = sequelize.define('thing', { name: DataTypes.STRING, ownerId: DataTypes.INTEGER }, { timestamps: false })
  const heard = { onError: () => undefined }
  app.use(crudRouter(Thing, { operations: Operations.AllWithBulk, ...heard, ...options }))
  await sequelize.sync()
  await Thing.bulkCreate([{ name: 'one' }, { name: 'two' }, { name: 'three' }])
  // Opens the handle of writes, which stays.
  await server.patch('/api/things/3', { name: 'three' })
  const storage = String(Reflect.get(sequelize, 'options').storage)
  const stranger = new Sequelize({ ...sqliteOptions, storage, logging: false })
  t.teardown(async () => {
    await stranger.close()
    await server.close()
  })
  return {
    ...server,
    Thing,
    handles: () => openOn(storage),
    other: async (type, sql) => {
      const transaction = await stranger.transaction({ type })
      await stranger.query(sql, { transaction, type: QueryTypes.SELECT })
      return transaction
    },
  }
}

function openOn(storage: string): number {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // The handle by which the folder was read.
      return ''
    }
  })
  return links.filter((link) => link.startsWith(storage)).length
}

function assertUnavailable(t: ExecutionContext, { status, headers, body }: Answer, what: string): void {
  t.is(status, 503, what)
  t.is(headers.get('retry-after'), '1', what)
  t.is(body.title, 'Service Unavailable', what)
}

const WRITES: readonly (readonly [what: string, send: (server: TestServer) => Promise<Answer>])[] = [
  ['POST', (server) => server.post('/api/things', { name: 'new' })],
  ['PATCH', (server) => server.patch('/api/things/1', { name: 'new' })],
  ['DELETE', (server) => server.delete('/api/things/1')],
  ['bulk create', (server) => server.post('/api/things/bulk', [{ name: 'new' }, { name: 'newer' }])],
  ['bulk delete', (server) => server.post('/api/things/bulk-delete', [1, 2])],
]

/** That the file is as open as before, and the resource as good as new. */
async function assertClean(t: ExecutionContext, server: Bench, handles: number): Promise<void> {
  const { body } = await server.get('/api/things?count=true')
  t.is(body.count, 3, 'nothing of what failed is stored')
  await assertOpen(t, server, handles)
  t.is((await server.get('/api/things/1')).body.name, 'one')
  t.is((await server.patch('/api/things/1', { name: 'changed' })).status, 200)
  t.is((await server.post('/api/things', { name: 'new' })).status, 201)
  await assertOpen(t, server, handles)
}

/** Sequelize does not wait until a handle is closed. */
async function assertOpen(t: ExecutionContext, server: Bench, handles: number): Promise<void> {
  const end = performance.now() + 10_000
  while (server.handles() > handles && performance.now() < end) await wait(5)
  // The handle of writes is opened again by the next one where it could not be used any more.
  t.true(server.handles() <= handles, 'handles on the file')
}

for (const [what, send] of WRITES) {
  test(`${what} whose COMMIT meets a reader is 503, and leaves no lock, no transaction and no handle`, async (t) => {
    const server = await bench(t)
    const handles = server.handles()
    const reader = await server.other(Transaction.TYPES.DEFERRED, 'SELECT * FROM things')
    for (const attempt of [1, 2]) assertUnavailable(t, await send(server), `${what}, attempt ${attempt}`)
    t.is((await server.get('/api/things/1')).status, 200, 'readers go on while the other one reads')
    await reader.rollback()
    await assertClean(t, server, handles)
  })

  test(`${what} whose BEGIN meets a writer is 503, and leaves no handle, however often it is tried`, async (t) => {
    const server = await bench(t)
    const handles = server.handles()
    const writer = await server.other(Transaction.TYPES.IMMEDIATE, 'SELECT 1')
    for (const attempt of [1, 2]) assertUnavailable(t, await send(server), `${what}, attempt ${attempt}`)
    await writer.rollback()
    await assertClean(t, server, handles)
  })
}

// By `node:sqlite` nothing else runs meanwhile.
const whileReading = isNodeSqlite ? ava.serial.skip : test

whileReading('a GET that takes longer than a COMMIT waits does not lock the file once it has ended', async (t) => {
  const server = await bench(t)
  const { sequelize } = server
  const counting = (
    to: number,
  ): string => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to})
    SELECT MAX(i) AS id, (SELECT COUNT(*) FROM things) AS name FROM n`
  // The shortest of several: on a busy machine one may take much longer than the read does later.
  let seconds = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 5; turn++) {
    const started = performance.now()
    await sequelize.query(counting(300_000))
    seconds = Math.min(seconds, (performance.now() - started) / 1000)
  }
  await sequelize.query(`CREATE VIEW slows AS ${counting(Math.ceil((300_000 * 3) / seconds))}`)
  const Slow = sequelize.define('slow', { name: DataTypes.STRING }, { timestamps: false })
  const app = express()
  app.use(crudRouter(Slow))
  const slow = await serve(app)
  t.teardown(slow.close)
  const handles = server.handles()
  const read = slow.get('/api/slows?count=true')
  await wait(100)
  const answers = await Promise.all(Array.from({ length: 3 }, () => server.post('/api/things', { name: 'new' })))
  t.is((await read).status, 200)
  t.true(answers.some(({ status }) => status === 503))
  const written = answers.filter(({ status }) => status === 201).length
  t.is((await server.get('/api/things?count=true')).body.count, 3 + written)
  for (const [what, send] of WRITES) t.true((await send(server)).status < 300, what)
  await assertOpen(t, server, handles)
})

test('a constraint that is broken at the COMMIT is 409, and leaves nothing behind', async (t) => {
  const server = await bench(t)
  await server.sequelize.query('DROP TABLE things')
  await server.sequelize.query(
    `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT,
    ownerId INTEGER REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)`,
  )
  await server.Thing.bulkCreate([{ name: 'one' }, { name: 'two' }, { name: 'three' }])
  const handles = server.handles()
  t.is((await server.post('/api/things', { name: 'new', ownerId: 77 })).status, 409)
  t.is((await server.patch('/api/things/1', { ownerId: 77 })).status, 409)
  t.is((await server.post('/api/things/bulk', [{ name: 'new' }, { ownerId: 77 }])).status, 409)
  await assertClean(t, server, handles)
})

test('a ROLLBACK that fails, the database having rolled back by itself, leaves nothing behind', async (t) => {
  const server = await bench(t)
  await server.sequelize.query(
    `CREATE TRIGGER refuse BEFORE INSERT ON things WHEN NEW.name = 'refused'
    BEGIN SELECT RAISE(ROLLBACK, 'refused'); END`,
  )
  const handles = server.handles()
  t.is((await server.post('/api/things', { name: 'refused' })).status, 409)
  t.is((await server.post('/api/things/bulk', [{ name: 'new' }, { name: 'refused' }])).status, 409)
  await assertClean(t, server, handles)
})

test('a hook that throws leaves nothing behind', async (t) => {
  let isThrowing = true
  const fail: Hook = () => {
    if (isThrowing) throw new Error('refused')
  }
  const server = await bench(t, { hooks: { afterCreate: fail, afterUpdate: fail, afterDelete: fail } })
  const handles = server.handles()
  for (const [what, send] of WRITES) t.is((await send(server)).status, 500, what)
  isThrowing = false
  await assertClean(t, server, handles)
})

for (const type of [Transaction.TYPES.IMMEDIATE, Transaction.TYPES.DEFERRED]) {
  test(`a transaction of the host's own (${type}) that could not be committed leaves nothing behind either`, async (t) => {
    const server = await bench(t)
    t.is((await server.get('/api/things/1')).status, 200)
    const handles = server.handles()
    const reader = await server.other(Transaction.TYPES.DEFERRED, 'SELECT * FROM things')
    const work = (transaction: Transaction): Promise<Model> => server.Thing.create({ name: 'host' }, { transaction })
    await t.throwsAsync(server.sequelize.transaction({ type }, work))
    await reader.rollback()
    await assertClean(t, server, handles)
  })
}

test('writes share a handle, on which nothing is left of one that failed or was ended', async (t) => {
  const server = await bench(t, {
    limits: { writeTime: 500 },
    hooks: {
      beforeUpdate: pass,
      beforeCreate: async ({ instance, transaction }) => {
        const { sequelize } = server
        await sequelize.query('CREATE TEMP TABLE IF NOT EXISTS mine (x)', { transaction })
        if (instance.get('name') === 'hangs') await wait(1500)
        if (instance.get('name') === 'throws') throw new Error('refused')
        // What nobody waits for runs in this transaction, or behind it: in none of those that follow.
        if (instance.get('name') === 'forgets') {
          void sequelize
            .query("UPDATE things SET ownerId = 1 WHERE name = 'two'", { transaction })
            .catch(() => undefined)
        }
      },
    },
  })
  const before = server.handles()
  const ids = new Set<unknown>()
  for (let round = 0; round < 5; round += 1) {
    t.is((await server.post('/api/things', { name: 'throws' })).status, 500)
    const { status, body } = await server.post('/api/things', { name: 'forgets' })
    t.is(status, 201)
    ids.add(body.id)
    await assertOpen(t, server, before)
  }
  const [hung, ...others] = await Promise.all(['hangs', 'a', 'b'].map((name) => server.post('/api/things', { name })))
  t.is(hung?.status, 503)
  t.deepEqual(
    others.map(({ status }) => status),
    [201, 201],
  )
  await wait(1500)
  t.is(ids.size, 5)
  t.is((await server.get('/api/things?count=true')).body.count, 10)
  await assertOpen(t, server, before)
})

test('a handle that a hook has left in a transaction is none that the next writes are kept from by', async (t) => {
  let isLeft = true
  const server = await bench(t, {
    hooks: {
      beforeUpdate: pass,
      beforeCreate: ({ transaction }) => {
        if (!isLeft) return
        isLeft = false
        const { connection } = transaction as Transaction & { readonly connection: { run(sql: string): void } }
        transaction.afterCommit(() => connection.run('BEGIN'))
      },
    },
  })
  const before = server.handles()
  t.is((await server.post('/api/things', { name: 'leaves' })).status, 201)
  await server.post('/api/things', { name: 'may fail' })
  for (const name of ['a', 'b']) t.is((await server.post('/api/things', { name })).status, 201)
  await assertOpen(t, server, before)
})

test('a BEGIN and a COMMIT that meet a lock are tried again as often as Sequelize is told to', async (t) => {
  const server = await bench(t, HOOKED, { retry: { max: 20 } })
  // Of every handle: that of writes takes over what the host's own has.
  await server.sequelize.query('PRAGMA busy_timeout = 20')
  const kept = Object(server.sequelize.connectionManager).connections['crud-writer']
  await new Promise((resolve) => kept.run('PRAGMA busy_timeout = 20', resolve))
  for (const [type, sql] of [
    [Transaction.TYPES.IMMEDIATE, 'SELECT 1'],
    [Transaction.TYPES.DEFERRED, 'SELECT * FROM things'],
  ] as const) {
    const other = await server.other(type, sql)
    const ended = wait(300).then(() => other.rollback())
    t.is((await server.post('/api/things', { name: type })).status, 201, type)
    await ended
  }
  t.is((await server.get('/api/things?count=true')).body.count, 5)
})

test("the handle of writes works as the host's own does", async (t) => {
  const seen: unknown[] = []
  const settings = async (sequelize: Sequelize, transaction?: Transaction): Promise<unknown> => {
    const names = [
      'synchronous',
      'cache_size',
      'busy_timeout',
      'recursive_triggers',
      'foreign_keys',
      'wal_autocheckpoint',
    ]
    const rows: unknown[] = []
    for (const name of names) {
      const [row] = await sequelize.query(`PRAGMA ${name}`, {
        type: QueryTypes.SELECT,
        raw: true,
        transaction: transaction ?? null,
      })
      rows.push(Object.values(Object(row)))
    }
    return rows
  }
  const server = await openStage()
  const { app, sequelize } = server
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  for (const set of [
    'synchronous = 1',
    'cache_size = -7000',
    'busy_timeout = 1234',
    'recursive_triggers = 1',
    'foreign_keys = 0',
  ]) {
    await sequelize.query(`PRAGMA ${set}`)
  }
  app.use(
    crudRouter(Thing, {
      hooks: {
        beforeCreate: async ({ transaction }) => {
          seen.push(await settings(sequelize, transaction))
        },
      },
    }),
  )
  await sequelize.sync()
  t.teardown(server.close)
  const own = await settings(sequelize)
  t.deepEqual(own, [[1], [-7000], [1234], [1], [0], [1000]])
  for (const name of ['a', 'b']) t.is((await server.post('/api/things', { name })).status, 201)
  t.deepEqual(seen, [own, own])
})

test('a file that could not be opened is opened when it can be', async (t) => {
  const storage = join(tmpdir(), `handles_${process.pid}_${Date.now()}.sqlite`)
  await mkdir(storage)
  const sequelize = new Sequelize({ ...sqliteOptions, storage, logging: false })
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  const app = express()
  app.use(crudRouter(Thing, { ...HOOKED, onError: () => undefined }))
  const server = await serve(app)
  t.teardown(async () => {
    await server.close()
    await sequelize.close()
    await rm(storage, { force: true, recursive: true })
  })
  assertUnavailable(t, await server.get('/api/things/1'), 'GET')
  assertUnavailable(t, await server.post('/api/things', { name: 'new' }), 'POST')
  await rm(storage, { recursive: true })
  await sequelize.sync()
  t.is((await server.post('/api/things', { name: 'new' })).status, 201)
  t.is((await server.get('/api/things/1')).status, 200)
})

test('in memory, where all share one handle, a write that fails takes nothing with it', async (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  await sequelize.query(
    `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT,
    ownerId INTEGER DEFAULT 77 REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)`,
  )
  const app = express()
  app.use(crudRouter(Thing, { ...HOOKED, onError: () => undefined }))
  const server = await serve(app)
  t.teardown(async () => {
    await server.close()
    await sequelize.close()
  })
  t.is((await server.post('/api/things', { name: 'refused' })).status, 409)
  t.is((await server.get('/api/things?count=true')).body.count, 0)
  await sequelize.query("INSERT INTO things (id, name) VALUES (77, 'own')")
  t.is((await server.post('/api/things', { name: 'new' })).status, 201)
  t.is((await server.get('/api/things?count=true')).body.count, 2)
})
