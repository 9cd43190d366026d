// PATCH with records of others in its body: an array replaces the collection (RFC 7396), element by element.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { openPush, type PushStage } from '../../support/push.js'
import type { Answer } from '../../support/server.js'
import { readStoredRow } from '../../support/stage.js'
import { hooked, VARIANTS, type Variant } from '../../support/variants.js'

const test = ava.serial

async function open({
  options,
  finds = false,
}: Variant): Promise<{ readonly stage: PushStage; readonly hubs: readonly CrudRouter[] }> {
  const hubs: CrudRouter[] = []
  const stage = await openPush(({ sequelize }, app, io) => {
    const plain = { timestamps: false }
    const Order = sequelize.define('Order', { customer: { type: DataTypes.STRING(20), allowNull: false } }, plain)
    const Line = sequelize.define(
      'Line',
      {
        product: { type: DataTypes.STRING(9), allowNull: false },
        place: { type: DataTypes.INTEGER, unique: true, validate: { max: 1_000_000 } },
        orderId: { type: DataTypes.INTEGER, allowNull: false },
      },
      plain,
    )
    const Part = sequelize.define('Part', { name: { type: DataTypes.STRING, allowNull: false } }, plain)
    const Slip = sequelize.define('Slip', { text: { type: DataTypes.STRING, allowNull: false } }, plain)
    const Note = sequelize.define(
      'Note',
      { code: { type: DataTypes.STRING(9), primaryKey: true }, text: DataTypes.STRING },
      plain,
    )
    const Card = sequelize.define('Card', { title: DataTypes.STRING }, plain)
    const Task = sequelize.define('Task', { title: DataTypes.STRING }, plain)
    if (finds) for (const each of [Order, Line, Card]) each.addHook('beforeFind', () => undefined)
    Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
    Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId', onDelete: 'CASCADE' })
    Order.hasOne(Slip, { as: 'slip', foreignKey: 'orderId' })
    Order.hasMany(Note, { as: 'notes', foreignKey: 'orderId' })
    Card.hasMany(Task, { as: 'tasks', foreignKey: 'cardId' })
    const operations = Operations.AllWithBulk
    const write = { write: true }
    const push = { io }
    hubs.push(
      crudRouter(Order, {
        operations,
        push,
        relations: { lines: write, slip: write, notes: write },
        limits: { bulkItems: 60 },
      }),
      crudRouter(Line, { ...options, operations, push, relations: { parts: write } }),
      crudRouter(Part),
      crudRouter(Slip, { softDelete: true }),
      crudRouter(Note),
      crudRouter(Card, { concurrency: true, relations: { tasks: write } }),
      crudRouter(Task, { ...options, concurrency: { rowVersion: 'edit_count' }, softDelete: true }),
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

let place = 0
const next = (): number => {
  place += 1
  return place
}

for (const [{ title }, { stage, hubs }] of opened) {
  const model = (name: string): ModelStatic<Model> => stage.sequelize.model(name)
  const linesOf = async (orderId: number): Promise<string[]> => {
    const rows = await model('Line').findAll({ where: { orderId }, order: ['id'] })
    return rows.map((row) => String(row.get('product')))
  }
  /** A new order with lines of these products. */
  const order = async (...products: string[]): Promise<{ path: string; id: number; lines: { id: number }[] }> => {
    const lines = products.map((product) => ({ product, place: next() }))
    const { body, text } = await stage.post('/api/orders', { customer: 'Ewa', lines })
    if (body.lines === undefined) throw new Error(text)
    return { path: `/api/orders/${body.id}`, id: body.id, lines: body.lines }
  }
  const errorsOf = (answer: Answer, status: number): unknown => {
    if (answer.status !== status) throw new Error(answer.text)
    return answer.body.errors
  }

  test(`an array replaces the collection: elements with keys are patched or kept, others created, what is absent goes: ${title}`, async (t) => {
    const { path, id, lines } = await order('a', 'b', 'c', 'd')
    const [a, b, c, d] = lines
    const { status, body, text } = await stage.patch(path, {
      customer: 'Jan',
      lines: [{ id: d?.id }, { product: 'new', place: next() }, { id: a?.id, product: 'aa', orderId: id }],
    })
    t.is(status, 200, text)
    t.is(body.customer, 'Jan')
    t.deepEqual(
      body.lines.map(({ product }: { product: string }) => product),
      ['d', 'new', 'aa'],
    )
    t.deepEqual(body.lines[0], d)
    t.deepEqual(body.lines[2], { ...a, product: 'aa' })
    t.is(body.lines[1].orderId, id)
    t.deepEqual(await linesOf(id), ['aa', 'd', 'new'])
    for (const gone of [b, c]) t.is((await stage.get(`/api/lines/${gone?.id}`)).status, 404)
  })

  test(`an empty array empties, and what is absent from the body stays: ${title}`, async (t) => {
    const { path, id } = await order('a', 'b')
    t.is((await stage.patch(path, { customer: 'Jan' })).status, 200)
    t.deepEqual(await linesOf(id), ['a', 'b'])
    const { status, body } = await stage.patch(path, { lines: [] })
    t.is(status, 200)
    t.deepEqual(body, { id, customer: 'Jan', lines: [] })
    t.deepEqual(await linesOf(id), [])
  })

  test(`what goes makes room for what comes: ${title}`, async (t) => {
    const { path, id } = await order('a')
    const { status, text } = await stage.patch(path, { lines: [{ product: 'b', place }] })
    t.is(status, 200, text)
    t.deepEqual(await linesOf(id), ['b'])
  })

  test(`keys of records that are not the owner's own are 404 with their places: ${title}`, async (t) => {
    const other = await order('x')
    const { path, id, lines } = await order('a', 'b')
    const [a] = lines
    const answer = await stage.patch(path, {
      lines: [{ id: a?.id }, { id: other.lines[0]?.id, product: 'mine' }, { id: 999_999 }, { id: 'x', product: 'y' }],
    })
    t.deepEqual(errorsOf(answer, 404), {
      'lines[1]': ['does not exist.'],
      'lines[2]': ['does not exist.'],
      'lines[3]': ['does not exist.'],
    })
    t.deepEqual(await linesOf(id), ['a', 'b'])
    t.deepEqual(await linesOf(other.id), ['x'])
    t.is((await stage.patch('/api/orders/999999', { lines: [] })).status, 404)
  })

  test(`what is wrong with the body, and with any element, is told at once, and nothing is written: ${title}`, async (t) => {
    const { path, id, lines } = await order('a', 'b')
    const [a, b] = lines
    const answer = await stage.patch(path, {
      customer: null,
      lines: [{ id: a?.id, product: null }, { place: 2_000_000 }, { id: b?.id, orderId: 1 }, 7],
    })
    t.deepEqual(Object.keys(Object(errorsOf(answer, 400))).sort(), [
      'customer',
      'lines[0].product',
      'lines[1].place',
      'lines[1].product',
      'lines[2].orderId',
      'lines[3]',
    ])
    const twice = await stage.patch(path, { lines: [{ id: a?.id }, { product: null }, { id: a?.id, product: 'x' }] })
    t.deepEqual(errorsOf(twice, 400), { 'lines[2].id': ['is there twice.'] })
    t.deepEqual(errorsOf(await stage.patch(path, { lines: null }), 400), { lines: ['cannot be null.'] })
    t.deepEqual(errorsOf(await stage.patch(path, { lines: {} }), 400), { lines: ['must be an array.'] })
    const late = await stage.patch(path, {
      lines: [
        { id: a?.id, product: 'ok' },
        { id: b?.id, place: 3_000_000 },
      ],
    })
    t.deepEqual(Object.keys(Object(errorsOf(late, 400))), ['lines[1].place'])
    t.deepEqual(await linesOf(id), ['a', 'b'])
  })

  test(`a conflict names its field without a place, and nothing is written: ${title}`, async (t) => {
    await order('x')
    const taken = place
    const { path, id, lines } = await order('a', 'b')
    const answer = await stage.patch(path, { customer: 'Jan', lines: [{ id: lines[0]?.id, place: taken }] })
    t.deepEqual(errorsOf(answer, 409), { place: ['is already taken.'] })
    t.deepEqual(await linesOf(id), ['a', 'b'])
    t.like(await readStoredRow(model('Order'), id), { customer: 'Ewa' })
  })

  test(`a to-one relation is merged, created, and removed by null: ${title}`, async (t) => {
    const { path, id } = await order()
    const created = await stage.patch(path, { slip: { text: 'one' } })
    t.is(created.status, 200, created.text)
    const { slip } = created.body
    t.like(slip, { text: 'one', orderId: id })
    const merged = await stage.patch(path, { slip: { text: 'two' } })
    t.deepEqual(merged.body.slip, { ...slip, text: 'two' })
    t.deepEqual((await stage.patch(path, { slip: { id: slip.id } })).body.slip, { ...slip, text: 'two' })
    t.deepEqual(errorsOf(await stage.patch(path, { slip: { id: 999, text: 'x' } }), 404), { slip: ['does not exist.'] })
    const removed = await stage.patch(path, { slip: null })
    t.is(removed.status, 200)
    t.is(removed.body.slip, null)
    // Softly, as its own resource does it.
    t.is(Number((await readStoredRow(model('Slip'), slip.id))?.isDeleted), 1)
    t.is((await stage.patch(path, { slip: null })).body.slip, null)
    t.deepEqual(errorsOf(await stage.patch(path, { slip: {} }), 400), { 'slip.text': ['is required.'] })
  })

  test(`where clients choose keys, an unknown one is that of a new record: ${title}`, async (t) => {
    const { path } = await order()
    const [one, two, three] = [next(), next(), next()].map((each) => `n${each}`)
    const first = await stage.patch(path, { notes: [{ code: one, text: 'a' }, { code: two }] })
    t.is(first.status, 200, first.text)
    const second = await stage.patch(path, {
      notes: [
        { code: two, text: 'b' },
        { code: three, text: 'c' },
      ],
    })
    t.is(second.status, 200, second.text)
    t.deepEqual(
      second.body.notes.map(({ code, text }: { code: string; text: string }) => [code, text]),
      [
        [two, 'b'],
        [three, 'c'],
      ],
    )
    t.is((await stage.get(`/api/notes/${one}`)).status, 404)
    const other = await order()
    const stolen = await stage.patch(other.path, { notes: [{ code: two, text: 'mine' }] })
    t.deepEqual(errorsOf(stolen, 404), { 'notes[0]': ['does not exist.'] })
  })

  test(`records within records within a body are replaced alike: ${title}`, async (t) => {
    const { path, lines } = await order('a', 'b')
    const [a, b] = lines
    const first = await stage.patch(path, {
      lines: [
        { id: a?.id, parts: [{ name: 'p' }, { name: 'q' }] },
        { id: b?.id },
        { product: 'c', parts: [{ name: 'r' }] },
      ],
    })
    t.is(first.status, 200, first.text)
    const [p, q] = first.body.lines[0].parts
    t.is(first.body.lines[2].parts[0].lineId, first.body.lines[2].id)
    const second = await stage.patch(path, { lines: [{ id: a?.id, parts: [{ id: q.id, name: 'qq' }] }, { id: b?.id }] })
    t.is(second.status, 200, second.text)
    t.deepEqual(second.body.lines[0].parts, [{ ...q, name: 'qq' }])
    t.is((await stage.get(`/api/parts/${p.id}`)).status, 404)
    const wrong = await stage.patch(path, { lines: [{ id: a?.id, parts: [{ id: 999, name: 'x' }] }] })
    t.deepEqual(errorsOf(wrong, 404), { 'lines[0].parts[0]': ['does not exist.'] })
    const invalid = await stage.patch(path, { lines: [{ id: a?.id, parts: [{ id: q.id, name: null }] }] })
    t.deepEqual(errorsOf(invalid, 400), { 'lines[0].parts[0].name': ['cannot be null.'] })
  })

  test(`what goes counts against the limit of a request: ${title}`, async (t) => {
    const products = Array.from({ length: 59 }, () => 'x')
    const { path, id } = await order(...products)
    const fresh = (count: number): object[] => Array.from({ length: count }, () => ({ product: 'y', place: next() }))
    const { status, body } = await stage.patch(path, { lines: fresh(2) })
    t.is(status, 400)
    t.regex(body.detail, /bulkItems/)
    t.is((await linesOf(id)).length, 59)
    t.is((await stage.patch(path, { lines: [] })).status, 200)
  })

  test(`versions: of the owner by If-Match, of each record that changes by its own: ${title}`, async (t) => {
    const { body: card, headers } = await stage.post('/api/cards', {
      title: 'c',
      tasks: [{ title: 'a' }, { title: 'b' }],
    })
    const path = `/api/cards/${card.id}`
    t.is(headers.get('etag'), 'W/"0"')
    const [a, b] = card.tasks
    t.deepEqual([a.editCount, b.editCount], [0, 0])
    const tag = { 'if-match': 'W/"0"' }
    const change = { tasks: [{ id: a.id, title: 'aa', editCount: 0 }, { id: b.id }] }
    t.is((await stage.patch(path, change)).status, 428)
    t.is((await stage.patch(path, change, { 'if-match': 'W/"7"' })).status, 412)
    const without = await stage.patch(
      path,
      {
        tasks: [
          { id: a.id, title: 'aa' },
          { id: b.id, title: 'bb' },
        ],
      },
      tag,
    )
    t.deepEqual(Object.keys(Object(errorsOf(without, 428))), ['tasks[0]', 'tasks[1]'])
    const stale = await stage.patch(path, { tasks: [{ id: a.id, title: 'aa', editCount: 4 }, { id: b.id }] }, tag)
    t.deepEqual(Object.keys(Object(errorsOf(stale, 412))), ['tasks[0]'])
    const text = await stage.patch(path, { tasks: [{ id: a.id, title: 'aa', editCount: '0' }] }, tag)
    t.deepEqual(errorsOf(text, 400), { 'tasks[0].editCount': ['must be a number.'] })
    const patched = await stage.patch(path, change, tag)
    t.is(patched.status, 200, patched.text)
    t.is(patched.headers.get('etag'), 'W/"1"')
    t.deepEqual(
      patched.body.tasks.map((each: { editCount: number }) => each.editCount),
      [1, 0],
    )
    // What goes needs none, and goes softly.
    const last = await stage.patch(path, { tasks: [] }, { 'if-match': 'W/"1"' })
    t.is(last.status, 200, last.text)
    t.is(Number((await readStoredRow(model('Task'), a.id))?.isDeleted), 1)
    t.is(Number((await readStoredRow(model('Task'), a.id))?.edit_count), 2)
  })

  test(`subscribers hear of the owner, and of each record that was written: ${title}`, async (t) => {
    const [orders, all] = hubs
    if (orders === undefined || all === undefined) throw new TypeError('nothing was mounted')
    const { path, id, lines } = await order('a', 'b', 'c')
    const [a, b, c] = lines
    const owners = await stage.subscribe(orders)
    const subscriber = await stage.subscribe(all)
    const { body } = await stage.patch(path, {
      customer: 'Jan',
      lines: [{ id: a?.id }, { id: b?.id, product: 'bb' }, { product: 'n', place: next() }],
    })
    await stage.drain(orders, owners)
    await stage.drain(all, subscriber)
    t.deepEqual(owners.received.at(-1), ['OnUpdated', { id, customer: 'Jan' }])
    t.deepEqual(subscriber.received.slice(-3), [
      ['OnDeleted', c?.id],
      ['OnUpdated', body.lines[1]],
      ['OnCreated', body.lines[2]],
    ])
  })

  test(`of two who replace one collection at once the end is one of the two bodies, whole: ${title}`, async (t) => {
    for (let round = 0; round < 50; round += 1) {
      // What is there already would be waited for, whatever else is locked; writes that are pushed wait for each other.
      const before = round % 2 === 0 ? [] : [{ title: 'x' }, { title: 'y' }]
      const { body: card } = await stage.post('/api/cards', { title: 'c', tasks: before })
      const bodies = ['a', 'b'].map((name) => ({ tasks: Array.from({ length: 5 }, () => ({ title: name })) }))
      const patch = (body: object): Promise<Answer> => stage.patch(`/api/cards/${card.id}`, body, { 'if-match': '*' })
      for (const { status, text } of await Promise.all(bodies.map(patch))) t.is(status, 200, text)
      const rows = await model('Task').findAll({ where: { cardId: card.id, isDeleted: false } })
      const end = rows.map((row) => String(row.get('title'))).join('')
      t.true(end === 'aaaaa' || end === 'bbbbb', end)
    }
  })
}

test('hooks of the inner resource run for what happens to each record, and not for those that stay', (t) => {
  t.true(hooked.includes('created create new'))
  t.true(hooked.includes('updated update aa'))
  t.true(hooked.includes('deleted bulkDelete b'))
  t.false(hooked.includes('updated update d'))
})
