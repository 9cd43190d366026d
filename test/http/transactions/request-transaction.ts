// `transaction: 'request'`. Sequelize.useCLS is global: it needs a process of its own, which is this file.

import ava, { type ExecutionContext } from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { io as client } from 'socket.io-client'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { databaseName, dialectOptions } from '../../support/database.js'
import { openStage, type Stage } from '../../support/stage.js'

const test = ava.serial
const onServers = databaseName === 'sqlite' ? ava.serial.skip : ava.serial
const onPostgres = databaseName === 'postgres' ? ava.serial : ava.serial.skip
/** A constraint that is checked at COMMIT: SQLite and PostgreSQL have these. */
const deferred = ['sqlite', 'postgres'].includes(databaseName) ? ava.serial : ava.serial.skip

// Asked before the storage is switched on.
const without = new Sequelize({ ...dialectOptions(databaseName), logging: false })
const refusal = refusalOf(() =>
  crudRouter(without.define('thing', { name: DataTypes.STRING }), { transaction: 'request' }),
)

function refusalOf(work: () => unknown): string {
  try {
    work()
    return ''
  } catch (error) {
    return String(error)
  }
}

test('it needs continuation-local storage', (t) => {
  t.regex(refusal, /"transaction" needs continuation-local storage: call Sequelize\.useCLS/)
})

interface World extends Stage {
  readonly heard: string[]
  readonly count: () => Promise<{ readonly things: number; readonly logs: number }>
}

let world: World
const ended: (() => Promise<unknown>)[] = []

test.before(async () => {
  Sequelize.useCLS(new Namespace())
  const server = await openStage()
  const { app, sequelize } = server
  const plain = { timestamps: false }
  const Owner = sequelize.define('owner', { name: DataTypes.STRING }, plain)
  const Thing = sequelize.define(
    'thing',
    { name: { type: DataTypes.STRING, unique: true }, ownerId: DataTypes.INTEGER },
    plain,
  )
  const Tag = sequelize.define('tag', { name: DataTypes.STRING }, plain)
  const Log = sequelize.define('log', { line: DataTypes.STRING }, plain)
  Owner.hasMany(Thing, { as: 'things', foreignKey: 'ownerId', constraints: false })
  Thing.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId', constraints: false })
  Thing.belongsToMany(Tag, { as: 'tags', through: 'thingtags', timestamps: false })
  Tag.belongsToMany(Thing, { as: 'things', through: 'thingtags', timestamps: false })
  await sequelize.sync()
  if (databaseName === 'postgres' || databaseName === 'sqlite') {
    await sequelize.query('DROP TABLE thingtags')
    await sequelize.query('DROP TABLE things')
    const key = databaseName === 'postgres' ? 'SERIAL PRIMARY KEY' : 'INTEGER PRIMARY KEY AUTOINCREMENT'
    await sequelize.query(
      `CREATE TABLE things (id ${key}, name VARCHAR(255) UNIQUE, "ownerId" INTEGER REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED)`,
    )
    await sequelize.getQueryInterface().createTable('thingtags', {
      thingId: { type: DataTypes.INTEGER, primaryKey: true },
      tagId: { type: DataTypes.INTEGER, primaryKey: true },
    })
  }
  await Owner.create({ name: 'owner' })
  await Tag.create({ name: 'tag' })
  const io = new Server()
  const shared: CrudOptions = {
    transaction: 'request',
    operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
    onError: () => undefined,
  }
  // Neither is told of a transaction: they find it.
  const policy = async (): Promise<boolean> => {
    await Log.create({ line: 'asked' })
    return true
  }
  const things = crudRouter(Thing, {
    ...shared,
    createPolicy: policy,
    updatePolicy: policy,
    idempotency: true,
    push: { io },
    relations: { tags: { routes: true } },
    hooks: {
      afterCreate: async ({ instance }) => {
        await Log.create({ line: 'created' })
        if (instance.get('name') === 'refused') throw new Error('refused')
      },
    },
  })
  const owners = crudRouter(Owner, {
    ...shared,
    relations: { things: { routes: true, write: true, resource: () => things } },
  })
  app.use(things, owners, crudRouter(Tag, shared))
  app.use('/held', heldBy(sequelize), crudRouter(Thing, { operations: Operations.AllWithBulk, route: 'things' }))
  await sequelize.sync()
  io.attach(server.server)
  const socket = client(`${server.url}/api/things/hub`, { transports: ['websocket'], forceNew: true })
  await new Promise((resolve) => socket.once('connect', () => resolve(null)))
  const heard: string[] = []
  socket.onAny((event: string) => heard.push(event))
  ended.unshift(async () => {
    socket.disconnect()
    await io.close()
    await server.close().catch(() => undefined)
  })
  const count = async () => ({ things: await Thing.count(), logs: await Log.count() })
  world = { ...server, heard, count }
})
test.after.always(async () => {
  for (const end of ended) await end()
})

/** As docs/transactions.md has it. */
function heldBy(sequelize: Sequelize): RequestHandler {
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

/** The words of the statements of a request. */
async function wordsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  world.statements.length = 0
  await work()
  return world.statements.map((sql) => /^Executing \([^)]*\): (\w+)/.exec(sql)?.[1] ?? sql)
}

const BEGINS = /^(BEGIN|START)$/

test('each write is one transaction with its policies and hooks, committed before the answer', async (t) => {
  const requests = [
    () => world.post('/api/things', { name: 'one', ownerId: 1 }),
    () => world.patch('/api/things/1', { name: 'changed' }),
    () => world.send('PUT', '/api/things/1', { json: { name: 'put', ownerId: 1 } }),
    () => world.post('/api/things/bulk', [{ name: 'two' }, { name: 'three' }]),
    () => world.post('/api/owners/1/things', { name: 'below' }),
    () => world.post('/api/owners', { name: 'with', things: [{ name: 'within' }] }),
    () => world.send('PUT', '/api/things/1/tags', { json: [1] }),
    () => world.send('DELETE', '/api/things/1/tags/1'),
    () => world.delete('/api/things/1'),
    () => world.post('/api/things', { name: 'once' }, { 'Idempotency-Key': 'once' }),
  ]
  for (const request of requests) {
    let status = 0
    const words = await wordsOf(async () => {
      status = (await request()).status
    })
    t.true(status < 300, `${request} ${status}`)
    t.is(words.filter((word) => BEGINS.test(word)).length, 1, `${request} ${words}`)
    t.is(words.at(-1), 'COMMIT', `${request} ${words}`)
  }
  const again = await world.post('/api/things', { name: 'once' }, { 'Idempotency-Key': 'once' })
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.false((await wordsOf(() => world.get('/api/things'))).some((word) => BEGINS.test(word)))
})

test('what is refused leaves nothing, of policies and hooks neither', async (t) => {
  const before = await world.count()
  const asked = before.logs
  t.is((await world.post('/api/things', { name: 'refused' })).status, 500)
  t.is((await world.post('/api/things', { name: 'once' })).status, 409)
  // The policy was evaluated before the body was read as well.
  t.deepEqual(await world.count(), { things: before.things, logs: asked + 2 })
})

deferred('a COMMIT that fails is answered as the constraint is, nothing is written, and nobody is told', async (t) => {
  const before = await world.count()
  world.heard.length = 0
  for (const path of ['/api/things', '/api/things/bulk']) {
    const body = { name: `nobody's ${path}`, ownerId: 99 }
    const { status, body: problem } = await world.post(path, path.endsWith('bulk') ? [body] : body, {
      'Idempotency-Key': `deferred ${path}`,
    })
    t.is(status, 409)
    t.is(problem.code, 'conflict')
  }
  t.is((await world.count()).things, before.things)
  t.is((await world.post('/api/things', { name: 'told' })).status, 201)
  const deadline = performance.now() + 5000
  while (world.heard.length === 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10))
  t.deepEqual(world.heard, ['OnCreated'])
})

deferred('a transaction of the host whose answers wait for its COMMIT tells nothing that is not written', async (t) => {
  const before = await world.count()
  t.is((await world.post('/held/things', { name: 'held', ownerId: 99 })).status, 503)
  t.is((await world.post('/held/things', { name: 'told' })).status, 409)
  t.deepEqual(await world.count(), before)
  const { status, body } = await world.post('/held/things', { name: 'held', ownerId: 1 })
  t.is(status, 201)
  t.is(body.name, 'held')
  t.is((await world.count()).things, before.things + 1)
})

test('many writes at once each have a transaction of their own', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => world.post('/api/things', { name: `many ${at}` })),
  )
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
})

/** A resource with a database of its own, whose pool has one connection. */
async function alone(t: ExecutionContext, options: CrudOptions = {}, acquire = 30_000) {
  const server = await openStage({ sequelize: { pool: { max: 1, acquire } } })
  const { app, sequelize } = server
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  await sequelize.sync()
  app.use(crudRouter(Thing, { onError: () => undefined, ...options }))
  t.teardown(server.close)
  return { ...server, Thing }
}

onServers('a write that gets no connection is 503 with Retry-After', async (t) => {
  const { post, patch, sequelize, Thing } = await alone(t, { transaction: 'request' }, 500)
  t.is((await post('/api/things', { name: 'first' })).status, 201)
  const transaction = await sequelize.transaction({ transaction: null })
  for (const { status, headers, text } of await Promise.all([
    post('/api/things', { name: 'new' }),
    patch('/api/things/1', { name: 'late' }),
  ])) {
    t.is(status, 503, text)
    t.is(headers.get('retry-after'), '1')
  }
  await transaction.rollback()
  t.is((await post('/api/things', { name: 'second' })).status, 201)
  const names = (await Thing.findAll({ order: ['id'] })).map((thing) => thing.get('name'))
  t.deepEqual(names, ['first', 'second'])
})

for (const [what, options] of [
  ['first writes wait for what one of them reads, and', {}],
  ["with transaction: 'request'", { transaction: 'request' }],
] as const) {
  onServers(`${what} more than limits.waiting do not wait`, async (t) => {
    const { post, sequelize, Thing } = await alone(t, { ...options, limits: { waiting: 5 } })
    const held = await sequelize.transaction({ transaction: null })
    let refused = 0
    const answers = Array.from({ length: 40 }, async () => {
      const { status, body } = await post('/api/things', { name: 'new' })
      if (/^Too many requests are waiting/.test(body.detail)) refused += 1
      return status
    })
    const deadline = performance.now() + 20_000
    while (refused < 30 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
    t.true(refused >= 30, String(refused))
    await held.rollback()
    const written = (await Promise.all(answers)).filter((status) => status === 201).length
    t.true(written > 0)
    t.is(written + refused, 40)
    t.is(await Thing.count(), written)
  })
}

onServers('a scope sees what others commit after a policy has read', async (t) => {
  const server = await openStage()
  t.teardown(server.close)
  const { app, sequelize, patch } = server
  const plain = { timestamps: false }
  const Owner = sequelize.define('owner', { name: DataTypes.STRING }, plain)
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, plain)
  Thing.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId' })
  await sequelize.sync()
  await Owner.create({ name: 'mine' })
  await Thing.create({ name: 'old', ownerId: 1 })
  let runs = 0
  const updatePolicy = async (): Promise<boolean> => {
    runs += 1
    await Owner.count()
    // The first run is before the transaction.
    if (runs === 2) await Owner.update({ name: 'theirs' }, { where: { id: 1 }, transaction: null })
    return true
  }
  app.use(crudRouter(Thing, { transaction: 'request', scope: () => 'owner.name=mine', updatePolicy }))
  t.is((await patch('/api/things/1', { name: 'new' })).status, 404)
  t.is((await Thing.findByPk(1))?.get('name'), 'old')
  t.is(runs, 2)
})

onPostgres('a conflict at COMMIT is 503 without a second attempt, since policies and hooks have run', async (t) => {
  let runs = 0
  const beforeCreate = (): void => {
    runs += 1
  }
  const { post, sequelize, Thing } = await alone(t, { transaction: 'request', hooks: { beforeCreate } })
  await sequelize.query(`CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN
    RAISE EXCEPTION 'a conflict' USING ERRCODE = '40001'; END $$ LANGUAGE plpgsql`)
  await sequelize.query(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON things DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION refuse()`)
  t.is((await post('/api/things', { name: 'new' })).status, 503)
  t.is(runs, 1)
  t.is(await Thing.count(), 0)
})
