// Foreign keys that equal the key they refer to by the collation of their columns, not by their characters. Every route follows
// them as the database joins them.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

/** Past Sequelize's instances, through them in writes, and through them in reads as well. */
const WAYS = {
  plain: {},
  saved: { beforeSave: () => undefined, beforeDestroy: () => undefined },
  found: { beforeSave: () => undefined, beforeDestroy: () => undefined, beforeFind: () => undefined },
}

type Way = keyof typeof WAYS
const ways = Object.keys(WAYS) as Way[]

interface Relation {
  readonly routes: true
  readonly write?: true
}

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
/** Text that is compared without regard to case. */
const folded = isMysql ? DataTypes.STRING(20) : DataTypes.CITEXT
const both: Relation = { routes: true, write: true }
const routed: Relation = { routes: true }

const operations = Operations.AllWithBulk + Operations.BulkUpdate

const stage = await openStage(({ sequelize }, app) => {
  if (databaseName === 'postgres') {
    sequelize.addHook('beforeBulkSync', async () => {
      await sequelize.query('CREATE EXTENSION IF NOT EXISTS citext')
    })
  }
  for (const way of ways) {
    const options = { timestamps: false, hooks: WAYS[way] }
    // Anew each time: Sequelize writes into what it is given.
    const code = () => ({ type: folded, primaryKey: true })
    const Country = sequelize.define(`${way}Country`, { code: code(), name: DataTypes.STRING(20) }, options)
    const City = sequelize.define(`${way}City`, { name: DataTypes.STRING(20), countryCode: folded }, options)
    const Anthem = sequelize.define(`${way}Anthem`, { title: DataTypes.STRING(20), countryCode: folded }, options)
    const Tag = sequelize.define(`${way}Tag`, { word: code(), rank: DataTypes.INTEGER }, options)
    const note = DataTypes.STRING(20)
    const Mark = sequelize.define(`${way}Mark`, { country: code(), word: code(), note }, options)
    const no = { type: DataTypes.INTEGER, primaryKey: true }
    const Seat = sequelize.define(`${way}Seat`, { country: code(), no, text: note }, options)
    const Region = sequelize.define(`${way}Region`, { code: code(), isOpen: DataTypes.BOOLEAN }, options)
    const Spot = sequelize.define(`${way}Spot`, { regionCode: folded }, options)
    const tie = { foreignKey: 'countryCode' }
    Country.hasMany(City, { as: 'cities', ...tie, onDelete: 'CASCADE' })
    City.belongsTo(Country, { as: 'country', ...tie })
    Country.hasOne(Anthem, { as: 'anthem', ...tie })
    Anthem.belongsTo(Country, { as: 'country', ...tie })
    Country.belongsToMany(Tag, { as: 'tags', through: Mark, foreignKey: 'country', otherKey: 'word' })
    Tag.belongsToMany(Country, { as: 'countries', through: Mark, foreignKey: 'word', otherKey: 'country' })
    Country.hasMany(Seat, { as: 'seats', foreignKey: 'country' })
    Spot.belongsTo(Region, { as: 'region', foreignKey: 'regionCode' })
    const at = (model: ModelStatic<Model>, route: string, relations: Record<string, Relation>): void => {
      app.use(`/${way}`, crudRouter(model, { operations, route, relations }))
    }
    at(Country, 'countries', { cities: both, anthem: both, tags: both, seats: both })
    at(City, 'cities', { country: routed })
    at(Anthem, 'anthems', {})
    at(Seat, 'seats', {})
    at(Mark, 'marks', {})
    at(Tag, 'tags', { countries: routed })
    at(Spot, 'spots', { region: routed })
    app.use(`/${way}`, crudRouter(Region, { route: 'regions', scope: () => ({ isOpen: true }) }))
  }
})
const { sequelize } = stage
test.after.always(() => stage.close())

const model = (way: Way, name: string): ModelStatic<Model> => sequelize.model(`${way}${name}`)

let last = 0

/** A country of its own for a test, and the code in other letters. */
function newCodes(): { readonly code: string; readonly other: string } {
  last += 1
  return { code: `PL${last}`, other: `pl${last}` }
}

/** A country whose cities refer to it in other letters, the first of them, and in its own. */
async function country(way: Way) {
  const codes = newCodes()
  const Country = model(way, 'Country')
  const City = model(way, 'City')
  await Country.create({ code: codes.code, name: 'Poland' })
  const first = await City.create({ name: 'Gdynia', countryCode: codes.other })
  const second = await City.create({ name: 'Sopot', countryCode: codes.code })
  const ids = [first, second].map((city) => Number(city.get('id')))
  return { ...codes, ids, path: `/${way}/countries/${codes.code}` }
}

async function citiesOf(way: Way, code: string): Promise<readonly unknown[]> {
  const rows = await model(way, 'City').findAll({ where: { countryCode: [code, code.toLowerCase()] }, order: ['id'] })
  return rows.map((row) => row.get('name'))
}

for (const way of ways) {
  test(`${way}: the route below a record lists what embeds, paths and counts include`, async (t) => {
    const { code, path } = await country(way)
    const list = await stage.get(`${path}/cities?sort=Id`)
    t.is(list.status, 200, list.text)
    const names = ['Gdynia', 'Sopot']
    t.deepEqual(
      list.body.items.map(({ name }: { name: string }) => name),
      names,
    )
    t.is((await stage.get(`${path}/cities?count=true`)).body.count, 2)
    const embedded = await stage.get(`/${way}/countries?keys=${code}&select=cities.name`)
    t.deepEqual(
      embedded.body.items[0].cities.map(({ name }: { name: string }) => name),
      names,
    )
    t.is((await stage.get(`/${way}/cities?filter=Country.Code=${code}&count=true`)).body.count, 2)
    t.is((await stage.get(`/${way}/countries?keys=${code}&filter=cities.count=2&count=true`)).body.count, 1)
  })

  test(`${way}: the route to one record leads to the record that the database joins`, async (t) => {
    const { code, other, ids, path } = await country(way)
    const found = await stage.get(`/${way}/cities/${ids[0]}/country`)
    t.is(found.status, 200, found.text)
    t.is(found.body.code, code)
    await model(way, 'Anthem').create({ title: 'Mazurek', countryCode: other })
    const anthem = await stage.get(`${path}/anthem`)
    t.is(anthem.status, 200, anthem.text)
    t.is(anthem.body.title, 'Mazurek')
  })

  test(`${way}: nested writes change, keep and remove the records that the database joins`, async (t) => {
    const { code, other, ids, path } = await country(way)
    const [first, second] = ids
    const body = { cities: [{ id: first, name: 'Gdańsk', countryCode: other }, { id: second }, { name: 'Hel' }] }
    const changed = await stage.patch(path, body)
    t.is(changed.status, 200, changed.text)
    t.deepEqual(await citiesOf(way, code), ['Gdańsk', 'Sopot', 'Hel'])
    const removed = await stage.patch(path, { cities: [{ id: second }] })
    t.is(removed.status, 200, removed.text)
    t.deepEqual(await citiesOf(way, code), ['Sopot'])
    await model(way, 'City').update({ countryCode: other }, { where: { id: Number(second) } })
    const bulk = await stage.send('PATCH', `/${way}/countries/bulk`, { json: [{ code, cities: [] }] })
    t.is(bulk.status, 200, bulk.text)
    t.deepEqual(await citiesOf(way, code), [])
  })

  test(`${way}: a nested record may state its owner as it is stored, and no other owner`, async (t) => {
    const { code, other, ids, path } = await country(way)
    const foreign = newCodes()
    await model(way, 'Country').create({ code: foreign.code })
    const wrong = await stage.patch(path, { cities: [{ id: ids[0], countryCode: foreign.code }] })
    t.is(wrong.status, 400, wrong.text)
    t.deepEqual(Object.keys(wrong.body.errors), ['cities[0].countryCode'])
    t.deepEqual(await citiesOf(way, code), ['Gdynia', 'Sopot'])
    const created = await stage.post(`${path}/cities`, { name: 'Hel', countryCode: other })
    t.is(created.status, 201, created.text)
    const refused = await stage.post(`${path}/cities`, { name: 'Hel', countryCode: foreign.other })
    t.is(refused.status, 400, refused.text)
    t.deepEqual(Object.keys(refused.body.errors), ['countryCode'])
  })

  test(`${way}: parts of keys that refer to the owner are compared as the database joins them`, async (t) => {
    const { code, other, path } = await country(way)
    await model(way, 'Seat').create({ country: other, no: 1, text: 'old' })
    const changed = await stage.patch(path, { seats: [{ no: 1, text: 'new' }, { no: 2 }] })
    t.is(changed.status, 200, changed.text)
    const rows = await model(way, 'Seat').findAll({ where: { country: [code, other] }, order: ['no'] })
    t.deepEqual(
      rows.map((row) => [row.get('no'), row.get('text')]),
      [
        [1, 'new'],
        [2, null],
      ],
    )
  })

  test(`${way}: links are found and undone in other letters, and not made twice`, async (t) => {
    const { code, other, path } = await country(way)
    const [Tag, Mark] = [model(way, 'Tag'), model(way, 'Mark')]
    const word = `News${last}`
    const second = `Sport${last}`
    await Tag.bulkCreate([{ word }, { word: second }])
    const count = () => Mark.count({ where: { country: [code, other] } })
    const foreign = { country: other, word: word.toLowerCase() }
    await Mark.create(foreign)
    t.is((await stage.get(`${path}/tags`)).body.totalCount, 1)
    t.is((await stage.get(`/${way}/tags/${word}/countries`)).body.totalCount, 1)
    t.is((await stage.send('PUT', `${path}/tags/${word}`)).status, 204)
    t.is(await count(), 1)
    const stated = await stage.send('PUT', `${path}/tags/${word}`, { json: { ...foreign, note: 'x' } })
    t.is(stated.status, 204, stated.text)
    t.deepEqual(
      (await Mark.findAll({ where: { country: [code, other] } })).map((row) => row.get('note')),
      ['x'],
    )
    const set = await stage.send('PUT', `${path}/tags`, { json: [word, second] })
    t.deepEqual(set.body, { linked: 1, unlinked: 0 }, set.text)
    const added = await stage.post(`${path}/tags`, [word])
    t.deepEqual(added.body, { linked: 0 }, added.text)
    const patched = await stage.patch(path, { tags: [word] })
    t.is(patched.status, 200, patched.text)
    t.is(await count(), 1)
    t.is((await stage.delete(`${path}/tags/${word}`)).status, 204)
    t.is(await count(), 0)
    await Mark.create(foreign)
    const cleared = await stage.send('PUT', `${path}/tags`, { json: [] })
    t.deepEqual(cleared.body, { linked: 0, unlinked: 1 }, cleared.text)
    t.is(await count(), 0)
  })

  test(`${way}: a foreign key in a body refers to the record that the database joins, within the scope`, async (t) => {
    const { other } = newCodes()
    const shut = newCodes()
    await model(way, 'Region').bulkCreate([
      { code: other.toUpperCase(), isOpen: true },
      { code: shut.code, isOpen: false },
    ])
    const created = await stage.post(`/${way}/spots`, { regionCode: other })
    t.is(created.status, 201, created.text)
    t.is((await stage.get(`/${way}/spots/${created.body.id}/region`)).status, 200)
    t.is((await stage.post(`/${way}/spots`, { regionCode: shut.other })).status, 409)
    const bulk = await stage.post(`/${way}/spots/bulk`, [{ regionCode: other }, { regionCode: other.toUpperCase() }])
    t.is(bulk.status, 201, bulk.text)
  })
}
