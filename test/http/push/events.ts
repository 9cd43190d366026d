// Events: what is pushed after which write, to whom everybody sees the same. It comes after the
// commit, in the order of the commits.

import { setTimeout as wait } from 'node:timers/promises'
import test from 'ava'
import { DataTypes, type Model, type ModelOptions, type ModelStatic, type Transaction } from 'sequelize'
import {
  CrudConfigError,
  type CrudOptions,
  type CrudRouter,
  createCrud,
  crudController,
  crudHub,
  crudRouter,
  Operations,
  Problem,
  queryOf,
} from '../../../lib/index.js'
import {
  eventPackets,
  type HubOwner,
  openPush,
  type PushStage,
  type Subscriber,
  TRANSPORTS,
  waitUntil,
} from '../../support/push.js'
import type { Answer } from '../../support/server.js'

const ALL = Operations.AllWithBulk
const WITH_RESTORE = Operations.AllWithBulk | Operations.Restore
const nothing = (): void => undefined

/** One way of carrying writes out. The same must be true of all of them. */
interface Variant {
  readonly title: string
  readonly options?: CrudOptions
  readonly model?: ModelOptions
  readonly prepare?: (model: ModelStatic<Model>) => void
  /** Whether deleting marks records. */
  readonly marks?: boolean
  readonly versioned?: boolean
  /** Whether an empty PATCH leaves a trace in the database. */
  readonly touches?: boolean
}

const CRUD_HOOKS: CrudOptions['hooks'] = {
  beforeCreate: nothing,
  afterCreate: nothing,
  beforeUpdate: nothing,
  afterUpdate: nothing,
  beforeDelete: nothing,
  afterDelete: nothing,
  beforeRestore: nothing,
  afterRestore: nothing,
}

const GETTERS = 'a resource with getters and virtual attributes'

const VARIANTS: readonly Variant[] = [
  { title: 'a plain resource' },
  { title: 'a resource with time stamps', model: { timestamps: true } },
  { title: 'a resource with hooks', options: { hooks: CRUD_HOOKS } },
  {
    title: 'a resource whose model has hooks',
    prepare: (model) => {
      model.addHook('beforeSave', nothing)
      model.addHook('afterDestroy', nothing)
      model.addHook('beforeBulkDestroy', nothing)
    },
  },
  {
    title: 'a resource whose model has find hooks',
    prepare: (model) => {
      model.addHook('beforeFind', nothing)
    },
  },
  {
    title: 'a resource whose model has a default scope',
    model: { defaultScope: { where: { hidden: false } } },
  },
  {
    title: 'a resource whose model has a default scope with more than a condition',
    model: { defaultScope: { where: { hidden: false }, order: [['level', 'ASC']] } },
  },
  { title: 'a resource with concurrency', options: { concurrency: true }, versioned: true, touches: true },
  { title: 'a resource with audit stamps', options: { audit: true }, touches: true },
  {
    title: 'a resource with soft delete',
    options: { softDelete: true, operations: WITH_RESTORE },
    marks: true,
  },
  {
    title: 'a paranoid resource',
    options: { operations: WITH_RESTORE },
    model: { timestamps: true, paranoid: true },
    marks: true,
  },
  {
    title: 'a resource with everything',
    options: {
      softDelete: true,
      concurrency: true,
      audit: true,
      hooks: CRUD_HOOKS,
      flatten: ['team', 'doc'],
      operations: WITH_RESTORE,
    },
    prepare: (model) => {
      model.addHook('beforeSave', nothing)
      model.addHook('beforeDestroy', nothing)
    },
    marks: true,
    versioned: true,
    touches: true,
  },
  { title: 'a resource that flattens a relation and a JSON attribute', options: { flatten: ['team', 'doc'] } },
  { title: GETTERS },
  {
    title: 'a resource with fewer fields in lists and responses',
    options: { fields: { doc: { exclude: 'list' }, raw: { exclude: ['response', 'list'] }, code: { exclude: true } } },
  },
]

function attributesOf(title: string): Parameters<PushStage['sequelize']['define']>[1] {
  const attributes = {
    name: { type: DataTypes.STRING(40), allowNull: false, unique: true },
    level: { type: DataTypes.INTEGER, validate: { min: 0, max: 100 } },
    price: DataTypes.DECIMAL(10, 2),
    exact: DataTypes.DECIMAL(24, 6),
    big: DataTypes.BIGINT,
    ratio: DataTypes.DOUBLE,
    open: DataTypes.BOOLEAN,
    at: DataTypes.DATE(3),
    day: DataTypes.DATEONLY,
    clock: DataTypes.TIME,
    code: DataTypes.UUID,
    kind: DataTypes.ENUM('low', 'high'),
    doc: DataTypes.JSON,
    raw: DataTypes.BLOB,
    hidden: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
  }
  if (title !== GETTERS) return attributes
  return {
    ...attributes,
    name: {
      ...attributes.name,
      get(this: Model): string {
        return `«${this.getDataValue('name' as never)}»`
      },
    },
    sum: {
      type: DataTypes.VIRTUAL(DataTypes.STRING, ['name', 'level']),
      get(this: Model): string {
        return `${this.getDataValue('name' as never)}/${this.getDataValue('level' as never)}`
      },
    },
    note: DataTypes.VIRTUAL,
  }
}

interface Scene extends Variant {
  readonly router: CrudRouter
  readonly path: string
}

const scenes: Scene[] = []
const errors: unknown[] = []
const onError = (error: unknown): void => {
  errors.push(error)
}

const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING, city: DataTypes.STRING }, plain)
  app.use(crudRouter(Team))
  VARIANTS.forEach((variant, index) => {
    const name = `Item${index}`
    const Item = sequelize.define(name, attributesOf(variant.title), {
      ...plain,
      ...variant.model,
      tableName: `items_${index}`,
    })
    Item.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    variant.prepare?.(Item)
    const route = `api/items${index}`
    const router = crudRouter(Item, { operations: ALL, ...variant.options, route, push: { io }, onError })
    app.use(router)
    scenes.push({ ...variant, router, path: `/${route}` })
  })
})
await stage.sequelize.model('Team').bulkCreate([
  { name: 'Lakers', city: 'Łódź' },
  { name: 'Celtics', city: 'Gdańsk' },
])
const hubs = new Map<string, HubOwner>()
const hubNamed = (name: string): HubOwner => {
  const hub = hubs.get(name)
  if (hub === undefined) throw new TypeError(`there is no hub ${name}`)
  return hub
}

/** Resources whose writes can be made to fail late, and that count them. */
const WAYS: readonly (readonly [title: string, options: CrudOptions, model: ModelOptions])[] = [
  ['in one statement', { concurrency: true }, {}],
  [
    'with hooks',
    { concurrency: true, hooks: { afterCreate: failing, afterUpdate: failing, afterDelete: failing } },
    {},
  ],
  ["with the model's own hooks", { concurrency: true }, { hooks: { afterSave: fail, afterDestroy: fail } }],
]

function failing({ instance }: { readonly instance: Model }): void {
  fail(instance)
}

function fail(instance: Model): void {
  const name = instance.get('name')
  if (name === 'problem') throw new Problem({ status: 409, detail: 'The host says no.' })
  if (name === 'error') throw new Error('The host fails.')
}

const late = await openPush(({ sequelize }, app, io) => {
  WAYS.forEach(([title, options, model], index) => {
    const Counter = sequelize.define(
      `Counter${index}`,
      {
        name: DataTypes.STRING,
        count: DataTypes.INTEGER,
        rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
      },
      { timestamps: false, ...model },
    )
    const hub = crudRouter(Counter, { ...options, operations: ALL, push: { io }, onError: nothing })
    app.use(hub)
    hubs.set(title, hub)
  })
})
test.after.always(async () => {
  await stage.close()
  await late.close()
})

const IF_ANY = { 'if-match': '*' }

/** Values that are not the same on every database before they are on the wire. */
const RICH = {
  level: 42,
  price: 59.9,
  exact: '123456789012345678.000100',
  big: '9007199254740993',
  ratio: 0.1,
  open: true,
  at: '2024-02-29T23:59:59.999Z',
  day: '2024-02-29',
  clock: '09:30:00',
  code: '0B1C2D3E-0000-4000-8000-00000000000A',
  kind: 'high',
  doc: { b: [1, { c: null }], a: 'ż"\u2028', ['__proto__']: { x: 1 } },
  raw: Buffer.from([0, 255, 1]).toString('base64'),
  teamId: 1,
}

/** A subscriber on every transport, both of which must hear the same. */
async function both(on: PushStage, hub: Parameters<PushStage['subscribe']>[0]): Promise<readonly Subscriber[]> {
  return Promise.all(TRANSPORTS.map((transport) => on.subscribe(hub, { transport })))
}

async function told(on: PushStage, hub: HubOwner, subscribers: readonly Subscriber[]): Promise<readonly string[][]> {
  const [witness] = subscribers
  if (witness === undefined) throw new TypeError('nobody has subscribed')
  await on.drain(hub, witness)
  return subscribers.map(eventPackets)
}

for (const { title, router, path, marks = false, versioned = false, touches = false } of scenes) {
  const textOf = async (id: unknown): Promise<string> => (await stage.get(`${path}/${id}`)).text
  const idOf = ({ body, text }: Answer): number => {
    if (typeof body?.id !== 'number') throw new Error(text)
    return body.id
  }

  test.serial(`${title} tells each write once, in order, and the record as GET shows it`, async (t) => {
    const subscribers = await both(stage, router)
    const expected: string[] = []
    // A payload that takes a read of its own is of the record as it is by then, so that each is waited for.
    const expect = async (event: string, ids: readonly unknown[]): Promise<void> => {
      for (const id of ids) expected.push(`["${event}",${event === 'OnDeleted' ? id : await textOf(id)}]`)
      await told(stage, router, subscribers)
    }
    const created = await stage.post(path, { name: 'one', ...RICH })
    const id = idOf(created)
    t.is(await textOf(id), created.text)
    await expect('OnCreated', [id])

    await stage.patch(`${path}/${id}`, { name: 'two', doc: [1], price: 1e3, at: '2024-01-01T00:00:00Z' }, IF_ANY)
    await expect('OnUpdated', [id])
    await stage.patch(`${path}/${id}`, { level: null, teamId: 2, doc: { deep: { er: 1 } }, raw: null }, IF_ANY)
    await expect('OnUpdated', [id])
    await stage.patch(`${path}/${id}`, { teamId: null }, IF_ANY)
    await expect('OnUpdated', [id])

    const { body: many } = await stage.post(`${path}/bulk`, [
      { name: 'c' },
      { name: 'b', teamId: 2 },
      { ...RICH, name: 'a' },
    ])
    const [c, b, a] = many.map((each: { id: number }) => each.id)
    await expect('OnCreated', [c, b, a])

    const bulk = await stage.post(`${path}/bulk-delete`, [a, 999, String(c), 'x', a, null, {}])
    t.deepEqual(bulk.body, { deleted: 2 })
    await expect('OnDeleted', [a, c])
    t.is((await stage.delete(`${path}/${b}`)).status, 204)
    await expect('OnDeleted', [b])
    if (marks) {
      t.is((await stage.post(`${path}/${b}/restore`, undefined)).status, 200)
      await expect('OnCreated', [b])
      t.deepEqual((await stage.post(`${path}/bulk-delete`, [c, b])).body, { deleted: 1 })
      await expect('OnDeleted', [b])
    }
    t.is((await stage.delete(`${path}/${id}`)).status, 204)
    await expect('OnDeleted', [id])

    for (const sent of await told(stage, router, subscribers)) t.deepEqual(sent, expected)
    t.deepEqual(errors, [])
  })

  test.serial(`${title} tells nothing of writes that failed or wrote nothing`, async (t) => {
    const subscribers = await both(stage, router)
    const id = idOf(await stage.post(path, { name: 'kept', level: 1 }))
    const other = idOf(await stage.post(path, { name: 'taken' }))
    const gone = idOf(await stage.post(path, { name: 'gone' }))
    await stage.delete(`${path}/${gone}`)
    const before = (await told(stage, router, subscribers)).map(({ length }) => length)
    const answers = [
      await stage.post(path, { level: 5 }),
      await stage.post(path, { name: 'taken' }),
      await stage.post(path, { name: 'x', teamId: 99 }),
      await stage.post(path, []),
      await stage.post(`${path}/bulk`, [{ name: 'fine' }, { name: 5 }]),
      await stage.post(`${path}/bulk`, [{ name: 'fine' }, { name: 'taken' }]),
      await stage.post(`${path}/bulk`, {}),
      await stage.patch(`${path}/${id}`, { level: 101 }, IF_ANY),
      await stage.patch(`${path}/${id}`, { name: 'taken' }, IF_ANY),
      await stage.patch(`${path}/${gone}`, { level: 5 }, IF_ANY),
      await stage.patch(`${path}/x`, { level: 5 }, IF_ANY),
      await stage.patch(`${path}/999`, { level: 5 }, IF_ANY),
      await stage.delete(`${path}/${gone}`),
      await stage.delete(`${path}/x`),
      await stage.post(`${path}/bulk-delete`, {}),
      await stage.send('PATCH', `${path}/${id}`, { body: '{', headers: { 'content-type': 'application/json' } }),
      ...(versioned
        ? [
            await stage.patch(`${path}/${id}`, { level: 5 }),
            await stage.patch(`${path}/${id}`, { level: 5 }, { 'if-match': 'W/"9"' }),
            await stage.delete(`${path}/${id}`, { 'if-match': '"9"' }),
          ]
        : []),
      ...(marks ? [await stage.post(`${path}/${id}/restore`, undefined)] : []),
    ]
    t.deepEqual(
      answers.map(({ status }) => status),
      [400, 409, 409, 400, 400, 409, 400, 400, 409, 404, 404, 404, 404, 404, 400, 400].concat(
        versioned ? [428, 412, 412] : [],
        marks ? [404] : [],
      ),
    )
    t.is((await stage.post(`${path}/bulk`, [])).status, 201)
    t.deepEqual((await stage.post(`${path}/bulk-delete`, [])).body, { deleted: 0 })
    t.deepEqual((await stage.post(`${path}/bulk-delete`, [gone, 999, 'x'])).body, { deleted: 0 })
    const empties = [{}, { id: 5 }, { unknown: 1 }, ...(title === GETTERS ? [{ note: 'x' }] : [])]
    for (const empty of empties) t.is((await stage.patch(`${path}/${id}`, empty, IF_ANY)).status, 200)
    const expected = touches ? empties.map(() => 'OnUpdated') : []
    for (const [index, sent] of (await told(stage, router, subscribers)).entries()) {
      t.deepEqual(
        sent.slice(before[index]).map((text) => JSON.parse(text)[0]),
        expected,
      )
    }
    await stage.post(`${path}/bulk-delete`, [id, other])
  })
}

for (const [title] of WAYS) {
  const hub = hubNamed(title)
  const path = hub.resource.route

  test.serial(`parallel PATCHes ${title} are told in the order of their versions`, async (t) => {
    const { body } = await late.post(path, { name: 'x', count: 0 })
    const subscribers = await both(late, hub)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, count) => late.patch(`${path}/${body.id}`, { count }, IF_ANY)),
    )
    t.true(answers.every(({ status }) => status === 200))
    for (const sent of await told(late, hub, subscribers)) {
      const versions = sent.map((text) => JSON.parse(text)[1].rowVersion)
      t.deepEqual(
        versions,
        Array.from({ length: 50 }, (_, index) => index + 1),
      )
    }
    const last = await late.get(`${path}/${body.id}`)
    t.is(eventPackets(subscribers[0] as Subscriber).at(-1), `["OnUpdated",${last.text}]`)
  })

  if (title === 'in one statement') continue
  test.serial(`what is rolled back ${title} is not told`, async (t) => {
    const subscribers = await both(late, hub)
    const { body: kept } = await late.post(path, { name: 'kept' })
    const Counter = hub.resource.model
    const doomed = await Counter.create({ name: 'error' }, { hooks: false })
    const answers = await Promise.all([
      late.post(path, { name: 'error' }),
      late.post(path, { name: 'problem' }),
      late.post(`${path}/bulk`, [{ name: 'fine' }, { name: 'error' }]),
      late.post(`${path}/bulk`, [{ name: 'fine' }, { name: 'fine' }, { name: 'problem' }]),
      late.patch(`${path}/${kept.id}`, { name: 'error' }, IF_ANY),
      late.patch(`${path}/${kept.id}`, { name: 'problem' }, IF_ANY),
      late.delete(`${path}/${doomed.get('id')}`),
      late.post(`${path}/bulk-delete`, [kept.id, doomed.get('id')]),
    ])
    t.deepEqual(
      answers.map(({ status }) => status),
      [500, 409, 500, 409, 500, 409, 500, 500],
    )
    const { text, body } = await late.get(`${path}/${kept.id}`)
    t.is(body.name, 'kept')
    for (const sent of await told(late, hub, subscribers)) t.deepEqual(sent, [`["OnCreated",${text}]`])
  })
}

test('what is written while the host lingers over the end of another write of the record is told behind that', async (t) => {
  let linger: (() => Promise<void>) | null = null
  const lingering = (_: unknown, { transaction }: { transaction?: Transaction | null }): void => {
    const own = linger
    linger = null
    if (own !== null) transaction?.afterCommit(own)
  }
  let hub!: CrudRouter
  const host = await openPush(({ sequelize }, app, io) => {
    const attributes = { name: DataTypes.STRING }
    const hooks = { afterUpdate: lingering, afterDestroy: lingering }
    const Item = sequelize.define('Item', attributes, { timestamps: false, hooks })
    hub = crudRouter(Item, { operations: WITH_RESTORE, softDelete: true, push: { io } })
    app.use(hub)
  })
  t.teardown(host.close)
  const change = (path: string): Promise<Answer> => host.patch(path, { name: 'first' })
  const remove = (path: string): Promise<Answer> => host.delete(path)
  const CASES: readonly (readonly [first: typeof change, second: (path: string, id: number) => Promise<Answer>])[] = [
    [change, (path) => host.patch(path, { name: 'second' })],
    [change, remove],
    [change, (_, id) => host.post('/api/items/bulk-delete', [id])],
    [remove, (path) => host.post(`${path}/restore`, undefined)],
  ]
  const EVENTS = [
    ['OnUpdated', 'OnUpdated'],
    ['OnUpdated', 'OnDeleted'],
    ['OnUpdated', 'OnDeleted'],
    ['OnDeleted', 'OnCreated'],
  ]
  for (const [index, [first, second]] of CASES.entries()) {
    const { body } = await host.post('/api/items', { name: 'x' })
    const path = `/api/items/${body.id}`
    const subscriber = await host.subscribe(hub)
    let go = (): void => undefined
    const left = new Promise<void>((resolve) => {
      go = resolve
    })
    const reached = new Promise<void>((resolve) => {
      linger = () => {
        resolve()
        return left
      }
    })
    const one = first(path)
    await reached
    const two = second(path, body.id)
    // Where nothing made it wait it would be done by then: the first is committed.
    await Promise.race([two, wait(500)])
    go()
    t.true((await one).status < 300)
    t.true((await two).status < 300)
    await host.drain(hub, subscriber)
    t.deepEqual(
      subscriber.received.map(([event]) => event),
      EVENTS[index],
    )
    if (index === 0) {
      t.deepEqual(
        subscriber.received.map(([, item]) => (item as { name: string }).name),
        ['first', 'second'],
      )
    }
  }
})

test.serial(
  'a bulk of a thousand is told record by record, in order, and so is what is written meanwhile',
  async (t) => {
    const hub = hubNamed('in one statement')
    const path = hub.resource.route
    const subscribers = await both(late, hub)
    const bodies = Array.from({ length: 1000 }, (_, count) => ({ count }))
    const [first, second] = await Promise.all([late.post(`${path}/bulk`, bodies), late.post(`${path}/bulk`, bodies)])
    const ids = [first, second].map(({ body }) => body.map(({ id }: { id: number }) => id))
    for (const sent of await told(late, hub, subscribers)) {
      const seen: number[] = sent.map((text) => JSON.parse(text)[1].id)
      t.is(seen.length, 2000)
      for (const bulk of ids) {
        t.deepEqual(
          seen.filter((id) => bulk.includes(id)),
          bulk,
        )
      }
    }
  },
)

test('the hub is at the route and /hub, wherever the router is mounted', async (t) => {
  const crowd = await openPush(({ sequelize }, app, io) => {
    const plain = { timestamps: false }
    const model = (name: string): ModelStatic<Model> => sequelize.define(name, { name: DataTypes.STRING }, plain)
    const use = (name: string, mounted: string, router: CrudRouter): void => {
      app.use(mounted, router)
      hubs.set(name, router)
    }
    use('default', '/', crudRouter(model('Order'), { push: { io } }))
    use('mounted', '/tenant', crudRouter(model('Bill'), { push: { io } }))
    use('prefixed', '/', crudRouter(model('Note'), { routePrefix: 'v2', push: { io } }))
    use('custom', '/', crudRouter(model('Page'), { push: { io, path: 'of/its/own' } }))
    const shared = createCrud({ io })
    use('shared', '/', shared.crudRouter(model('Word'), { push: true }))
    use('named', '/', shared.crudRouter(model('Line'), { push: { path: '/lines' } }))
    use('off', '/', shared.crudRouter(model('Book'), { push: false }))
    use('unsaid', '/', shared.crudRouter(model('Shelf')))
    const { create, update, notify, resource, ...others } = crudController(model('Desk'), { push: { io } })
    app.post('/desks', create).patch('/desks/:id', update).delete('/desks/:id', others.delete)
    hubs.set('controller', { notify, resource })
  })
  t.teardown(crowd.close)
  const EXPECTED: readonly (readonly [name: string, hub: string | null, path: string])[] = [
    ['default', '/api/orders/hub', '/api/orders'],
    ['mounted', '/api/bills/hub', '/tenant/api/bills'],
    ['prefixed', '/api/v2/notes/hub', '/api/v2/notes'],
    ['custom', '/of/its/own', '/api/pages'],
    ['shared', '/api/words/hub', '/api/words'],
    ['named', '/lines', '/api/lines'],
    ['controller', '/api/desks/hub', '/desks'],
    ['off', null, '/api/books'],
    ['unsaid', null, '/api/shelves'],
  ]
  for (const [name, path, route] of EXPECTED) {
    const router = hubNamed(name)
    t.is(router.resource.hub?.name ?? null, path, name)
    if (path === null) {
      t.is(router.notify, null)
      const { refusal } = await crowd.subscribe(`${route}/hub`)
      t.is(refusal?.message, 'Invalid namespace')
      t.is((await crowd.post(route, { name: 'x' })).status, 201)
      continue
    }
    const subscribers = await both(crowd, path)
    const { body, text } = await crowd.post(route, { name: 'x' })
    const { text: patched } = await crowd.patch(`${route}/${body.id}`, { name: 'y' })
    t.is((await crowd.delete(`${route}/${body.id}`)).status, 204)
    for (const sent of await told(crowd, router, subscribers)) {
      t.deepEqual(sent, [`["OnCreated",${text}]`, `["OnUpdated",${patched}]`, `["OnDeleted",${body.id}]`], name)
    }
  }
})

test("the namespace is the host's for hooks and events of its own, and its server stays open to other namespaces", async (t) => {
  const met: string[] = []
  const sent: unknown[] = []
  let hub!: CrudRouter
  const host = await openPush(({ sequelize }, app, io) => {
    hub = crudRouter(sequelize.define('Order', { product: DataTypes.STRING }), { push: { io } })
    app.use(hub)
    hub.resource.hub?.use((socket, next) => {
      met.push(`use ${socket.nsp.name}`)
      next()
    })
    hub.resource.hub?.on('connection', (socket) => {
      met.push('connection')
      socket.on('question', (answer: (text: string) => void) => answer('of the host'))
      socket.emit('welcome', 1)
      socket.onAnyOutgoing((_, payload) => sent.push(payload))
    })
    io.of('/chat').on('connection', (socket) => void socket.emit('hello', 2))
  })
  t.teardown(host.close)
  const [order, chat] = await Promise.all([host.subscribe(hub), host.subscribe('/chat')])
  t.is(await order.socket.emitWithAck('question'), 'of the host')
  await host.post('/api/orders', { product: 'x' })
  await host.drain(hub, order)
  t.deepEqual(met, ['use /api/orders/hub', 'connection'])
  // Others are sent the same, some of them later: it is for nobody to change.
  t.like(sent[0], { product: 'x' })
  t.true(Object.isFrozen(sent[0]))
  t.deepEqual(
    order.received.map(([event]) => event),
    ['welcome', 'OnCreated'],
  )
  await waitUntil(chat.socket, () => chat.received.length > 0)
  t.deepEqual(chat.received, [['hello', 2]])
})

test('a wrong option, or a path that another hub has, throws at mount, and the next mount may have the path', async (t) => {
  const host = await openPush(nothing)
  t.teardown(host.close)
  const { io, sequelize } = host
  const Order = sequelize.define('Order', { product: DataTypes.STRING })
  const code = (options: unknown): unknown =>
    t.throws(() => crudRouter(Order, options as CrudOptions), { instanceOf: CrudConfigError })?.code
  for (const push of [true, {}, { path: '/x' }, { io: undefined }, { audience: 'all' }]) {
    t.is(code({ push }), 'INVALID_OPTION', JSON.stringify(push))
  }
  for (const push of [null, 1, 'io', [], { io: {} }, { io: 'io' }, { io: null }]) {
    t.is(code({ push }), 'INVALID_OPTION', JSON.stringify(push))
  }
  for (const push of [
    { io, path: '' },
    { io, path: ' ' },
    { io, path: 1 },
    { io, path: /x/ },
    { io, audience: 'ALL' },
    { io, audience: true },
  ]) {
    t.is(code({ push }), 'INVALID_OPTION')
  }
  t.is(code({ push: { io, paht: '/x' } }), 'UNKNOWN_OPTION')
  const audience = { io, audience: 'all' }
  const admits = (): boolean => true
  for (const guard of [
    { authorizePolicy: admits },
    { getListPolicy: admits },
    { deletePolicy: admits },
    { mask: { product: 'p' } },
    { scope: () => null },
  ]) {
    t.is(code({ push: audience, ...guard }), 'INVALID_OPTION', JSON.stringify(Object.keys(guard)))
  }
  // What has thrown has taken nothing.
  t.is(code({ push: { io }, mask: { id: 'p' } }), 'INVALID_OPTION')
  t.is(code({ push: { io }, operations: Operations.Restore }), 'INVALID_OPTION')
  const { resource } = crudRouter(Order, { push: { io } })
  t.is(resource.hub?.name, '/api/orders/hub')
  t.is(code({ push: { io } }), 'HUB_PATH_TAKEN')
  t.is(code({ route: 'other', push: { io, path: 'api/orders/hub' } }), 'HUB_PATH_TAKEN')
  t.is(crudRouter(Order, { push: { io, path: '/second', audience: 'all' } }).resource.hub?.name, '/second')
  const shared = createCrud({ io })
  t.throws(() => shared.crudRouter(Order, { push: true }), { code: 'HUB_PATH_TAKEN' })
  t.throws(() => crudHub(Order, { io }), { code: 'HUB_PATH_TAKEN' })
  t.throws(() => crudHub(Order, { io, path: '/free', audience: 'all', scope: () => null }), { code: 'INVALID_OPTION' })
  t.throws(() => crudHub(Order, {}), { code: 'INVALID_OPTION' })
  t.throws(() => crudHub(Order, undefined as never), { code: 'INVALID_OPTION' })
})

test('queryOf takes no hub, and needs none', (t) => {
  const { io, sequelize } = stage
  const Query = sequelize.define('Query', { name: DataTypes.STRING }, { timestamps: false })
  const query = queryOf(Query, { push: { io, path: '/query' } })
  t.is(query.resource.hub, null)
  t.is(queryOf(Query, { push: true }).resource.hub, null)
  t.is(crudRouter(Query, { push: { io, path: '/query' } }).resource.hub?.name, '/query')
})

test('a resource that flattens records of its own kind tells what these have, not what the record itself has', async (t) => {
  let hub!: CrudRouter
  const host = await openPush(({ sequelize }, app, io) => {
    const Worker = sequelize.define('Worker', { name: DataTypes.STRING, level: DataTypes.INTEGER })
    Worker.belongsTo(Worker, { as: 'boss', foreignKey: 'bossId' })
    hub = crudRouter(Worker, { flatten: ['boss'], fields: { level: { exclude: 'list' } }, push: { io } })
    app.use(hub)
  })
  t.teardown(host.close)
  const subscriber = await host.subscribe(hub)
  const { body: boss } = await host.post('/api/workers', { name: 'boss', level: 9 })
  const { text, body } = await host.post('/api/workers', { name: 'worker', level: 1, bossId: boss.id })
  t.like(body, { name: 'worker', bossName: 'boss', bossLevel: 9 })
  await host.drain(hub, subscriber)
  t.is(eventPackets(subscriber).at(-1), `["OnCreated",${text}]`)
})

test('a hub without routes tells what the host says, read as the host left it', async (t) => {
  let hub!: ReturnType<typeof crudHub>
  const host = await openPush(({ sequelize }, _, io) => {
    const Order = sequelize.define(
      'Order',
      { product: DataTypes.STRING, secret: DataTypes.STRING },
      { timestamps: false },
    )
    hub = crudHub(Order, { io, fields: { secret: { exclude: true } } })
  })
  t.teardown(host.close)
  const { notify, resource } = hub
  const subscribers = await both(host, hub)
  const order = await resource.model.create({ product: 'x', secret: 'known to few' })
  // A record is read when its turn comes, which may be before a change that follows.
  await order.update({ product: 'y' })
  t.is(notify.created(1), undefined)
  notify.updated('1')
  await told(host, hub, subscribers)
  await order.destroy()
  // Gone already, and never there.
  notify.updated(1)
  notify.created(99)
  notify.deleted(1)
  notify.deleted(order as never)
  notify.deleted({ id: 7 })
  for (const key of ['x', '', 1.5, null, undefined, Number.NaN, {}, [], [1], true]) {
    t.throws(() => notify.created(key as never), { instanceOf: TypeError })
    t.throws(() => notify.deleted(key as never), { instanceOf: TypeError })
  }
  for (const sent of await told(host, hub, subscribers)) {
    t.deepEqual(sent, [
      '["OnCreated",{"id":1,"product":"y"}]',
      '["OnUpdated",{"id":1,"product":"y"}]',
      '["OnDeleted",1]',
      '["OnDeleted",1]',
      '["OnDeleted",7]',
    ])
  }
  t.is((await host.get('/api/orders')).status, 404)
})
