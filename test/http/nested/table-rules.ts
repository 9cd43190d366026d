// Values of several records that the table alone refuses, and validators of the host's that throw what is no message: each error
// has its place in the request, and a text.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

interface Models {
  readonly Box: ModelStatic<Model>
  readonly Item: ModelStatic<Model>
}

const plain = { timestamps: false }

const served = await openStage<Models>(({ sequelize }, app) => {
  const Box = sequelize.define('Box', { name: DataTypes.STRING(20) }, plain)
  const Item = sequelize.define('Item', { qty: DataTypes.INTEGER }, { ...plain, tableName: 'items' })
  Box.hasMany(Item, { as: 'items', foreignKey: 'boxId' })
  sequelize.define(
    'Thrower',
    {
      text: {
        type: DataTypes.STRING,
        validate: {
          host: (value: unknown) => {
            if (value === 'object') throw { secret: 'of the host' }
            if (value === 'nothing') throw new Error('')
          },
        },
      },
    },
    plain,
  )
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  app.use(crudRouter(Item, { operations }))
  app.use(crudRouter(Box, { operations, relations: { items: { write: true } } }))
  const thrower = Item.sequelize?.models.Thrower
  if (thrower !== undefined) app.use(crudRouter(thrower, { operations }))
  return { Box, Item }
})
const { Item, Box } = served
const { sequelize } = Item
const column = { type: DataTypes.INTEGER, allowNull: false }
const boxId = DataTypes.INTEGER
await sequelize?.define('StrictItem', { qty: column, boxId }, { ...plain, tableName: 'items' }).sync({ force: true })
await Box.create({ name: 'a' })
await Item.bulkCreate([1, 2].map((qty) => ({ qty, boxId: 1 })))
test.after.always(() => served.close())

const NULL = ['cannot be null.']

for (const [what, method, path, body, errors] of [
  // Which record of a bulk create it is the database does not tell.
  ['in a bulk create', 'POST', '/api/items/bulk', [{ qty: 1 }, { qty: null }], ['qty']],
  [
    'in a nested create, more than once',
    'POST',
    '/api/boxes',
    { items: [{}, { qty: 1 }, { qty: null }] },
    ['items[0].qty', 'items[2].qty'],
  ],
  [
    'in a bulk update',
    'PATCH',
    '/api/items/bulk',
    [
      { id: 1, qty: 3 },
      { id: 2, qty: null },
    ],
    ['[1].qty'],
  ],
  ['in a nested create', 'POST', '/api/boxes', { items: [{ qty: 1 }, { qty: null }] }, ['items[1].qty']],
  ['in a nested create of one', 'POST', '/api/boxes', { items: [{ qty: null }] }, ['items[0].qty']],
  ['of a child that is there', 'PATCH', '/api/boxes/1', { items: [{ id: 1 }, { id: 2, qty: null }] }, ['items[1].qty']],
  ['of a new child', 'PATCH', '/api/boxes/1', { items: [{ id: 1 }, { id: 2 }, { qty: null }] }, ['items[2].qty']],
  [
    'in several bodies',
    'PATCH',
    '/api/boxes/bulk',
    [{ id: 1, items: [{ id: 1 }, { id: 2, qty: null }] }],
    ['[0].items[1].qty'],
  ],
] as const) {
  test(`a null that only the table forbids is told where it stands: ${what}`, async (t) => {
    const answer = await served.send(method, path, { json: body })
    t.is(answer.status, 400, answer.text)
    t.deepEqual(answer.body.errors, Object.fromEntries(errors.map((name) => [name, NULL])))
    t.deepEqual(
      (await served.get('/api/items?select=id,qty')).body.items,
      [1, 2].map((id) => ({ id, qty: id })),
    )
  })
}

test('a validator that throws what is no message is told by a text of its own', async (t) => {
  for (const text of ['object', 'nothing']) {
    const { status, body } = await served.post('/api/throwers', { text })
    t.is(status, 400)
    t.deepEqual(body.errors, { text: ['is not valid.'] })
  }
})
