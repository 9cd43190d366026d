// The host's own transaction around the request, which Sequelize.useCLS finds: it is global, and needs a process of its
// own, which is this file.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes, QueryTypes, Sequelize, type Transaction } from 'sequelize'
import { type CrudHub, type CrudRouter, crudHub, crudRouter, Operations } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { databaseName } from '../../support/database.js'
import { eventPackets, openPush, type Subscriber, waitUntil } from '../../support/push.js'
import { serve } from '../../support/server.js'
import { onServer, serverOptions } from '../../support/servers.js'
import { openTcpProxy } from '../../support/wire.js'

Sequelize.useCLS(new Namespace())

// Where Sequelize tells of COMMITs that fail, as they are made to here.
console.warn = () => undefined

const test = ava.serial

/** How the host ends what it began: it throws, or not. */
type Ending = (transaction: Transaction) => void | Promise<void>

/** The endings that requests ask for by name, and the host's transactions, whose ends the replies do not wait for. */
const endings = new Map<string, Ending>()
const ends: Promise<unknown>[] = []

/** Runs the rest of the request in a transaction, or in a savepoint of the one that is there. */
const within =
  (header: string): RequestHandler =>
  (req, res, next) => {
    const work = stage.sequelize.transaction(async (transaction) => {
      await new Promise((resolve) => {
        res.on('finish', resolve)
        next()
      })
      await endings.get(String(req.headers[header]))?.(transaction)
    })
    ends.push(work.catch(() => undefined))
  }

/** As `within`, and the outer one waits for the end of the inner one. */
const nested: RequestHandler = (req, res, next) => {
  const outer = stage.sequelize.transaction(async (transaction) => {
    const inner = stage.sequelize.transaction({ transaction }, async (savepoint) => {
      await new Promise((resolve) => {
        res.on('finish', resolve)
        next()
      })
      await endings.get(String(req.headers['x-inner']))?.(savepoint)
    })
    await inner.catch(() => undefined)
    await endings.get(String(req.headers['x-outer']))?.(transaction)
  })
  ends.push(outer.catch(() => undefined))
}

const giveUp = gate()

/** A transaction that does not wait for the request. */
const impatient: RequestHandler = (_req, _res, next) => {
  const work = stage.sequelize.transaction(async () => {
    next()
    await giveUp.opened
    throw new Error('the host gives up')
  })
  ends.push(work.catch(() => undefined))
}

/** Where the host tells that it has locked a record, and what it waits for before it writes to it by the router. */
const locked = gate()
const goOn = gate()

const locking: RequestHandler = (req, res, next) => {
  const work = stage.sequelize.transaction(async () => {
    await order.resource.model.update({ name: 'locked' }, { where: { id: Number(req.headers['x-id']) } })
    locked.open()
    await goOn.opened
    await new Promise((resolve) => {
      res.on('finish', resolve)
      next()
    })
  })
  ends.push(work.catch(() => undefined))
}

const committed = gate()
const answered = gate()

/** A connection on which the answer to COMMIT takes its time. */
const late: RequestHandler = (_req, res, next) => {
  const work = stage.sequelize.transaction(async (transaction) => {
    const commit = transaction.commit
    transaction.commit = async () => {
      await commit.call(transaction)
      committed.open()
      await answered.opened
    }
    await new Promise((resolve) => {
      res.on('finish', resolve)
      next()
    })
  })
  ends.push(work.catch(() => undefined))
}

endings.set('rollback', () => {
  throw new Error('the host rolls back')
})
/** Ends the connection before its COMMIT. */
endings.set('kill', async (transaction) => {
  if (databaseName === 'sqlite') {
    // The nearest that it has: the transaction is over before its COMMIT comes, which then fails.
    await stage.sequelize.query('ROLLBACK', { transaction })
    return
  }
  const own = databaseName === 'postgres' ? 'pg_backend_pid()' : 'CONNECTION_ID()'
  const options = { transaction, type: QueryTypes.SELECT, plain: true } as const
  const row = await stage.sequelize.query<{ id: number }>(`SELECT ${own} AS id`, options)
  await onServer(
    databaseName,
    databaseName === 'postgres' ? `SELECT pg_terminate_backend(${row?.id})` : `KILL ${row?.id}`,
  )
})

/** Lets a statement fail and catches the error, after which PostgreSQL answers COMMIT with a rollback. */
endings.set('fail', async (transaction) => {
  await stage.sequelize.query('SELECT * FROM missing', { transaction }).catch(() => undefined)
})
endings.set('throw', (transaction) => {
  transaction.afterCommit(() => {
    throw new Error('a hook fails after the COMMIT')
  })
})
endings.set('hang', (transaction) => {
  transaction.afterCommit(() => gate().opened)
})

let order!: CrudRouter
let hooked!: CrudRouter
let bare!: CrudHub
/** Something to wait for, and the way to end the wait. */
interface Gate {
  readonly open: () => void
  readonly opened: Promise<void>
}

function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Where the hook of `hooked` tells that it is at work, and what it waits for. */
let hook: { readonly reached: Gate; readonly leave: Gate } | null = null
const heard: unknown[] = []
const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const attributes = { name: DataTypes.STRING }
  const onError = (error: unknown): void => {
    heard.push(error)
  }
  const common = { operations: Operations.AllWithBulk, onError, push: { io } }
  order = crudRouter(sequelize.define('Order', attributes, plain), common)
  const pass = async (): Promise<void> => {
    hook?.reached.open()
    await hook?.leave.opened
  }
  hooked = crudRouter(sequelize.define('Hooked', attributes, { ...plain, hooks: { afterDestroy: pass } }), {
    ...common,
    route: 'api/hooked',
    hooks: { afterCreate: () => undefined, afterUpdate: () => undefined },
  })
  bare = crudHub(order.resource.model, { io, path: '/bare' })
  for (const router of [order, hooked]) {
    app.use(router)
    app.use('/within', within('x-end'), router)
    app.use('/nested', nested, router)
    app.use('/impatient', impatient, router)
    app.use('/locking', locking, router)
    app.use('/late', late, router)
  }
})
ava.after.always(async () => {
  await Promise.all(ends)
  await stage.close()
})

interface Write {
  readonly what: string
  readonly send: (base: string, id: number, headers: Record<string, string>) => ReturnType<typeof stage.get>
  readonly told: (id: number, body: { id: number }) => readonly string[]
}

const WRITES: readonly Write[] = [
  {
    what: 'POST',
    send: (base, _, headers) => stage.post(base, { name: 'new' }, headers),
    told: (_, { id }) => [`["OnCreated",{"id":${id},"name":"new"}]`],
  },
  {
    what: 'PATCH',
    send: (base, id, headers) => stage.patch(`${base}/${id}`, { name: 'changed' }, headers),
    told: (id) => [`["OnUpdated",{"id":${id},"name":"changed"}]`],
  },
  {
    what: 'DELETE',
    send: (base, id, headers) => stage.delete(`${base}/${id}`, headers),
    told: (id) => [`["OnDeleted",${id}]`],
  },
  {
    what: 'bulk delete',
    send: (base, id, headers) => stage.post(`${base}/bulk-delete`, [id], headers),
    told: (id) => [`["OnDeleted",${id}]`],
  },
]

async function told(hub: CrudRouter, subscriber: Subscriber): Promise<string[]> {
  await Promise.all(ends)
  await stage.drain(hub, subscriber)
  return eventPackets(subscriber)
}

for (const hub of [() => order, () => hooked]) {
  const { resource } = hub()
  const path = resource.route
  const create = async (): Promise<number> => Number((await resource.model.create({ name: 'before' })).get('id'))

  for (const { what, send, told: expected } of WRITES) {
    test(`${resource.name}: ${what} in the host's transaction is told at its commit, and not at its rollback`, async (t) => {
      const id = await create()
      const subscriber = await stage.subscribe(hub())
      const undone = await send(`/within${path}`, id, { 'x-end': 'rollback' })
      t.true(undone.status < 300)
      t.deepEqual(await told(hub(), subscriber), [])

      const looked = gate()
      endings.set('wait', () => looked.opened)
      const done = await send(`/within${path}`, id, { 'x-end': 'wait' })
      // The reply is out, and the host has not committed.
      await stage.drain(hub(), subscriber)
      t.deepEqual(eventPackets(subscriber), [])
      looked.open()
      t.deepEqual(await told(hub(), subscriber), expected(id, done.body))
    })

    test(`${resource.name}: ${what} is not told when the COMMIT itself fails`, async (t) => {
      const id = await create()
      const subscriber = await stage.subscribe(hub())
      t.true((await send(`/within${path}`, id, { 'x-end': 'kill' })).status < 300)
      t.deepEqual(await told(hub(), subscriber), [])
      const row = await resource.model.findByPk(id)
      t.is(row?.get('name'), 'before')
    })
  }

  const ENDS: readonly (readonly [inner: string, outer: string, times: number])[] = [
    ['', '', 1],
    ['rollback', '', 0],
    ['', 'rollback', 0],
    ['rollback', 'rollback', 0],
    ['', 'kill', 0],
  ]
  for (const [inner, outer, times] of ENDS) {
    const say = (how: string): string => how || 'commit'
    test(`${resource.name}: in a savepoint, of ${say(inner)} within ${say(outer)}, a write is told ${times} times`, async (t) => {
      const id = await create()
      const subscriber = await stage.subscribe(hub())
      for (const { send } of WRITES.slice(0, 3)) {
        await send(`/nested${path}`, id, { 'x-inner': inner, 'x-outer': outer })
        await Promise.all(ends)
      }
      const events = (await told(hub(), subscriber)).map((text) => JSON.parse(text)[0])
      t.deepEqual(events, times === 1 ? ['OnCreated', 'OnUpdated', 'OnDeleted'] : [])
    })
  }
}

for (const how of ['throw', 'hang']) {
  test(`a write is told after its commit if an afterCommit hook of the host's transaction is made to ${how}`, async (t) => {
    const subscriber = await stage.subscribe(order)
    const { status, body } = await stage.post('/within/api/orders', { name: 'new' }, { 'x-end': how })
    t.is(status, 201)
    // A hook that hangs never ends its transaction.
    if (how === 'hang') ends.pop()
    await waitUntil(subscriber.socket, () => eventPackets(subscriber).length > 0)
    t.deepEqual(await told(order, subscriber), [`["OnCreated",{"id":${body.id},"name":"new"}]`])
  })
}

test("what PostgreSQL rolls back at the COMMIT of the host's transaction is not told", async (t) => {
  const subscriber = await stage.subscribe(order)
  const { status, body } = await stage.post('/within/api/orders', { name: 'new' }, { 'x-end': 'fail' })
  t.is(status, 201)
  const isStored = databaseName !== 'postgres'
  t.is((await told(order, subscriber)).length, isStored ? 1 : 0)
  t.is((await order.resource.model.findByPk(body.id)) !== null, isStored)
})

test('the writes of one transaction are told in their order, whatever their hubs', async (t) => {
  const [one, two] = await Promise.all([stage.subscribe(order), stage.subscribe(hooked)])
  const [first, second] = [order.resource.model, hooked.resource.model]
  await stage.sequelize.transaction(async () => {
    const a = await first.create({ name: 'a' })
    order.notify?.created(Number(a.get('id')))
    const b = await second.create({ name: 'b' })
    hooked.notify?.created(Number(b.get('id')))
    await a.update({ name: 'aa' })
    order.notify?.updated(Number(a.get('id')))
    await a.destroy()
    order.notify?.deleted(Number(a.get('id')))
  })
  // What is read after the commit is what the commit has left.
  t.deepEqual(
    (await told(order, one)).map((text) => JSON.parse(text)[0]),
    ['OnDeleted'],
  )
  t.deepEqual(
    (await told(hooked, two)).map((text) => JSON.parse(text)[1].name),
    ['b'],
  )
})

test('what the host tells of within its own transaction waits for the commit, and is dropped by a rollback', async (t) => {
  const subscriber = await stage.subscribe(bare)
  const { model } = bare.resource
  const work = stage.sequelize.transaction(async () => {
    const row = await model.create({ name: 'undone' })
    bare.notify.created(Number(row.get('id')))
    bare.notify.deleted(5)
    throw new Error('the host rolls back')
  })
  await t.throwsAsync(work)
  let id = 0
  await stage.sequelize.transaction(async () => {
    const row = await model.create({ name: 'done' })
    id = Number(row.get('id'))
    bare.notify.created(id)
    await row.update({ name: 'done twice' })
  })
  await stage.drain(bare, subscriber)
  t.deepEqual(eventPackets(subscriber), [`["OnCreated",{"id":${id},"name":"done twice"}]`])
})

test("a write in the host's transaction does not wait for its turn behind those that wait for its locks", async (t) => {
  const id = Number((await order.resource.model.create({ name: 'before' })).get('id'))
  const subscriber = await stage.subscribe(order)
  const inside = stage.patch(`/locking/api/orders/${id}`, { name: 'inside' }, { 'x-id': String(id) })
  await locked.opened
  const outside = stage.patch(`/api/orders/${id}`, { name: 'outside' })
  // By then it waits for the lock.
  await wait(200)
  goOn.open()
  t.deepEqual([(await inside).status, (await outside).status], [200, 200])
  // Which of the two is answered first is not ours to say: the event of the later commit is the last, and none shows less.
  const names = (await told(order, subscriber)).map((text) => JSON.parse(text)[1].name)
  t.is(names.length, 2)
  t.is(names.at(-1), 'outside')
})

test("an event of the host's transaction whose COMMIT is answered late shows no older record than one told before", async (t) => {
  const id = Number((await order.resource.model.create({ name: 'before' })).get('id'))
  const subscriber = await stage.subscribe(order)
  const inside = stage.patch(`/late/api/orders/${id}`, { name: 'inside' })
  await committed.opened
  t.is((await stage.patch(`/api/orders/${id}`, { name: 'outside' })).status, 200)
  answered.open()
  t.is((await inside).status, 200)
  await Promise.all(ends)
  const names = (await told(order, subscriber)).map((text) => JSON.parse(text)[1].name)
  t.deepEqual(names, ['outside', 'outside'])
})

test("a write that outlives the host's transaction is not told when that was rolled back", async (t) => {
  const id = Number((await hooked.resource.model.create({ name: 'before' })).get('id'))
  const subscriber = await stage.subscribe(hooked)
  const [reached, leave] = [gate(), gate()]
  hook = { reached, leave }
  const answer = stage.delete(`/impatient/api/hooked/${id}`)
  // The row is deleted, and a hook of the host's still at work, when the transaction is given up.
  await reached.opened
  giveUp.open()
  await Promise.all(ends)
  leave.open()
  t.is((await answer).status, 204)
  hook = null
  t.deepEqual(await told(hooked, subscriber), [])
  t.is((await hooked.resource.model.findByPk(id))?.get('name'), 'before')
})

const onPostgres = databaseName === 'postgres' ? test : test.skip

onPostgres('what is rolled back at a COMMIT right behind the error of a statement is not told', async (t) => {
  const options = serverOptions('postgres')
  const wire = await openTcpProxy(options.port, true)
  const database = stage.sequelize.getDatabaseName()
  const far = new Sequelize({ ...options, host: 'localhost', port: wire.port, database, logging: false })
  t.teardown(async () => {
    await far.close()
    await wire.close()
  })
  const Order = far.define('Order', { name: DataTypes.STRING }, { timestamps: false })
  const router = crudRouter(Order, { push: { io: stage.io, path: '/far' } })
  const subscriber = await stage.subscribe(router)
  const app = express()
  app.use((_req, res, next) => {
    const work = far.transaction(async (transaction) => {
      await new Promise((resolve) => {
        res.on('finish', resolve)
        next()
      })
      // The server tells of the error before it tells that the transaction is aborted.
      await far.query('SELECT * FROM missing', { transaction }).catch(() => undefined)
    })
    ends.push(work.catch(() => undefined))
  }, router)
  const server = await serve(app)
  t.teardown(server.close)
  const { status } = await server.post('/api/orders', { name: 'rolled back' })
  t.is(status, 201)
  t.deepEqual(await told(router, subscriber), [])
  t.is(await order.resource.model.count({ where: { name: 'rolled back' } }), 0)
})
