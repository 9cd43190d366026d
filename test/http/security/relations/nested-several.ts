// What the bodies of bulk updates, replacements and upserts hold of other records is guarded as in those of PATCH and POST.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, hasPermission, Operations } from '../../../../lib/index.js'
import type { Answer } from '../../../support/server.js'
import { openStage, readStoredRow } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Order = sequelize.define(
    'Order',
    {
      code: { type: DataTypes.STRING(20), primaryKey: true },
      customer: { type: DataTypes.STRING(9), allowNull: false },
    },
    plain,
  )
  const Line = sequelize.define(
    'Line',
    {
      product: { type: DataTypes.STRING(9), allowNull: false },
      price: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1 },
      tenantId: DataTypes.INTEGER,
    },
    plain,
  )
  const Masked = sequelize.define('Masked', { name: DataTypes.STRING }, plain)
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderCode' })
  Order.hasMany(Masked, { as: 'masked', foreignKey: 'orderCode' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const common: CrudOptions = { identity, operations }
  const write = { write: true }
  app.use(
    crudRouter(Order, {
      ...common,
      fields: { code: { filterable: true } },
      relations: { lines: write, masked: write },
      unknownProperties: 'reject',
    }),
    crudRouter(Line, {
      ...common,
      createPolicy: hasPermission('create'),
      updatePolicy: hasPermission('update'),
      deletePolicy: hasPermission('delete'),
      mask: { price: { read: 'price', write: 'price' } },
      softDelete: true,
      scope: ({ identity: who }) => ({ tenantId: Number(who?.claims.tenant ?? 0) }),
    }),
    crudRouter(Masked, { ...common, mask: { orderCode: { read: 'see', write: 'bind' } } }),
  )
})
const [Order, Line, Masked] = ['Order', 'Line', 'Masked'].map((name) => stage.sequelize.model(name)) as [
  ModelStatic<Model>,
  ModelStatic<Model>,
  ModelStatic<Model>,
]
test.after.always(() => stage.close())

const ALL = ['create', 'update', 'delete', 'price', 'see', 'bind']
const who = (permissions: readonly string[]): Record<string, string> => bearer({ sub: 'jan', permissions, tenant: 1 })
const root = who(ALL)
const but = (...without: string[]): Record<string, string> => who(ALL.filter((each) => !without.includes(each)))

type Send = (code: string, body: object, headers: Record<string, string>) => Promise<Answer>

const send = (method: string, path: string, json: unknown, headers: Record<string, string>): Promise<Answer> =>
  stage.send(method, path, { json, headers })

/** Every way of changing a record with a body, and what stands in front of the places of its members. */
const WAYS: readonly (readonly [title: string, place: string, send: Send])[] = [
  ['PATCH', '', (code, body, headers) => send('PATCH', `/api/orders/${code}`, body, headers)],
  ['bulk update', '[0].', (code, body, headers) => send('PATCH', '/api/orders/bulk', [{ code, ...body }], headers)],
  ['PUT', '', (code, body, headers) => send('PUT', `/api/orders/${code}`, { customer: 'x', ...body }, headers)],
  [
    'upsert',
    '[0].',
    (code, body, headers) => send('PUT', '/api/orders/bulk?by=code', [{ code, customer: 'x', ...body }], headers),
  ],
]
/** Those that may make a record. */
const MAKING = WAYS.slice(2)

let orders = 0

/** An order with these lines, past the service. */
async function order(...lines: object[]): Promise<{ code: string; keys: number[] }> {
  orders += 1
  const code = `o${orders}`
  await Order.create({ code, customer: 'x' })
  const rows = await Promise.all(
    lines.map((line) =>
      Line.create({ product: 'old', price: 5, tenantId: 1, isDeleted: false, orderCode: code, ...line }),
    ),
  )
  return { code, keys: rows.map((row) => Number(row.get('id'))) }
}

async function unchanged(t: ExecutionContext, work: () => Promise<void>): Promise<void> {
  const all = async () => (await Promise.all([Order, Line, Masked].map((model) => model.findAll()))).flat()
  const before = (await all()).map((row) => row.get({ plain: true }))
  await work()
  t.deepEqual(
    (await all()).map((row) => row.get({ plain: true })),
    before,
  )
}

for (const [title, place, change] of WAYS) {
  test(`the policies of the inner resource are asked for what happens: ${title}`, async (t) => {
    const { code, keys } = await order({}, {})
    const [one, two] = keys
    await unchanged(t, async () => {
      for (const [lines, missing] of [
        [[{ id: one }, { id: two }, { product: 'x' }], 'create'],
        [[{ id: one, product: 'y' }, { id: two }], 'update'],
        [[{ id: one }], 'delete'],
        [[], 'delete'],
      ] as const) {
        const { status, body } = await change(code, { lines }, but(missing))
        t.is(status, 403, missing)
        t.is(body.errors, undefined)
      }
    })
    const kept = await change(code, { lines: [{ id: one }, { id: two }] }, but('create', 'update', 'delete'))
    t.is(kept.status, 200, kept.text)
    t.is((await change(code, {}, but('create', 'update', 'delete'))).status, 200)
  })

  test(`scope: new records get it, and the records of others are neither there nor deleted: ${title}`, async (t) => {
    const { code, keys } = await order({}, { tenantId: 2 }, { isDeleted: true })
    const [mine, others, deleted] = keys
    await unchanged(t, async () => {
      for (const key of [others, deleted, 99_999]) {
        const answer = await change(code, { lines: [{ id: mine }, { id: key, product: 'taken' }] }, root)
        t.is(answer.status, 404, answer.text)
        t.deepEqual(answer.body.errors, { [`${place}lines[1]`]: ['does not exist.'] })
      }
      t.is((await change(code, { lines: [{ product: 'a', tenantId: 2 }] }, root)).status, 403)
    })
    t.is((await change(code, { lines: [{ product: 'a' }] }, root)).status, 200)
    t.is(Number((await readStoredRow(Line, mine))?.isDeleted), 1)
    t.like(await readStoredRow(Line, others), { product: 'old', orderCode: code })
    t.is(Number((await readStoredRow(Line, others))?.isDeleted), 0)
    t.is(await Line.count({ where: { orderCode: code, product: 'a', tenantId: 1 } }), 1)
    // Nor is the policy of deletion asked for what the caller cannot meet.
    const { code: theirs } = await order({ tenantId: 2 })
    t.is((await change(theirs, { lines: [] }, but('delete'))).status, 200)
  })

  test(`masks: what may not be written is left out, and what may not be read is masked: ${title}`, async (t) => {
    const { code, keys } = await order({})
    const answer = await change(
      code,
      { lines: [{ id: keys[0], price: 99, product: 'b' }, { product: 'c' }] },
      but('price'),
    )
    t.is(answer.status, 200, answer.text)
    t.like(await readStoredRow(Line, keys[0]), { price: 5, product: 'b' })
    t.notRegex(answer.text, /"price":[1-9]/)
  })

  test(`the foreign key is the owner's, and where it is masked the relation does not exist: ${title}`, async (t) => {
    const { code, keys } = await order({})
    const { code: other } = await order()
    await unchanged(t, async () => {
      const moved = await change(code, { lines: [{ id: keys[0], orderCode: other }] }, root)
      t.deepEqual(moved.body.errors, { [`${place}lines[0].orderCode`]: ['must be the owner.'] })
      const closed = await change(code, { masked: [{ name: 'a' }] }, but('see'))
      t.deepEqual(closed.body.errors, { [`${place}masked`]: ['is not a known property.'] })
      t.is((await change(code, { masked: [{ name: 'a' }] }, but('bind'))).status, 403)
    })
    const same = await change(code, { lines: [{ id: keys[0], orderCode: code }] }, root)
    t.is(same.status, 200, same.text)
    t.is((await change(code, { masked: [{ name: 'a' }] }, root)).status, 200)
  })

  test(`headers of every resource that a body names add up: ${title}`, async (t) => {
    const { code } = await order()
    for (const [body, headers, status] of [
      [{ lines: [{ product: 'a' }] }, root, 200],
      [{ lines: [{}] }, root, 400],
      [{ lines: [{ product: 'a' }] }, but('create'), 403],
    ] as const) {
      const answer = await change(code, body, headers)
      t.is(answer.status, status)
      t.is(answer.headers.get('cache-control'), 'private')
    }
  })
}

for (const [title, , change] of MAKING) {
  test(`a record that is made is made with what its caller may create: ${title}`, async (t) => {
    await unchanged(t, async () => {
      const lines = [{ product: 'a' }]
      t.is((await change('new', { lines }, but('create'))).status, 403)
      t.is((await change('new', { lines: [{ id: 1, product: 'a' }] }, but('create'))).status, 403)
      t.is((await change('new', { lines: [{ product: 'a', tenantId: 2 }] }, root)).status, 403)
      t.is((await change('new', { masked: [{ name: 'a' }] }, but('bind'))).status, 403)
    })
    const made = await change(
      `made ${title}`,
      { lines: [{ product: 'a', price: 7 }] },
      but('update', 'delete', 'price'),
    )
    t.true(made.status === 201 || made.body.created === 1, made.text)
    t.is(await Line.count({ where: { orderCode: `made ${title}`, price: 1, tenantId: 1 } }), 1)
  })
}
