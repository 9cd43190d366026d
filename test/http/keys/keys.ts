import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const served = await openStage(({ sequelize }, app) => {
  const named = (plural: string): object => ({ name: { singular: plural, plural }, timestamps: false })
  const Country = sequelize.define(
    'Country',
    { code: { type: DataTypes.STRING(2), primaryKey: true }, title: DataTypes.STRING },
    named('countries'),
  )
  const City = sequelize.define('City', { title: DataTypes.STRING }, named('cities'))
  const Hidden = sequelize.define(
    'Hidden',
    { code: { type: DataTypes.STRING(2), primaryKey: true }, title: DataTypes.STRING },
    named('hidden'),
  )
  const Given = sequelize.define(
    'Given',
    { id: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 }, title: DataTypes.STRING },
    named('given'),
  )
  City.belongsTo(Country, { as: 'country', foreignKey: { name: 'countryCode', allowNull: true } })
  app.use(crudRouter(Country))
  app.use(crudRouter(City))
  app.use(crudRouter(Hidden, { fields: { code: { exclude: 'query' } } }))
  app.use(crudRouter(Given))
  const operations = Operations.AllWithBulk + Operations.BulkUpdate + Operations.Replace
  const decimals = { short: DataTypes.DECIMAL(6, 2), long: DataTypes.DECIMAL(20, 2), small: DataTypes.DECIMAL(15, 10) }
  for (const [name, type] of Object.entries(decimals)) {
    const Price = sequelize.define(
      `${name}Price`,
      { amount: { type, primaryKey: true }, note: DataTypes.STRING },
      named(`${name}-prices`),
    )
    app.use(crudRouter(Price, { operations }))
  }
  for (const [name, hooks] of [
    ['Answer', []],
    ['HookedAnswer', ['beforeFind', 'beforeSave', 'beforeDestroy']],
  ] as const) {
    const Answer = sequelize.define(
      name,
      { isRight: { type: DataTypes.BOOLEAN, primaryKey: true, field: 'is_right' }, text: DataTypes.STRING },
      named(name),
    )
    for (const hook of hooks) Answer.addHook(hook, () => undefined)
    const actions = { same: { on: 'record', method: 'post', handler: () => true } } as const
    app.use(crudRouter(Answer, { operations, actions }))
  }
  return { Country, City, Hidden, Given }
})
const { Country, City, Hidden, Given } = served
await Country.bulkCreate([
  { code: 'pl', title: 'Poland' },
  { code: 'pt', title: 'Portugal' },
  { code: 'de', title: 'Germany' },
])
await City.bulkCreate([
  { title: 'Gdynia', countryCode: 'pl' },
  { title: 'Porto', countryCode: 'pt' },
])
await Hidden.create({ code: 'pl', title: 'Poland' })
await Given.create({ title: 'x' })

test.after.always(() => served.close())

test('a key that the client chooses is a field to filter by, as a parameter too', async (t) => {
  const filtered = await list(served, '/api/countries', { filter: 'Code^p', sort: '-Code' })
  t.is(filtered.status, 200, filtered.text)
  t.deepEqual(
    filtered.body.items.map(({ code }: { code: string }) => code),
    ['pt', 'pl'],
  )
  const typed = await list(served, '/api/countries', { code: 'de' })
  t.like(typed.body, { totalCount: 1, items: [{ title: 'Germany' }] })
  const path = await list(served, '/api/cities', { filter: 'Country.Code=pl' })
  t.like(path.body, { totalCount: 1, items: [{ title: 'Gdynia' }] })
})

test('a key that the client chooses and that is excluded from the query is no field of it', async (t) => {
  t.is((await list(served, '/api/hidden', { filter: 'Code=pl' })).body.title, 'Unknown field.')
  t.deepEqual((await list(served, '/api/hidden', { code: 'xx' })).body.errors, {
    code: ['is not a parameter of this list. Use the parameter "keys", such as keys=1,2.'],
  })
})

test('a key that the database or the model gives is no field to filter by', async (t) => {
  const { id } = (await served.get('/api/given')).body.items[0]
  t.is((await list(served, '/api/given', { filter: `Id=${id}` })).body.title, 'Unknown field.')
  t.is((await list(served, '/api/cities', { filter: 'Id=1' })).body.title, 'Unknown field.')
})

for (const [kind, amount, other] of [
  ['short', 1.5, 1.501],
  ['long', '1.50', '1.501'],
] as const) {
  test(`a DECIMAL with more decimal places than the column is the key of no record: ${kind}`, async (t) => {
    const path = `/api/${kind}-prices`
    await served.post(path, { amount, note: 'as it was' })
    const missing = { status: 404, body: { code: 'not-found' } }
    t.like(await served.get(`${path}/1.501`), missing)
    t.deepEqual((await list(served, path, { keys: '1.501' })).body.items, [])
    t.like(await served.patch(`${path}/1.501`, { note: 'other' }), missing)
    t.like(await served.send('PUT', `${path}/1.501`, { json: { note: 'other' } }), missing)
    const several = await served.patch(`${path}/bulk`, [
      { amount, note: 'other' },
      { amount: other, note: 'other' },
    ])
    t.like(several, { status: 404, body: { errors: { '[1]': ['does not exist.'] } } })
    t.deepEqual((await served.post(`${path}/bulk-delete`, [other])).body, { deleted: 0 })
    t.like(await served.delete(`${path}/1.501`), missing)
    t.deepEqual((await served.get(path)).body.items, [{ amount, note: 'as it was' }])
  })
}

test('a DECIMAL key is read with the exponent that JSON writes', async (t) => {
  const path = '/api/small-prices'
  const { headers } = await served.post(path, { amount: 1e-7, note: 'new' })
  t.is(headers.get('location'), `${path}/1e-7`)
  t.deepEqual((await served.get(`${path}/1e-7`)).body, { amount: 1e-7, note: 'new' })
  t.deepEqual((await list(served, path, { keys: '1e-7' })).body.items, [{ amount: 1e-7, note: 'new' }])
  const replaced = await served.send('PUT', `${path}/0.0000001`, { json: { amount: 1e-7, note: 'replaced' } })
  t.deepEqual(replaced.body, { amount: 1e-7, note: 'replaced' })
  t.is((await served.patch(`${path}/bulk`, [{ amount: 1e-7, note: 'patched' }])).status, 200)
  t.is((await served.get(`${path}/1E-7`)).status, 404)
  t.deepEqual((await served.post(`${path}/bulk-delete`, [1e-7])).body, { deleted: 1 })
})

for (const name of ['Answer', 'HookedAnswer']) {
  test(`a record is found by its BOOLEAN key in every request: ${name}`, async (t) => {
    const path = `/api/${name}`
    for (const isRight of [true, false]) {
      const other = `${path}/${!isRight}`
      const made = await served.post(path, { isRight, text: 'a' })
      t.is(made.status, 201, made.text)
      const location = made.headers.get('location') ?? ''
      t.is(location, `${path}/${isRight}`)
      t.deepEqual((await served.get(location)).body, { isRight, text: 'a' })
      t.is((await served.get(other)).status, 404)
      const changed = await served.patch(location, { text: 'b' })
      t.deepEqual([changed.status, changed.body], [200, { isRight, text: 'b' }], changed.text)
      const replaced = await served.send('PUT', location, { json: { isRight, text: 'c' } })
      t.deepEqual([replaced.status, replaced.body], [200, { isRight, text: 'c' }], replaced.text)
      const upserted = await served.send('PUT', `${path}/bulk?by=isRight`, { json: [{ isRight, text: 'd' }] })
      t.deepEqual([upserted.status, upserted.body], [200, { created: 0, updated: 1 }], upserted.text)
      t.is((await served.patch(`${path}/bulk`, [{ isRight, text: 'e' }])).status, 200)
      t.is((await served.patch(`${path}/bulk`, [{ isRight: !isRight, text: 'e' }])).status, 404)
      t.deepEqual((await served.get(`${path}?keys=${isRight}`)).body.items, [{ isRight, text: 'e' }])
      t.deepEqual((await served.get(`${path}?keys=${!isRight}`)).body.items, [])
      for (const key of ['TRUE', 'False', '1', '0', 't', 'null']) t.is((await served.get(`${path}/${key}`)).status, 404)
      t.is((await served.delete(other)).status, 404)
      t.is((await served.delete(location)).status, 204)
      t.is((await served.get(location)).status, 404)
    }
    await served.post(`${path}/bulk`, [
      { isRight: true, text: 'a' },
      { isRight: false, text: 'b' },
    ])
    t.deepEqual((await served.post(`${path}/false/same`, {})).body, { isRight: true, text: 'a' })
    t.deepEqual((await served.post(`${path}/bulk-delete`, ['true', 'other', 1])).body, { deleted: 1 })
    t.deepEqual((await served.post(`${path}/bulk-delete`, [false, true])).body, { deleted: 1 })
  })
}
