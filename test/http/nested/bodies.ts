// `relations: { lines: { write: true } }`: the body of a record holds records that belong to it, and all of them are written
// at once, each by its own resource.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, type CrudRouter, crudRouter, type HookContext, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openPush, type PushStage } from '../../support/push.js'
import { isFast } from '../../support/speed.js'

// What one of them asks of the database is looked at.
const test = ava.serial

/** One way of writing the records within. The same must be true of all of them. */
interface Variant {
  readonly title: string
  readonly options: CrudOptions
}

type Hook = (context: HookContext) => void

const hooked: string[] = []
const told =
  (name: string): Hook =>
  ({ instance, operation }) => {
    hooked.push(`${name} ${operation} ${instance.get('orderId')}`)
  }

const VARIANTS: readonly Variant[] = [
  { title: 'by statements', options: {} },
  { title: 'by instances', options: { hooks: { beforeCreate: told('before'), afterCreate: told('after') } } },
]

async function open({
  options,
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
        product: { type: DataTypes.STRING(9), allowNull: false },
        quantity: { type: DataTypes.INTEGER, defaultValue: 1, validate: { min: 1 } },
        code: { type: DataTypes.STRING, unique: true, validate: { notContains: 'bad' } },
        orderId: { type: DataTypes.INTEGER, allowNull: false },
      },
      plain,
    )
    const Part = sequelize.define('Part', { name: { type: DataTypes.STRING, allowNull: false } }, plain)
    const Crumb = sequelize.define('Crumb', { name: DataTypes.STRING }, plain)
    const Slip = sequelize.define('Slip', { text: { type: DataTypes.STRING, allowNull: false } }, plain)
    const Stock = sequelize.define('Stock', { name: DataTypes.STRING }, plain)
    Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
    Line.belongsTo(Order, { as: 'order', foreignKey: 'orderId' })
    Line.belongsTo(Stock, { as: 'stock', foreignKey: 'stockId' })
    Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId' })
    Part.hasMany(Crumb, { as: 'crumbs', foreignKey: 'partId' })
    Order.hasOne(Slip, { as: 'slip', foreignKey: 'orderId' })
    const operations = Operations.AllWithBulk
    const write = { write: true }
    const push = { io }
    hubs.push(
      crudRouter(Order, { operations, push, relations: { lines: write, slip: write }, limits: { bulkItems: 150 } }),
      crudRouter(Line, { ...options, operations, push, relations: { parts: write } }),
      crudRouter(Part, { operations: ['getList'], relations: { crumbs: write } }),
      crudRouter(Crumb),
      crudRouter(Slip, { operations: Operations.Read }),
      crudRouter(Stock),
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

for (const [{ title }, { stage, hubs }] of opened) {
  const [Order, Line, Part, Slip] = ['Order', 'Line', 'Part', 'Slip'].map((name) => stage.sequelize.model(name)) as [
    ModelStatic<Model>,
    ModelStatic<Model>,
    ModelStatic<Model>,
    ModelStatic<Model>,
  ]
  const counted = async (): Promise<readonly number[]> =>
    Promise.all([Order, Line, Part, Slip].map((model) => model.count()))
  const nothingWritten = async (
    t: { deepEqual: (one: unknown, other: unknown) => unknown },
    work: () => Promise<void>,
  ) => {
    const before = await counted()
    await work()
    t.deepEqual(await counted(), before)
  }

  test(`POST creates a record with those of its collections and its to-one relations, in the order of the body: ${title}`, async (t) => {
    const { status, body, text } = await stage.post('/api/orders', {
      customer: 'Ewa',
      lines: [
        { product: 'Net', quantity: 2 },
        { product: 'Ball', parts: [{ name: 'skin' }, { name: 'air' }] },
        { product: 'Cup' },
      ],
      slip: { text: 'soon' },
    })
    t.is(status, 201, text)
    const [first, second, third] = body.lines
    const { id } = body
    const line = { orderId: id, code: null, stockId: null }
    t.deepEqual(body, {
      id,
      customer: 'Ewa',
      number: null,
      lines: [
        { id: first.id, product: 'Net', quantity: 2, ...line },
        {
          id: second.id,
          product: 'Ball',
          quantity: 1,
          ...line,
          parts: second.parts.map((each: { id: number }, index: number) => ({
            id: each.id,
            name: ['skin', 'air'][index],
            lineId: second.id,
          })),
        },
        { id: third.id, product: 'Cup', quantity: 1, ...line },
      ],
      slip: { id: body.slip.id, text: 'soon', orderId: id },
    })
    t.is(second.parts.length, 2)
    t.is(await Line.count({ where: { orderId: id } }), 3)
    t.is(await Part.count({ where: { lineId: second.id } }), 2)
    t.deepEqual((await stage.get(`/api/lines/${second.id}`)).body.orderId, id)
  })

  test(`a body that says nothing of them writes nothing of them, and the reply is silent as well: ${title}`, async (t) => {
    const { status, body } = await stage.post('/api/orders', { customer: 'Ewa' })
    t.is(status, 201)
    t.deepEqual(Object.keys(body), ['id', 'customer', 'number'])
    const empty = await stage.post('/api/orders', { customer: 'Ewa', lines: [], slip: null })
    t.is(empty.status, 201)
    t.deepEqual([empty.body.lines, empty.body.slip], [[], null])
  })

  test(`what is wrong anywhere is told at once, with its place, and nothing is written: ${title}`, async (t) => {
    await nothingWritten(t, async () => {
      const { status, body } = await stage.post('/api/orders', {
        lines: [
          { quantity: 0 },
          { product: 'fine' },
          { product: 'far too long', parts: [{ name: 'x' }, {}] },
          { product: 'x', code: 'bad' },
          7,
        ],
        slip: {},
      })
      t.is(status, 400)
      t.deepEqual(Object.keys(body.errors).sort(), [
        'customer',
        'lines[0].product',
        'lines[0].quantity',
        'lines[2].parts[1].name',
        'lines[2].product',
        'lines[3].code',
        'lines[4]',
        'slip.text',
      ])
      t.deepEqual(body.errors['lines[0].product'], ['is required.'])
      t.deepEqual(body.errors['lines[4]'], ['must be an object.'])
      // What only the model's validators say, too.
      const late = await stage.post('/api/orders', {
        customer: 'x',
        lines: [{ product: 'x' }, { product: 'y', code: 'bad' }],
      })
      t.is(late.status, 400)
      t.deepEqual(Object.keys(late.body.errors), ['lines[1].code'])
      const both = await stage.post('/api/orders', { customer: 'bad', lines: [{ product: 'y', code: 'bad' }] })
      t.is(both.status, 400)
      t.deepEqual(Object.keys(both.body.errors).sort(), ['customer', 'lines[0].code'])
    })
  })

  test(`collections are arrays of objects, and to-one relations objects: ${title}`, async (t) => {
    await nothingWritten(t, async () => {
      const errorsOf = async (more: object): Promise<unknown> => {
        const { status, body } = await stage.post('/api/orders', { customer: 'x', ...more })
        t.is(status, 400)
        return body.errors
      }
      t.deepEqual(await errorsOf({ lines: null }), { lines: ['cannot be null.'] })
      t.deepEqual(await errorsOf({ lines: { product: 'x' } }), { lines: ['must be an array.'] })
      t.deepEqual(await errorsOf({ lines: [null, [1]] }), {
        'lines[0]': ['must be an object.'],
        'lines[1]': ['must be an object.'],
      })
      t.deepEqual(await errorsOf({ slip: [{ text: 'x' }] }), { slip: ['must be an object.'] })
    })
  })

  test(`the owner sets the foreign key: any other is refused: ${title}`, async (t) => {
    await nothingWritten(t, async () => {
      const { status, body } = await stage.post('/api/orders', { customer: 'x', lines: [{ product: 'x', orderId: 1 }] })
      t.is(status, 400)
      t.deepEqual(body.errors, { 'lines[0].orderId': ['must be the owner.'] })
    })
  })

  test(`bulk creates have bodies of the same kind: ${title}`, async (t) => {
    const { status, body, text } = await stage.post('/api/orders/bulk', [
      { customer: 'a', lines: [{ product: '1' }, { product: '2', parts: [{ name: 'p' }] }] },
      { customer: 'b' },
      { customer: 'c', lines: [{ product: '3' }], slip: { text: 's' } },
    ])
    t.is(status, 201, text)
    t.deepEqual(
      body.map(({ lines }: { lines?: { product: string; orderId: number }[] }) =>
        lines?.map(({ product, orderId }) => [product, orderId]),
      ),
      [
        [
          ['1', body[0].id],
          ['2', body[0].id],
        ],
        undefined,
        [['3', body[2].id]],
      ],
    )
    t.is(body[0].lines[1].parts[0].lineId, body[0].lines[1].id)
    t.is(body[2].slip.orderId, body[2].id)
    await nothingWritten(t, async () => {
      const { status: refused, body: problem } = await stage.post('/api/orders/bulk', [
        { customer: 'a' },
        {},
        { customer: 'c', lines: [{ product: 'x' }, {}] },
      ])
      t.is(refused, 400)
      t.deepEqual(Object.keys(problem.errors).sort(), ['[1].customer', '[2].lines[1].product'])
    })
  })

  test(`a conflict names its field without a place, and nothing is written: ${title}`, async (t) => {
    await stage.post('/api/orders', { customer: 'x', lines: [{ product: 'x', code: `taken ${title}` }] })
    await nothingWritten(t, async () => {
      const { status, body } = await stage.post('/api/orders', {
        customer: 'x',
        lines: [{ product: 'y' }, { product: 'x', code: `taken ${title}` }],
      })
      t.is(status, 409, JSON.stringify(body))
      t.deepEqual(body.errors, { code: ['is already taken.'] })
      const pointing = await stage.post('/api/orders', { customer: 'x', lines: [{ product: 'y', stockId: 99 }] })
      t.is(pointing.status, 409)
      t.deepEqual(pointing.body.errors, { stockId: ['does not exist.'] })
    })
  })

  test(`how deep bodies go, and how many records they hold, is limited: ${title}`, async (t) => {
    await nothingWritten(t, async () => {
      const deep = { customer: 'x', lines: [{ product: 'x', parts: [{ name: 'x', crumbs: [{ name: 'x' }] }] }] }
      const { status, body } = await stage.post('/api/orders', deep)
      t.is(status, 400)
      t.regex(body.detail, /nestedWrites/)
      const lines = Array.from({ length: 150 }, () => ({ product: 'x' }))
      const many = await stage.post('/api/orders', { customer: 'x', lines })
      t.is(many.status, 400)
      t.regex(many.body.detail, /bulkItems/)
    })
    const none = await stage.post('/api/orders', { customer: 'x', lines: Array.from({ length: 150 }, () => 7) })
    t.regex(none.body.detail, /bulkItems/)
    const lines = Array.from({ length: 149 }, () => ({ product: 'x' }))
    t.is((await stage.post('/api/orders', { customer: 'x', lines })).status, 201)
  })

  test(`subscribers hear of the owner first, then of each record: ${title}`, async (t) => {
    const [orders, lines] = hubs
    if (orders === undefined || lines === undefined) throw new TypeError('nothing was mounted')
    const order = await stage.subscribe(orders)
    const line = await stage.subscribe(lines)
    const { body } = await stage.post('/api/orders', { customer: 'x', lines: [{ product: '1' }, { product: '2' }] })
    await stage.drain(orders, order)
    await stage.drain(lines, line)
    const { lines: sent, ...own } = body
    t.deepEqual(order.received.at(-1), ['OnCreated', own])
    t.deepEqual(
      line.received.slice(-2),
      sent.map((each: object) => ['OnCreated', each]),
    )
  })
}

test('hooks of the inner resource run as for a record that was sent to it', (t) => {
  t.true(hooked.some((each) => /^before create \d+$/.test(each)))
  t.is(hooked.filter((each) => each.startsWith('after')).length > 100, true)
  t.deepEqual(
    hooked.filter((each) => !/^(before|after) create \d+$/.test(each)),
    [],
  )
})

// Instances are read again.
if (isFast && (databaseName === 'sqlite' || databaseName === 'postgres')) {
  test('an order with a hundred lines is two inserts, and nothing is read', async (t) => {
    const { sequelize, statements, ...stage } = await openPush(({ sequelize: database }, app) => {
      const Order = database.define('Order', { customer: DataTypes.STRING }, { timestamps: false })
      const Line = database.define('Line', { product: DataTypes.STRING }, { timestamps: false })
      Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
      app.use([crudRouter(Order, { relations: { lines: { write: true } } }), crudRouter(Line)])
    })
    try {
      statements.length = 0
      const lines = Array.from({ length: 100 }, (_, index) => ({ product: String(index) }))
      t.is((await stage.post('/api/orders', { customer: 'x', lines })).status, 201)
      const own = statements.filter((sql) => /INSERT|SELECT|UPDATE/.test(sql))
      t.is(own.filter((sql) => /INSERT/.test(sql)).length, 2, own.join('\n'))
      t.is(own.length, 2, own.join('\n'))
    } finally {
      await stage.close()
    }
  })
}
