// Errors of several relations of one body are answered together.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const served = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const name = { type: DataTypes.STRING(9), allowNull: false }
  const Order = sequelize.define('Order', { name }, plain)
  const Line = sequelize.define('Line', { name }, plain)
  const Tag = sequelize.define('Tag', { name }, plain)
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  Order.belongsToMany(Tag, { as: 'tags', through: 'OrderTag', foreignKey: 'orderId', otherKey: 'tagId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  app.use(crudRouter(Line), crudRouter(Tag))
  app.use(crudRouter(Order, { operations, relations: { lines: { write: true }, tags: { write: true } } }))
  return { Order, Line }
})
test.after.always(() => served.close())

test('errors of children are answered together with keys of links that do not exist', async (t) => {
  const order = await served.Order.create({ name: 'first' })
  const id = Number(order.get('id'))
  const line = await served.Line.create({ name: 'net', orderId: id })
  const body = { lines: [{ id: line.get('id'), name: 5 }, { name: 'x'.repeat(10) }, { name: 'ball' }], tags: [99] }
  const errors = (prefix: string) => ({
    [`${prefix}lines[0].name`]: ['must be a string.'],
    [`${prefix}lines[1].name`]: ['must be at most 9 characters.'],
    [`${prefix}tags[0]`]: ['does not exist.'],
  })
  const patched = await served.patch(`/api/orders/${id}`, body)
  t.deepEqual([patched.status, patched.body.errors], [400, errors('')])
  const replaced = await served.send('PUT', `/api/orders/${id}`, { json: { name: 'second', ...body } })
  t.deepEqual([replaced.status, replaced.body.errors], [400, errors('')])
  const several = await served.patch('/api/orders/bulk', [{ id, ...body }])
  t.deepEqual([several.status, several.body.errors], [400, errors('[0].')])
  t.deepEqual([await served.Line.count(), (await order.reload()).get('name')], [1, 'first'])
})
