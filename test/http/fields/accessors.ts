// Getters and setters that a model gives as `getterMethods` and `setterMethods` are those of its attributes, as in
// Sequelize.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, QueryTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const served = await openStage<{ readonly User: ModelStatic<Model> }>(({ sequelize }, app) => {
  const User = sequelize.define(
    'User',
    { name: DataTypes.STRING, number: DataTypes.STRING, pin: DataTypes.STRING },
    {
      timestamps: false,
      getterMethods: {
        number(this: Model) {
          return String(this.getDataValue('number' as never)).replace(/.(?=..)/g, '*')
        },
        initials: () => 'never an attribute',
      },
      setterMethods: {
        pin(this: Model, value: unknown) {
          this.setDataValue('pin' as never, `hash of ${value}` as never)
        },
      },
    },
  )
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, { timestamps: false })
  Team.hasMany(User, { as: 'users', foreignKey: 'teamId' })
  User.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const operations = Operations.AllWithBulk | Operations.Replace | Operations.BulkUpdate | Operations.Aggregate
  app.use(crudRouter(User, { operations, fields: { pin: { exclude: ['response', 'query'] } } }))
  app.use(crudRouter(Team))
  return { User }
})
test.after.always(() => served.close())

const storedPins = async (): Promise<readonly unknown[]> => {
  const { User, sequelize } = served
  const rows = await sequelize.query(
    `SELECT pin FROM ${sequelize.getQueryInterface().quoteIdentifier(String(User.getTableName()))} ORDER BY id`,
    { type: QueryTypes.SELECT },
  )
  return rows.map((row) => Reflect.get(row, 'pin'))
}

test('every answer shows what the getter returns', async (t) => {
  const shown = '**34'
  const team = (await served.post('/api/teams', { name: 'a' })).body
  const { status, body } = await served.post('/api/users', { name: 'ann', number: '1234', pin: '1', teamId: team.id })
  t.is(status, 201)
  t.deepEqual(body, { id: body.id, name: 'ann', number: shown, teamId: team.id })
  const path = `/api/users/${body.id}`
  t.is((await served.get(path)).body.number, shown)
  t.is((await served.get('/api/users?select=number')).body.items[0].number, shown)
  t.is((await served.patch(path, { name: 'bea' })).body.number, shown)
  t.is((await served.get(`/api/teams/${team.id}?select=users(number)`)).body.users[0].number, shown)
  t.false((await served.get('/api/users?format=csv')).text.includes('1234'))
  t.is((await served.get('/api/users?aggregate=count&group=number')).status, 400)
})

test('every write stores what the setter makes of the value', async (t) => {
  const [{ id }] = (await served.get('/api/users?select=id')).body.items
  t.is((await served.patch(`/api/users/${id}`, { pin: '2' })).status, 200)
  t.deepEqual(await storedPins(), ['hash of 2'])
  t.is((await served.patch('/api/users/bulk', [{ id, pin: '3' }])).status, 200)
  t.deepEqual(await storedPins(), ['hash of 3'])
  t.is((await served.send('PUT', `/api/users/${id}`, { json: { name: 'ann', number: '1234', pin: '4' } })).status, 200)
  t.is((await served.post('/api/users/bulk', [{ name: 'cia', pin: '5' }])).status, 201)
  t.deepEqual(await storedPins(), ['hash of 4', 'hash of 5'])
})
