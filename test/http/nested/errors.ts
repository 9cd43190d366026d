// Errors of the relations in one body: reported together, and for children that the caller may see but not delete.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'
import { VARIANTS } from '../../support/variants.js'

const served = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const name = { type: DataTypes.STRING(9), allowNull: false }
  const Order = sequelize.define('Order', { name, code: { type: DataTypes.STRING(9), unique: true } }, plain)
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

function range(): Record<'least' | 'most', typeof DataTypes.INTEGER> {
  return { least: DataTypes.INTEGER, most: DataTypes.INTEGER }
}

function inOrder(this: Model): void {
  if (Number(this.get('least')) > Number(this.get('most') ?? Number.POSITIVE_INFINITY))
    throw new Error('least must not be above most.')
}

function notGrey(value: unknown): void {
  if (value === 'grey') throw new Error('must not be grey.')
}

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

test('errors of all items are answered together with keys of links that do not exist', async (t) => {
  const first = (await served.Order.create({ name: 'one', code: 'one' })).get('id')
  const second = (await served.Order.create({ name: 'two' })).get('id')
  const missing = { '[0].tags[0]': ['does not exist.'] }
  const updated = await served.patch('/api/orders/bulk', [
    { id: first, name: 5, tags: [99] },
    { id: second, name: 'x'.repeat(10), lines: [{ name: 'net', orderId: first }, {}] },
  ])
  const errors = {
    ...missing,
    '[0].name': ['must be a string.'],
    '[1].name': ['must be at most 9 characters.'],
    '[1].lines[0].orderId': ['must be the owner.'],
    '[1].lines[1].name': ['is required.'],
  }
  t.deepEqual([updated.status, updated.body.errors], [400, errors])
  const upserted = await served.send('PUT', '/api/orders/bulk?by=code', {
    json: [
      { code: 'one', tags: [99], lines: [{}] },
      { code: 'new', name: 'new', tags: [98] },
    ],
  })
  const bothMissing = { ...missing, '[1].tags[0]': ['does not exist.'], '[0].lines[0].name': ['is required.'] }
  t.deepEqual([upserted.status, upserted.body.errors], [400, bothMissing])
})

for (const { title, options, finds = false } of VARIANTS) {
  test(`a validator of the whole model is answered for every child, beside all other errors: ${title}`, async (t) => {
    const stage = await openStage(({ sequelize }, app) => {
      const plain = { timestamps: false }
      const Tray = sequelize.define('Tray', { label: { type: DataTypes.STRING(9), validate: { notGrey } } }, plain)
      const columns = { product: { type: DataTypes.STRING(9), validate: { notGrey } }, ...range() }
      const Cup = sequelize.define('Cup', columns, { ...plain, validate: { inOrder } })
      if (finds) for (const each of [Tray, Cup]) each.addHook('beforeFind', () => undefined)
      Tray.hasMany(Cup, { as: 'cups', foreignKey: 'trayId' })
      const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
      app.use(crudRouter(Tray, { operations, relations: { cups: { write: true } } }), crudRouter(Cup, options))
      return { Tray, Cup }
    })
    t.teardown(() => stage.close())
    const { Tray, Cup } = stage
    await Tray.create({ label: 'one' })
    await Cup.bulkCreate([1, 2, 3, 4].map(() => ({ trayId: 1, least: 1, most: 5 })))
    const cups = [
      { id: 1, least: 9 },
      { id: 2 },
      { id: 3, product: 'grey' },
      { id: 4, least: 6, product: {} },
      { most: 0 },
    ]
    const order = ['least must not be above most.']
    const childErrors = (prefix: string) => ({
      [`${prefix}cups[0].inOrder`]: order,
      [`${prefix}cups[2].product`]: ['must not be grey.'],
      [`${prefix}cups[3].product`]: ['must be a string.'],
      [`${prefix}cups[3].inOrder`]: order,
    })
    const valid = [cups[0], cups[1], cups[2], { id: 4, least: 6 }]
    const validErrors = (prefix: string) => ({
      [`${prefix}cups[0].inOrder`]: order,
      [`${prefix}cups[2].product`]: ['must not be grey.'],
      [`${prefix}cups[3].inOrder`]: order,
    })
    for (const [method, path, wrap, prefix] of [
      ['PATCH', '/api/trays/1', (body: object) => body, ''],
      ['PUT', '/api/trays/1', (body: object) => body, ''],
      ['PATCH', '/api/trays/bulk', (body: object) => [{ id: 1, ...body }], '[0].'],
    ] as const) {
      for (const [body, errors] of [
        [{ label: 'two', cups: valid }, validErrors(prefix)],
        [
          { label: 'grey', cups: valid },
          { [`${prefix}label`]: ['must not be grey.'], ...validErrors(prefix) },
        ],
        [{ label: 'two', cups }, childErrors(prefix)],
        [
          { label: {}, cups },
          { [`${prefix}label`]: ['must be a string.'], ...childErrors(prefix) },
        ],
      ] as const) {
        const { status, body: answer, text } = await stage.send(method, path, { json: wrap(body) })
        t.is(status, 400, text)
        t.deepEqual(answer.errors, errors, `${method} ${path} ${JSON.stringify(body)}`)
      }
    }
    t.is(await Cup.count({ where: { least: 1 } }), 4)
  })

  test(`a body that removes a child outside the delete scope is a 404, and nothing is written: ${title}`, async (t) => {
    const stage = await openStage(({ sequelize }, app) => {
      const plain = { timestamps: false }
      const isLocked = DataTypes.BOOLEAN
      const Shelf = sequelize.define('Shelf', { name: DataTypes.STRING(9) }, plain)
      const Box = sequelize.define('Box', { product: DataTypes.STRING(9), isLocked }, plain)
      const Label = sequelize.define('Label', { product: DataTypes.STRING(9), isLocked }, plain)
      const Store = sequelize.define('Store', { name: DataTypes.STRING(9) }, plain)
      const Tag = sequelize.define('Tag', { name: DataTypes.STRING(9) }, plain)
      const ShelfTag = sequelize.define('ShelfTag', { isLocked }, plain)
      if (finds) for (const each of [Shelf, Box, Label, ShelfTag]) each.addHook('beforeFind', () => undefined)
      Store.hasMany(Shelf, { as: 'shelves', foreignKey: 'storeId' })
      Shelf.hasMany(Box, { as: 'boxes', foreignKey: 'shelfId' })
      Shelf.hasOne(Label, { as: 'label', foreignKey: 'shelfId' })
      Shelf.belongsToMany(Tag, { as: 'tags', through: ShelfTag, foreignKey: 'shelfId', otherKey: 'tagId' })
      const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
      const write = { write: true, routes: true }
      const scope = ({ operation }: { readonly operation: string }) =>
        operation === 'delete' ? { isLocked: false } : null
      app.use(crudRouter(Store, { operations, relations: { shelves: write } }), crudRouter(Tag))
      app.use(crudRouter(Shelf, { operations, relations: { boxes: write, label: write, tags: write } }))
      app.use(crudRouter(Box, { ...options, scope }), crudRouter(Label, { ...options, softDelete: true, scope }))
      app.use(crudRouter(ShelfTag, { scope }))
      return { Store, Shelf, Box, Label, Tag, ShelfTag }
    })
    t.teardown(() => stage.close())
    const { Store, Shelf, Box, Label, Tag, ShelfTag } = stage
    await Store.create({ name: 'one' })
    await Shelf.create({ name: 'top', storeId: 1 })
    await Box.bulkCreate([true, false].map((isLocked) => ({ shelfId: 1, product: 'net', isLocked })))
    await Label.create({ shelfId: 1, product: 'net', isLocked: true })
    await Tag.bulkCreate([{ name: 'new' }, { name: 'sale' }])
    await ShelfTag.bulkCreate([1, 2].map((tagId) => ({ shelfId: 1, tagId, isLocked: tagId === 1 })))
    const rowsOf = (model: ModelStatic<Model>): Promise<readonly object[]> => model.findAll({ raw: true })
    const stored = () => Promise.all([Shelf, Box, Label, ShelfTag].map(rowsOf))
    const before = await stored()
    const detail = 'The body removes a record that you may not delete.'
    for (const [member, value] of [
      ['boxes', []],
      ['boxes', [{ id: 2 }, { product: 'ball' }]],
      ['label', null],
      ['tags', []],
    ] as const) {
      const body = { name: 'low', [member]: value }
      for (const [method, path, json, place] of [
        ['PATCH', '/api/shelves/1', body, ''],
        ['PUT', '/api/shelves/1', { storeId: 1, ...body }, ''],
        ['PATCH', '/api/shelves/bulk', [{ id: 1, ...body }], '[0].'],
        ['PATCH', '/api/stores/1', { shelves: [{ id: 1, ...body }] }, 'shelves[0].'],
      ] as const) {
        const answer = await stage.send(method, path, { json })
        const errors = { [place + member]: [detail] }
        t.like(answer.body, { status: 404, code: 'not-found', detail, errors }, `${method} ${path} ${answer.text}`)
        t.deepEqual(await stored(), before, `${method} ${path} ${member}`)
      }
    }
    const kept = { boxes: [{ id: 1 }], tags: [1] }
    const { status, text } = await stage.patch('/api/shelves/1', kept)
    t.is(status, 200, text)
    t.deepEqual([await Box.count(), await ShelfTag.count(), await Label.count()], [1, 1, 1])
    const { body } = await stage.send('PUT', '/api/shelves/1/tags', { json: [] })
    t.deepEqual(body, { linked: 0, unlinked: 0 })
  })
}

test('a removed child that the database deletes together with another child is no error', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Crate = sequelize.define('Crate', { name: DataTypes.STRING(9) }, plain)
    const Piece = sequelize.define('Piece', { name: DataTypes.STRING(9) }, plain)
    Crate.hasMany(Piece, { as: 'pieces', foreignKey: 'crateId' })
    Piece.belongsTo(Piece, { as: 'whole', foreignKey: 'wholeId', onDelete: 'CASCADE' })
    app.use(crudRouter(Crate, { relations: { pieces: { write: true } } }), crudRouter(Piece))
    return { Crate, Piece }
  })
  t.teardown(() => stage.close())
  await stage.Crate.create({ name: 'one' })
  await stage.Piece.create({ crateId: 1, name: 'whole' })
  await stage.Piece.bulkCreate(['left', 'right'].map((name) => ({ crateId: 1, name, wholeId: 1 })))
  const { status, body } = await stage.patch('/api/crates/1', { pieces: [] })
  t.deepEqual([status, body, await stage.Piece.count()], [200, { id: 1, name: 'one', pieces: [] }, 0])
})
