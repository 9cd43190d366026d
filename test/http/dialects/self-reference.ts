// Records that point at themselves. Where clients choose the key every database takes them at once. Where the database
// counts it, MySQL looks for the record before that has its key, from the version on that does not leave foreign keys
// to InnoDB; such a record can be pointed at itself afterwards.

import ava from 'ava'
import { DataTypes, QueryTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const served = await openStage(({ sequelize }, app) => {
  const name = DataTypes.STRING
  const Counted = sequelize.define('Counted', { name }, { timestamps: false })
  const id = { type: DataTypes.INTEGER, primaryKey: true }
  const Chosen = sequelize.define('Chosen', { id, name }, { timestamps: false })
  for (const model of [Counted, Chosen]) model.belongsTo(model, { as: 'origin', foreignKey: 'originId' })
  app.use(crudRouter(Counted, { operations: Operations.AllWithBulk, route: 'api/counted' }))
  app.use(crudRouter(Chosen, { operations: Operations.AllWithBulk, route: 'api/chosen' }))
  return { Counted, Chosen }
})
const settings =
  databaseName === 'mysql' || databaseName === 'mariadb'
    ? await served.sequelize.query("SHOW VARIABLES LIKE 'innodb_native_foreign_keys'", { type: QueryTypes.SELECT })
    : []
const looksFirst = JSON.stringify(settings).includes('"OFF"')
test.after.always(() => served.close())

test('a record that chooses its key may point at itself, and at the one before it in one request', async (t) => {
  const one = await served.post('/api/chosen', { id: 1, originId: 1 })
  t.is(one.status, 201)
  t.is(one.body.originId, 1)
  const two = await served.post('/api/chosen/bulk', [
    { id: 2, originId: 2 },
    { id: 3, originId: 2 },
  ])
  t.is(two.status, 201)
  t.deepEqual((await served.get('/api/chosen/3')).body, two.body[1])
})

test('a record whose key is counted may point at the one before it, and at itself when it is there', async (t) => {
  const { status, body } = await served.post('/api/counted/bulk', [{ name: 'first' }, { name: 'second', originId: 1 }])
  t.is(status, 201)
  t.deepEqual(
    body.map(({ id, originId }: { id: number; originId: number | null }) => [id, originId]),
    [
      [1, null],
      [2, 1],
    ],
  )
  const own = await served.patch('/api/counted/1', { originId: 1 })
  t.is(own.status, 200)
  t.deepEqual((await served.get('/api/counted/1')).body, { id: 1, name: 'first', originId: 1 })
  t.is((await served.delete('/api/counted/1')).status, 204)
  t.is((await served.get('/api/counted/2')).body.originId, null)
})

const answer = looksFirst ? 'is 409, and nothing is written' : 'is 201'
test(`a record that guesses the key it will get, to point at itself, ${answer}`, async (t) => {
  const { body: before } = await served.post('/api/counted', { name: 'before' })
  const count = await served.Counted.count()
  const { status, body } = await served.post('/api/counted', { name: 'own', originId: before.id + 1 })
  if (looksFirst) {
    t.is(status, 409)
    t.is(await served.Counted.count(), count)
  } else {
    t.is(status, 201)
    t.is(body.originId, body.id)
  }
})
