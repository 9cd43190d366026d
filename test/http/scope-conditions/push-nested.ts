// Nested records whose scope depends on the record above them: what their clients hear of a body that changes both.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, filter, Operations } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

let lines!: CrudRouter
let parts!: CrudRouter
let links!: CrudRouter
const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const Order = sequelize.define(
    'Order',
    { name: { type: DataTypes.STRING(20), unique: true }, status: DataTypes.STRING(20) },
    plain,
  )
  const Line = sequelize.define('Line', { text: DataTypes.STRING(20) }, plain)
  const Part = sequelize.define('Part', { text: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const OrderTag = sequelize.define('OrderTag', { id }, plain)
  Order.belongsToMany(Tag, { as: 'tags', through: OrderTag, foreignKey: 'orderId', otherKey: 'tagId' })
  OrderTag.belongsTo(Order, { as: 'order', foreignKey: 'orderId' })
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  Line.belongsTo(Order, { as: 'order', foreignKey: 'orderId' })
  Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId' })
  Part.belongsTo(Line, { as: 'line', foreignKey: 'lineId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const common = { identity: identityFromHeader, operations }
  const write = { write: true }
  lines = crudRouter(Line, {
    ...common,
    relations: { parts: write },
    push: { io },
    scope: ({ identity }) => (identity?.name === 'root' ? null : filter.eq('order.status', 'open')),
  })
  parts = crudRouter(Part, {
    ...common,
    push: { io },
    scope: ({ identity }) => (identity?.name === 'root' ? null : filter.eq('line.text', 'open')),
  })
  links = crudRouter(OrderTag, {
    identity: identityFromHeader,
    push: { io },
    scope: ({ identity }) => (identity?.name === 'root' ? null : filter.eq('order.status', 'open')),
  })
  app.use(crudRouter(Order, { ...common, relations: { lines: write, tags: write } }))
  app.use(crudRouter(Tag, common))
  app.use(links)
  app.use(lines)
  app.use(parts)
})
const { sequelize } = stage
const [Order, Line, Part] = [sequelize.model('Order'), sequelize.model('Line'), sequelize.model('Part')]
const [Tag, OrderTag] = [sequelize.model('Tag'), sequelize.model('OrderTag')]

test.after.always(async () => {
  await stage.close()
})

/** Requests that write the order with its lines. */
function requests(id: number, body: object): readonly (readonly [method: string, path: string, json: unknown])[] {
  return [
    ['PATCH', `/api/orders/${id}`, body],
    ['PUT', `/api/orders/${id}`, { name: 'a', ...body }],
    ['PATCH', '/api/orders/bulk', [{ id, ...body }]],
    ['PUT', '/api/orders/bulk?by=name', [{ name: 'a', ...body }]],
  ]
}

test.serial('records leave the scopes in which they were before the body changed the record above', async (t) => {
  const open = await stage.subscribe(lines, { headers: asUser('open') })
  const root = await stage.subscribe(lines, { headers: asUser('root') })
  for (const [from, to] of [
    ['open', 'closed'],
    ['closed', 'open'],
  ] as const) {
    for (let index = 0; index < 4; index += 1) {
      await Line.destroy({ where: {} })
      await Order.destroy({ where: {} })
      const id = Number((await Order.create({ name: 'a', status: from })).get('id'))
      const [kept, removed] = await Line.bulkCreate([
        { text: 'kept', orderId: id },
        { text: 'removed', orderId: id },
      ]).then((made) => made.map((line) => Number(line.get('id'))))
      const body = { status: to, lines: [{ id: kept, text: 'changed' }] }
      const [method, path, json] = requests(id, body)[index] ?? ['', '', null]
      const answer = await stage.send(method, path, { json, headers: asUser('root') })
      t.is(answer.status, 200, `${method} ${path}: ${answer.text}`)
      await stage.drain(lines, root, (id) => ({ id }))
      const changed = { id: kept, text: 'changed', orderId: id }
      t.deepEqual(
        root.received.splice(0),
        [
          ['OnDeleted', removed],
          ['OnUpdated', changed],
        ],
        path,
      )
      t.deepEqual(
        open.received.splice(0),
        from === 'open'
          ? [
              ['OnDeleted', removed],
              ['OnDeleted', kept],
            ]
          : [['OnUpdated', changed]],
        `${method} ${path}`,
      )
    }
  }
})

test.serial('so do records two levels below the body', async (t) => {
  const open = await stage.subscribe(parts, { headers: asUser('open') })
  const root = await stage.subscribe(parts, { headers: asUser('root') })
  const order = Number((await Order.create({ name: 'b', status: 'open' })).get('id'))
  const line = Number((await Line.create({ text: 'open', orderId: order })).get('id'))
  const [kept, removed] = await Part.bulkCreate([
    { text: 'kept', lineId: line },
    { text: 'removed', lineId: line },
  ]).then((made) => made.map((part) => Number(part.get('id'))))
  const json = { lines: [{ id: line, text: 'closed', parts: [{ id: kept, text: 'changed' }] }] }
  const answer = await stage.send('PATCH', `/api/orders/${order}`, { json, headers: asUser('root') })
  t.is(answer.status, 200, answer.text)
  await stage.drain(parts, root, (id) => ({ id }))
  t.deepEqual(open.received, [
    ['OnDeleted', removed],
    ['OnDeleted', kept],
  ])
})

test.serial('so do links that the body removes', async (t) => {
  const open = await stage.subscribe(links, { headers: asUser('open') })
  const root = await stage.subscribe(links, { headers: asUser('root') })
  const tagId = Number((await Tag.create({ name: 'new' })).get('id'))
  for (const [from, to] of [
    ['open', 'closed'],
    ['closed', 'open'],
  ] as const) {
    const orderId = Number((await Order.create({ name: from, status: from })).get('id'))
    const id = Number((await OrderTag.create({ orderId, tagId })).get('id'))
    const answer = await stage.patch(`/api/orders/${orderId}`, { status: to, tags: [] }, asUser('root'))
    t.is(answer.status, 200, answer.text)
    await stage.drain(links, root, (key) => ({ id: key }))
    t.deepEqual(root.received.splice(0), [['OnDeleted', id]])
    t.deepEqual(open.received.splice(0), from === 'open' ? [['OnDeleted', id]] : [])
  }
})
