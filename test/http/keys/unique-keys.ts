// Databases report one violated unique key of a record: SQLite the last, other databases the first.

import test, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const text = DataTypes.STRING(20)

const stage = await openStage(({ sequelize }, app) => {
  const operations = Operations.AllWithBulk + Operations.BulkUpdate + Operations.Replace
  const models: ModelStatic<Model>[] = []
  for (const [name, hooks] of [
    ['Part', []],
    ['HookedPart', ['beforeFind', 'beforeSave', 'beforeDestroy']],
  ] as const) {
    const Part = sequelize.define(
      name,
      {
        id: { type: DataTypes.INTEGER, primaryKey: true },
        z: { type: text, unique: true },
        a: { type: text, unique: true, field: 'a_column' },
        m: text,
        n: DataTypes.INTEGER,
        day: { type: DataTypes.DATEONLY, unique: true },
        internal: { type: text, unique: true, defaultValue: null },
        note: text,
        orderId: DataTypes.INTEGER,
      },
      { timestamps: true, paranoid: true, indexes: [{ unique: true, fields: ['m', 'n'] }] },
    )
    for (const hook of hooks) Part.addHook(hook, () => undefined)
    app.use(
      crudRouter(Part, {
        operations,
        route: name,
        fields: { internal: { exclude: true }, createdAt: { exclude: true }, updatedAt: { exclude: true } },
      }),
    )
    models.push(Part)
  }
  const [Part] = models
  if (Part === undefined) throw new TypeError('not defined')
  const Order = sequelize.define('Order', { number: { type: text, unique: true } }, { timestamps: false })
  const Line = sequelize.define(
    'Line',
    { sku: { type: text, unique: true }, serial: { type: text, unique: true } },
    { timestamps: false },
  )
  const Badge = sequelize.define(
    'Badge',
    {
      code: { type: text, primaryKey: true },
      serial: { type: text, unique: true },
      label: { type: text, unique: true },
      shelf: DataTypes.INTEGER,
    },
    { timestamps: false },
  )
  app.use(crudRouter(Badge, { operations, route: 'badges', scope: () => ({ shelf: 1 }) }))
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  app.use(crudRouter(Order, { operations, route: 'orders', relations: { lines: { write: true } } }))
  app.use(crudRouter(Line, { operations, route: 'lines' }))
})
test.after.always(() => stage.close())

const FIRST = { z: 'z1', a: 'a1', m: 'm1', n: 1, day: '2026-01-01', note: 'first' }
const SECOND = { z: 'z2', a: 'a2', m: 'm2', n: 2, day: '2026-01-02', note: 'second' }

for (const route of ['Part', 'HookedPart']) {
  const path = `/${route}`
  const [one, two, three] = [1, 2, 3]
  const refused = async (
    t: ExecutionContext,
    answer: ReturnType<typeof stage.post>,
    fields: readonly string[],
  ): Promise<void> => {
    const { status, body } = await answer
    t.is(status, 409, JSON.stringify(body))
    t.is(body.detail, 'A record with these values exists already.')
    t.deepEqual(body.errors, Object.fromEntries(fields.map((field) => [field, ['is already taken.']])))
  }

  test.serial(`every conflicting unique key of a record is named: ${route}`, async (t) => {
    t.is((await stage.post(path, { id: one, ...FIRST })).status, 201)
    t.is((await stage.post(path, { id: two, ...SECOND })).status, 201)
    const all = ['z', 'a', 'm', 'n', 'day']
    await refused(t, stage.post(path, { id: three, ...FIRST }), all)
    await refused(t, stage.post(path, { id: one, ...FIRST }), ['id', ...all])
    await refused(t, stage.post(path, { id: one, z: 'z1' }), ['id', 'z'])
    await refused(t, stage.post(path, { id: three, ...FIRST, n: 2 }), ['z', 'a', 'day'])
    await refused(t, stage.post(path, { id: three, ...FIRST, n: null, z: 'z2' }), ['z', 'a', 'day'])
    await refused(t, stage.post(path, { id: three, z: 'z3', a: 'a1', m: 'm1', n: 1 }), ['a', 'm', 'n'])
    const internal = await stage.sequelize.model(route).create({ id: 50, internal: 'x', z: 'z50' })
    await refused(t, stage.post(path, { id: 50, z: 'z50', a: 'a1' }), ['id', 'z', 'a'])
    await internal.destroy({ force: true })
  })

  test.serial(`a record is no conflict with itself: ${route}`, async (t) => {
    const { id, ...values } = { id: two, ...SECOND }
    await refused(t, stage.patch(`${path}/${id}`, { z: 'z1', a: 'a1', n: 2, day: '2026-01-02' }), ['z', 'a'])
    await refused(t, stage.patch(`${path}/${id}`, { ...values, z: 'z1', day: '2026-01-01' }), ['z', 'day'])
    t.is((await stage.patch(`${path}/${id}`, { m: 'm1' })).status, 200)
    // `m` is stored, and only `n` is sent.
    await refused(t, stage.patch(`${path}/${id}`, { n: 1, z: 'z1' }), ['z', 'm', 'n'])
    t.is((await stage.patch(`${path}/${id}`, { m: 'm2' })).status, 200)
    await refused(t, stage.send('PUT', `${path}/${id}`, { json: { ...values, z: 'z1', a: 'a1' } }), ['z', 'a'])
    t.is((await stage.patch(`${path}/${id}`, { n: 1 })).status, 200)
    // PUT sets the omitted `n` to null, so the stored `n` does not count.
    await refused(t, stage.send('PUT', `${path}/${id}`, { json: { z: 'z1', m: 'm1' } }), ['z'])
    t.is((await stage.patch(`${path}/${id}`, { n: 2 })).status, 200)
    await refused(t, stage.send('PUT', `${path}/${three}`, { json: { ...values, note: 'new' } }), [
      'z',
      'a',
      'm',
      'n',
      'day',
    ])
  })

  test.serial(`conflicts in bulk are named without the record: ${route}`, async (t) => {
    const items = [
      { id: three, z: 'z3' },
      { id: three + 1, z: 'z1', a: 'a2' },
      { id: three + 2, m: 'm1', n: 1 },
    ]
    await refused(t, stage.post(`${path}/bulk`, items), ['z', 'a', 'm', 'n'])
    const twins = [
      { id: three, z: 'z3', m: 'm3', n: 3 },
      { id: three + 1, z: 'z3', a: 'a1', m: 'm3', n: 4 },
    ]
    await refused(t, stage.post(`${path}/bulk`, twins), ['z', 'a'])
    await refused(t, stage.patch(`${path}/bulk`, [{ id: two, ...SECOND, z: 'z1' }]), ['z'])
    await stage.post(path, { id: 60, z: 'z60', a: 'a60' })
    const changes = [
      { id: two, z: 'z9', a: 'a9' },
      { id: one, z: 'z60', a: 'a60', note: 'x' },
    ]
    await refused(t, stage.patch(`${path}/bulk`, changes), ['z', 'a'])
    const upserts = [
      { id: two, ...SECOND, z: 'z1', a: 'a1' },
      { id: three, day: '2026-01-01' },
    ]
    await refused(t, stage.send('PUT', `${path}/bulk?by=id`, { json: upserts }), ['z', 'a', 'day'])
    const byNumber = upserts.map(({ id: _, ...item }, index) => ({
      ...item,
      day: SECOND.day,
      id: two + index,
      z: 'z1',
    }))
    await refused(t, stage.send('PUT', `${path}/bulk?by=day`, { json: byNumber.slice(0, 1) }), ['z', 'a'])
    t.is((await stage.delete(`${path}/60`)).status, 204)
  })

  test.serial(`a record of the batch holds the values that its item keeps: ${route}`, async (t) => {
    const kept = { id: one, note: 'kept' }
    const taking = { id: two, z: 'z1', a: 'a1', m: 'm1', n: 1 }
    const all = ['z', 'a', 'm', 'n']
    await refused(t, stage.patch(`${path}/bulk`, [kept, taking]), all)
    await refused(t, stage.patch(`${path}/bulk`, [taking, kept]), all)
    await refused(t, stage.patch(`${path}/bulk`, [{ ...kept, z: 'z9', n: 9 }, taking]), ['a'])
    await refused(t, stage.send('PUT', `${path}/bulk?by=id`, { json: [kept, taking] }), all)
    t.like((await stage.get(`${path}/${one}`)).body, FIRST)
    t.like((await stage.get(`${path}/${two}`)).body, SECOND)
  })

  test.serial(`soft-deleted records hold their values: ${route}`, async (t) => {
    t.is((await stage.delete(`${path}/${one}`)).status, 204)
    await refused(t, stage.post(path, { id: three, z: 'z1', a: 'a2', m: 'm1', n: 1 }), ['z', 'a', 'm', 'n'])
    await refused(t, stage.patch(`${path}/${two}`, { z: 'z1', a: 'a1' }), ['z', 'a'])
  })
}

test.serial('a nested body names the conflicts of one record, but no values that the request frees', async (t) => {
  t.is((await stage.post('/orders', { number: '1', lines: [{ sku: 's1', serial: 'x1' }] })).status, 201)
  const other = await stage.post('/orders', { number: '2', lines: [{ sku: 's2', serial: 'x2' }] })
  t.is(other.status, 201)
  const taken = ['is already taken.']
  const made = await stage.post('/orders', { number: '3', lines: [{ sku: 's1', serial: 'x2' }] })
  t.deepEqual([made.status, made.body.errors], [409, { sku: taken, serial: taken }])
  const path = `/orders/${other.body.id}`
  const replaced = await stage.patch(path, { lines: [{ sku: 's2', serial: 'x1' }] })
  t.deepEqual([replaced.status, replaced.body.errors], [409, { serial: taken }])
  const renamed = await stage.patch(path, { number: '1', lines: [{ sku: 's2', serial: 'x9' }] })
  t.deepEqual([renamed.status, renamed.body.errors], [409, { number: taken }])
})

test.serial(
  'every value that a record outside the scope holds is named, and no key that an update ignores',
  async (t) => {
    const Badge = stage.sequelize.model('Badge')
    await Badge.bulkCreate([
      { code: 'theirs', serial: 's1', label: 'l1', shelf: 2 },
      { code: 'mine', serial: 's2', label: 'l2', shelf: 1 },
    ])
    const refused = async (method: string, path: string, json: object, fields: readonly string[]): Promise<void> => {
      const { status, body } = await stage.send(method, `/badges${path}`, { json })
      const errors = Object.fromEntries(fields.map((field) => [field, ['is already taken.']]))
      t.deepEqual([status, body.errors], [409, errors], `${method} ${path} ${JSON.stringify(json)}`)
    }
    for (const [item, fields] of [
      [{ code: 'theirs', serial: 's1' }, ['code', 'serial']],
      [{ code: 'theirs', serial: 's1', label: 'l2' }, ['code', 'serial', 'label']],
    ] as const) {
      await refused('POST', '', item, fields)
      await refused('PUT', '/theirs', item, fields)
      await refused('PUT', '/bulk?by=serial', [item], fields)
      await refused('PUT', '/bulk?by=code', [item], fields)
    }
    await refused('PUT', '/theirs', { serial: 's3' }, ['code'])
    await refused('PUT', '/bulk?by=serial', [{ code: 'new', serial: 's1' }], ['serial'])
    await refused('PUT', '/bulk?by=serial', [{ code: 'theirs', serial: 's2', label: 'l1' }], ['label'])
    t.is(await Badge.count(), 2)
  },
)

test.serial('a default value that fails in the search for conflicts changes nothing', async (t) => {
  let left = 0
  const own = await openStage(({ sequelize }, app) => {
    const nextLabel = (): string => {
      left -= 1
      if (left < 0) throw new RangeError('there is no label left')
      return `label ${left}`
    }
    const label = { type: text, defaultValue: nextLabel }
    const Desk = sequelize.define('Desk', { name: text }, { timestamps: false })
    const Ticket = sequelize.define('Ticket', { code: { type: text, unique: true }, label }, { timestamps: false })
    Ticket.belongsTo(Desk, { as: 'desk', foreignKey: 'deskId' })
    app.use(crudRouter(Ticket))
  })
  t.teardown(own.close)
  left = 2
  t.is((await own.post('/api/tickets', { code: 'a' })).status, 201)
  left = 1
  const { status, body } = await own.post('/api/tickets', { code: 'a' })
  t.is(status, 409)
  t.deepEqual(body.errors, { code: ['is already taken.'] })
  left = 1
  t.is((await own.post('/api/tickets', { code: 'b', deskId: 99 })).status, 409)
})
