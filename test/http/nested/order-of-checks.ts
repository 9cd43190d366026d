// The order of checks holds for records at every depth of a body, as for a record alone: 404, 403, 428, 412, 400. Each
// answer has the places of all records that it is about.

import ava from 'ava'
import { DataTypes, type Model } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

let denied: ReadonlySet<string> = new Set()

const { Order, Line, Part, Tag, ...stage } = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const text = () => ({ text: { type: DataTypes.STRING(9), allowNull: false } })
  const Order = sequelize.define('Order', text(), plain)
  const Line = sequelize.define('Line', text(), plain)
  const Part = sequelize.define('Part', text(), plain)
  const Tag = sequelize.define('Tag', text(), plain)
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId' })
  Order.belongsToMany(Tag, { as: 'tags', through: 'OrderTag', foreignKey: 'orderId', otherKey: 'tagId' })
  Line.belongsToMany(Tag, { as: 'tags', through: 'LineTag', foreignKey: 'lineId', otherKey: 'tagId' })
  const write = { write: true } as const
  const options: CrudOptions = {
    identity: () => ({ name: 'ann', roles: new Set(), permissions: new Set(), claims: {} }),
    concurrency: true,
    operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
  }
  const policy: CrudOptions['deletePolicy'] = ({ operation, resource }) => !denied.has(`${resource.name} ${operation}`)
  app.use(
    crudRouter(Order, { ...options, relations: { lines: write, tags: write } }),
    crudRouter(Line, { ...options, deletePolicy: policy, relations: { parts: write, tags: write } }),
    crudRouter(Part, { ...options, deletePolicy: policy }),
    crudRouter(Tag),
  )
  return { Order, Line, Part, Tag }
})
test.after.always(() => stage.close())
test.afterEach.always(() => {
  denied = new Set()
})

const missing = ['does not exist.']
const unversioned = ['must contain the version that you last read.']
const stale = ['has changed since you read it.']
const empty = ['cannot be null.']

const idOf = async (record: Promise<Model>): Promise<number> => Number((await record).get('id'))

/** An order with one line of one part. */
async function makeOrder(): Promise<{ readonly id: number; readonly line: number; readonly part: number }> {
  const id = await idOf(Order.create({ text: 'order' }))
  const line = await idOf(Line.create({ text: 'line', orderId: id }))
  return { id, line, part: await idOf(Part.create({ text: 'part', lineId: line })) }
}

/** Sends a body by PATCH, PUT and a bulk update. Gives status and errors of each, without the places in the batch. */
async function sendAll(id: number, version: number | null, body: object): Promise<readonly unknown[]> {
  const headers = version === null ? {} : { 'if-match': `W/"${version}"` }
  const whole = { text: 'new', ...body }
  const patched = await stage.patch(`/api/orders/${id}`, whole, headers)
  const replaced = await stage.send('PUT', `/api/orders/${id}`, { json: whole, headers })
  const one = version === null ? {} : { rowVersion: version }
  const bulk = await stage.patch('/api/orders/bulk', [{ id, ...one, ...whole }])
  const errors = Object.entries(bulk.body.errors ?? {}).map(([place, told]) => [place.replace(/^\[0]\.?/, ''), told])
  return [
    [patched.status, patched.body.errors ?? {}],
    [replaced.status, replaced.body.errors ?? {}],
    [bulk.status, Object.fromEntries(errors.filter(([place]) => place !== ''))],
  ]
}

const thrice = (status: number, errors: object): readonly unknown[] =>
  [status, status, status].map((one) => [one, errors])

test('children that do not exist are told at every depth, before versions and invalid values', async (t) => {
  const { id, line } = await makeOrder()
  const other = await makeOrder()
  const lines = [
    { id: line, text: null, parts: [{ id: other.part }, { id: 9999 }] },
    { id: other.line, text: 'b' },
  ]
  const errors = { 'lines[1]': missing, 'lines[0].parts[0]': missing, 'lines[0].parts[1]': missing }
  t.deepEqual(await sendAll(id, null, { text: null, tags: [9999], lines }), thrice(404, errors))
  const deep = { lines: [{ id: line, text: null, parts: [{ id: other.part }] }] }
  t.deepEqual(await sendAll(id, 7, deep), thrice(404, { 'lines[0].parts[0]': missing }))
})

test('missing and stale versions are told at every depth, before invalid values and keys of no record', async (t) => {
  const { id, line, part } = await makeOrder()
  t.deepEqual(await sendAll(id, null, { tags: [9999] }), thrice(428, {}))
  t.deepEqual(await sendAll(id, 7, { tags: [9999] }), thrice(412, {}))
  const lines = [{ id: line, text: null, tags: [9999], parts: [{ id: part, text: null }] }]
  const both = (told: readonly string[]) => ({ 'lines[0]': told, 'lines[0].parts[0]': told })
  t.deepEqual(await sendAll(id, 0, { text: null, lines }), thrice(428, both(unversioned)))
  const old = [{ ...lines[0], rowVersion: 7, parts: [{ id: part, text: null, rowVersion: 7 }] }]
  t.deepEqual(await sendAll(id, 0, { text: null, lines: old }), thrice(412, both(stale)))
})

test('a deletion at the second level is refused before versions and invalid values, and the answer names no child', async (t) => {
  const { id, line } = await makeOrder()
  denied = new Set(['Part delete'])
  const lines = [{ id: line, text: null, rowVersion: 7, parts: [] }]
  t.deepEqual(await sendAll(id, 0, { text: null, lines }), thrice(403, {}))
  t.deepEqual(await sendAll(id, 0, { lines: [{ id: line, rowVersion: 0, parts: [] }] }), thrice(403, {}))
  t.is(await Part.count({ where: { lineId: line } }), 1)
})

test('a child that does not exist is told before a deletion that is refused, wherever both are in the body', async (t) => {
  const { id, line, part } = await makeOrder()
  const other = await Line.create({ text: 'other', orderId: id })
  denied = new Set(['Part delete', 'Line delete'])
  const beside = [{ id: line, parts: [] }, { id: 9999 }]
  t.deepEqual(await sendAll(id, 0, { lines: beside }), thrice(404, { 'lines[1]': missing }))
  const below = [{ id: line, parts: [{ id: part }, { id: 9999 }] }]
  t.deepEqual(await sendAll(id, 0, { lines: below }), thrice(404, { 'lines[0].parts[1]': missing }))
  t.deepEqual(await sendAll(id, 0, { lines: [{ id: line }] }), thrice(403, {}))
  t.is((await other.reload()).get('text'), 'other')
})

test('invalid values of all depths and keys of no record are told at once', async (t) => {
  const { id, line, part } = await makeOrder()
  const tag = await idOf(Tag.create({ text: 'tag' }))
  const parts = [{ id: part, text: null, rowVersion: 0 }, {}]
  const lines = [
    { id: line, text: null, rowVersion: 0, tags: [9999, tag], parts },
    { text: 'b', tags: [tag, 9999] },
  ]
  const errors = {
    'lines[0].text': empty,
    'lines[0].tags[0]': missing,
    'lines[0].parts[0].text': empty,
    'lines[0].parts[1].text': ['is required.'],
    'lines[1].tags[1]': missing,
    'tags[0]': missing,
  }
  t.deepEqual(await sendAll(id, 0, { tags: [9999], lines }), thrice(400, errors))
  t.deepEqual(await sendAll(id, 0, { text: null, tags: [9999], lines }), thrice(400, { text: empty, ...errors }))
  t.is((await Line.findByPk(line))?.get('text'), 'line')
})

test('keys of no record in new children are told at once for all records of a request', async (t) => {
  const first = await makeOrder()
  const second = await makeOrder()
  const lines = [{ text: 'a', tags: [9999] }]
  const bulk = await stage.patch('/api/orders/bulk', [
    { id: first.id, rowVersion: 0, lines },
    { id: second.id, rowVersion: 0, lines },
  ])
  t.deepEqual(
    [bulk.status, bulk.body.errors],
    [400, { '[0].lines[0].tags[0]': missing, '[1].lines[0].tags[0]': missing }],
  )
})

test('the body of a new record is answered by its invalid values and its keys of no record at once', async (t) => {
  const count = await Order.count()
  const body = {
    tags: [9999],
    lines: [
      { text: 'a', tags: [9999] },
      { text: null, parts: [{}] },
    ],
  }
  const errors = {
    text: ['is required.'],
    'tags[0]': missing,
    'lines[0].tags[0]': missing,
    'lines[1].text': empty,
    'lines[1].parts[0].text': ['is required.'],
  }
  const made = await stage.post('/api/orders', body)
  t.deepEqual([made.status, made.body.errors], [400, errors])
  const bulk = await stage.post('/api/orders/bulk', [{ text: 'a', tags: [9999] }, {}])
  t.deepEqual([bulk.status, bulk.body.errors], [400, { '[0].tags[0]': missing, '[1].text': ['is required.'] }])
  t.is(await Order.count(), count)
})
