// Writes that do not end in time: hooks that hang, locks that stay, queues that grow. They are rolled back and answered with
// 503, those behind them go on, and who hangs can do no harm any more.

import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import {
  DataTypes,
  type Model,
  type ModelStatic,
  type Options,
  QueryTypes,
  type Sequelize,
  Transaction,
} from 'sequelize'
import { Server } from 'socket.io'
import { io as client } from 'socket.io-client'
import { type CrudOptions, crudRouter, type Hook, Operations } from '../../../lib/index.js'
import { databaseName, isNodeSqlite, openAgain } from '../../support/database.js'
import { type Answer, serve, type TestServer } from '../../support/server.js'
import { serverOptions } from '../../support/servers.js'
import { openStage } from '../../support/stage.js'
import { openTcpProxy } from '../../support/wire.js'

const test = ava.serial
const isSqlite = databaseName === 'sqlite'
const onServers = isSqlite ? ava.serial.skip : ava.serial
const onSqlite = isSqlite ? ava.serial : ava.serial.skip
const onPostgres = databaseName === 'postgres' ? ava.serial : ava.serial.skip

// Sequelize says on the console which savepoints it could not roll back.
console.warn = () => undefined

/** Milliseconds that a write may take in these tests, unless they say otherwise. */
const TIME = 300

/** The same where others are to end within it, on a machine that has much to do. */
const LONGER: CrudOptions = { limits: { writeTime: 2000 } }

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  /** Another Sequelize on the same database. */
  readonly other: Sequelize
  readonly Thing: ModelStatic<Model>
  readonly heard: unknown[]
  readonly rows: () => Promise<unknown[]>
}

/** A resource with three things in it, the same under `/plain`, without the hooks, and under `/calm` without haste too. */
async function bench(t: ExecutionContext, options: CrudOptions = {}, more: Options = {}): Promise<Bench> {
  const server = await openStage({ sequelize: more })
  const { app, sequelize } = server
  const Thing = sequelize.define('thing', { name: DataTypes.STRING, level: DataTypes.INTEGER }, { timestamps: false })
  const heard: unknown[] = []
  const common: CrudOptions = { operations: Operations.AllWithBulk, onError: (error) => heard.push(error) }
  const hasty: CrudOptions = { ...common, limits: { writeTime: TIME, ...options.limits } }
  app.use(crudRouter(Thing, { ...options, ...hasty }))
  app.use('/plain', crudRouter(Thing, hasty))
  app.use('/calm', crudRouter(Thing, common))
  await sequelize.sync()
  await Thing.bulkCreate([{ name: 'one' }, { name: 'two' }, { name: 'three' }])
  const other = openAgain(sequelize)
  t.teardown(async () => {
    await other.close()
    await server.close()
  })
  const rows = (): Promise<unknown[]> => other.query('SELECT * FROM things ORDER BY id', { type: QueryTypes.SELECT })
  return { ...server, other, Thing, heard, rows }
}

type Send = (server: TestServer, base: string) => Promise<Answer>

const WRITES: readonly (readonly [what: string, hooks: readonly string[], send: Send])[] = [
  ['POST', ['beforeCreate', 'afterCreate'], (server, base) => server.post(base, { name: 'new' })],
  ['PATCH', ['beforeUpdate', 'afterUpdate'], (server, base) => server.patch(`${base}/1`, { name: 'new' })],
  ['DELETE', ['beforeDelete', 'afterDelete'], (server, base) => server.delete(`${base}/1`)],
  [
    'bulk create',
    ['beforeCreate', 'afterCreate'],
    (server, base) => server.post(`${base}/bulk`, [{ name: 'new' }, { name: 'newer' }]),
  ],
  ['bulk delete', ['beforeDelete', 'afterDelete'], (server, base) => server.post(`${base}/bulk-delete`, [1, 2])],
]

function assertTooLate(t: ExecutionContext, { status, headers, body }: Answer, what: string): void {
  t.is(status, 503, what)
  t.is(headers.get('retry-after'), '1', what)
  t.is(headers.get('content-type'), 'application/problem+json', what)
  t.is(body.title, 'Service Unavailable', what)
}

/** That everything can be written and read, by more requests at once than the pool has connections. */
async function assertWell(t: ExecutionContext, server: Bench): Promise<void> {
  const answers = await Promise.all([
    ...Array.from({ length: 5 }, (_, level) => server.patch('/calm/api/things/2', { level })),
    ...Array.from({ length: 5 }, () => server.get('/api/things/3')),
  ])
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
}

function never(): Promise<void> {
  return new Promise(() => undefined)
}

/** Something that is let through later. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

for (const [what, hooks, send] of WRITES) {
  for (const hook of hooks) {
    test(`${what} whose ${hook} hangs is 503 when its time is over, and has written nothing`, async (t) => {
      const server = await bench(t, { hooks: { [hook]: never } })
      const before = await server.rows()
      const started = performance.now()
      const answers = await Promise.all([send(server, '/api/things'), send(server, '/api/things')])
      t.true(performance.now() - started >= TIME)
      for (const answer of answers) assertTooLate(t, answer, what)
      t.deepEqual(await server.rows(), before)
      t.is(server.heard.length, 2)
      t.regex(String(Reflect.get(Object(server.heard[0]), 'cause')), /limits\.writeTime.*pass \{ transaction \}/)
      await assertWell(t, server)
    })
  }
}

test('the writes behind one that hangs go on, and their waiting is no part of their time', async (t) => {
  let calls = 0
  const beforeCreate: Hook = ({ instance }) => {
    calls += 1
    return instance.get('name') === 'hangs' ? never() : undefined
  }
  const server = await bench(t, { hooks: { beforeCreate }, ...LONGER }, { pool: { max: 1 } })
  const names = ['hangs', 'a', 'hangs', 'b', 'hangs', 'c']
  const answers = await Promise.all(names.map((name) => server.post('/api/things', { name })))
  t.deepEqual(
    answers.map(({ status }) => status),
    names.map((name) => (name === 'hangs' ? 503 : 201)),
  )
  t.is(calls, names.length)
})

test('what a hook does after its time fails, and never outside the transaction that it had', async (t) => {
  const late = gate()
  const outcomes: string[] = []
  let hold: Transaction | undefined
  const beforeCreate: Hook = async ({ transaction, instance }) => {
    const { Thing, sequelize } = server
    if (instance.get('name') !== 'hangs') return
    hold = transaction
    const savepoint = await sequelize.transaction({ transaction })
    await Thing.create({ name: 'in the savepoint' }, { transaction: savepoint })
    await late.opened
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => Thing.create({ name: 'late' }, { transaction }),
      () => Thing.bulkCreate([{ name: 'late' }, { name: 'late' }], { transaction }),
      () => Thing.update({ name: 'late' }, { where: { id: 1 }, transaction }),
      () => Thing.destroy({ where: { id: 1 }, transaction }),
      () => Thing.findAll({ transaction }),
      () => sequelize.query("INSERT INTO things (name) VALUES ('late')", { transaction }),
      () => sequelize.query('DELETE FROM things', { transaction }),
      () => Thing.create({ name: 'late' }, { transaction: savepoint }),
      () => sequelize.query('DELETE FROM things', { transaction: savepoint }),
      () => savepoint.commit(),
      () => savepoint.rollback(),
      () => sequelize.transaction({ transaction }, () => Thing.create({ name: 'late' })),
      () => transaction.commit(),
      () => transaction.rollback(),
    ]
    for (const attempt of attempts)
      outcomes.push(
        await attempt().then(
          () => 'done',
          () => 'failed',
        ),
      )
  }
  const server = await bench(t, { hooks: { beforeCreate }, ...LONGER }, { pool: { max: 2 } })
  const before = await server.rows()
  assertTooLate(t, await server.post('/api/things', { name: 'hangs' }), 'POST')
  await assertWell(t, server)
  await server.patch('/api/things/2', { level: null })
  // While another has a transaction, and the connections of the pool with it.
  const holders = await Promise.all([1, 2].slice(isSqlite ? 1 : 0).map(() => server.sequelize.transaction()))
  late.open()
  while (outcomes.length < 14) await wait(5)
  t.deepEqual(new Set(outcomes), new Set(['failed']), outcomes.join(' '))
  for (const holder of holders) await holder.commit()
  t.deepEqual(await server.rows(), before)
  t.true(hold instanceof Transaction)
  t.is((await server.post('/api/things', { name: 'new' })).status, 201)
})

// By `node:sqlite` nothing ends a statement: one that takes forever would stop this process.
const whileEnded = isNodeSqlite ? ava.serial.skip : test

whileEnded('a hook that hangs with a statement under way is rolled back too, and its connection with it', async (t) => {
  let failure: unknown = null
  const beforeUpdate: Hook = async ({ transaction }) => {
    const { Thing } = server
    await Thing.update({ level: 5 }, { where: { id: 2 }, transaction })
    const slow = isSqlite
      ? 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT MAX(i) FROM n'
      : databaseName === 'postgres'
        ? 'SELECT pg_sleep(60)'
        : 'SELECT SLEEP(60)'
    await server.sequelize.query(slow, { transaction }).catch((error: unknown) => {
      failure = error
    })
  }
  const server = await bench(t, { hooks: { beforeUpdate } })
  const before = await server.rows()
  const started = performance.now()
  assertTooLate(t, await server.patch('/api/things/1', { name: 'new' }), 'PATCH')
  await assertWell(t, server)
  while (failure === null) await wait(5)
  t.true(performance.now() - started < 30_000, 'the statement was not waited for')
  await server.patch('/calm/api/things/2', { level: null })
  t.deepEqual(await server.rows(), before)
})

/** Another's transaction that keeps writers from the first thing, or from the whole file. */
async function lock({ other }: Bench): Promise<Transaction> {
  const transaction = await other.transaction({ type: Transaction.TYPES.IMMEDIATE })
  await other.query("UPDATE things SET name = 'locked' WHERE id = 1", { transaction })
  return transaction
}

/** The sessions of the server that wait for a lock, or hold one in a transaction. */
async function waiting({ other }: Bench): Promise<number> {
  const sql =
    databaseName === 'postgres'
      ? `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND (wait_event_type = 'Lock' OR state LIKE 'idle in transaction%')`
      : `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE '%things%' AND id <> CONNECTION_ID()`
  return (await other.query(sql, { type: QueryTypes.SELECT })).length
}

const HOOKED: CrudOptions = { hooks: { beforeUpdate: pass, beforeDelete: pass } }

function pass(): void {}

for (const base of ['/api/things', '/plain/api/things']) {
  for (const [what, , send] of WRITES.filter(([name]) => /PATCH|DELETE|bulk delete/.test(name))) {
    test(`${what} (${base}) that waits for a lock is 503 when its time is over, and does not happen later`, async (t) => {
      const server = await bench(t, HOOKED)
      const before = await server.rows()
      const holder = await lock(server)
      const started = performance.now()
      assertTooLate(t, await send(server, base), what)
      // On SQLite the driver may be in the second for which it waits for a lock.
      t.true(performance.now() - started < TIME + 5000)
      if (!isSqlite) {
        while ((await waiting(server)) > (databaseName === 'postgres' ? 1 : 0)) await wait(5)
        t.is((await server.get('/api/things/1')).status, 200)
      }
      await holder.rollback()
      await assertWell(t, server)
      await server.patch('/calm/api/things/2', { level: null })
      t.deepEqual(await server.rows(), before)
    })
  }
}

onServers('requests that wait for one lock do not keep the pool from others when their time is over', async (t) => {
  const server = await bench(t, HOOKED, { pool: { max: 3 } })
  const holder = await lock(server)
  const bases = ['/api/things/1', '/plain/api/things/1']
  const blocked = Array.from({ length: 6 }, (_, index) => server.patch(bases[index % 2] ?? '', { level: 1 }))
  for (const answer of await Promise.all(blocked)) assertTooLate(t, answer, 'PATCH')
  await assertWell(t, server)
  await holder.rollback()
  t.is((await server.patch('/api/things/1', { level: 1 })).status, 200)
})

onServers(
  'a write of one statement beside slow ones waits for its connection as long as the pool lets it',
  async (t) => {
    const beforeCreate: Hook = () => wait(700)
    const server = await bench(t, { hooks: { beforeCreate }, ...LONGER }, { pool: { max: 1 } })
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => server.post('/api/things', { name: 'new' })),
      server.patch('/plain/api/things/1', { level: 1 }),
    ])
    t.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201, 201, 200],
    )
  },
)

onPostgres('a COMMIT that takes too long is 503, and is rolled back', async (t) => {
  const server = await bench(t, HOOKED)
  const { sequelize } = server
  await sequelize.query(`CREATE FUNCTION linger() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$
    LANGUAGE plpgsql`)
  await sequelize.query(`CREATE CONSTRAINT TRIGGER linger AFTER UPDATE ON things DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.name = 'lingers') EXECUTE FUNCTION linger()`)
  const before = await server.rows()
  for (const base of ['/api/things', '/plain/api/things']) {
    assertTooLate(t, await server.patch(`${base}/1`, { name: 'lingers' }), base)
    t.deepEqual(await server.rows(), before)
  }
  await assertWell(t, server)
})

onServers('once a cancel request or KILL could not be delivered, no write is made behind its 503', async (t) => {
  if (databaseName === 'sqlite') throw new TypeError('SQLite has no server')
  const wire = await openTcpProxy(serverOptions(databaseName).port)
  t.teardown(wire.close)
  const server = await bench(t, {}, { host: 'localhost', port: wire.port, pool: { max: 3 } })
  const { other, Thing } = server
  for (const name of ['first', 'second', 'third']) {
    await Promise.all([1, 2, 3].map((id) => server.get(`/api/things/${id}`)))
    const transaction = await other.transaction()
    await other.query("UPDATE things SET name = 'held' WHERE id = 1", { transaction })
    wire.refuse()
    assertTooLate(t, await server.patch('/api/things/1', { name }), name)
    await transaction.rollback()
    wire.mend()
    await wait(300)
    // Nobody knew before the first of them.
    if (name !== 'first') t.not((await Thing.findByPk(1))?.get('name'), name)
  }
  await assertWell(t, server)
})

onSqlite('a COMMIT that waits for a reader for too long is 503, and is rolled back', async (t) => {
  const server = await bench(t, HOOKED, { retry: { max: 1000, match: ['SQLITE_BUSY'] } })
  await server.sequelize.query('PRAGMA journal_mode = DELETE')
  const before = await server.rows()
  const reader = await server.other.transaction()
  await server.other.query('SELECT * FROM things', { transaction: reader })
  const started = performance.now()
  assertTooLate(t, await server.patch('/api/things/1', { name: 'new' }), 'PATCH')
  t.true(performance.now() - started < 10_000)
  await reader.rollback()
  t.deepEqual(await server.rows(), before)
  await assertWell(t, server)
})

onPostgres(
  'a write that PostgreSQL has given up, because a hook caught the error of a statement, is no success',
  async (t) => {
    const fail: Hook = async ({ transaction }) => {
      await server.sequelize.query('SELECT 1 / 0', { transaction }).catch(() => undefined)
    }
    const server = await bench(t, { hooks: { afterDelete: fail }, ...LONGER })
    const before = await server.rows()
    t.is((await server.delete('/api/things/1')).status, 500)
    t.is((await server.post('/api/things/bulk-delete', [1, 2])).status, 500)
    t.deepEqual(await server.rows(), before)
    await assertWell(t, server)
  },
)

test('what hangs behind the COMMIT does not undo it', async (t) => {
  const afterCreate: Hook = ({ transaction }) => transaction.afterCommit(never)
  const server = await bench(t, { hooks: { afterCreate }, ...LONGER })
  const answers = await Promise.all([1, 2].map(() => server.post('/api/things', { name: 'new' })))
  for (const { status, body } of answers) {
    t.is(status, 201)
    t.is((await server.get(`/api/things/${body.id}`)).status, 200)
  }
  await assertWell(t, server)
})

test('a validator that hangs is 503 as well', async (t) => {
  const server = await bench(t)
  const hangs = (_value: unknown, _done: () => void): void => undefined
  const attributes = { name: { type: DataTypes.STRING, validate: { hangs } } }
  const Checked = server.sequelize.define('checked', attributes, { timestamps: false, tableName: 'things' })
  const app = express()
  const limits = { writeTime: TIME }
  app.use(crudRouter(Checked, { operations: Operations.AllWithBulk, limits, onError: () => undefined }))
  const checked = await serve(app)
  t.teardown(checked.close)
  const before = await server.rows()
  for (const [what, , send] of WRITES.filter(([name]) => /POST|PATCH|bulk create/.test(name))) {
    assertTooLate(t, await send(checked, '/api/checkeds'), what)
  }
  t.deepEqual(await server.rows(), before)
  await assertWell(t, server)
})

test('nobody is told of a write whose time was over', async (t) => {
  const io = new Server()
  const beforeCreate: Hook = ({ instance }) => (instance.get('name') === 'hangs' ? never() : undefined)
  const server = await bench(t, { push: { io }, hooks: { beforeCreate, afterDelete: never }, ...LONGER })
  io.attach(server.server)
  t.teardown(() => io.engine.close())
  const socket = client(`${server.url}/api/things/hub`, { transports: ['websocket'], forceNew: true })
  t.teardown(() => socket.disconnect())
  await new Promise((resolve) => socket.once('connect', () => resolve(null)))
  const events: unknown[] = []
  socket.onAny((...event) => events.push(event))
  assertTooLate(t, await server.post('/api/things', { name: 'hangs' }), 'POST')
  assertTooLate(t, await server.post('/api/things/bulk', [{ name: 'new' }, { name: 'hangs' }]), 'bulk create')
  assertTooLate(t, await server.delete('/api/things/1'), 'DELETE')
  assertTooLate(t, await server.post('/api/things/bulk-delete', [1, 2]), 'bulk delete')
  const { body } = await server.post('/api/things', { name: 'new' })
  const end = performance.now() + 10_000
  while (events.length === 0 && performance.now() < end) await wait(5)
  t.deepEqual(events, [['OnCreated', body]])
})

test('what else is wrong with a body that is refused is looked for as long as a write may take', async (t) => {
  const server = await openStage()
  const { app, sequelize } = server
  const plain = { timestamps: false }
  const hangs = { hangs: (value: string, done: () => void) => (value === 'hangs' ? undefined : done()) }
  const Team = sequelize.define('team', { name: { type: DataTypes.STRING, validate: { notContains: 'bad' } } }, plain)
  const Player = sequelize.define('player', { name: { type: DataTypes.STRING, validate: hangs } }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const common: CrudOptions = {
    limits: { writeTime: TIME },
    operations: Operations.AllWithBulk,
    onError: () => undefined,
  }
  app.use(crudRouter(Team, { ...common, scope: () => ({ name: 'mine' }), relations: { players: { write: true } } }))
  app.use('/all', crudRouter(Team, { ...common, relations: { players: { write: true, resource: () => players } } }))
  const players = crudRouter(Player, common)
  app.use(players)
  await sequelize.sync()
  await Team.create({ name: 'theirs' })
  t.teardown(server.close)
  const pointing = { name: 'hangs', teamId: 1 }
  assertTooLate(t, await server.post('/api/players', pointing), 'a key that points nowhere')
  assertTooLate(t, await server.post('/api/players/bulk', [pointing]), 'the same in bulk')
  const owner = { name: 'bad', players: [{ name: 'hangs' }] }
  assertTooLate(t, await server.post('/all/api/teams', owner), 'an owner that is refused')
  t.is(await Player.count(), 0)
})

onSqlite('more waiting writes than the limit are 503 at once, the running one not counted', async (t) => {
  const { opened, open } = gate()
  let isRunning: () => void = () => undefined
  const running = new Promise<void>((resolve) => {
    isRunning = resolve
  })
  const beforeCreate: Hook = async () => {
    isRunning()
    await opened
  }
  const server = await bench(t, { hooks: { beforeCreate }, limits: { writeTime: 60_000, writeQueue: 2 } })
  const first = server.post('/api/things', { name: 'new' })
  await running
  const more = ['/api/things', '/plain/api/things', '/plain/api/things', '/api/things'].map((base) =>
    server.post(base, { name: 'new' }),
  )
  const [early, other] = await firstTwo(more)
  for (const answer of [early, other]) {
    assertTooLate(t, answer, 'POST')
    t.is(answer.body.detail, 'Too many writes are waiting. Try again later.')
  }
  t.regex(String(Reflect.get(Object(server.heard[0]), 'cause')), /limits\.writeQueue/)
  t.is((await server.get('/api/things?count=true')).status, 200, 'reads do not wait')
  open()
  const answers = await Promise.all([first, ...more])
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 503, 503])
  t.is((await server.post('/api/things', { name: 'new' })).status, 201)
})

/** The two that come first, in the order in which they come. */
async function firstTwo(promises: readonly Promise<Answer>[]): Promise<readonly [Answer, Answer]> {
  const come: Answer[] = []
  await new Promise<void>((resolve) => {
    for (const promise of promises) {
      promise.then((answer) => {
        come.push(answer)
        if (come.length === 2) resolve()
      })
    }
  })
  const [one, two] = come
  if (one === undefined || two === undefined) throw new TypeError('two have come')
  return [one, two]
}
