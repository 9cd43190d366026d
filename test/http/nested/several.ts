// Records of others in the bodies of bulk updates, replacements and upserts: as in those of PATCH and POST, for each item.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { openPush, type PushStage } from '../../support/push.js'
import type { Answer } from '../../support/server.js'
import { hooked, VARIANTS, type Variant } from '../../support/variants.js'

const test = ava.serial

const ALL = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace

async function open({
  options,
  finds = false,
}: Variant): Promise<{ readonly stage: PushStage; readonly hubs: readonly CrudRouter[] }> {
  const hubs: CrudRouter[] = []
  const stage = await openPush(({ sequelize }, app, io) => {
    const plain = { timestamps: false }
    const Order = sequelize.define(
      'Order',
      {
        customer: { type: DataTypes.STRING(20), allowNull: false, validate: { notContains: 'bad' } },
        number: { type: DataTypes.INTEGER, unique: true },
      },
      plain,
    )
    const Line = sequelize.define(
      'Line',
      {
        product: { type: DataTypes.STRING(9), allowNull: false, validate: { notContains: 'bad' } },
        quantity: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 },
        orderId: { type: DataTypes.INTEGER, allowNull: false },
      },
      plain,
    )
    const Part = sequelize.define('Part', { name: { type: DataTypes.STRING, allowNull: false } }, plain)
    const Slip = sequelize.define('Slip', { text: { type: DataTypes.STRING, allowNull: false } }, plain)
    const Shelf = sequelize.define(
      'Shelf',
      { code: { type: DataTypes.STRING(20), primaryKey: true }, title: DataTypes.STRING },
      plain,
    )
    const Box = sequelize.define('Box', { name: { type: DataTypes.STRING(9), allowNull: false } }, plain)
    const Slot = sequelize.define(
      'Slot',
      {
        shelfCode: { type: DataTypes.STRING(20), primaryKey: true },
        place: { type: DataTypes.INTEGER, primaryKey: true },
        name: DataTypes.STRING,
      },
      plain,
    )
    const Card = sequelize.define(
      'Card',
      { title: DataTypes.STRING, code: { type: DataTypes.INTEGER, unique: true } },
      plain,
    )
    const Task = sequelize.define('Task', { title: DataTypes.STRING }, plain)
    if (finds) for (const each of [Order, Line, Card]) each.addHook('beforeFind', () => undefined)
    Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
    Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId', onDelete: 'CASCADE' })
    Order.hasOne(Slip, { as: 'slip', foreignKey: 'orderId' })
    Shelf.hasMany(Box, { as: 'boxes', foreignKey: 'shelfCode' })
    Shelf.hasMany(Slot, { as: 'slots', foreignKey: 'shelfCode' })
    const Tag = sequelize.define('Tag', { name: DataTypes.STRING }, plain)
    Card.belongsToMany(Tag, { as: 'tags', through: 'CardTag', foreignKey: 'cardId', otherKey: 'tagId' })
    Card.hasMany(Task, { as: 'tasks', foreignKey: 'cardId' })
    const write = { write: true }
    const push = { io }
    hubs.push(
      crudRouter(Order, {
        operations: ALL,
        push,
        fields: { number: { filterable: true } },
        relations: { lines: write, slip: write },
        limits: { bulkItems: 40 },
      }),
      crudRouter(Line, { ...options, operations: ALL, push, relations: { parts: write } }),
      crudRouter(Part),
      crudRouter(Slip),
      crudRouter(Shelf, {
        operations: ALL,
        fields: { code: { filterable: true } },
        relations: { boxes: write, slots: write },
      }),
      crudRouter(Slot),
      crudRouter(Box),
      crudRouter(Card, {
        operations: ALL,
        concurrency: { inBody: true },
        fields: { code: { filterable: true } },
        relations: { tasks: write, tags: write },
      }),
      crudRouter(Tag),
      crudRouter(Task, { ...options, concurrency: true }),
    )
    app.use(hubs)
  })
  return { stage, hubs }
}

const opened = new Map<Variant, Awaited<ReturnType<typeof open>>>()
for (const variant of VARIANTS) opened.set(variant, await open(variant))
test.after.always(async () => {
  for (const { stage } of opened.values()) await stage.close()
})

let numbers = 0
const next = (): number => {
  numbers += 1
  return numbers
}

interface Line {
  readonly id: number
  readonly product: string
}

for (const [{ title }, { stage, hubs }] of opened) {
  const model = (name: string): ModelStatic<Model> => stage.sequelize.model(name)
  const linesOf = async (orderId: number): Promise<string[]> => {
    const rows = await model('Line').findAll({ where: { orderId }, order: ['id'] })
    return rows.map((row) => `${row.get('product')} ${row.get('quantity')}`)
  }
  const order = async (...products: string[]): Promise<{ id: number; number: number; lines: Line[] }> => {
    const lines = products.map((product) => ({ product, quantity: 5 }))
    const { body, text } = await stage.post('/api/orders', { customer: 'Ewa', number: next(), lines })
    if (body.lines === undefined) throw new Error(text)
    return body
  }
  const bulk = (items: readonly unknown[], headers?: Record<string, string>): Promise<Answer> =>
    stage.patch('/api/orders/bulk', items, headers)
  const put = (path: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    stage.send('PUT', path, { json, headers })
  const errorsOf = (answer: Answer, status: number): unknown => {
    if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`)
    return answer.body.errors
  }
  /** Everything that is stored. */
  const stored = async (): Promise<unknown> => {
    const all = await Promise.all(
      ['Order', 'Line', 'Part', 'Slip', 'Shelf', 'Box'].map((name) => model(name).findAll()),
    )
    return all.map((rows) => rows.map((row) => row.get({ plain: true })))
  }

  test(`bulk update: each body replaces its own collections, and what it does not name stays: ${title}`, async (t) => {
    const [one, two, three] = [await order('a', 'b'), await order('c'), await order('d')]
    const { status, body, text } = await bulk([
      { id: one.id, lines: [{ product: 'new' }, { id: one.lines[1]?.id, product: 'bb' }], slip: { text: 's' } },
      { id: two.id, customer: 'Jan' },
      { id: three.id, lines: [] },
    ])
    t.is(status, 200, text)
    t.deepEqual(
      body.map((each: { lines?: Line[] }) => each.lines?.map(({ product }) => product)),
      [['new', 'bb'], undefined, []],
    )
    t.is(body[0].slip.text, 's')
    t.is(body[1].customer, 'Jan')
    t.false('slip' in body[1] || 'lines' in body[1])
    t.deepEqual(await Promise.all([one, two, three].map(({ id }) => linesOf(id))), [['bb 5', 'new 1'], ['c 5'], []])
    const minimal = await bulk([{ id: one.id, lines: [] }], { Prefer: 'return=minimal' })
    t.is(minimal.status, 204, minimal.text)
    t.deepEqual(await linesOf(one.id), [])
  })

  test(`bulk update: all that is wrong is told at once, with its place, and nothing is written: ${title}`, async (t) => {
    const [one, two] = [await order('a', 'b'), await order('c')]
    const before = await stored()
    const wrong = await bulk([
      { id: one.id, customer: null, lines: [{ id: one.lines[0]?.id, product: null }, 7] },
      { id: two.id, lines: [{ quantity: 2 }, { product: 'x', parts: [{}] }], slip: [] },
    ])
    t.deepEqual(Object.keys(Object(errorsOf(wrong, 400))).sort(), [
      '[0].customer',
      '[0].lines[0].product',
      '[0].lines[1]',
      '[1].lines[0].product',
      '[1].lines[1].parts[0].name',
      '[1].slip',
    ])
    // What only the model's validators say, too.
    const late = await bulk([
      { id: one.id, customer: 'bad', lines: [{ product: 'x' }] },
      { id: two.id, lines: [{ product: 'bad' }, { id: two.lines[0]?.id, product: 'bad' }] },
    ])
    const places = ['[0].customer', '[1].lines[0].product', '[1].lines[1].product']
    t.deepEqual(Object.keys(Object(errorsOf(late, 400))).sort(), places)
    const within = await bulk([
      { id: one.id, lines: [{ product: 'x' }, { product: 'bad' }] },
      { id: two.id, lines: [{ id: two.lines[0]?.id, product: 'bad' }] },
    ])
    t.deepEqual(Object.keys(Object(errorsOf(within, 400))).sort(), ['[0].lines[1].product', '[1].lines[0].product'])
    const twice = { lines: [{ id: two.lines[0]?.id }, { id: two.lines[0]?.id }] }
    t.deepEqual(errorsOf(await bulk([{ id: one.id }, { id: two.id, ...twice }]), 400), {
      '[1].lines[1].id': ['is there twice.'],
    })
    t.deepEqual(errorsOf(await bulk([{ id: one.id, lines: null }]), 400), { '[0].lines': ['cannot be null.'] })
    t.deepEqual(errorsOf(await bulk([{ id: one.id, lines: [{ product: 'x', orderId: two.id }] }]), 400), {
      '[0].lines[0].orderId': ['must be the owner.'],
    })
    t.deepEqual(await stored(), before)
  })

  test(`bulk update: owners that are missing come first, then elements that are others': 404 with all places: ${title}`, async (t) => {
    const [one, two] = [await order('a'), await order('c')]
    const before = await stored()
    const strangers = [
      { id: one.id, lines: [{ product: 'n' }, { id: two.lines[0]?.id, product: 'x' }] },
      { id: two.id, lines: [{ id: 999_999 }, { id: two.lines[0]?.id, product: null }] },
    ]
    t.deepEqual(errorsOf(await bulk([...strangers, { id: 999_999, lines: [] }]), 404), { '[2]': ['does not exist.'] })
    t.deepEqual(errorsOf(await bulk(strangers), 404), {
      '[0].lines[1]': ['does not exist.'],
      '[1].lines[0]': ['does not exist.'],
    })
    t.deepEqual(await stored(), before)
  })

  test(`all records of a bulk update, those that go included, count against one limit: ${title}`, async (t) => {
    const products = Array.from({ length: 19 }, () => 'x')
    const [one, two] = [await order(...products), await order(...products)]
    const before = await stored()
    // Two owners and 38 that go are as many as there may be.
    const { status, body } = await bulk([
      { id: one.id, lines: [{ product: 'y' }] },
      { id: two.id, lines: [] },
    ])
    t.is(status, 400)
    t.regex(body.detail, /bulkItems/)
    t.deepEqual(await stored(), before)
    const empty = [one, two].map(({ id }) => ({ id, lines: [] }))
    t.is((await bulk(empty)).status, 200)
  })

  test(`versions: those of the items, and of each record that changes: ${title}`, async (t) => {
    const card = async () =>
      (await stage.post('/api/cards', { title: 'c', code: next(), tasks: [{ title: 'a' }] })).body
    const [one, two] = [await card(), await card()]
    const [a, b] = [one.tasks[0], two.tasks[0]]
    const send = (first: object, second: object): Promise<Answer> =>
      stage.patch('/api/cards/bulk', [
        { id: one.id, rowVersion: 0, tasks: [{ id: a.id, title: 'aa', ...first }] },
        { id: two.id, rowVersion: 0, tasks: [{ id: b.id, title: 'bb', ...second }] },
      ])
    t.deepEqual(Object.keys(Object(errorsOf(await send({}, { rowVersion: 4 }), 428))), ['[0].tasks[0]'])
    const stale = await send({ rowVersion: 3 }, { rowVersion: 4 })
    t.deepEqual(Object.keys(Object(errorsOf(stale, 412))), ['[0].tasks[0]', '[1].tasks[0]'])
    t.deepEqual(errorsOf(await send({ rowVersion: 'x' }, {}), 400), {
      '[0].tasks[0].rowVersion': ['must be a number.'],
    })
    const { status, body, text } = await send({ rowVersion: 0 }, { rowVersion: 0 })
    t.is(status, 200, text)
    t.deepEqual(
      body.map((each: { rowVersion: number; tasks: { rowVersion: number }[] }) => [
        each.rowVersion,
        each.tasks[0]?.rowVersion,
      ]),
      [
        [1, 1],
        [1, 1],
      ],
    )
    const path = `/api/cards/${one.id}`
    const tag = { 'If-Match': 'W/"1"' }
    t.is((await put(path, { tasks: [] })).status, 428)
    t.is((await put(path, { tasks: [{ id: a.id, title: 'x' }] }, tag)).status, 428)
    const replaced = await put(path, { title: 'r', tasks: [{ id: a.id, title: 'x', rowVersion: 1 }] }, tag)
    t.is(replaced.status, 200, replaced.text)
    t.is(replaced.headers.get('etag'), 'W/"2"')
    const upsert = (tasks: object[], more: object): Promise<Answer> =>
      put('/api/cards/bulk?by=code', [{ code: two.code, ...more, tasks }])
    t.is((await upsert([], {})).status, 428)
    t.deepEqual(Object.keys(Object(errorsOf(await upsert([{ id: b.id, title: 'x' }], { rowVersion: 1 }), 428))), [
      '[0].tasks[0]',
    ])
    const upserted = await upsert([{ id: b.id, title: 'x', rowVersion: 1 }], { rowVersion: 1 })
    t.deepEqual(upserted.body, { created: 0, updated: 1 }, upserted.text)
  })

  test(`PUT replaces the collections that its body names, and leaves all others alone: ${title}`, async (t) => {
    const { id, lines } = await order('a', 'b')
    const path = `/api/orders/${id}`
    await stage.patch(path, { slip: { text: 'stays' } })
    const without = await put(path, { customer: 'Jan' })
    t.is(without.status, 200, without.text)
    t.deepEqual(without.body, { id, customer: 'Jan', number: null })
    t.deepEqual(await linesOf(id), ['a 5', 'b 5'])
    const { status, body, text } = await put(path, {
      customer: 'Ola',
      lines: [
        { product: 'new', parts: [{ name: 'p' }] },
        { id: lines[0]?.id, quantity: 2, orderId: id },
      ],
    })
    t.is(status, 200, text)
    t.deepEqual(
      body.lines.map(({ product }: Line) => product),
      ['new', 'a'],
    )
    t.is(body.lines[0].parts[0].name, 'p')
    t.false('slip' in body)
    t.deepEqual(await linesOf(id), ['a 2', 'new 1'])
    t.is(await model('Slip').count({ where: { orderId: id } }), 1)
    t.is((await put(path, { customer: 'Ola', slip: null })).body.slip, null)
    t.is(await model('Slip').count({ where: { orderId: id } }), 0)
    const before = await stored()
    const wrong = await put(path, { lines: [{ product: null }], slip: {} })
    t.deepEqual(Object.keys(Object(errorsOf(wrong, 400))).sort(), ['customer', 'lines[0].product', 'slip.text'])
    const late = await put(path, { customer: 'bad', lines: [{ product: 'bad' }] })
    t.deepEqual(Object.keys(Object(errorsOf(late, 400))).sort(), ['customer', 'lines[0].product'])
    const other = await put(path, { customer: 'x', lines: [{ id: 999_999 }] })
    t.deepEqual(errorsOf(other, 404), { 'lines[0]': ['does not exist.'] })
    t.is((await put('/api/orders/999999', { customer: 'x', lines: [{ product: 'x' }] })).status, 404)
    t.deepEqual(await stored(), before)
  })

  test(`PUT makes a record with its collections where there is none: ${title}`, async (t) => {
    const code = `s${next()}`
    const path = `/api/shelves/${code}`
    const boxes = async (): Promise<string[]> =>
      (await model('Box').findAll({ where: { shelfCode: code }, order: ['id'] })).map((row) => String(row.get('name')))
    const before = await stored()
    const wrong = await put(path, { title: 't', boxes: [{ name: 'a' }, {}] })
    t.deepEqual(errorsOf(wrong, 400), { 'boxes[1].name': ['is required.'] })
    t.deepEqual(await stored(), before)
    const made = await put(path, { title: 't', boxes: [{ name: 'a' }, { name: 'b' }] })
    t.is(made.status, 201, made.text)
    t.is(made.headers.get('location'), path)
    t.deepEqual(
      made.body.boxes.map(({ name }: { name: string }) => name),
      ['a', 'b'],
    )
    const again = await put(path, { title: 't', boxes: [{ id: made.body.boxes[1].id }, { name: 'c' }] })
    t.is(again.status, 200, again.text)
    t.deepEqual(await boxes(), ['b', 'c'])
    t.is((await put(path, { title: 'u' }, { 'If-None-Match': '*' })).status, 412)
    const answers = await Promise.all(
      ['x', 'y', 'z'].map((name) => put(`/api/shelves/race${code}`, { boxes: [{ name }, { name }] })),
    )
    t.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 201], answers.map(({ text }) => text).join())
    const rows = await model('Box').findAll({ where: { shelfCode: `race${code}` } })
    t.is(rows.length, 2)
    t.is(rows[0]?.get('name'), rows[1]?.get('name'))
  })

  test(`upsert: what is there has its collections replaced, what is not is made with them: ${title}`, async (t) => {
    const one = await order('a', 'b')
    const fresh = next()
    const upsert = (items: readonly object[]): Promise<Answer> => put('/api/orders/bulk?by=number', items)
    const kept = { id: one.lines[1]?.id, orderId: one.id, quantity: 7 }
    const { status, body, text } = await upsert([
      { number: fresh, customer: 'New', lines: [{ product: 'n', parts: [{ name: 'p' }] }, { product: 'm' }] },
      { number: one.number, customer: 'Old', lines: [kept, { product: 'c' }] },
    ])
    t.is(status, 200, text)
    t.deepEqual(body, { created: 1, updated: 1 })
    t.deepEqual(await linesOf(one.id), ['b 7', 'c 1'])
    const made = await model('Order').findOne({ where: { number: fresh } })
    t.deepEqual(await linesOf(Number(made?.get('id'))), ['n 1', 'm 1'])
    const absent = await upsert([{ number: one.number, customer: 'Older' }])
    t.is(absent.status, 200, absent.text)
    t.deepEqual(await linesOf(one.id), ['b 7', 'c 1'])

    const before = await stored()
    const wrong = await upsert([
      { number: next(), lines: [{ product: 'x' }, {}] },
      { number: one.number, customer: null, lines: [{ product: null }, 'x'] },
    ])
    t.deepEqual(Object.keys(Object(errorsOf(wrong, 400))).sort(), [
      '[0].customer',
      '[0].lines[1].product',
      '[1].customer',
      '[1].lines[0].product',
      '[1].lines[1]',
    ])
    const late = await upsert([
      { number: next(), customer: 'bad', lines: [{ product: 'bad' }] },
      { number: one.number, customer: 'x', lines: [{ product: 'bad' }] },
    ])
    const places = ['[0].customer', '[0].lines[0].product', '[1].lines[0].product']
    t.deepEqual(Object.keys(Object(errorsOf(late, 400))).sort(), places)
    const strangers = await upsert([
      { number: one.number, customer: 'x', lines: [{ id: 999_999, product: 'x' }] },
      { number: next(), customer: 'x', lines: [{ product: 'x' }] },
    ])
    t.deepEqual(errorsOf(strangers, 404), { '[0].lines[0]': ['does not exist.'] })
    const twice = await upsert([{ number: next(), customer: 'x', lines: [{ id: 1 }, { id: 1 }] }])
    t.deepEqual(errorsOf(twice, 400), { '[0].lines[1].id': ['is there twice.'] })
    const other = { customer: 'x', lines: [{ product: 'x', orderId: one.id + 1_000_000 }] }
    t.deepEqual(errorsOf(await upsert([{ number: one.number, ...other }]), 400), {
      '[0].lines[0].orderId': ['must be the owner.'],
    })
    t.deepEqual(await stored(), before)
  })

  test(`keys that the owner is a part of are completed by whoever it turns out to be: ${title}`, async (t) => {
    const code = `k${next()}`
    const slots = async (): Promise<string[]> => {
      const rows = await model('Slot').findAll({ where: { shelfCode: code }, order: ['place'] })
      return rows.map((row) => `${row.get('place')}${row.get('name')}`)
    }
    const upsert = (body: object): Promise<Answer> => put('/api/shelves/bulk?by=code', [{ code, ...body }])
    const made = await upsert({
      slots: [
        { place: 1, name: 'a' },
        { place: 2, name: 'b' },
      ],
    })
    t.deepEqual(made.body, { created: 1, updated: 0 }, made.text)
    const changed = await upsert({
      slots: [
        { place: 2, name: 'bb' },
        { shelfCode: code, place: 3, name: 'c' },
      ],
    })
    t.deepEqual(changed.body, { created: 0, updated: 1 }, changed.text)
    t.deepEqual(await slots(), ['2bb', '3c'])
    const twice = await upsert({ slots: [{ place: 2 }, { place: 2 }] })
    t.deepEqual(errorsOf(twice, 400), { '[0].slots[1].place': ['is there twice.'] })
    const bulked = await stage.patch('/api/shelves/bulk', [{ code, slots: [{ place: 3 }, { place: 4, name: 'd' }] }])
    t.is(bulked.status, 200, bulked.text)
    t.deepEqual(await slots(), ['3c', '4d'])
    t.is((await put(`/api/shelves/${code}`, { slots: [{ place: 4, name: 'dd' }] })).status, 200)
    t.deepEqual(await slots(), ['4dd'])
  })

  test(`keys of a many-to-many are what the record is linked to: ${title}`, async (t) => {
    const tags = await model('Tag').bulkCreate(['a', 'b', 'c'].map((name) => ({ name })))
    const [a, b, c] = (await model('Tag').findAll({ order: ['id'] })).slice(-tags.length).map((row) => row.get('id'))
    const card = async (...keys: unknown[]) =>
      (await stage.post('/api/cards', { title: 'c', code: next(), tags: keys })).body
    const linked = async (cardId: number): Promise<unknown[]> =>
      (await model('CardTag').findAll({ where: { cardId }, order: ['tagId'] })).map((row) => row.get('tagId'))
    const [one, two] = [await card(a, b), await card(c)]
    const { status, body, text } = await stage.patch('/api/cards/bulk', [
      { id: one.id, rowVersion: 0, tags: [c, a] },
      { id: two.id, rowVersion: 0, tags: [], tasks: [{ title: 't' }] },
    ])
    t.is(status, 200, text)
    t.deepEqual(
      body.map((each: { tags: unknown }) => each.tags),
      [[c, a], []],
    )
    t.deepEqual(await Promise.all([one, two].map(({ id }) => linked(id))), [[a, c], []])
    const wrong = await stage.patch('/api/cards/bulk', [{ id: one.id, rowVersion: 1, tags: [a, 999_999] }])
    t.deepEqual(errorsOf(wrong, 400), { '[0].tags[1]': ['does not exist.'] })
    const replaced = await put(`/api/cards/${one.id}`, { title: 'r', tags: [b] }, { 'If-Match': 'W/"1"' })
    t.is(replaced.status, 200, replaced.text)
    t.deepEqual([replaced.body.tags, await linked(one.id)], [[b], [b]])
    const code = next()
    const upserted = await put('/api/cards/bulk?by=code', [
      { code, tags: [a, b] },
      { code: two.code, rowVersion: 1, tags: [c] },
    ])
    t.deepEqual(upserted.body, { created: 1, updated: 1 }, upserted.text)
    const made = await model('Card').findOne({ where: { code } })
    t.deepEqual(await Promise.all([Number(made?.get('id')), two.id].map(linked)), [[a, b], [c]])
  })

  test(`items that do not name a many-to-many keep its links: ${title}`, async (t) => {
    const rows = await model('Tag').bulkCreate(['a', 'b', 'c'].map((name) => ({ name })))
    const all = (await model('Tag').findAll({ order: ['id'] })).slice(-rows.length).map((row) => row.get('id'))
    const [a, b, c] = all
    const card = async (...keys: unknown[]) =>
      (await stage.post('/api/cards', { title: 'c', code: next(), tags: keys })).body
    const [one, two] = [await card(a), await card(b, c)]
    const linked = async (cardId: number): Promise<unknown[]> =>
      (await model('CardTag').findAll({ where: { cardId }, order: ['tagId'] })).map((row) => row.get('tagId'))
    const { status, body, text } = await stage.patch('/api/cards/bulk', [
      { id: one.id, rowVersion: 0, tags: [] },
      { id: two.id, rowVersion: 0, title: 'new' },
    ])
    t.is(status, 200, text)
    t.deepEqual(
      body.map((each: { tags?: unknown }) => each.tags),
      [[], undefined],
    )
    t.deepEqual(await Promise.all([one, two].map(({ id }) => linked(id))), [[], [b, c]])
    const upserted = await put('/api/cards/bulk?by=code', [
      { code: one.code, rowVersion: 1, tags: [c] },
      { code: two.code, rowVersion: 1, title: 'newer' },
    ])
    t.deepEqual(upserted.body, { created: 0, updated: 2 }, upserted.text)
    t.deepEqual(await Promise.all([one, two].map(({ id }) => linked(id))), [[c], [b, c]])
  })

  test(`upserts that race make one record, with the collection of one of them: ${title}`, async (t) => {
    for (let round = 0; round < 4; round += 1) {
      const number = next()
      const answers = await Promise.all(
        ['a', 'b', 'c'].map((product) =>
          put('/api/orders/bulk?by=number', [{ number, customer: 'x', lines: Array(3).fill({ product }) }]),
        ),
      )
      for (const { status, text } of answers) t.is(status, 200, text)
      const [row, ...more] = await model('Order').findAll({ where: { number } })
      t.is(more.length, 0)
      const lines = await linesOf(Number(row?.get('id')))
      t.is(lines.length, 3)
      t.is(new Set(lines).size, 1, lines.join())
    }
  })

  test(`subscribers hear of the owners first, then of each record: ${title}`, async (t) => {
    const [orders, all] = hubs
    if (orders === undefined || all === undefined) throw new TypeError('nothing was mounted')
    const [one, two] = [await order('a'), await order('b')]
    const owners = await stage.subscribe(orders)
    const subscriber = await stage.subscribe(all)
    const heard = async (count: number): Promise<unknown[]> => {
      await stage.drain(orders, owners)
      await stage.drain(all, subscriber)
      return [...owners.received.slice(-1), ...subscriber.received.slice(-count)].map(([event, what]) => [
        event,
        typeof what === 'object' && what !== null
          ? (Reflect.get(what, 'product') ?? Reflect.get(what, 'customer'))
          : what,
      ])
    }
    await bulk([
      { id: one.id, lines: [{ product: 'n' }] },
      { id: two.id, customer: 'Jan', lines: [{ id: two.lines[0]?.id, product: 'bb' }] },
    ])
    t.deepEqual(await heard(3), [
      ['OnUpdated', 'Jan'],
      ['OnDeleted', one.lines[0]?.id],
      ['OnCreated', 'n'],
      ['OnUpdated', 'bb'],
    ])
    await put(`/api/orders/${two.id}`, { customer: 'Ola', lines: [{ product: 'p' }] })
    t.deepEqual(await heard(2), [
      ['OnUpdated', 'Ola'],
      ['OnDeleted', two.lines[0]?.id],
      ['OnCreated', 'p'],
    ])
    await put('/api/orders/bulk?by=number', [{ number: next(), customer: 'Iga', lines: [{ product: 'q' }] }])
    t.deepEqual(await heard(1), [
      ['OnCreated', 'Iga'],
      ['OnCreated', 'q'],
    ])
  })
}

test('hooks of the inner resource run for what happens to each record', (t) => {
  for (const each of ['created create new', 'updated update bb', 'deleted bulkDelete a'])
    t.true(hooked.includes(each), each)
})
