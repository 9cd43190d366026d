import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
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
