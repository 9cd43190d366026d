// Responses show records as they are after the whole request, although a later part of the request changes them again.

import test from 'ava'
import { DataTypes, type Model, Op, type Transaction } from 'sequelize'
import { crudRouter, type Hook, Operations } from '../../../lib/index.js'
import { openStage, type Stage } from '../../support/stage.js'

const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
const plain = { timestamps: false }
const name = DataTypes.STRING(20)

/** Serves orders whose totals are set by hooks of their lines: hooks of the option, or hooks of the model. */
function openOrders(kind: 'option' | 'model') {
  return openStage(({ sequelize }, app) => {
    const Order = sequelize.define('Order', { name, total: { type: DataTypes.INTEGER, defaultValue: 0 } }, plain)
    const Line = sequelize.define('Line', { price: DataTypes.INTEGER }, plain)
    Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
    const setTotal = async (line: Model, transaction: Transaction): Promise<void> => {
      const orderId = Number(line.get('orderId'))
      const total = (await Line.sum('price', { where: { orderId }, transaction })) ?? 0
      await Order.update({ total }, { where: { id: orderId }, transaction })
    }
    const hook: Hook = ({ instance, transaction }) => setTotal(instance, transaction)
    const hooks = { afterCreate: hook, afterUpdate: hook, afterDelete: hook }
    if (kind === 'model') {
      for (const each of ['afterCreate', 'afterUpdate', 'afterDestroy'] as const)
        Line.addHook(each, (line: Model, options: { transaction: Transaction }) => setTotal(line, options.transaction))
    }
    app.use(
      crudRouter(Order, { operations, relations: { lines: { write: true } } }),
      crudRouter(Line, { operations, ...(kind === 'option' ? { hooks } : {}) }),
    )
  })
}

async function assertTotals(t: import('ava').ExecutionContext, stage: Stage, json: unknown): Promise<void> {
  for (const { lines: _, ...order } of Array.isArray(json) ? json : [json])
    t.deepEqual(order, (await stage.get(`/api/orders/${order.id}`)).body)
}

for (const kind of ['option', 'model'] as const) {
  test(`a response shows what hooks of nested records change in the record of the URL: hooks of the ${kind}`, async (t) => {
    const stage = await openOrders(kind)
    t.teardown(() => stage.close())
    const lines = [{ price: 3 }, { price: 4 }]
    for (const [method, path, json, totals] of [
      ['POST', '/api/orders', { name: 'first', lines }, [7]],
      ['POST', '/api/orders/bulk', [{ lines }, { lines: [{ price: 5 }] }], [7, 5]],
      ['PATCH', '/api/orders/1', { name: 'one', lines: [{ id: 1 }] }, [3]],
      ['PATCH', '/api/orders/1', { lines: [{ id: 1, price: 10 }, { price: 1 }] }, [11]],
      ['PUT', '/api/orders/1', { name: 'two', lines: [{ price: 2 }] }, [2]],
      [
        'PATCH',
        '/api/orders/bulk',
        [
          { id: 2, lines: [] },
          { id: 3, lines: [{ price: 9 }] },
        ],
        [0, 9],
      ],
    ] as const) {
      const { status, body, text } = await stage.send(method, path, { json })
      t.true(status < 300, text)
      t.deepEqual(
        [body].flat().map(({ total }) => total),
        [...totals],
        text,
      )
      await assertTotals(t, stage, body)
    }
  })
}

test('a bulk update shows what the hooks of one item change in another item', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Address = sequelize.define('Address', { name, isMain: DataTypes.BOOLEAN }, plain)
    const afterUpdate: Hook = async ({ instance, transaction }) => {
      const others = { id: { [Op.ne]: Number(instance.get('id')) } }
      if (instance.get('isMain') === true) await Address.update({ isMain: false }, { where: others, transaction })
    }
    app.use(crudRouter(Address, { operations, hooks: { afterUpdate } }))
  })
  t.teardown(() => stage.close())
  await stage.post('/api/addresses/bulk', [{ name: 'home' }, { name: 'work' }])
  const items = [1, 2].map((id) => ({ id, isMain: true }))
  const { body } = await stage.patch('/api/addresses/bulk', items)
  t.deepEqual(body, [
    { id: 1, name: 'home', isMain: false },
    { id: 2, name: 'work', isMain: true },
  ])
  t.deepEqual(body, (await stage.get('/api/addresses')).body.items)
})

test('a record that two relations of a body lead to is shown as it is after both changes', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name }, plain)
    const Player = sequelize.define('Player', { name, role: name }, plain)
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    Team.hasOne(Player, { as: 'captain', foreignKey: 'teamId', scope: { role: 'captain' } })
    app.use(crudRouter(Team, { operations, relations: { players: { write: true }, captain: { write: true } } }))
    app.use(crudRouter(Player))
  })
  t.teardown(() => stage.close())
  const players = [
    { name: 'Jan', role: 'captain' },
    { name: 'Ana', role: 'wing' },
  ]
  await stage.post('/api/teams', { name: 'Nets', players })
  for (const first of [{ id: 1, name: 'Jon' }, { id: 1 }]) {
    const { body } = await stage.patch('/api/teams/1', { players: [first, { id: 2 }], captain: { name: 'Jo' } })
    const captain = { id: 1, name: 'Jo', role: 'captain', teamId: 1 }
    t.deepEqual(body.players, [captain, { id: 2, name: 'Ana', role: 'wing', teamId: 1 }])
    t.deepEqual(body.captain, captain)
  }
})

test('records that hooks may have changed are read again together', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Order = sequelize.define('Order', { name }, plain)
    const Line = sequelize.define('Line', { price: DataTypes.INTEGER }, plain)
    Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
    app.use(
      crudRouter(Order, { operations, relations: { lines: { write: true } } }),
      crudRouter(Line, { operations, hooks: { afterUpdate: () => undefined } }),
    )
  })
  t.teardown(() => stage.close())
  const countReadsAtEnd = async (length: number): Promise<number> => {
    const { body } = await stage.post('/api/orders', { lines: Array.from({ length }, () => ({ price: 1 })) })
    const lines = body.lines.map(({ id }: { readonly id: number }) => ({ id, price: 2 }))
    stage.statements.length = 0
    const { status, body: changed } = await stage.patch(`/api/orders/${body.id}`, { lines })
    t.is(status, 200)
    t.like(changed, { lines })
    const lastWrite = stage.statements.findLastIndex((sql) => sql.includes('UPDATE'))
    return stage.statements.slice(lastWrite).filter((sql) => sql.includes('SELECT')).length
  }
  const reads = await countReadsAtEnd(3)
  t.true(reads > 0)
  t.is(await countReadsAtEnd(12), reads)
})
