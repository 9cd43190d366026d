// A resource has one key. Tables whose primary key is several columns need another column that tells their rows apart.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

interface Models {
  readonly Seat: ModelStatic<Model>
}

const part = { type: DataTypes.INTEGER, primaryKey: true }
const attributes = () => ({
  hall: { ...part },
  number: { ...part },
  code: { type: DataTypes.STRING(10), allowNull: false, unique: true },
  note: DataTypes.STRING,
})
const define = (sequelize: Sequelize): Models => ({
  Seat: sequelize.define('Seat', attributes(), { timestamps: false }),
})

const seats = await openStage<Models>(({ sequelize }, app) => {
  const models = define(sequelize)
  const { Seat } = models
  const options = { keyProperty: 'code', operations: Operations.AllWithBulk }
  app.use(crudRouter(Seat, { ...options, route: 'plain' }))
  app.use(crudRouter(Seat, { ...options, route: 'hooked', hooks: { beforeUpdate: () => undefined } }))
  return models
})
const { Seat } = seats
await Seat.bulkCreate([1, 2, 3].map((number) => ({ hall: 1, number, code: `1-${number}`, note: 'free' })))
test.after.always(() => seats.close())

test('a unique column is the key of a table whose primary key is a pair', async (t) => {
  t.deepEqual((await seats.get('/plain/1-2')).body, { hall: 1, number: 2, code: '1-2', note: 'free' })
  t.deepEqual((await seats.patch('/plain/1-2', { note: 'taken' })).body.note, 'taken')
  t.deepEqual((await seats.get('/plain/1-3')).body.note, 'free')
  const again = await seats.post('/plain', { hall: 1, number: 2, code: '1-2b' })
  t.is(again.status, 409)
  t.deepEqual(again.body.errors, { hall: ['is already taken.'], number: ['is already taken.'] })
})

test('a PATCH leaves the parts of the primary key as they are, with hooks and without', async (t) => {
  await seats.post('/plain/bulk', [
    { hall: 2, number: 1, code: '2-1' },
    { hall: 3, number: 1, code: '3-1' },
  ])
  const plain = await seats.patch('/plain/2-1', { number: 7, note: 'moved' })
  const hooked = await seats.patch('/hooked/3-1', { number: 7, note: 'moved' })
  t.like(plain.body, { number: 1, note: 'moved' })
  t.like(hooked.body, { number: 1, note: 'moved' })
})

// With such a key a PATCH would write several records and a DELETE remove them, and a cursor would leave records out.
for (const [what, name, keyProperty] of [
  ['named as the key', 'Place', 'hall'],
  ['taken for the key by its name', 'Ticket', undefined],
] as const) {
  test(`a part of the primary key ${what} is refused at mount`, (t) => {
    const id = { id: { ...part } }
    const model = seats.sequelize.define(name, { ...attributes(), ...(keyProperty === undefined ? id : {}) })
    const options: CrudOptions = keyProperty === undefined ? {} : { keyProperty }
    t.throws(() => crudRouter(model, options), { instanceOf: CrudConfigError, code: 'SDTO011' })
  })
}
