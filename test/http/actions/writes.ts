// POST actions write as PATCH does: one transaction, a lock, versions, stamps, soft delete, scope, hooks, `Idempotency-Key`, push.

import { tracingChannel } from 'node:diagnostics_channel'
import test from 'ava'
import Joi from 'joi'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, type PolicyContext, Problem, type RequestMessage } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openPush } from '../../support/push.js'
import { asUser, identityFromHeader, openStage, readStoredRow, type Stage } from '../../support/stage.js'

interface Shop extends Stage {
  readonly Order: ModelStatic<Model>
  readonly Log: ModelStatic<Model>
}

function define(sequelize: Sequelize) {
  const Order = sequelize.define(
    'order',
    {
      name: { type: DataTypes.STRING(30), allowNull: false },
      status: { type: DataTypes.STRING(10), defaultValue: 'new' },
      count: { type: DataTypes.INTEGER, defaultValue: 0 },
      data: DataTypes.JSON,
      tenantId: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 7 },
      code: { type: DataTypes.STRING(10), unique: true },
    },
    { timestamps: false },
  )
  const Log = sequelize.define('log', { text: DataTypes.STRING(50) }, { timestamps: false })
  return { Order, Log }
}

type Make = (models: { readonly Order: ModelStatic<Model>; readonly Log: ModelStatic<Model> }) => CrudOptions

async function open(make: Make): Promise<Shop> {
  const models: { Order?: ModelStatic<Model>; Log?: ModelStatic<Model> } = {}
  const stage = await openStage(({ sequelize }, app) => {
    const { Order, Log } = define(sequelize)
    Object.assign(models, { Order, Log })
    app.use(crudRouter(Order, { identity: identityFromHeader, onError: () => undefined, ...make({ Order, Log }) }))
  })
  const { Order, Log } = models
  if (Order === undefined || Log === undefined) throw new TypeError('no models')
  await Order.bulkCreate([
    { name: 'one', code: 'a' },
    { name: 'two', code: 'b' },
  ])
  return { ...stage, Order, Log }
}

async function tagOf(shop: Shop): Promise<string> {
  return String((await shop.get('/api/orders/1')).headers.get('etag'))
}

const bump = {
  on: 'record',
  method: 'post',
  handler: ({ record }: { record: Model }) => void record.set('count', Number(record.get('count')) + 1),
} as const

test('what a handler writes is rolled back when it throws', async (t) => {
  const shop = await open(({ Log }) => ({
    actions: {
      pay: {
        on: 'record',
        method: 'post',
        handler: async ({ record, transaction }) => {
          record.set('status', 'paid')
          await record.save({ transaction })
          await Log.create({ text: 'paid' }, { transaction })
          throw new Problem({ status: 409, code: 'no-money' })
        },
      },
      clear: {
        on: 'collection',
        method: 'post',
        handler: async ({ transaction }) => {
          await Log.create({ text: 'cleared' }, { transaction })
          throw new Error('broken')
        },
      },
    },
  }))
  t.teardown(shop.close)
  const { status, body } = await shop.send('POST', '/api/orders/1/pay')
  t.is(status, 409)
  t.is(body.code, 'no-money')
  t.is((await shop.send('POST', '/api/orders/clear')).status, 500)
  t.is((await readStoredRow(shop.Order, 1))?.status, 'new')
  t.is(await shop.Log.count(), 0)
})

test('what a handler writes in its transaction stands with the record', async (t) => {
  const shop = await open(({ Log }) => ({
    actions: {
      pay: {
        on: 'record',
        method: 'post',
        handler: async ({ record, transaction }) => {
          record.set('status', 'paid')
          await Log.create({ text: 'paid' }, { transaction })
        },
      },
    },
  }))
  t.teardown(shop.close)
  t.is((await shop.send('POST', '/api/orders/1/pay')).body.status, 'paid')
  t.is(await shop.Log.count(), 1)
  t.is((await readStoredRow(shop.Order, 1))?.status, 'paid')
})

test('a value that is taken, or does not fit, undoes what the handler did', async (t) => {
  const shop = await open(({ Log }) => ({
    actions: {
      take: {
        on: 'record',
        method: 'post',
        handler: async ({ record, transaction }) => {
          await Log.create({ text: 'x' }, { transaction })
          record.set('code', 'b')
        },
      },
    },
  }))
  t.teardown(shop.close)
  const { status, body } = await shop.send('POST', '/api/orders/1/take')
  t.is(status, 409)
  t.deepEqual(body.errors, { code: ['is already taken.'] })
  t.is(await shop.Log.count(), 0)
})

test('actions that come at once are done one after the other', async (t) => {
  const shop = await open(() => ({ actions: { bump } }))
  t.teardown(shop.close)
  const answers = await Promise.all(Array.from({ length: 8 }, () => shop.send('POST', '/api/orders/1/bump')))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.is((await readStoredRow(shop.Order, 1))?.count, 8)
  t.deepEqual(answers.map(({ body }) => body.count).toSorted(), [1, 2, 3, 4, 5, 6, 7, 8])
})

test('with concurrency actions of records need If-Match, and raise the version', async (t) => {
  const shop = await open(() => ({
    concurrency: true,
    actions: {
      bump: { ...bump, input: Joi.object({ by: Joi.number() }) },
      view: { on: 'record', method: 'get', handler: () => undefined },
      all: { on: 'collection', method: 'post', handler: () => undefined },
    },
  }))
  t.teardown(shop.close)
  const path = '/api/orders/1/bump'
  t.is((await shop.post(path, {})).status, 428)
  t.is((await shop.post(path, { by: 'x' }, { 'if-match': 'W/"9"' })).status, 412)
  t.is((await shop.post(path, { by: 'x' })).status, 428)
  t.is((await shop.post('/api/orders/99/bump', { by: 'x' })).status, 404)
  t.is((await shop.post('/api/orders/99/bump', {}, { 'if-match': 'W/"9"' })).status, 404)
  const tag = await tagOf(shop)
  t.is((await shop.post(path, { by: 'x' }, { 'if-match': tag })).status, 400)
  t.is((await readStoredRow(shop.Order, 1))?.count, 0)
  const done = await shop.post(path, {}, { 'if-match': tag })
  t.is(done.status, 200)
  t.not(done.headers.get('etag'), tag)
  t.is(done.headers.get('etag'), await tagOf(shop))
  t.is((await shop.post(path, {}, { 'if-match': tag })).status, 412)
  t.is((await shop.post(path, {}, { 'if-match': '*' })).status, 200)
  const now = await tagOf(shop)
  t.is((await shop.send('POST', '/api/orders/all')).status, 204)
  const view = await shop.get('/api/orders/1/view')
  t.is(view.headers.get('etag'), now)
  t.is((await shop.get('/api/orders/1/view', { 'if-none-match': now })).status, 304)
})

test('of two actions with one version one is done', async (t) => {
  const shop = await open(() => ({ concurrency: true, actions: { bump } }))
  t.teardown(shop.close)
  const tag = await tagOf(shop)
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => shop.post('/api/orders/1/bump', {}, { 'if-match': tag })),
  )
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412, 412, 412])
  t.is((await readStoredRow(shop.Order, 1))?.count, 1)
})

test('another record than that of the request has no tag of a version in a GET', async (t) => {
  const shop = await open(() => ({
    concurrency: true,
    actions: {
      other: { on: 'record', method: 'get', handler: ({ record }) => 3 - Number(record.get('id')) },
      first: { on: 'collection', method: 'get', output: 'record', handler: () => 1 },
    },
  }))
  t.teardown(shop.close)
  for (const path of ['/api/orders/1/other', '/api/orders/first']) {
    const { status, headers } = await shop.get(path)
    t.is(status, 200)
    t.notRegex(headers.get('etag') ?? '', /^W\/"\d+"$/)
  }
})

test('audit stamps name who acted, and timestamps rise', async (t) => {
  const shop = await open(() => ({ audit: true, actions: { bump } }))
  t.teardown(shop.close)
  await shop.send('POST', '/api/orders/1/bump', { headers: asUser('bob') })
  const row = await readStoredRow(shop.Order, 1)
  t.is(row?.updatedBy, 'bob')
  t.truthy(row?.updatedAt)
})

test('records that are softly deleted have no actions', async (t) => {
  const shop = await open(() => ({
    softDelete: true,
    actions: { bump, view: { on: 'record', method: 'get', handler: () => undefined } },
  }))
  t.teardown(shop.close)
  t.is((await shop.delete('/api/orders/1')).status, 204)
  t.is((await shop.send('POST', '/api/orders/1/bump')).status, 404)
  t.is((await shop.get('/api/orders/1/view')).status, 404)
  t.is((await readStoredRow(shop.Order, 1))?.count, 0)
})

test('a handler may delete softly where nothing is answered', async (t) => {
  const shop = await open(() => ({
    softDelete: true,
    actions: {
      archive: {
        on: 'record',
        method: 'post',
        output: 'none',
        handler: ({ record }) => void record.set('isDeleted', true),
      },
    },
  }))
  t.teardown(shop.close)
  t.is((await shop.send('POST', '/api/orders/1/archive')).status, 204)
  t.is((await shop.get('/api/orders/1')).status, 404)
})

test('a handler that moves the record out of the scope is refused, and undone', async (t) => {
  const shop = await open(({ Log }) => ({
    scope: () => ({ tenantId: 7 }),
    actions: {
      move: {
        on: 'record',
        method: 'post',
        handler: async ({ record, transaction }) => {
          record.set('tenantId', 8)
          await Log.create({ text: 'moved' }, { transaction })
        },
      },
      moveApart: {
        on: 'record',
        method: 'post',
        transaction: false,
        handler: ({ record }) => void record.set('tenantId', 8),
      },
      bump,
    },
  }))
  t.teardown(shop.close)
  for (const path of ['/api/orders/1/move', '/api/orders/1/move-apart']) {
    const { status, body } = await shop.send('POST', path)
    t.is(status, 403)
    t.is(body.detail, 'You may not store this record.')
  }
  t.is((await readStoredRow(shop.Order, 1))?.tenantId, 7)
  t.is(await shop.Log.count(), 0)
  t.is((await shop.send('POST', '/api/orders/1/bump')).status, 200)
})

test('hooks run around the handler and around the write', async (t) => {
  const seen: unknown[] = []
  const shop = await open(() => ({
    hooks: {
      beforeAction: ({ action, operation, instance, transaction, input }) => {
        seen.push(['beforeAction', action, operation, instance?.get('count') ?? null, transaction !== null, input])
      },
      beforeUpdate: ({ instance }) => void seen.push(['beforeUpdate', instance.get('count')]),
      afterUpdate: ({ instance }) => void seen.push(['afterUpdate', instance.get('count')]),
      afterAction: ({ action, instance }) => void seen.push(['afterAction', action, instance?.get('count') ?? null]),
    },
    actions: {
      bump: { ...bump, input: Joi.object({ by: Joi.number() }) },
      sweep: { on: 'collection', method: 'post', handler: () => void seen.push(['handler']) },
      look: { on: 'collection', method: 'get', handler: () => [] },
    },
  }))
  t.teardown(shop.close)
  await shop.post('/api/orders/1/bump', { by: 2 })
  t.deepEqual(seen, [
    ['beforeAction', 'bump', 'update', 0, true, { by: 2 }],
    ['beforeUpdate', 1],
    ['afterUpdate', 1],
    ['afterAction', 'bump', 1],
  ])
  seen.length = 0
  await shop.send('POST', '/api/orders/sweep')
  t.deepEqual(seen, [
    ['beforeAction', 'sweep', 'create', null, true, undefined],
    ['handler'],
    ['afterAction', 'sweep', null],
  ])
  seen.length = 0
  await shop.get('/api/orders/look')
  t.deepEqual(seen, [])
})

test('a hook that throws undoes the action', async (t) => {
  const shop = await open(() => ({
    hooks: {
      afterAction: () => {
        throw new Problem({ status: 409, code: 'late' })
      },
    },
    actions: { bump },
  }))
  t.teardown(shop.close)
  t.is((await shop.send('POST', '/api/orders/1/bump')).status, 409)
  t.is((await readStoredRow(shop.Order, 1))?.count, 0)
})

test('an action with an Idempotency-Key is done once', async (t) => {
  let runs = 0
  const shop = await open(({ Order, Log }) => ({
    idempotency: true,
    actions: {
      bump: { ...bump, input: Joi.object({ by: Joi.number() }) },
      add: {
        on: 'collection',
        method: 'post',
        output: 'list',
        handler: async ({ transaction }) => {
          runs += 1
          await Log.create({ text: 'added' }, { transaction })
          return Order.findAll({ transaction, order: ['id'] })
        },
      },
      sum: {
        on: 'collection',
        method: 'post',
        output: Joi.object({ runs: Joi.number() }),
        handler: () => {
          runs += 1
          return { runs }
        },
      },
    },
  }))
  t.teardown(shop.close)
  const key = (name: string) => ({ 'idempotency-key': name })
  const first = await shop.post('/api/orders/1/bump', { by: 1 }, key('k1'))
  t.is(first.status, 200)
  const again = await shop.post('/api/orders/1/bump', { by: 1 }, key('k1'))
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.is(again.text, first.text)
  t.is((await readStoredRow(shop.Order, 1))?.count, 1)
  t.is((await shop.post('/api/orders/1/bump', { by: 2 }, key('k1'))).status, 422)
  t.is((await shop.post('/api/orders/2/bump', { by: 1 }, key('k1'))).headers.get('idempotency-replayed'), null)
  const added = await shop.send('POST', '/api/orders/add', { headers: key('k2') })
  const twice = await shop.send('POST', '/api/orders/add', { headers: key('k2') })
  t.is(twice.text, added.text)
  t.is(twice.headers.get('idempotency-replayed'), 'true')
  t.is(await shop.Log.count(), 1)
  const sums = [0, 1].map(() => shop.send('POST', '/api/orders/sum', { headers: key('k3') }))
  const [one, other] = await Promise.all(sums)
  t.is(one?.text, other?.text)
})

test('a reply is replayed to callers who may still do it, and to no others', async (t) => {
  const shop = await open(() => ({
    idempotency: true,
    scope: ({ identity }) => ({ tenantId: identity?.name === 'eve' ? 8 : 7 }),
    actions: { bump: { ...bump, policy: ({ request }) => request.headers['x-barred'] === undefined } },
  }))
  t.teardown(shop.close)
  const key = { 'idempotency-key': 'k', ...asUser('bob') }
  t.is((await shop.send('POST', '/api/orders/1/bump', { headers: key })).status, 200)
  t.is((await shop.send('POST', '/api/orders/1/bump', { headers: { ...key, 'x-barred': 'yes' } })).status, 403)
  t.is((await shop.send('POST', '/api/orders/1/bump', { headers: { ...key, ...asUser('eve') } })).status, 404)
})

test('the reply of an action is replayed to nobody who may no longer see what flatten adds to it', async (t) => {
  const may = new Set(['leagues'])
  const identity = () => ({ name: 'ann', roles: new Set<string>(), permissions: may, claims: { sub: 'ann' } })
  const stage = await openStage(({ sequelize }, app) => {
    const League = sequelize.define('league', { title: DataTypes.STRING }, { timestamps: false })
    const Team = sequelize.define('team', { name: DataTypes.STRING }, { timestamps: false })
    Team.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    const getListPolicy = ({ identity: caller }: PolicyContext) => caller?.permissions.has('leagues') === true
    app.use(crudRouter(League, { identity, operations: ['getList', 'create'], getListPolicy }))
    const touch = { on: 'record', method: 'post', handler: () => undefined } as const
    app.use(crudRouter(Team, { identity, idempotency: true, flatten: ['league'], actions: { touch } }))
  })
  t.teardown(stage.close)
  await stage.post('/api/leagues', { title: 'First' })
  await stage.post('/api/teams', { name: 'a', leagueId: 1 })
  const touch = () => stage.send('POST', '/api/teams/1/touch', { headers: { 'idempotency-key': 'k' } })
  t.is((await touch()).body.leagueTitle, 'First')
  t.is((await touch()).headers.get('idempotency-replayed'), 'true')
  may.delete('leagues')
  const { status, body, headers } = await touch()
  t.is(status, 200)
  t.is(body.leagueTitle, null)
  t.is(headers.get('idempotency-replayed'), null)
})

test('an action that failed may be tried again with its key', async (t) => {
  let isBroken = true
  const shop = await open(() => ({
    idempotency: true,
    actions: {
      pay: {
        on: 'record',
        method: 'post',
        handler: ({ record }) => {
          record.set('status', 'paid')
          if (isBroken) throw new Problem({ status: 409, code: 'closed' })
        },
      },
    },
  }))
  t.teardown(shop.close)
  const headers = { 'idempotency-key': 'k' }
  t.is((await shop.send('POST', '/api/orders/1/pay', { headers })).status, 409)
  isBroken = false
  const { status, headers: told } = await shop.send('POST', '/api/orders/1/pay', { headers })
  t.is(status, 200)
  t.is(told.get('idempotency-replayed'), null)
})

test('an action without a transaction locks nothing while its handler runs', async (t) => {
  const shop = await open(({ Order }) => ({
    actions: {
      slow: {
        on: 'record',
        method: 'post',
        transaction: false,
        handler: async ({ record, transaction }) => {
          t.is(transaction, null)
          // Somebody else writes another attribute meanwhile.
          await Order.update({ status: 'sent' }, { where: { id: 1 } })
          record.set('count', 5)
        },
      },
      json: {
        on: 'record',
        method: 'post',
        transaction: false,
        handler: ({ record }) => void record.set('data', { a: [1] }),
      },
      itself: {
        on: 'record',
        method: 'post',
        transaction: false,
        handler: async ({ record }) => void (await record.update({ count: 9 })),
      },
      gone: {
        on: 'record',
        method: 'post',
        transaction: false,
        handler: async ({ record }) => {
          await Order.destroy({ where: { id: 2 } })
          record.set('count', 1)
        },
      },
    },
  }))
  t.teardown(shop.close)
  const slow = await shop.send('POST', '/api/orders/1/slow')
  t.is(slow.status, 200)
  t.is(slow.body.count, 5)
  t.is(slow.body.status, 'sent')
  t.deepEqual((await shop.send('POST', '/api/orders/1/json')).body.data, { a: [1] })
  t.is((await shop.send('POST', '/api/orders/1/itself')).body.count, 9)
  t.is((await shop.send('POST', '/api/orders/2/gone')).status, 404)
})

test('subscribers hear of what an action has changed, behind the commit', async (t) => {
  const orders: { router?: ReturnType<typeof crudRouter>; Order?: ModelStatic<Model> } = {}
  const stage = await openPush(({ sequelize }, app, io) => {
    const { Order } = define(sequelize)
    const router = crudRouter(Order, {
      push: { io },
      onError: () => undefined,
      actions: {
        bump,
        apart: { ...bump, transaction: false },
        itself: {
          on: 'record',
          method: 'post',
          handler: async ({ record, transaction }) => void (await record.update({ count: 7 }, { transaction })),
        },
        fail: {
          on: 'record',
          method: 'post',
          handler: ({ record }) => {
            record.set('count', 99)
            throw new Error('no')
          },
        },
        hidden: { on: 'record', method: 'post', output: 'none', handler: ({ record }) => void record.set('count', 50) },
        sweep: { on: 'collection', method: 'post', handler: () => undefined },
        view: { on: 'record', method: 'get', handler: () => undefined },
      },
    })
    Object.assign(orders, { router, Order })
    app.use(router)
  })
  t.teardown(stage.close)
  const { router, Order } = orders
  if (router === undefined || Order === undefined) throw new TypeError('no router')
  await Order.create({ name: 'one' })
  const subscriber = await stage.subscribe(router)
  for (const name of ['bump', 'apart', 'itself', 'fail', 'hidden', 'sweep']) {
    await stage.send('POST', name === 'sweep' ? '/api/orders/sweep' : `/api/orders/1/${name}`)
  }
  await stage.get('/api/orders/1/view')
  await stage.drain(router, subscriber)
  t.deepEqual(
    subscriber.received.map(([event, record]) => [event, Reflect.get(Object(record), 'count')]),
    [
      ['OnUpdated', 1],
      ['OnUpdated', 2],
      ['OnUpdated', 7],
      ['OnUpdated', 50],
    ],
  )
})

test('the channels tell of an action by its operation and its name', async (t) => {
  const look = { on: 'collection', method: 'get', handler: () => [1] } as const
  const shop = await open(() => ({ actions: { told: bump, looked: look } }))
  t.teardown(shop.close)
  const ended: RequestMessage[] = []
  const channel = tracingChannel<unknown, RequestMessage>('sequelize-crud-router.request')
  const hear = (message: unknown): void => {
    const told = message as RequestMessage
    if (told.action === 'told' || told.action === 'looked') ended.push(told)
  }
  channel.asyncEnd.subscribe(hear)
  t.teardown(() => channel.asyncEnd.unsubscribe(hear))
  await shop.send('POST', '/api/orders/1/told')
  await shop.get('/api/orders/looked')
  t.deepEqual(
    ended.map(({ action, operation, status, rows }) => [action, operation, status, rows]),
    [
      ['told', 'update', 200, 1],
      ['looked', 'getList', 200, 1],
    ],
  )
})

/** Defines a model whose keys are UUIDs. */
function defineThing(sequelize: Sequelize): ModelStatic<Model> {
  const id = { type: DataTypes.UUID, primaryKey: true }
  return sequelize.define('thing', { id, count: { type: DataTypes.INTEGER, defaultValue: 0 } }, { timestamps: false })
}

test('actions of a record with a UUID find it in every spelling', async (t) => {
  const id = '0B6F3C1E-8E0B-4C57-9F4D-0C1B2A3D4E5F'
  const made: { Thing?: ModelStatic<Model> } = {}
  const stage = await openStage(({ sequelize }, app) => {
    const Thing = defineThing(sequelize)
    made.Thing = Thing
    app.use(
      crudRouter(Thing, {
        actions: { bump, all: { on: 'collection', method: 'get', handler: () => Thing.findAll() } },
      }),
    )
  })
  t.teardown(stage.close)
  await made.Thing?.create({ id })
  for (const key of [id, id.toLowerCase()]) t.is((await stage.send('POST', `/api/things/${key}/bump`)).status, 200)
  const { body } = await stage.get('/api/things/all')
  t.deepEqual(body.items, [{ id: id.toLowerCase(), count: 2 }])
})

test('handlers return records, and keys in every spelling, where the spellings of a UUID are two records as well', async (t) => {
  const id = '0b6f3c1e-8e0b-4c57-9f4d-0c1b2a3d4e5f'
  const made: { Thing?: ModelStatic<Model> } = {}
  const stage = await openStage(({ sequelize }, app) => {
    const Thing = defineThing(sequelize)
    made.Thing = Thing
    const input = Joi.object({ key: Joi.array().items(Joi.string()) })
    app.use(
      crudRouter(Thing, {
        actions: {
          bump,
          look: { on: 'record', method: 'get', handler: ({ record }) => record },
          same: { on: 'record', method: 'get', handler: ({ record }) => String(record.get('id')) },
          named: { on: 'collection', method: 'get', input, handler: (context) => Object(context.input).key },
          // The record lacks its key.
          keyless: { on: 'record', method: 'get', handler: () => Thing.findOne({ attributes: ['count'] }) },
        },
      }),
    )
  })
  t.teardown(stage.close)
  await made.Thing?.create({ id, count: 1 })
  const named = await stage.get(`/api/things/named?key=${id.toUpperCase()}`)
  t.deepEqual(named.body, { items: [{ id, count: 1 }] })
  t.is((await stage.get(`/api/things/${id}/keyless`)).status, 500)
  // Two spellings of a UUID are two records in a column of text.
  if (stage.name === 'postgres') return
  await stage.sequelize.getQueryInterface().bulkInsert('things', [{ id: id.toUpperCase(), count: 11 }])
  for (const name of ['look', 'same'])
    t.deepEqual((await stage.get(`/api/things/${id}/${name}`)).body, { id, count: 1 }, name)
  t.deepEqual((await stage.send('POST', `/api/things/${id}/bump`)).body, { id, count: 2 })
  const both = await stage.get(`/api/things/named?key=${id.toUpperCase()}&key=${id}`)
  t.deepEqual(both.body.items, [
    { id, count: 11 },
    { id, count: 2 },
  ])
})

test('models with hooks of their own have actions, and a handler that deletes its record is undone', async (t) => {
  const seen: string[] = []
  const told: unknown[] = []
  const made: { Thing?: ModelStatic<Model> } = {}
  const stage = await openStage(({ sequelize }, app) => {
    const Thing = sequelize.define(
      'thing',
      { count: { type: DataTypes.INTEGER, defaultValue: 0 } },
      {
        paranoid: true,
        hooks: { beforeSave: () => void seen.push('beforeSave'), afterFind: () => void seen.push('afterFind') },
      },
    )
    made.Thing = Thing
    app.use(
      crudRouter(Thing, {
        onError: (error) => told.push(error),
        actions: {
          bump,
          bury: {
            on: 'record',
            method: 'post',
            output: 'none',
            handler: async ({ record, transaction }) => void (await record.destroy({ transaction })),
          },
        },
      }),
    )
  })
  t.teardown(stage.close)
  await made.Thing?.create({})
  seen.length = 0
  t.is((await stage.send('POST', '/api/things/1/bump')).body.count, 1)
  t.true(seen.includes('beforeSave'))
  t.is((await stage.send('POST', '/api/things/1/bury')).status, 500)
  t.regex(
    String(told[0]),
    /the handler of the action "bury" deleted its record\. An action cannot do this: use the operation delete/,
  )
  t.is((await stage.send('POST', '/api/things/1/bump')).body.count, 2)
})

if (databaseName !== 'sqlite') {
  test('a deadlock of a handler is tried again', async (t) => {
    let turns = 0
    const waiting: (() => void)[] = []
    const meet = (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (waiting.length === 2) for (const go of waiting) go()
      })
    const shop = await open(({ Order }) => ({
      actions: {
        cross: {
          on: 'record',
          method: 'post',
          handler: async ({ record, transaction }) => {
            turns += 1
            if (turns <= 2) await meet()
            const other = 3 - Number(record.get('id'))
            await Order.increment('count', { where: { id: other }, ...(transaction === null ? {} : { transaction }) })
          },
        },
      },
    }))
    t.teardown(shop.close)
    const answers = await Promise.all([1, 2].map((id) => shop.send('POST', `/api/orders/${id}/cross`)))
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    t.is((await readStoredRow(shop.Order, 1))?.count, 1)
    t.is((await readStoredRow(shop.Order, 2))?.count, 1)
  })
}
