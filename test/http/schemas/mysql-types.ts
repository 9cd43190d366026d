// Types that are MySQL's own, as the Sakila sample database has them: YEAR and SET, for which Sequelize has only their
// SQL, and POINT. They are opaque: read and written, but neither compared nor sorted by.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
const onMysql = isMysql ? test : test.skip
const onMysqlInOrder = isMysql ? test.serial : test.serial.skip

const SPECIAL_FEATURES = "SET('Trailers','Commentaries','Deleted Scenes','Behind the Scenes')"

const serve = () =>
  openStage<{ readonly Film: ModelStatic<Model>; readonly Address: ModelStatic<Model> }>(({ sequelize }, app) => {
    const table = { timestamps: false, underscored: true, freezeTableName: true }
    const key = { type: DataTypes.INTEGER.UNSIGNED, primaryKey: true, autoIncrement: true }
    const Film = sequelize.define(
      'film',
      {
        filmId: { ...key },
        title: { type: DataTypes.STRING, allowNull: false },
        releaseYear: 'YEAR',
        rentalDuration: { type: DataTypes.TINYINT.UNSIGNED, allowNull: false, defaultValue: 3 },
        rating: { type: DataTypes.ENUM('G', 'PG', 'PG-13', 'R', 'NC-17'), defaultValue: 'G' },
        specialFeatures: SPECIAL_FEATURES,
      },
      table,
    )
    const Address = sequelize.define(
      'address',
      { addressId: { ...key }, location: { type: DataTypes.GEOMETRY('POINT'), allowNull: false } },
      table,
    )
    const Place = sequelize.define(
      'place',
      { location: DataTypes.GEOMETRY, opened: 'YEAR', tags: "SET('a','b')" },
      table,
    )
    Place.addHook('beforeFind', () => undefined)
    app.use(crudRouter(Place, { operations: Operations.AllWithBulk }))
    app.use(crudRouter(Film, { operations: Operations.AllWithBulk }))
    app.use(crudRouter(Address, { operations: Operations.AllWithBulk, onError: () => undefined }))
    return { Film, Address }
  })

const sakila = isMysql ? await serve() : null
test.after.always(() => sakila?.close())

/** The served schema, in tests that only run where there is one. */
function served(): NonNullable<typeof sakila> {
  if (sakila === null) throw new TypeError('there is no database with these types')
  return sakila
}

onMysql('a YEAR is a number and a SET its text, and what they cannot hold is 400', async (t) => {
  const film = {
    title: 'ACADEMY DINOSAUR',
    releaseYear: 2006,
    rating: 'PG-13',
    specialFeatures: 'Trailers,Commentaries',
  }
  const created = await served().post('/api/films', film)
  t.is(created.status, 201, created.text)
  t.deepEqual(created.body, { filmId: 1, ...film, rentalDuration: 3 })
  t.deepEqual((await served().get('/api/films/1')).body, created.body)
  const patched = await served().patch('/api/films/1', { releaseYear: null, specialFeatures: 'Deleted Scenes' })
  t.deepEqual(patched.body, { ...created.body, releaseYear: null, specialFeatures: 'Deleted Scenes' })
  const bulk = await served().post('/api/films/bulk', [{ title: 'ACE GOLDFINGER', releaseYear: 1999 }])
  t.is(bulk.body[0].releaseYear, 1999)
  for (const wrong of [
    { releaseYear: 'MCMXCIX' },
    { releaseYear: 3000 },
    { specialFeatures: 'Bloopers' },
    { specialFeatures: ['Trailers'] },
    { rentalDuration: 256 },
  ]) {
    t.is(
      (await served().post('/api/films', { title: 'ADAPTATION HOLES', ...wrong })).status,
      400,
      JSON.stringify(wrong),
    )
    t.is((await served().patch('/api/films/1', wrong)).status, 400, JSON.stringify(wrong))
  }
  t.is((await list(served(), '/api/films', { filter: 'releaseYear=1999' })).status, 400)
  t.is((await list(served(), '/api/films', { sort: 'specialFeatures' })).status, 400)
})

onMysqlInOrder('a POINT is GeoJSON', async (t) => {
  const location = { type: 'Point', coordinates: [-112.8185647, 49.6999986] }
  const created = await served().post('/api/addresses', { location })
  t.is(created.status, 201, created.text)
  t.deepEqual(created.body, { addressId: 1, location })
  t.deepEqual((await served().get('/api/addresses/1')).body, created.body)
  t.deepEqual((await list(served(), '/api/addresses')).body.items, [created.body])
})

onMysql('find hooks change no form of a value', async (t) => {
  const place = { location: { type: 'Point', coordinates: [1, 2.5] }, opened: 2006, tags: 'a' }
  const created = await served().post('/api/places', place)
  t.deepEqual([created.status, created.body.location, created.body.opened], [201, place.location, 2006], created.text)
  const { body } = await served().get('/api/places/1')
  t.deepEqual(body, created.body)
  t.deepEqual((await list(served(), '/api/places')).body.items, [body])
  const { location } = body
  t.deepEqual((await served().patch('/api/places/1', { location })).body, body)
})

onMysqlInOrder('a geometry may name its coordinate reference system by an EPSG code only', async (t) => {
  const point = { type: 'Point', coordinates: [1, 2] }
  for (const name of ['EPSG:4326', 'urn:ogc:def:crs:EPSG::4326']) {
    const location = { ...point, crs: { type: 'name', properties: { name } } }
    const { status, body, text } = await served().post('/api/addresses', { location })
    t.deepEqual([status, body.location], [201, point], text)
  }
  t.is((await served().post('/api/addresses', { location: { ...point, crs: null } })).status, 201)
  const message = 'must have the type "name" and a name such as "EPSG:4326".'
  const names = ['x', 'EPSG:', 'EPSG:x', 'urn:ogc:def:crs:OGC:1.3:CRS84', 5, true, {}, ['EPSG:4326']]
  const unknown = names.map((name) => ({ type: 'name', properties: { name } }))
  for (const crs of ['EPSG:4326', 5, {}, { type: 'link', properties: {} }, { type: 'name' }, ...unknown]) {
    const { status, body, text } = await served().post('/api/addresses', { location: { ...point, crs } })
    t.deepEqual([status, body.errors], [400, { 'location.crs': [message] }], text)
  }
})

onMysql('what is no GeoJSON is 400', async (t) => {
  for (const location of ['x', 5, {}, { type: 'Point' }, { type: 'Point', coordinates: ['a', 'b'] }]) {
    t.is((await served().post('/api/addresses', { location })).status, 400, JSON.stringify(location))
  }
})
