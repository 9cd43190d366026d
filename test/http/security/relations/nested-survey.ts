// What the bodies of a request alone call for is asked before anything else is told of them: who may not do it hears of no
// limit and of nothing that is wrong.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, hasPermission, Operations } from '../../../../lib/index.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const name = DataTypes.STRING(9)
  const [Order, Line, Part, Crumb] = ['Order', 'Line', 'Part', 'Crumb'].map((each) =>
    sequelize.define(each, { name }, plain),
  )
  const Slot = sequelize.define('Slot', { code: { type: DataTypes.STRING(9), primaryKey: true }, name }, plain)
  if (Order === undefined || Line === undefined || Part === undefined || Crumb === undefined) throw new TypeError()
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  Order.hasMany(Slot, { as: 'slots', foreignKey: 'orderId' })
  Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId' })
  const [Tag, Tagging] = ['Tag', 'Tagging'].map((each) => sequelize.define(each, {}, plain))
  if (Tag === undefined || Tagging === undefined) throw new TypeError()
  Order.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'orderId', otherKey: 'tagId' })
  Part.hasMany(Crumb, { as: 'crumbs', foreignKey: 'partId' })
  const Bond = sequelize.define('Bond', { name }, plain)
  Order.hasMany(Bond, { as: 'bonds', foreignKey: 'orderId' })
  const policies: CrudOptions = {
    identity,
    createPolicy: hasPermission('create'),
    updatePolicy: hasPermission('update'),
    limits: { bulkItems: 5, nestedWrites: 2 },
  }
  const write = { write: true }
  app.use(
    crudRouter(Order, {
      ...policies,
      operations: Operations.AllWithBulk,
      createPolicy: () => true,
      updatePolicy: () => true,
      relations: { lines: write, slots: write, tags: write, bonds: write },
    }),
    crudRouter(Tag, { identity }),
    crudRouter(Tagging, policies),
    crudRouter(Line, { ...policies, relations: { parts: write } }),
    crudRouter(Part, { ...policies, relations: { crumbs: write } }),
    crudRouter(Crumb, policies),
    crudRouter(Slot, policies),
    crudRouter(Bond, { ...policies, createPolicy: () => true, mask: { orderId: { write: 'bind' } } }),
  )
})
const { sequelize } = stage
test.after.always(() => stage.close())

const may = (...permissions: readonly string[]): Record<string, string> => bearer({ sub: 'jan', permissions })
const root = may('create', 'update')

/** A new order with a line that has a part. */
async function order(): Promise<{ readonly path: string; readonly line: number; readonly part: number }> {
  const { id } = (await sequelize.model('Order').create({ name: 'x' })).get()
  const line = (await sequelize.model('Line').create({ name: 'x', orderId: id })).get('id')
  const part = (await sequelize.model('Part').create({ name: 'x', lineId: line })).get('id')
  return { path: `/api/orders/${id}`, line: Number(line), part: Number(part) }
}

const several = (element: (index: number) => object): readonly object[] => [0, 1, 2, 3, 4, 5].map(element)

test('who may not make or change what a body holds is refused before the limits are told', async (t) => {
  const { path } = await order()
  for (const [lines, needed] of [
    [several(() => ({ name: 'new' })), 'create'],
    [several((index) => ({ id: index + 1, name: 'new' })), 'update'],
  ] as const) {
    for (const at of [path, '/api/orders/99999']) {
      t.is((await stage.patch(at, { lines }, may(needed === 'create' ? 'update' : 'create'))).status, 403, needed)
      const { status, body } = await stage.patch(at, { lines }, may(needed))
      t.is(status, 400)
      t.regex(body.detail, /bulkItems/)
    }
  }
})

test('who may not link records is refused before the limits are told, and by no array without a key', async (t) => {
  const tags = [1, 2, 3, 4, 5, 6]
  t.is((await stage.post('/api/orders', { name: 'new', tags }, may())).status, 403)
  const { status, body } = await stage.post('/api/orders', { name: 'new', tags }, may('create'))
  t.is(status, 400)
  t.regex(body.detail, /bulkItems/)
  t.is((await stage.post('/api/orders', { name: 'new', tags: [] }, may())).status, 201)
})

test('who may not write the foreign key of new records is refused before the limits are told', async (t) => {
  const { path } = await order()
  const bonds = several(() => ({ name: 'new' }))
  for (const [method, at, body] of [
    ['PATCH', path, { bonds }],
    ['POST', '/api/orders', { bonds }],
    ['POST', '/api/orders/bulk', [{ bonds }]],
  ] as const) {
    const refused = await stage.send(method, at, { json: body, headers: may() })
    t.is(refused.status, 403, `${method} ${at}`)
    const { status, body: told } = await stage.send(method, at, { json: body, headers: may('bind') })
    t.is(status, 400, `${method} ${at}`)
    t.regex(told.detail, /bulkItems/)
  }
  t.is(await sequelize.model('Bond').count(), 0)
})

test('a body without a relation adds nothing to the records of a bulk create, and calls for no policy of it', async (t) => {
  const tags = (await Promise.all([0, 1, 2].map(() => sequelize.model('Tag').create()))).map((tag) => tag.get('id'))
  const lines = tags.map(() => ({ name: 'new' }))
  // Two orders and three records are as many as there may be.
  for (const within of [{ lines }, { tags }]) {
    const { status, text } = await stage.post('/api/orders/bulk', [within, { name: 'x' }], may('create'))
    t.is(status, 201, text)
    const { status: more, body } = await stage.post('/api/orders/bulk', [within, {}, {}], may('create'))
    t.is(more, 400)
    t.regex(body.detail, /bulkItems/)
  }
  for (const none of [{ lines: [] }, { tags: [] }]) {
    const { status, text } = await stage.post('/api/orders/bulk', [none, { name: 'x' }], may())
    t.is(status, 201, text)
  }
})

test('a body calls for no more than what it would do', async (t) => {
  const { path, line } = await order()
  // What a new record holds is new, whatever key it states.
  const parts = [{ id: 4711, name: 'new' }]
  const made = await stage.patch(path, { lines: [{ id: line }, { name: 'new', parts }] }, may('create'))
  t.is(made.status, 200, made.text)
  // Whether a record of a key that clients choose is there is not known yet.
  const slots = [{ code: 'a', name: 'new' }]
  const chosen = await stage.patch(path, { slots }, may('create'))
  t.is(chosen.status, 200, chosen.text)
  t.is((await stage.patch(path, { slots: [{ code: 'a', name: 'old' }] }, may('update'))).status, 200)
  // What is no object is nothing that could be made.
  const none = await stage.patch(path, { lines: [{ id: line }, 7] }, may())
  t.is(none.status, 400)
  t.deepEqual(none.body.errors, { 'lines[1]': ['must be an object.'] })
})

test('among bodies that hold something, what is no body is told of as among others', async (t) => {
  const held = { name: 'new', lines: [{ name: 'new' }], tags: [] }
  for (const none of [null, 7, 'lines', ['lines']]) {
    const { status, body } = await stage.post('/api/orders/bulk', [held, none], root)
    t.is(status, 400)
    t.deepEqual(body.errors, { '[1]': ['must be an object.'] })
  }
})

test('bodies go no deeper than the limit below records that are there either', async (t) => {
  const { path, line, part } = await order()
  const within = { lines: [{ id: line, name: 'y', parts: [{ id: part, name: 'y' }] }] }
  t.is((await stage.patch(path, within, root)).status, 200)
  const deep = { lines: [{ id: line, parts: [{ id: part, crumbs: [{ name: 'z' }] }] }] }
  const { status, body } = await stage.patch(path, deep, root)
  t.is(status, 400)
  t.regex(body.detail, /nestedWrites/)
  t.is(await sequelize.model('Crumb').count(), 0)
})
