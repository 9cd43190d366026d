// Keys of several attributes: their parts joined by `~` are the key wherever one stands.

import test from 'ava'
import { DataTypes, type Model, type ModelOptions, type ModelStatic } from 'sequelize'
import {
  CrudConfigError,
  type CrudOptions,
  type CrudRouter,
  createCrud,
  crudRouter as mount,
  Operations,
} from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openPush, waitUntil } from '../../support/push.js'

const nothing = (): void => undefined

/** One way of carrying requests out. The same is true of all of them. */
interface Variant {
  readonly title: string
  readonly options?: CrudOptions
  readonly model?: ModelOptions
  readonly prepare?: (model: ModelStatic<Model>) => void
  readonly marks?: true
}

const VARIANTS: readonly Variant[] = [
  { title: 'a plain resource' },
  {
    title: 'a resource with hooks',
    options: { hooks: { beforeCreate: nothing, beforeUpdate: nothing, beforeDelete: nothing } },
  },
  {
    title: 'a resource whose model has hooks',
    prepare: (model) => {
      model.addHook('beforeSave', nothing)
      model.addHook('beforeBulkDestroy', nothing)
      model.addHook('beforeFind', nothing)
    },
  },
  {
    title: 'a resource that marks what is deleted',
    options: { softDelete: true, concurrency: true, audit: true },
    marks: true,
  },
]

// Anew each time: Sequelize writes into what it is given.
const columns = () => ({
  orderId: { type: DataTypes.INTEGER, primaryKey: true },
  line: { type: DataTypes.INTEGER, primaryKey: true },
  product: { type: DataTypes.STRING(20), allowNull: false },
})

const ALL = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
const routers = new Map<string, CrudRouter>()

const stage = await openPush(({ sequelize }, app, io) => {
  const { crudRouter } = createCrud({ io })
  const plain = { timestamps: false }
  for (const [index, { options, model, prepare }] of VARIANTS.entries()) {
    const Line = sequelize.define(`Line${index}`, columns(), { ...plain, ...model })
    prepare?.(Line)
    const operations = options?.softDelete === true ? ALL | Operations.Restore : ALL
    const router = crudRouter(Line, { operations, route: `lines${index}`, push: true, ...options })
    routers.set(`lines${index}`, router)
    app.use(router)
  }
  const Entry = sequelize.define(
    'Entry',
    {
      code: { type: DataTypes.STRING(20), primaryKey: true },
      day: { type: DataTypes.DATEONLY, primaryKey: true },
      text: DataTypes.STRING(20),
    },
    plain,
  )
  app.use(crudRouter(Entry, { operations: ALL, route: 'entries', unknownProperties: 'reject' }))
  const Seat = sequelize.define(
    'Seat',
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      row: { type: DataTypes.STRING(5), allowNull: false },
      place: { type: DataTypes.INTEGER, allowNull: false },
      guest: DataTypes.STRING(20),
    },
    { ...plain, indexes: [{ unique: true, fields: ['row', 'place'] }] },
  )
  app.use(crudRouter(Seat, { operations: ALL, route: 'seats', keyProperty: ['place', 'row'] }))
  for (const [name, hook] of [
    ['Size', null],
    ['HookedSize', 'beforeFind'],
  ] as const) {
    const Size = sequelize.define(
      name,
      {
        flag: { type: DataTypes.BOOLEAN, primaryKey: true },
        size: { type: DataTypes.DOUBLE, primaryKey: true },
        text: DataTypes.STRING(20),
      },
      plain,
    )
    if (hook !== null) {
      Size.addHook(hook, nothing)
      Size.addHook('beforeSave', nothing)
    }
    app.use(crudRouter(Size, { operations: ALL, route: name }))
  }
  const Order = sequelize.define('Order', { customer: DataTypes.STRING(20) }, plain)
  const Item = sequelize.define(
    'Item',
    { ...columns(), product: DataTypes.STRING(20), name: DataTypes.STRING(20) },
    plain,
  )
  // Responses have every decimal place of such a DECIMAL: 1.5 is "1.500000".
  const Price = sequelize.define(
    'Price',
    {
      amount: { type: DataTypes.DECIMAL(20, 6), primaryKey: true },
      no: { type: DataTypes.INTEGER, primaryKey: true },
      note: DataTypes.STRING(20),
    },
    plain,
  )
  const Rate = sequelize.define(
    'Rate',
    {
      amount: { type: DataTypes.DECIMAL(6, 2), primaryKey: true },
      no: { type: DataTypes.INTEGER, primaryKey: true },
      note: DataTypes.STRING(20),
    },
    plain,
  )
  app.use(crudRouter(Rate, { operations: ALL, route: 'rates' }))
  Order.hasMany(Price, { as: 'prices', foreignKey: 'orderId' })
  const priceRouter = crudRouter(Price, { operations: ALL, route: 'prices', push: true })
  routers.set('prices', priceRouter)
  app.use(priceRouter)
  Order.hasMany(Item, { as: 'items', foreignKey: 'orderId' })
  Item.belongsTo(Order, { as: 'order', foreignKey: 'orderId' })
  const relations = { items: { routes: true, write: true }, prices: { write: true } }
  app.use('/v1', crudRouter(Order, { relations }))
  app.use('/v1', crudRouter(Item, { relations: { order: { routes: true } } }))
})

const { sequelize } = stage
const model = (name: string): ModelStatic<Model> => sequelize.model(name)

const LINES = [
  [7, 1],
  [7, 2],
  [7, 10],
  [8, 1],
  [70, 2],
] as const
for (const index of VARIANTS.keys()) {
  await model(`Line${index}`).bulkCreate(
    LINES.map(([orderId, line]) => ({ orderId, line, product: `p${orderId}-${line}` })),
  )
}

test.after.always(() => stage.close())

for (const [index, { title, marks }] of VARIANTS.entries()) {
  const at = `/lines${index}`
  const tagged = async (path: string): Promise<Record<string, string>> => {
    const tag = (await stage.get(path)).headers.get('etag')
    return tag?.startsWith('W/"') && /^W\/"\d+"$/.test(tag) ? { 'if-match': tag } : {}
  }

  test.serial(`${title}: a record is at its parts, joined by ~`, async (t) => {
    const { status, body } = await stage.get(`${at}/7~2`)
    t.is(status, 200)
    t.deepEqual(body, { orderId: 7, line: 2, product: 'p7-2' })
    t.is((await stage.get(`${at}/70~2`)).body.product, 'p70-2')
    const missing = (await stage.get(`${at}/7~99`)).text
    for (const key of [
      '7',
      '7~',
      '~2',
      '~',
      '7~2~1',
      '07~2',
      '7~02',
      'a~b',
      '7~2.0',
      '7%7E99',
      '2~7',
      '%',
      '7~%zz',
      'bulk',
      '7~99999999999999999999',
    ]) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await stage.send(method, `${at}/${key}`)
        if (method === 'GET' && key === 'bulk') t.true([404, 405].includes(answer.status))
        else t.deepEqual([key, answer.status === 405 ? 404 : answer.status], [key, 404])
        if (answer.status === 404) t.is(answer.text, missing, key)
      }
    }
  })

  test.serial(`${title}: what is created says where it is, and its parts never change`, async (t) => {
    const created = await stage.post(at, { orderId: 9, line: 3, product: 'new' })
    t.is(created.status, 201, created.text)
    t.is(created.headers.get('location'), `${at}/9~3`)
    t.deepEqual(created.body, { orderId: 9, line: 3, product: 'new' })
    const patched = await stage.patch(`${at}/9~3`, { orderId: 7, line: 1, product: 'newer' }, await tagged(`${at}/9~3`))
    t.deepEqual([patched.status, patched.body], [200, { orderId: 9, line: 3, product: 'newer' }])
    t.is((await stage.get(`${at}/7~1`)).body.product, 'p7-1')
    const taken = await stage.post(at, { orderId: 9, line: 3, product: 'again' })
    t.is(taken.status, 409)
    const without = await stage.post(at, { product: 'none' })
    t.deepEqual([without.status, without.body.errors], [400, { orderId: ['is required.'], line: ['is required.'] }])
    t.is((await stage.delete(`${at}/9~3`)).status, 204)
    t.is((await stage.get(`${at}/9~3`)).status, 404)
    if (marks) {
      t.is((await stage.send('POST', `${at}/9~3/restore`)).body.product, 'newer')
      t.is((await stage.send('POST', `${at}/7~1/restore`)).status, 404)
    }
    await model(`Line${index}`).destroy({ where: { orderId: 9 } })
  })

  test.serial(`${title}: pages by number and by cursor go through all records in the order of the parts`, async (t) => {
    const ids = (items: readonly { orderId: number; line: number }[]) =>
      items.map(({ orderId, line }) => `${orderId}~${line}`)
    const all = LINES.map(([orderId, line]) => `${orderId}~${line}`)
    t.deepEqual(ids((await list(stage, at)).body.items), all)
    t.deepEqual(ids((await list(stage, at, { sort: '-Line' })).body.items), ['7~10', '70~2', '7~2', '8~1', '7~1'])
    for (const pageSize of [1, 2, 3]) {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const { status, body } = await list(stage, at, { cursor, pageSize })
        t.is(status, 200)
        seen.push(...ids(body.items))
        if (body.nextCursor === null) break
        cursor = body.nextCursor
      }
      t.deepEqual(seen, all)
    }
    t.deepEqual(ids((await list(stage, at, { keys: '8~1,7~2,7~99,nonsense,7,7~1~1' })).body.items), ['7~2', '8~1'])
    t.is((await list(stage, at, { cursor: 'nonsense' })).status, 400)
    const token = Buffer.from(
      Buffer.from((await list(stage, at, { cursor: '', pageSize: 1 })).body.nextCursor, 'base64url')
        .toString()
        .replace('7~1', '7'),
    ).toString('base64url')
    t.is((await list(stage, at, { cursor: token })).status, 400)
  })

  test.serial(`${title}: bulk operations take the same keys, and bodies have the parts as members`, async (t) => {
    const bodies = [
      { orderId: 20, line: 1, product: 'a' },
      { orderId: 20, line: 2, product: 'b' },
      { orderId: 21, line: 1, product: 'c' },
    ]
    const created = await stage.post(`${at}/bulk`, bodies)
    t.deepEqual([created.status, created.body], [201, bodies])
    const versions = marks ? { rowVersion: 0 } : {}
    const patched = await stage.patch(`${at}/bulk`, [
      { orderId: 21, line: 1, product: 'C', ...versions },
      { orderId: 20, line: 1, product: 'A', ...versions },
    ])
    t.deepEqual(
      [patched.status, patched.body],
      [
        200,
        [
          { orderId: 21, line: 1, product: 'C' },
          { orderId: 20, line: 1, product: 'A' },
        ],
      ],
    )
    const lacking = await stage.patch(`${at}/bulk`, [{ orderId: 21, product: 'x' }, { product: 'x' }])
    t.deepEqual(
      [lacking.status, lacking.body.errors],
      [400, { '[0].line': ['is required.'], '[1].orderId': ['is required.'], '[1].line': ['is required.'] }],
    )
    const missing = await stage.patch(`${at}/bulk`, [{ orderId: 99, line: 1, product: 'x', ...versions }])
    t.is(missing.status, 404)
    const deleted = await stage.post(`${at}/bulk-delete`, [
      '20~1',
      '20~1',
      '21~1',
      '20~99',
      '20',
      20,
      null,
      {},
      '20~2~1',
    ])
    t.deepEqual([deleted.status, deleted.body], [200, { deleted: 2 }])
    t.is((await stage.get(`${at}/20~2`)).status, 200)
    t.deepEqual((await stage.post(`${at}/bulk-delete`, ['20~2'])).body, { deleted: 1 })
    await model(`Line${index}`).destroy({ where: { orderId: [20, 21] } })
  })

  test.serial(`${title}: subscribers hear of keys as they stand in paths`, async (t) => {
    const router = routers.get(`lines${index}`)
    if (router === undefined) throw new TypeError('not mounted')
    const { received, socket } = await stage.subscribe(router)
    // Events of the tests before are told before this one.
    router.notify?.deleted({ orderId: 30, line: 9, product: 'e' })
    await waitUntil(socket, () => received.some(([, argument]) => argument === '30~9'))
    received.splice(0)
    const steps: readonly (() => unknown)[] = [
      () => stage.post(at, { orderId: 30, line: 1, product: 'a' }),
      async () => stage.patch(`${at}/30~1`, { product: 'b' }, await tagged(`${at}/30~1`)),
      () => router.notify?.updated('7~1'),
      () => stage.delete(`${at}/30~1`),
      () => stage.post(`${at}/bulk`, [{ orderId: 30, line: 2, product: 'c' }]),
      () => stage.post(`${at}/bulk-delete`, ['30~2']),
      () => router.notify?.deleted({ orderId: 30, line: 3, product: 'd' }),
      () => router.notify?.deleted('30~4'),
    ]
    for (const [done, step] of steps.entries()) {
      await step()
      await waitUntil(socket, () => received.length > done)
    }
    for (const wrong of ['30', 30, '30~a', { orderId: 30 }])
      t.throws(() => router.notify?.deleted(wrong), { instanceOf: TypeError })
    t.deepEqual(received, [
      ['OnCreated', { orderId: 30, line: 1, product: 'a' }],
      ['OnUpdated', { orderId: 30, line: 1, product: 'b' }],
      ['OnUpdated', { orderId: 7, line: 1, product: 'p7-1' }],
      ['OnDeleted', '30~1'],
      ['OnCreated', { orderId: 30, line: 2, product: 'c' }],
      ['OnDeleted', '30~2'],
      ['OnDeleted', '30~3'],
      ['OnDeleted', '30~4'],
    ])
    socket.disconnect()
    await model(`Line${index}`).destroy({ where: { orderId: 30 } })
  })

  test.serial(`${title}: a thousand keys of as many first parts are deleted at once`, async (t) => {
    const rows = Array.from({ length: 1000 }, (_, each) => ({ orderId: 1000 + each, line: each % 7, product: 'x' }))
    await model(`Line${index}`).bulkCreate(rows)
    const keys = rows.map(({ orderId, line }) => `${orderId}~${line}`)
    const { status, body } = await stage.post(`${at}/bulk-delete`, keys)
    t.deepEqual([status, body], [200, { deleted: 1000 }])
    t.is((await list(stage, at, { count: true })).body.count, LINES.length)
    await model(`Line${index}`).destroy({ where: { product: 'x' } })
  })
}

test.serial(
  'parts of text are percent-encoded, ~ as well, and the whole is encoded once more as a path segment',
  async (t) => {
    const codes = ['a~b', 'a b', 'ł/ó', '100%', '..', '.', 'a,b', '%7E', '~', "it's", '?#', 'A']
    for (const code of codes) {
      const { status, headers, text } = await stage.post('/entries', { code, day: '2026-01-02', text: code })
      t.is(status, 201, text)
      const location = headers.get('location') ?? ''
      const key = `${encodeURIComponent(code).replaceAll('~', '%7E')}~2026-01-02`
      t.is(location, `/entries/${encodeURIComponent(key)}`)
      t.is((await stage.get(location)).body?.text, code, location)
      t.deepEqual(
        (await list(stage, '/entries', { keys: key })).body.items.map(({ text: it }: { text: string }) => it),
        [code],
      )
    }
    t.is((await stage.get('/entries/a~2026-01-02')).status, 404)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await list(stage, '/entries', { cursor, pageSize: 2 })
      seen.push(...body.items.map(({ code }: { code: string }) => code))
      if (body.nextCursor === null) break
      cursor = body.nextCursor
    }
    t.deepEqual([...seen].sort(), [...codes].sort())
    for (const day of ['2026-02-30', '2026-1-2', 'x', '']) t.is((await stage.get(`/entries/A~${day}`)).status, 404)
    const empty = await stage.post('/entries', { code: '', day: '2026-01-02' })
    t.deepEqual([empty.status, empty.body.errors], [400, { code: ['cannot be used as a key.'] }])
    const keys = codes.map((code) => `${encodeURIComponent(code).replaceAll('~', '%7E')}~2026-01-02`)
    t.deepEqual((await stage.post('/entries/bulk-delete', keys)).body, { deleted: codes.length })
  },
)

test.serial('a part of a key that is not well-formed text is a client error in every body', async (t) => {
  // JSON.stringify escapes unpaired surrogates.
  for (const code of ['\ud800', 'x\udfff', '\0']) {
    const entry = { code, day: '2026-01-02', text: 'x' }
    const message = 'must not contain NUL characters or unpaired surrogates.'
    const created = await stage.post('/entries', entry)
    t.deepEqual([created.status, created.body.errors], [400, { code: [message] }])
    const updated = await stage.patch('/entries/bulk', [entry])
    t.deepEqual([updated.status, updated.body.errors], [404, { '[0]': ['does not exist.'] }], updated.text)
    const upserted = await stage.send('PUT', '/entries/bulk?by=code,day', { json: [entry] })
    t.deepEqual([upserted.status, upserted.body.errors], [400, { '[0].code': [message] }], upserted.text)
    const deleted = await stage.post('/entries/bulk-delete', [`${code}~2026-01-02`])
    t.deepEqual([deleted.status, deleted.body], [200, { deleted: 0 }], deleted.text)
  }
})

test.serial('attributes that are unique together are a key, their parts in the order of the model', async (t) => {
  const { status, headers, body } = await stage.post('/seats', { row: 'B', place: 12, guest: 'Jan' })
  t.is(status, 201)
  t.is(headers.get('location'), '/seats/B~12')
  t.deepEqual(body, { id: body.id, row: 'B', place: 12, guest: 'Jan' })
  t.deepEqual((await stage.patch('/seats/B~12', { row: 'C', guest: 'Ewa' })).body, { ...body, guest: 'Ewa' })
  t.is((await stage.get('/seats/12~B')).status, 404)
  t.is((await stage.get(`/seats/${body.id}`)).status, 404)
  t.is((await stage.delete('/seats/B~12')).status, 204)
  t.is(await model('Seat').count(), 0)
})

test.serial('records below their owner have keys with the part that is the owner', async (t) => {
  const order = await stage.post('/v1/api/orders', { customer: 'Ewa' })
  const { id } = order.body
  const path = `/v1/api/orders/${id}/items`
  const created = await stage.post(path, { line: 3, name: 'Net' })
  t.deepEqual([created.status, created.body], [201, { orderId: id, line: 3, product: null, name: 'Net' }])
  const location = created.headers.get('location') ?? ''
  t.is(location, `/v1/api/items/${id}~3`)
  t.is((await stage.get(location)).body.name, 'Net')
  t.is((await stage.get(`${location}/order`)).body.customer, 'Ewa')
  t.deepEqual((await list(stage, path, { cursor: '' })).body.items, [created.body])
})

test.serial('nested bodies leave out the part of the key that is the owner, or repeat it', async (t) => {
  const order = await stage.post('/v1/api/orders', {
    customer: 'Jan',
    items: [
      { line: 1, name: 'a' },
      { line: 2, name: 'b' },
    ],
  })
  t.is(order.status, 201, order.text)
  const { id } = order.body
  const item = (line: number, name: string) => ({ orderId: id, line, product: null, name })
  t.deepEqual(order.body.items, [item(1, 'a'), item(2, 'b')])
  const path = `/v1/api/orders/${id}`
  const patched = await stage.patch(path, {
    items: [
      { line: 2, name: 'B' },
      { orderId: id, line: 3, name: 'c' },
    ],
  })
  t.deepEqual([patched.status, patched.body.items], [200, [item(2, 'B'), item(3, 'c')]])
  t.is((await stage.get(`/v1/api/items/${id}~1`)).status, 404)
  const kept = await stage.patch(path, { items: [{ line: 3 }, { orderId: id, line: 2 }] })
  t.deepEqual([kept.status, kept.body.items], [200, [item(3, 'c'), item(2, 'B')]])
  const twice = await stage.patch(path, { items: [{ line: 3 }, { line: 3, name: 'd' }] })
  t.is(twice.status, 400)
  const other = await stage.patch(path, { items: [{ orderId: id + 1, line: 3 }] })
  t.deepEqual([other.status, other.body.errors], [400, { 'items[0].orderId': ['must be the owner.'] }])
  t.is((await list(stage, `${path}/items`, { count: true })).body.count, 2)
})

test.serial(
  'a record is replaced or made at its parts, which the body may repeat, and found by them in upserts',
  async (t) => {
    const made = await stage.send('PUT', '/lines0/50~1', { json: { product: 'a' } })
    t.deepEqual([made.status, made.body], [201, { orderId: 50, line: 1, product: 'a' }])
    const again = await stage.send('PUT', '/lines0/50~1', { json: { orderId: 50, line: 1, product: 'b' } })
    t.deepEqual([again.status, again.body], [200, { orderId: 50, line: 1, product: 'b' }])
    const wrong = await stage.send('PUT', '/lines0/50~1', { json: { orderId: 51, line: 1, product: 'b' } })
    t.deepEqual([wrong.status, Object.keys(wrong.body.errors)], [400, ['orderId']])
    const items = [
      { orderId: 50, line: 1, product: 'c' },
      { orderId: 50, line: 2, product: 'd' },
    ]
    const upserted = await stage.send('PUT', '/lines0/bulk?by=orderId,line', { json: items })
    t.is(upserted.status, 200, upserted.text)
    t.deepEqual((await list(stage, '/lines0', { filter: 'OrderId=50' })).body.items, items)
    await model('Line0').destroy({ where: { orderId: 50 } })
  },
)

for (const route of ['Size', 'HookedSize']) {
  test.serial(`BOOLEAN and numbers with an exponent are parts of keys as answers write them: ${route}`, async (t) => {
    const keys = ['true~1e-7', 'false~1e-7', 'true~1.5', 'false~1e%2B21']
    for (const [flag, size] of [
      [true, 1e-7],
      [false, 1e-7],
      [true, 1.5],
      [false, 1e21],
    ] as const) {
      const made = await stage.post(`/${route}`, { flag, size, text: 'a' })
      t.is(made.status, 201, made.text)
      const location = made.headers.get('location') ?? ''
      t.deepEqual((await stage.get(location)).body, { flag, size, text: 'a' }, location)
      const changed = await stage.patch(location, { text: 'b' })
      t.deepEqual([changed.status, changed.body.text], [200, 'b'], location)
      t.is((await stage.send('PUT', location, { json: { flag, size, text: 'd' } })).status, 200, location)
      t.is((await stage.send('PUT', location, { json: { flag: !flag, size } })).status, 400, location)
      t.is((await stage.patch(`/${route}/bulk`, [{ flag, size, text: 'c' }])).status, 200, location)
    }
    t.is((await stage.get(`/${route}?keys=${keys.join(',')}`)).body.items.length, 4)
    t.deepEqual((await stage.get(`/${route}?keys=true~1e-7`)).body.items, [{ flag: true, size: 1e-7, text: 'c' }])
    for (const key of ['TRUE~1e-7', '1~1e-7', 'true~1E-7', 'true~10e-8', 'null~1.5']) {
      t.is((await stage.get(`/${route}/${key}`)).status, 404, key)
    }
    t.is((await stage.delete(`/${route}/true~1e-7`)).status, 204)
    t.is((await stage.get(`/${route}/false~1e-7`)).status, 200)
    const rest = ['false~1e-7', 'true~1.5', 'false~1e%2B21']
    t.deepEqual((await stage.post(`/${route}/bulk-delete`, rest)).body, { deleted: 3 })
  })
}

test('decimal places that a key leaves out change nothing', async (t) => {
  const router = routers.get('prices')
  if (router === undefined) throw new TypeError('not mounted')
  const { received, socket } = await stage.subscribe(router)
  const prices = [1, 2, 3].map((no) => ({ amount: '1.5', no, note: 'new' }))
  const { body } = await stage.post('/v1/api/orders', { customer: 'Ewa', prices })
  t.is(body.prices[0].amount, '1.500000')
  t.is((await stage.get('/prices/1.5~1')).body.note, 'new')
  // Elements are the children with these keys. One child is changed, one kept, and one deleted.
  const elements = [
    { amount: '1.5', no: 1, note: 'changed' },
    { amount: '1.50', no: 2 },
  ]
  const { status, text } = await stage.patch(`/v1/api/orders/${body.id}`, { prices: elements })
  t.is(status, 200, text)
  t.deepEqual((await stage.post('/prices/bulk-delete', ['1.5~2'])).body, { deleted: 1 })
  t.is((await stage.delete('/prices/1.5~1')).status, 204)
  router.notify?.deleted({ amount: '2.5', no: 4 })
  await waitUntil(socket, () => received.some(([, argument]) => argument === '2.500000~4'))
  t.deepEqual(
    received.filter(([event]) => event !== 'OnCreated'),
    [
      ['OnDeleted', '1.500000~3'],
      ['OnUpdated', { amount: '1.500000', no: 1, note: 'changed', orderId: body.id }],
      ['OnDeleted', '1.500000~2'],
      ['OnDeleted', '1.500000~1'],
      ['OnDeleted', '2.500000~4'],
    ],
  )
})

test.serial('PUT creates records whose keys have decimals, and takes back what it answered', async (t) => {
  for (const [route, amount] of [
    ['prices', '7.250000'],
    ['rates', 7.25],
  ] as const) {
    const created = await stage.send('PUT', `/${route}/7.25~1`, { json: { note: 'new' } })
    t.is(created.status, 201, created.text)
    t.is(created.body.amount, amount)
    for (const json of [created.body, { amount, note: 'again' }, { note: 'again' }]) {
      const { status, text } = await stage.send('PUT', `/${route}/7.25~1`, { json })
      t.is(status, 200, text)
    }
    const other = await stage.send('PUT', `/${route}/7.25~1`, { json: { amount: 7.26, note: 'other' } })
    t.deepEqual(other.body.errors, { amount: ['must be the key in the path.'] })
    t.is((await stage.get(`/${route}/7.25~1`)).body.note, 'again')
  }
})

test('what is not unique together is no key', (t) => {
  const refused = (keyProperty: readonly string[], message: RegExp): void => {
    t.throws(() => mount(model('Seat'), { keyProperty }), { instanceOf: CrudConfigError, code: 'SDTO011', message })
  }
  refused(['row', 'guest'], /^Seat: the key \(row, guest\) is neither the primary key nor unique together/)
  refused(['id', 'row'], /neither the primary key nor unique together/)
  refused(['row'], /^Seat: the key "row" is neither the primary key nor unique by itself/)
  refused(['row', 'plaec'], /the key property "plaec" matches no attribute\. Did you mean "place"/)
  t.throws(() => mount(model('Seat'), { keyProperty: ['row', 'place'], mask: { place: 'seats' } }), {
    message: /the key "place" cannot be masked/,
  })
})
