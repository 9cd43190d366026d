// Numbers of JSON have 53 bits. A key beyond them that a body has as a number is rounded by the time it is read, and by then it is the
// key of another record.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const operations = Operations.AllWithBulk + Operations.BulkUpdate + Operations.Replace
const both = { routes: true, write: true } as const

/** The even one is stored. A number of JSON that is written as the odd one becomes it. */
const STORED = '9007199254740992'
const ROUNDED = '9007199254740993'

const KEYS = {
  bigint: { type: DataTypes.BIGINT, stored: STORED, rounded: ROUNDED },
  decimal: { type: DataTypes.DECIMAL(18, 2), stored: '1234567890123456.2', rounded: '1234567890123456.21' },
  text: { type: DataTypes.STRING(20), stored: STORED, rounded: ROUNDED },
} as const

type Kind = keyof typeof KEYS
const kinds: readonly Kind[] = ['bigint', 'decimal', 'text']

const stage = await openStage(({ sequelize }, app) => {
  const options = { timestamps: false }
  for (const kind of kinds) {
    const { type } = KEYS[kind]
    const key = () => ({ type, primaryKey: true })
    const name = DataTypes.STRING(20)
    const Owner = sequelize.define(`${kind}Owner`, { id: key(), name }, options)
    const Item = sequelize.define(`${kind}Item`, { id: key(), name, ownerId: type }, options)
    const Label = sequelize.define(`${kind}Label`, { id: key(), name }, options)
    const Pair = sequelize.define(`${kind}Pair`, { one: key(), two: key(), name, ownerId: type }, options)
    Owner.hasMany(Item, { as: 'items', foreignKey: 'ownerId', constraints: false })
    Owner.hasMany(Pair, { as: 'pairs', foreignKey: 'ownerId', constraints: false })
    Owner.belongsToMany(Label, { as: 'labels', through: `${kind}Mark`, constraints: false })
    app.use(
      `/${kind}`,
      crudRouter(Owner, { operations, route: 'owners', relations: { items: both, labels: both, pairs: both } }),
    )
    app.use(`/${kind}`, crudRouter(Item, { operations, route: 'items' }))
    app.use(`/${kind}`, crudRouter(Label, { operations, route: 'labels' }))
    app.use(`/${kind}`, crudRouter(Pair, { operations, route: 'pairs' }))
  }
})
const { sequelize } = stage
test.after.always(() => stage.close())

const model = (kind: Kind, name: string): ModelStatic<Model> => sequelize.model(`${kind}${name}`)

async function fill(kind: Kind): Promise<void> {
  const { stored } = KEYS[kind]
  for (const name of ['Item', 'Pair', 'Label', 'Owner', 'Mark']) await model(kind, name).destroy({ where: {} })
  for (const name of ['Owner', 'Label']) await model(kind, name).create({ id: stored, name: 'as it was' })
  await model(kind, 'Item').create({ id: stored, name: 'as it was', ownerId: stored })
  await model(kind, 'Pair').create({ one: stored, two: stored, name: 'as it was', ownerId: stored })
}

for (const kind of kinds) {
  const { stored, rounded } = KEYS[kind]
  const path = `/${kind}/owners/${stored}`

  test.serial(`a number that JSON has rounded is the key of no record: ${kind}`, async (t) => {
    await fill(kind)
    const requests = [
      ['POST', `/${kind}/items/bulk-delete`, `[${rounded}]`, 200],
      ['PATCH', `/${kind}/items/bulk`, `[{"id":${rounded},"name":"other"}]`, 404],
      ['PUT', `/${kind}/items/${stored}`, `{"id":${rounded},"name":"other"}`, 400],
      ['PATCH', `/${kind}/pairs/bulk`, `[{"one":"${stored}","two":${rounded},"name":"other"}]`, 404],
      ['PUT', `${path}/labels`, `[${rounded}]`, 400],
      ['POST', `${path}/labels`, `[${rounded}]`, 400],
      ['PATCH', path, `{"labels":[${rounded}]}`, 400],
      ['POST', `/${kind}/owners`, `{"id":"7","labels":[${rounded}]}`, 400],
      ['PATCH', path, `{"items":[{"id":${rounded},"name":"other"}]}`, 404],
      ['PATCH', path, `{"pairs":[{"one":"${stored}","two":${rounded},"name":"other"}]}`, 404],
    ] as const
    for (const [method, at, body, status] of requests) {
      const answer = await stage.send(method, at, { body, headers: { 'content-type': 'application/json' } })
      t.is(answer.status, status, `${method} ${at} ${body}: ${answer.text}`)
      for (const name of ['Item', 'Pair']) {
        const names = await model(kind, name).findAll({ raw: true, attributes: ['name'] })
        t.deepEqual(names, [{ name: 'as it was' }], `${method} ${at} ${body}: ${answer.text}`)
      }
      t.is(await model(kind, 'Mark').count(), 0, `${method} ${at} ${body}`)
    }
  })

  test.serial(`the same key as text is that of its record: ${kind}`, async (t) => {
    await fill(kind)
    const requests = [
      ['PATCH', `/${kind}/items/bulk`, [{ id: stored, name: 'other' }], 200],
      ['PATCH', `/${kind}/pairs/bulk`, [{ one: stored, two: stored, name: 'other' }], 200],
      ['PUT', `${path}/labels`, [stored], 200],
      ['PATCH', path, { items: [{ id: stored, name: 'third' }] }, 200],
      ['PATCH', path, { pairs: [{ one: stored, two: stored, name: 'third' }] }, 200],
      ['POST', `/${kind}/items/bulk-delete`, [stored], 200],
    ] as const
    for (const [method, at, body, status] of requests) {
      const answer = await stage.send(method, at, { json: body })
      t.is(answer.status, status, `${method} ${at}: ${answer.text}`)
    }
    t.is(await model(kind, 'Item').count(), 0)
    t.is(await model(kind, 'Mark').count(), 1)
  })
}

test('long decimal keys of models with find hooks are read with related records and in their order', async (t) => {
  const joined = await openStage(({ sequelize }, app) => {
    const options = { timestamps: false, hooks: { beforeFind: () => undefined } }
    const key = { type: DataTypes.DECIMAL(20, 4), primaryKey: true }
    const Order = sequelize.define('Order', { key, name: DataTypes.STRING }, options)
    const Line = sequelize.define('Line', { key }, options)
    Order.hasMany(Line, { as: 'lines', foreignKey: 'part' })
    Line.belongsTo(Order, { as: 'order', foreignKey: 'part' })
    app.use(crudRouter(Order), crudRouter(Line, { flatten: ['order'] }))
  })
  t.teardown(() => joined.close())
  for (const key of ['2.1250', '1.1250']) {
    t.is((await joined.post('/api/orders', { key, name: key })).status, 201)
    const line = await joined.post('/api/lines', { key, part: key })
    t.like(line, { status: 201, body: { key, part: key, orderName: key } }, line.text)
    t.deepEqual((await joined.get(`/api/lines/${key}?select=key,order(key)`)).body, { key, order: { key } })
  }
  const { status, body, text } = await joined.get('/api/lines?sort=order.key&select=key,order.key')
  t.is(status, 200, text)
  t.deepEqual(
    body.items,
    ['1.1250', '2.1250'].map((key) => ({ key, order: { key } })),
  )
  t.is((await joined.get('/api/orders?select=key,lines(key)&sort=-lines.Count')).status, 200)
})
