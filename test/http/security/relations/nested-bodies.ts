// What a body holds of other records is written as if each had been sent to its own resource: no policy, mask or scope is
// gone around by writing through an owner.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, hasPermission, Operations } from '../../../../lib/index.js'
import type { Answer } from '../../../support/server.js'
import { openStage, readStoredRow } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial

const errors: unknown[] = []
const hidden: string[] = []

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Order = sequelize.define('Order', { customer: { type: DataTypes.STRING(9), allowNull: false } }, plain)
  const Shop = sequelize.define('Shop', { tenantId: DataTypes.INTEGER }, plain)
  const Line = sequelize.define(
    'Line',
    {
      product: { type: DataTypes.STRING(9), allowNull: false },
      price: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 },
      secret: DataTypes.STRING,
      tenantId: DataTypes.INTEGER,
    },
    plain,
  )
  const Pinned = sequelize.define('Pinned', { name: DataTypes.STRING }, plain)
  const Masked = sequelize.define('Masked', { name: DataTypes.STRING }, plain)
  const Lone = sequelize.define('Lone', { name: DataTypes.STRING }, plain)
  const Dated = sequelize.define('Dated', { name: DataTypes.STRING }, plain)
  const Stamped = sequelize.define('Stamped', { name: DataTypes.STRING }, plain)
  const Twin = sequelize.define('Twin', { name: DataTypes.STRING }, plain)
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  Line.belongsTo(Shop, { as: 'shop', foreignKey: 'shopId' })
  Order.hasMany(Pinned, { as: 'pinned', foreignKey: 'orderId' })
  Order.hasMany(Masked, { as: 'masked', foreignKey: 'orderId' })
  Order.hasMany(Lone, { as: 'lone', foreignKey: 'orderId' })
  Order.hasMany(Dated, { as: 'dated', foreignKey: 'orderId' })
  Order.hasMany(Stamped, { as: 'stamped', foreignKey: 'orderId' })
  Order.hasMany(Twin, { as: 'twins', foreignKey: 'orderId' })
  const common: CrudOptions = { identity, operations: Operations.AllWithBulk, onError: (error) => errors.push(error) }
  const write = { write: true }
  const relations = {
    lines: write,
    pinned: write,
    masked: write,
    lone: write,
    twins: write,
    dated: write,
    stamped: write,
  }
  app.use(crudRouter(Order, { ...common, relations }))
  app.use('/strict', crudRouter(Order, { ...common, relations, unknownProperties: 'reject' }))
  app.use(
    crudRouter(Line, {
      ...common,
      createPolicy: hasPermission('create'),
      updatePolicy: hasPermission('update'),
      deletePolicy: hasPermission('delete'),
      getByIdPolicy: hasPermission('read'),
      getListPolicy: hasPermission('none'),
      mask: { price: { read: 'price', write: 'price' } },
      fields: { secret: { exclude: true } },
      softDelete: true,
      concurrency: false,
      scope: ({ identity: who }) => ({ tenantId: Number(who?.claims.tenant ?? 0) }),
      hooks: { afterCreate: ({ operation }) => void hidden.push(operation) },
    }),
    crudRouter(Shop, { ...common, scope: ({ identity: who }) => ({ tenantId: Number(who?.claims.tenant ?? 0) }) }),
    crudRouter(Pinned, { ...common, scope: () => ({ orderId: 1 }) }),
    crudRouter(Masked, { ...common, mask: { orderId: { read: 'see', write: 'bind' } } }),
  )
  const versioned = { ...common, mask: { rowVersion: 'see' }, getByIdPolicy: hasPermission('read') }
  app.use(crudRouter(Dated, { ...versioned, concurrency: { inBody: true } }))
  app.use(crudRouter(Stamped, { ...versioned, concurrency: true }))
  app.use(['/one', '/two'].map((path) => crudRouter(Twin, { ...common, route: `${path}/twins` })))
})
const [Order, Line, Masked, Pinned] = ['Order', 'Line', 'Masked', 'Pinned'].map((name) =>
  stage.sequelize.model(name),
) as [ModelStatic<Model>, ModelStatic<Model>, ModelStatic<Model>, ModelStatic<Model>]
await stage.sequelize.model('Shop').bulkCreate([{ tenantId: 1 }, { tenantId: 2 }])
await Order.create({ customer: 'first' })
test.after.always(() => stage.close())

const ALL = ['create', 'update', 'delete', 'read', 'price', 'see', 'bind']
const who = (permissions: readonly string[], tenant = 1): Record<string, string> =>
  bearer({ sub: 'jan', permissions, tenant })
const root = who(ALL)
const but = (...without: string[]): Record<string, string> => who(ALL.filter((each) => !without.includes(each)))

const counts = (): Promise<readonly number[]> =>
  Promise.all([Order, Line, Masked, Pinned].map((model) => model.count()))

/** An order with these lines, past the service. */
async function order(...lines: object[]): Promise<{ path: string; id: number; keys: number[] }> {
  const { id } = (await Order.create({ customer: 'x' })).get()
  const keys: number[] = []
  for (const line of lines) {
    const row = await Line.create({
      product: 'old',
      price: 5,
      secret: 'SECRET',
      tenantId: 1,
      isDeleted: false,
      ...line,
      orderId: id,
    })
    keys.push(Number(row.get('id')))
  }
  return { path: `/api/orders/${id}`, id, keys }
}

function whole({ status, text }: Answer): unknown {
  return { status, text }
}

test('the policies of the inner resource are asked for what happens, and in the place of 403', async (t) => {
  const { path, keys } = await order({}, {})
  const [one, two] = keys
  const before = await counts()
  const refused = async (answer: Promise<Answer>): Promise<void> => {
    const { status, body } = await answer
    t.is(status, 403, JSON.stringify(body))
    t.is(body.errors, undefined)
  }
  const line = { product: 'x' }
  await refused(stage.post('/api/orders', { customer: 'x', lines: [line] }, but('create')))
  await refused(stage.post('/api/orders', { lines: [{}] }, but('create')))
  await refused(stage.post('/api/orders/bulk', [{ customer: 'x' }, { customer: 'x', lines: [line] }], but('create')))
  await refused(stage.patch('/api/orders/99999', { lines: [line] }, but('create')))
  await refused(stage.patch('/api/orders/99999', { lines: [{ id: one, product: 'y' }] }, but('update')))
  await refused(stage.patch(path, { lines: [{ id: one, product: 'y' }, { id: two }, line] }, but('create')))
  // That something would go is known when the records are looked at: before what is wrong with the body.
  await refused(stage.patch(path, { customer: null, lines: [{ id: one }] }, but('delete')))
  t.is((await stage.patch('/api/orders/99999', { lines: [{ id: one }] }, but('delete'))).status, 404)
  await refused(stage.patch(path, { lines: [] }, but('delete')))
  t.deepEqual(await counts(), before)
  t.is((await stage.post('/api/orders', { customer: 'x', lines: [line] }, {})).status, 401)
  // Those who say nothing of lines, and those who keep them all, need none of it.
  t.is((await stage.post('/api/orders', { customer: 'x', lines: [] }, but('create', 'update', 'delete'))).status, 201)
  const kept = { lines: [{ id: one }, { id: two }] }
  t.is((await stage.patch(path, kept, but('create', 'update', 'delete'))).status, 200)
})

test('scope: new records get it, a body that contradicts it is 403, and the records of others are not there', async (t) => {
  const created = await stage.post('/api/orders', { customer: 'x', lines: [{ product: 'a' }] }, root)
  t.is(created.status, 201, created.text)
  t.like(await readStoredRow(Line, created.body.lines[0].id), { tenantId: 1, orderId: created.body.id })
  t.is((await stage.post('/api/orders', { customer: 'x', lines: [{ product: 'a', tenantId: 2 }] }, root)).status, 403)
  t.is((await stage.patch('/api/orders/99999', { lines: [{ product: 'a', tenantId: 2 }] }, root)).status, 403)

  const { path, id, keys } = await order({}, { tenantId: 2 }, { isDeleted: true })
  const [mine, others, deleted] = keys
  for (const key of [others, deleted]) {
    const answer = await stage.patch(path, { lines: [{ id: mine }, { id: key, product: 'taken' }] }, root)
    const missing = await stage.patch(path, { lines: [{ id: mine }, { id: 99999, product: 'taken' }] }, root)
    t.is(answer.status, 404)
    t.deepEqual(answer.body.errors, { 'lines[1]': ['does not exist.'] })
    t.deepEqual(whole(answer), whole(missing))
    t.deepEqual(whole(await stage.patch(path, { lines: [{ id: mine }, { id: key }] }, root)), whole(missing))
  }
  t.is((await stage.patch(path, { lines: [] }, root)).status, 200)
  t.is(Number((await readStoredRow(Line, mine))?.isDeleted), 1)
  for (const key of [others, deleted]) t.like(await readStoredRow(Line, key), { product: 'old', orderId: id })
  t.is(Number((await readStoredRow(Line, others))?.isDeleted), 0)
})

test('the delete policy is not asked for what the caller cannot meet', async (t) => {
  const { path, keys } = await order({ tenantId: 2 }, { isDeleted: true })
  const { status, body } = await stage.patch(path, { lines: [] }, but('delete'))
  t.is(status, 200)
  t.deepEqual(body.lines, [])
  for (const key of keys) t.not(await readStoredRow(Line, key), null)
})

test('masks: what may not be written is left out, and what may not be read is masked, in every reply', async (t) => {
  const clerk = but('price')
  const { body, status, text } = await stage.post(
    '/api/orders',
    { customer: 'x', lines: [{ product: 'a', price: 99 }] },
    clerk,
  )
  t.is(status, 201, text)
  t.is(body.lines[0].price, 0)
  t.like(await readStoredRow(Line, body.lines[0].id), { price: 1 })
  const { path, keys } = await order({}, {})
  const [one, two] = keys
  const patched = await stage.patch(path, { lines: [{ id: one, price: 99, product: 'b' }, { id: two }] }, clerk)
  t.is(patched.status, 200, patched.text)
  t.deepEqual(
    patched.body.lines.map(({ price }: { price: number }) => price),
    [0, 0],
  )
  t.like(await readStoredRow(Line, one), { price: 5, product: 'b' })
  for (const answer of [body, patched.body]) t.false(JSON.stringify(answer).includes('SECRET'))
})

test('masks: a masked version stays masked in every reply', async (t) => {
  const made = await stage.post('/api/orders', { customer: 'x', dated: [{ name: 'a' }, { name: 'b' }] }, but('see'))
  t.is(made.status, 201, made.text)
  const [one, other] = made.body.dated
  const versions = async (dated: readonly object[], headers: Record<string, string>): Promise<unknown> => {
    const { status, body, text } = await stage.patch(`/api/orders/${made.body.id}`, { dated }, headers)
    t.is(status, 200, text)
    return body.dated.map(({ rowVersion }: { rowVersion: unknown }) => rowVersion)
  }
  t.deepEqual(await versions([{ id: one.id, name: 'c', rowVersion: 0 }, { id: other.id }], root), [1, 0])
  t.deepEqual(await versions([{ id: one.id, name: 'd', rowVersion: 1 }, { id: other.id }], but('see')), [0, 0])
  t.deepEqual(await versions([{ id: one.id }, { id: other.id }], but('see')), [0, 0])
  t.deepEqual(await versions([{ id: one.id }, { id: other.id }], root), [2, 0])
})

test('masks: a masked version is not added to nested replies, whatever the caller may read', async (t) => {
  const members = [{ name: 'a' }, { name: 'b' }]
  const { body: made } = await stage.post('/api/orders', { customer: 'x', dated: members, stamped: members }, root)
  for (const [relation, added] of [
    ['dated', 0],
    ['stamped', undefined],
  ] as const) {
    const [one, other] = made[relation]
    for (const [caller, version, next, unchanged] of [
      [root, 0, 1, 0],
      [but('see'), 1, added, added],
      [but('see', 'read'), 2, added, undefined],
      [but('read'), 3, 4, 0],
    ] as const) {
      const json = { [relation]: [{ id: one.id, name: `n${version}`, rowVersion: version }, { id: other.id }] }
      const { status, body, text } = await stage.patch(`/api/orders/${made.id}`, json, caller)
      t.is(status, 200, text)
      const versions = body[relation].map(({ rowVersion }: { rowVersion: unknown }) => rowVersion)
      t.deepEqual(versions, [next, unchanged], `${relation} ${version}`)
    }
  }
})

test('who may not read records by their keys is shown nothing of those that they only name', async (t) => {
  const { path, keys } = await order({})
  const { status, body } = await stage.patch(path, { lines: [{ id: keys[0] }] }, but('read'))
  t.is(status, 200)
  t.deepEqual(body.lines, [{ id: keys[0] }])
})

test('mass assignment: keys, marks, versions and foreign keys of records within a body are never in it', async (t) => {
  const wanted = { id: 7777, isDeleted: true, deletedAt: '2000-01-01T00:00:00Z', secret: 'mine', rowVersion: 9 }
  const { body, status, text } = await stage.post(
    '/api/orders',
    { customer: 'x', lines: [{ product: 'a', ...wanted }] },
    root,
  )
  t.is(status, 201, text)
  t.not(body.lines[0].id, 7777)
  const row = await readStoredRow(Line, body.lines[0].id)
  t.like(row, { deletedAt: null, secret: null })
  t.is(Number(row?.isDeleted), 0)
  const other = await order()
  for (const orderId of [other.id, null, '1', 0]) {
    const answer = await stage.post('/api/orders', { customer: 'x', lines: [{ product: 'a', orderId }] }, root)
    t.deepEqual([answer.status, answer.body.errors], [400, { 'lines[0].orderId': ['must be the owner.'] }])
    const { path, keys } = await order({})
    const moved = await stage.patch(path, { lines: [{ id: keys[0], orderId }] }, root)
    t.deepEqual([moved.status, moved.body.errors], [400, { 'lines[0].orderId': ['must be the owner.'] }])
  }
  for (const name of ['__proto__', 'constructor', 'toString', 'Lines', 'LINES', 'order']) {
    const isMisspelt = name.toLowerCase() === 'lines'
    const text = JSON.stringify({ customer: 'x', x: [{ product: 'a' }] }).replace('"x":', `"${name}":`)
    const before = await Line.count()
    const headers = { ...root, 'content-type': 'application/json' }
    t.is((await stage.send('POST', '/api/orders', { body: text, headers })).status, isMisspelt ? 400 : 201)
    t.is(await Line.count(), before)
  }
})

test('a foreign key within a body points at what its sender could meet', async (t) => {
  const answers = [2, 999].map((shopId) =>
    stage.post('/api/orders', { customer: 'x', lines: [{ product: 'a' }, { product: 'a', shopId }] }, root),
  )
  const [others, missing] = await Promise.all(answers)
  t.is(missing?.status, 409)
  t.deepEqual(missing?.body.errors, { shopId: ['does not exist.'] })
  t.is(others?.text, missing?.text)
  t.is((await stage.post('/api/orders', { customer: 'x', lines: [{ product: 'a', shopId: 1 }] }, root)).status, 201)
})

test('a scope over the foreign key is not gone around by another owner', async (t) => {
  const before = await counts()
  const { status } = await stage.post('/api/orders', { customer: 'x', pinned: [{ name: 'a' }] }, root)
  t.is(status, 403)
  t.deepEqual(await counts(), before)
  t.is((await stage.patch('/api/orders/1', { pinned: [{ name: 'a' }] }, root)).status, 200)
  const { path } = await order()
  t.is((await stage.patch(path, { pinned: [{ name: 'a' }] }, root)).status, 403)
})

test('a masked foreign key: the relation is an unknown property, and to set it is a write of it', async (t) => {
  const body = { customer: 'x', masked: [{ name: 'a' }] }
  const before = await Masked.count()
  const ignored = await stage.post('/api/orders', body, but('see'))
  t.is(ignored.status, 201)
  t.false('masked' in ignored.body)
  const rejected = await stage.post('/strict/api/orders', body, but('see'))
  t.deepEqual(rejected.body.errors, { masked: ['is not a known property.'] })
  const unknown = await stage.post('/strict/api/orders', { customer: 'x', maskee: [{ name: 'a' }] }, but('see'))
  t.is(rejected.text.replaceAll('masked', 'maskee'), unknown.text)
  t.is((await stage.post('/api/orders', body, but('bind'))).status, 403)
  t.is(await Masked.count(), before)
  t.is((await stage.post('/strict/api/orders', body, root)).status, 201)
})

test('a masked foreign key: children that stay or go do not set it, and new ones do', async (t) => {
  const { body } = await stage.post('/api/orders', { customer: 'x', masked: [{ name: 'a' }, { name: 'b' }] }, root)
  const [{ id: first }, { id: second }] = body.masked
  const patched = (masked: readonly object[]) => stage.patch(`/api/orders/${body.id}`, { masked }, but('bind'))
  t.is((await patched([{ id: first }, { id: second }])).status, 200)
  t.is((await patched([{ id: first, name: 'c' }, { id: second }])).status, 200)
  t.is((await patched([{ id: first }, { name: 'new' }])).status, 403)
  t.is((await patched([{ id: first }])).status, 200)
  t.deepEqual(
    (await Masked.findAll({ where: { orderId: body.id } })).map((row) => row.get('name')),
    ['c'],
  )
  t.is((await patched([])).status, 200)
  t.is((await patched([{ name: 'new' }])).status, 403)
  t.is(await Masked.count({ where: { orderId: body.id } }), 0)
  t.is((await stage.post('/api/orders', { customer: 'x', masked: [] }, but('bind'))).status, 201)
})

test('headers of every resource that a body names add up, on every status', async (t) => {
  const lines = [{ product: 'a' }]
  for (const [body, headers, status] of [
    [{ customer: 'x', lines }, root, 201],
    [{ lines }, root, 400],
    [{ customer: 'x', lines }, but('create'), 403],
  ] as const) {
    const answer = await stage.post('/api/orders', body, headers)
    t.is(answer.status, status)
    t.is(answer.headers.get('vary'), 'Authorization')
    t.is(answer.headers.get('cache-control'), 'private')
  }
  t.is((await stage.post('/api/orders', { customer: 'x' }, root)).headers.get('vary'), null)
})

test('without one resource over the target, or with several, nothing is written, and the host hears of the remedy', async (t) => {
  for (const [name, words] of [
    ['lone', /no router is mounted for the model Lone/],
    ['twins', /2 routers are mounted for the model Twin/],
  ] as const) {
    errors.length = 0
    const before = await counts()
    const { status, text } = await stage.post('/api/orders', { customer: 'x', [name]: [{ name: 'a' }] }, root)
    t.is(status, 500)
    t.notRegex(text, /Lone|Twin|resource/)
    const [error] = errors
    t.true(error instanceof CrudConfigError)
    t.regex(String(error), words)
    t.deepEqual(await counts(), before)
  }
})

test('hooks are told of the operation that it would be by itself', (t) => {
  t.deepEqual([...new Set(hidden)], ['create'])
})
