// Sequelize.useCLS is global: it needs a process of its own, which is this file.

import ava from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { serve } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const namespace = new Namespace()
Sequelize.useCLS(namespace)

const server = await openStage()
const { app, sequelize, statements } = server

const Plain = sequelize.define('plain', { name: DataTypes.STRING }, { name: { singular: 'plain', plural: 'plain' } })
const Log = sequelize.define('log', { line: DataTypes.STRING })
const Hooked = sequelize.define(
  'hooked',
  { name: DataTypes.STRING },
  {
    name: { singular: 'hooked', plural: 'hooked' },
    hooks: {
      // Without a transaction among its options: whose it is, continuation-local storage says.
      afterSave: async (instance) => {
        await Log.create({ line: String(instance.get('name')) })
        if (instance.get('name') === 'refused') throw new Error('refused')
      },
      beforeDestroy: async () => {
        await Log.create({ line: 'destroyed' })
      },
    },
  },
)
/** What lets the hook of a slow record go on, and what then became of its statement. */
const late: { goOn: () => void; outcome: string } = { goOn: () => undefined, outcome: '' }
const Slow = sequelize.define(
  'slow',
  { name: DataTypes.STRING },
  {
    name: { singular: 'slow', plural: 'slow' },
    hooks: {
      afterSave: async (instance) => {
        if (instance.get('name') !== 'hangs') return
        await new Promise<void>((resolve) => {
          late.goOn = resolve
        })
        late.outcome = await Log.create({ line: 'late' }).then(
          () => 'written',
          () => 'refused',
        )
      },
    },
  },
)
await sequelize.sync()

/** The host's transactions, whose ends the replies do not wait for. */
const ends: Promise<unknown>[] = []
app.use('/within', (req, res, next) => {
  const work = sequelize.transaction(async () => {
    await new Promise((resolve) => {
      res.on('finish', resolve)
      next()
    })
    if (req.headers['x-end'] === 'rollback') throw new Error('the host rolls back')
  })
  ends.push(work.catch(() => undefined))
})
const heard: unknown[] = []
for (const model of [Plain, Hooked, Slow]) {
  const router = crudRouter(model, {
    operations: Operations.AllWithBulk,
    ...(model === Slow ? { limits: { writeTime: 300 } } : {}),
    onError: (error) => heard.push((error as Error).message),
  })
  app.use(router)
  app.use('/within', router)
}
ava.after.always(async () => {
  await Promise.all(ends)
  await server.close()
})

function begun(): number {
  return statements.filter((sql) => /\): (BEGIN|START TRANSACTION)/.test(sql)).length
}

interface Write {
  readonly what: string
  readonly send: (base: string, id: number, headers: Record<string, string>) => ReturnType<typeof server.get>
  readonly status: number
}

const WRITES: readonly Write[] = [
  { what: 'POST', send: (base, _, headers) => server.post(base, { name: 'new' }, headers), status: 201 },
  {
    what: 'PATCH',
    send: (base, id, headers) => server.patch(`${base}/${id}`, { name: 'changed' }, headers),
    status: 200,
  },
  { what: 'DELETE', send: (base, id, headers) => server.delete(`${base}/${id}`, headers), status: 204 },
  {
    what: 'bulk create',
    send: (base, _, headers) => server.post(`${base}/bulk`, [{ name: 'a' }, { name: 'b' }], headers),
    status: 201,
  },
  { what: 'bulk delete', send: (base, id, headers) => server.post(`${base}/bulk-delete`, [id], headers), status: 200 },
]

async function rowsOf(model: ModelStatic<Model>): Promise<unknown[]> {
  const [rows, lines] = await Promise.all([model.findAll({ order: ['id'], raw: true }), Log.count()])
  return [rows, model === Hooked ? lines : 0]
}

for (const model of [Plain, Hooked]) {
  for (const { what, send, status } of WRITES) {
    test(`${model.name}: ${what} joins the transaction that the host opened for the request, and shares its end`, async (t) => {
      const row = await model.create({ name: 'before' })
      const id = Number(row.get('id'))
      const before = await rowsOf(model)
      statements.length = 0
      const undone = await send(`/within/api/${model.name}`, id, { 'x-end': 'rollback' })
      await Promise.all(ends)
      t.is(undone.status, status)
      t.is(begun(), 1)
      t.deepEqual(await rowsOf(model), before)
      const done = await send(`/within/api/${model.name}`, id, {})
      await Promise.all(ends)
      t.is(done.status, status)
      t.notDeepEqual(await rowsOf(model), before)
    })
  }

  test(`${model.name}: reads within the host's transaction see what it has written`, async (t) => {
    const { status, headers } = await server.post(`/within/api/${model.name}`, { name: 'seen' })
    await Promise.all(ends)
    t.is(status, 201)
    statements.length = 0
    t.is((await server.get(`/within${headers.get('location')?.replace('/within', '')}`)).body.name, 'seen')
    t.is((await server.get(`/within/api/${model.name}?filter=Name=seen`)).body.totalCount > 0, true)
    await Promise.all(ends)
    t.true(statements.every((sql) => !sql.startsWith('Executing (default): SELECT')))
  })
}

test("a transaction of the router's own is the one that the host's hooks find", async (t) => {
  const lines = await Log.count()
  t.is((await server.post('/api/hooked', { name: 'kept' })).status, 201)
  t.is(await Log.count(), lines + 1)
  const rows = await Hooked.count()
  for (const send of [
    () => server.post('/api/hooked', { name: 'refused' }),
    () => server.post('/api/hooked/bulk', [{ name: 'fine' }, { name: 'refused' }]),
  ]) {
    heard.length = 0
    t.is((await send()).status, 500)
    t.deepEqual(heard, ['refused'])
    t.is(await Hooked.count(), rows)
    t.is(await Log.count(), lines + 1)
  }
})

test('a transaction that is over is none: the write has one of its own', async (t) => {
  const late = express()
  late.use((_req, _res, next) => {
    sequelize
      .transaction(async (transaction) => {
        // Still within the context of the transaction, and after its end.
        transaction.afterCommit(() => void setImmediate(next))
      })
      .catch(next)
  })
  late.use(crudRouter(Hooked, { onError: () => undefined }))
  const other = await serve(late)
  t.teardown(other.close)
  const [rows, lines] = [await Hooked.count(), await Log.count()]
  t.is((await other.post('/api/hooked', { name: 'refused' })).status, 500)
  t.is(await Hooked.count(), rows)
  t.is(await Log.count(), lines)
  t.is((await other.post('/api/hooked', { name: 'after' })).status, 201)
  t.is(await Hooked.count(), rows + 1)
})

test('requests at once keep to their own transactions', async (t) => {
  const rows = await Hooked.count()
  const names = Array.from({ length: 20 }, (_, index) => (index % 4 === 0 ? 'refused' : `n${index}`))
  const answers = await Promise.all(names.map((name) => server.post('/api/hooked', { name })))
  t.deepEqual(
    answers.map(({ status }) => status),
    names.map((name) => (name === 'refused' ? 500 : 201)),
  )
  t.is(await Hooked.count(), rows + 15)
})

test('what a hook writes after its time is refused, also where it names no transaction', async (t) => {
  const lines = await Log.count()
  t.is((await server.post('/api/slow', { name: 'hangs' })).status, 503)
  t.is(await Slow.count(), 0)
  late.goOn()
  while (late.outcome === '') await new Promise(setImmediate)
  t.is(late.outcome, 'refused')
  t.is(await Log.count(), lines)
})

test("within the host's transaction a write whose time is over is 503, and the rest is the host's to decide", async (t) => {
  const undone = await server.post('/within/api/slow', { name: 'hangs' }, { 'x-end': 'rollback' })
  t.is(undone.status, 503)
  t.is(undone.headers.get('retry-after'), '1')
  await Promise.all(ends)
  t.is(await Slow.count(), 0)
  t.is((await server.post('/within/api/slow', { name: 'hangs' })).status, 503)
  await Promise.all(ends)
  t.is(await Slow.count(), 1)
})
