// Records within a body are told apart by their keys, of which what points at the owner may be a part, or the whole: no element
// need state that, and clients may choose the rest of the key or not.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial

let denied: ReadonlySet<string> = new Set()
let last = 100

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const text = DataTypes.STRING(9)
  // Anew each time: Sequelize writes into what it is given.
  const part = () => ({ type: DataTypes.INTEGER, primaryKey: true })
  const Order = sequelize.define('Order', { text }, plain)
  const Seat = sequelize.define('Seat', { orderId: part(), no: part(), text }, plain)
  const counted = {
    ...part(),
    defaultValue: () => {
      last += 1
      return last
    },
  }
  const Ticket = sequelize.define('Ticket', { orderId: part(), no: counted, text }, plain)
  const Card = sequelize.define('Card', { orderId: part(), text }, plain)
  const Label = sequelize.define(
    'Label',
    { code: { type: DataTypes.STRING(9), primaryKey: true }, no: part(), text, orderId: DataTypes.INTEGER },
    plain,
  )
  Order.hasMany(Seat, { as: 'seats', foreignKey: 'orderId' })
  Order.hasMany(Ticket, { as: 'tickets', foreignKey: 'orderId' })
  Order.hasOne(Card, { as: 'card', foreignKey: 'orderId' })
  Order.hasMany(Label, { as: 'labels', foreignKey: 'orderId' })
  const policy = ({ operation }: { readonly operation: string }): boolean => !denied.has(operation)
  const policies: CrudOptions = { identity: identityFromHeader, createPolicy: policy, updatePolicy: policy }
  const write = { write: true } as const
  app.use(
    crudRouter(Order, {
      operations: Operations.AllWithBulk | Operations.BulkUpdate,
      identity: identityFromHeader,
      relations: { seats: write, tickets: write, card: write, labels: write },
    }),
    crudRouter(Label),
    crudRouter(Seat, { fields: { orderId: { exclude: ['create'] } } }),
    crudRouter(Ticket, { ...policies, fields: { no: { exclude: ['create'] } } }),
    crudRouter(Card, policies),
  )
})
const { sequelize } = stage
test.after.always(() => stage.close())
test.afterEach.always(() => {
  denied = new Set()
})

async function order(): Promise<{ readonly id: number; readonly path: string }> {
  const { id } = (await stage.post('/api/orders', { text: 'x' })).body
  return { id, path: `/api/orders/${id}` }
}

const patch = (path: string, body: object) => stage.patch(path, body, asUser('ann'))

const rowsOf = async (name: string, orderId: number): Promise<readonly unknown[]> => {
  const model: ModelStatic<Model> = sequelize.model(name)
  const rows = await model.findAll({ where: { orderId }, order: ['no'] })
  return rows.map((row) => [row.get('no'), row.get('text')])
}

test('a key that nobody has is that of a new record where clients choose what the owner does not set of it', async (t) => {
  const { id, path } = await order()
  const made = await patch(path, { seats: [{ no: 5, text: 'a' }] })
  t.is(made.status, 200, made.text)
  const changed = await patch(path, {
    seats: [
      { no: 5, text: 'b' },
      { no: 6, text: 'c' },
    ],
  })
  t.is(changed.status, 200, changed.text)
  t.deepEqual(await rowsOf('Seat', id), [
    [5, 'b'],
    [6, 'c'],
  ])
})

test('a key with text that is not well-formed is the key of no record', async (t) => {
  const { id, path } = await order()
  for (const code of ['\ud800', '\0']) {
    const labels = [{ code, no: 1, text: 'x' }]
    const single = await patch(path, { labels })
    t.deepEqual([single.status, single.body.errors], [404, { 'labels[0]': ['does not exist.'] }], single.text)
    const bulk = await patch('/api/orders/bulk', [{ id, labels }])
    t.deepEqual([bulk.status, bulk.body.errors], [404, { '[0].labels[0]': ['does not exist.'] }], bulk.text)
  }
})

test('a key that clients choose is in one collection once, in the body of a new record as in that of an existing one', async (t) => {
  const { id, path } = await order()
  const code = { code: 'twice', no: 1 }
  const bodies = [
    [{ seats: [{ no: 5 }, { no: 6 }, { no: 5, text: 'b' }] }, 'seats[2].no'],
    [
      { labels: [code, { ...code, no: 2 }, code, { text: 'x' }, { ...code, text: 'y' }] },
      'labels[2].no',
      'labels[4].no',
    ],
  ] as const
  for (const [body, ...places] of bodies) {
    const told = (prefix = ''): object => Object.fromEntries(places.map((each) => [prefix + each, ['is there twice.']]))
    const before = await sequelize.model('Order').count()
    for (const [reply, prefix] of [
      [await stage.post('/api/orders', body), ''],
      [await stage.post('/api/orders/bulk', [{ text: 'a' }, body]), '[1].'],
      [await patch(path, body), ''],
      [await patch('/api/orders/bulk', [{ id, ...body }]), '[0].'],
    ] as const) {
      t.is(reply.status, 400, reply.text)
      t.like(reply.body.errors, told(prefix), reply.text)
    }
    t.is(await sequelize.model('Order').count(), before)
  }
  const other = await stage.post('/api/orders', { text: 'longer than 9', seats: [{ no: 1 }, { no: 1 }] })
  t.deepEqual(Object.keys(other.body.errors), ['text', 'seats[1].no'])
})

test('keys that clients do not choose may be in the body of a new record twice, and are ignored', async (t) => {
  const made = await stage.post('/api/orders', { tickets: [{ no: 1 }, { no: 1 }] })
  t.is(made.status, 201, made.text)
  t.is((await rowsOf('Ticket', made.body.id)).length, 2)
})

test('a key that nobody has is that of no record where clients do not choose a part of it', async (t) => {
  const { id, path } = await order()
  const { status, body } = await patch(path, { tickets: [{ text: 'a' }, { no: 77, text: 'b' }] })
  t.deepEqual([status, Object.keys(body.errors)], [404, ['tickets[1]']])
  t.deepEqual(await rowsOf('Ticket', id), [])
  const made = await patch(path, { tickets: [{ text: 'a' }, { no: null, text: 'b' }] })
  t.is(made.status, 200, made.text)
  t.is((await rowsOf('Ticket', id)).length, 2)
})

test('an element that states its part of the key is about that record, and calls for no policy of others', async (t) => {
  const { id, path } = await order()
  const { no } = (await patch(path, { tickets: [{ text: 'a' }] })).body.tickets[0]
  denied = new Set(['create'])
  const changed = await patch(path, { tickets: [{ no, text: 'b' }] })
  t.is(changed.status, 200, changed.text)
  t.deepEqual(await rowsOf('Ticket', id), [[no, 'b']])
  t.is((await patch(path, { tickets: [{ text: 'c' }] })).status, 403)
  denied = new Set(['update'])
  t.is((await patch(path, { tickets: [{ no, text: 'c' }] })).status, 403)
  t.is((await patch(path, { tickets: [{ no }] })).status, 200)
  t.deepEqual(await rowsOf('Ticket', id), [[no, 'b']])
})

test('what points at the owner, as the whole key, says no more than whose a record is', async (t) => {
  const { path } = await order()
  const made = await patch(path, { card: { text: 'a' } })
  t.deepEqual([made.status, made.body.card?.text], [200, 'a'], made.text)
  const changed = await patch(path, { card: { text: 'b' } })
  t.deepEqual([changed.status, changed.body.card?.text], [200, 'b'], changed.text)
  // An object that names no record is about the one that there is: it may change nothing, but whoever may not change it sends none.
  denied = new Set(['update'])
  t.is((await patch(path, { card: {} })).status, 403)
  denied = new Set(['create'])
  t.is((await patch(path, { card: {} })).status, 200)
})

test('a kind that the relation sets is no key of the owner, whatever the key is', async (t) => {
  const own = await openStage(({ sequelize: other }, app) => {
    const plain = { timestamps: false }
    const Book = other.define('Book', { code: { type: DataTypes.STRING(9), primaryKey: true } }, plain)
    const Remark = other.define('Remark', { kind: DataTypes.STRING(9), on: DataTypes.STRING(9) }, plain)
    Book.hasMany(Remark, { as: 'remarks', foreignKey: 'on', constraints: false, scope: { kind: 'book' } })
    app.use(crudRouter(Book, { relations: { remarks: { routes: true } } }), crudRouter(Remark))
    return { Book, Remark }
  })
  t.teardown(() => own.close())
  await own.Book.create({ code: 'k1' })
  const wrong = await own.post('/api/books/k1/remarks', { kind: 'k1' })
  t.is(wrong.status, 400, wrong.text)
  t.deepEqual(Object.keys(wrong.body.errors), ['kind'])
  t.is((await own.post('/api/books/k1/remarks', { kind: 'book', on: 'k1' })).status, 201)
  t.is(await own.Remark.count(), 1)
})

test('null as the key of an owner is told before the owner turns out to have none', async (t) => {
  const own = await openStage(({ sequelize: other }, app) => {
    const plain = { timestamps: false }
    const Shelf = other.define('Shelf', { code: { type: DataTypes.STRING(9), unique: true } }, plain)
    const Box = other.define('Box', { text: DataTypes.STRING(9) }, plain)
    Shelf.hasMany(Box, { as: 'boxes', foreignKey: 'shelfCode', sourceKey: 'code' })
    app.use(crudRouter(Shelf, { relations: { boxes: { write: true } } }), crudRouter(Box))
    return { Shelf }
  })
  t.teardown(() => own.close())
  const { id } = (await own.Shelf.create({ code: null })).get()
  const told = async (box: object): Promise<unknown> => {
    const { status, body } = await own.patch(`/api/shelves/${id}`, { boxes: [box] })
    return [status, Object.keys(body.errors ?? {})]
  }
  t.deepEqual(await told({ text: 'x', shelfCode: null }), [400, ['boxes[0].shelfCode']])
  t.deepEqual(await told({ text: 'x' }), [409, []])
})

test('a decimal key of an owner is that number, however a body writes it', async (t) => {
  const own = await openStage(({ sequelize: other }, app) => {
    const plain = { timestamps: false }
    const Rate = other.define('Rate', { rate: { type: DataTypes.DECIMAL(20, 4), primaryKey: true } }, plain)
    const Offer = other.define('Offer', { rateId: DataTypes.DECIMAL(20, 4) }, plain)
    Rate.hasMany(Offer, { as: 'offers', foreignKey: 'rateId' })
    app.use(crudRouter(Rate, { relations: { offers: { write: true, routes: true } } }))
    app.use(crudRouter(Offer))
  })
  t.teardown(() => own.close())
  for (const [rate, rateId] of [
    ['1.5', 1.5],
    ['2.5000', '2.5'],
  ]) {
    const { status, body, text } = await own.post('/api/rates', { rate, offers: [{ rateId }] })
    t.deepEqual([status, body.offers?.[0].rateId], [201, body.rate], text)
    const added = await own.post(`/api/rates/${body.rate}/offers`, { rateId })
    t.deepEqual([added.status, added.body.rateId], [201, body.rate], added.text)
    t.is((await own.post(`/api/rates/${body.rate}/offers`, { rateId: '1.51' })).status, 400)
    t.is((await own.patch(`/api/rates/${body.rate}`, { offers: [{ rateId: true }] })).status, 400)
  }
})

const betweenWrites = databaseName === 'sqlite' ? ava.serial.skip : ava.serial

betweenWrites('a body sees what others commit while it waits for a nested record', async (t) => {
  const served = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const key = () => ({ type: DataTypes.INTEGER, primaryKey: true })
    const text = DataTypes.STRING(9)
    const Order = sequelize.define('Order', { text }, plain)
    const Line = sequelize.define('Line', { no: key(), text }, plain)
    const Parcel = sequelize.define('Parcel', { text }, plain)
    const Item = sequelize.define('Item', { no: key(), text }, plain)
    Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
    Order.hasMany(Parcel, { as: 'parcels', foreignKey: 'orderId' })
    Parcel.hasMany(Item, { as: 'items', foreignKey: 'parcelId' })
    app.use(crudRouter(Order, { relations: { lines: { write: true }, parcels: { write: true } } }))
    app.use(crudRouter(Line), crudRouter(Parcel, { relations: { items: { write: true } } }), crudRouter(Item))
    return { Parcel, Item }
  })
  t.teardown(() => served.close())
  const { Parcel, Item, sequelize, statements } = served
  const items = [
    { no: 1, text: 'a' },
    { no: 2, text: 'a' },
  ]
  await served.post('/api/orders', { parcels: [{ items }] })
  // A body that only creates records needs no statement for that.
  t.false(statements.some((sql) => sql.includes('ISOLATION')))
  const transaction = await sequelize.transaction()
  await Parcel.findByPk(1, { transaction, lock: true })
  statements.length = 0
  const body = { lines: [{ no: 5 }], parcels: [{ id: 1, items: [{ no: 1 }, { no: 2, text: 'b' }] }] }
  const waiting = served.patch('/api/orders/1', body)
  while (!statements.some((sql) => /Parcel.* FOR (NO KEY )?UPDATE/.test(sql))) await wait(5)
  await Item.update({ text: 'c' }, { where: { no: 1 }, transaction })
  await Item.destroy({ where: { no: 2 }, transaction })
  await transaction.commit()
  const { status, body: shown } = await waiting
  t.deepEqual(
    [status, shown.parcels?.[0].items],
    [
      200,
      [
        { no: 1, text: 'c', parcelId: 1 },
        { no: 2, text: 'b', parcelId: 1 },
      ],
    ],
  )
})

test('the key of an owner that PUT creates may be in its children, whether or not the body has it too', async (t) => {
  const served = await openStage((database, app) => {
    const plain = { timestamps: false }
    const text = () => ({ type: DataTypes.STRING(9), primaryKey: true })
    const Page = database.sequelize.define('Page', { slug: text(), title: DataTypes.STRING(9) }, plain)
    const no = { type: DataTypes.INTEGER, primaryKey: true }
    const Block = database.sequelize.define('Block', { pageSlug: text(), no }, plain)
    Page.hasMany(Block, { as: 'blocks', foreignKey: 'pageSlug' })
    const operations = Operations.All | Operations.Replace
    app.use(crudRouter(Page, { operations, relations: { blocks: { write: true } } }), crudRouter(Block))
  })
  t.teardown(() => served.close())
  const put = (slug: string, body: object) => served.send('PUT', `/api/pages/${slug}`, { json: body })
  const wrong = await put('one', {
    blocks: [
      { pageSlug: 'one', no: 1 },
      { pageSlug: 'two', no: 2 },
    ],
  })
  t.deepEqual([wrong.status, wrong.body.errors], [400, { 'blocks[1].pageSlug': ['must be the owner.'] }], wrong.text)
  const blocks = [{ pageSlug: 'one', no: 1 }, { no: 2 }]
  const made = await put('one', { title: 'a', blocks })
  t.is(made.status, 201, made.text)
  t.deepEqual(made.body.blocks, [blocks[0], { pageSlug: 'one', no: 2 }])
  const { slug: _, ...rest } = made.body
  for (const body of [made.body, rest]) {
    await served.sequelize.model('Block').destroy({ where: {} })
    await served.sequelize.model('Page').destroy({ where: {} })
    const again = await put('one', body)
    t.deepEqual([again.status, again.body], [201, made.body], again.text)
  }
})
