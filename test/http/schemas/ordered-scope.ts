// A default scope with an order.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const options = { timestamps: false, defaultScope: { order: [['id', 'DESC']] as never } }
  const id = { type: DataTypes.BIGINT, primaryKey: true }
  const Team = sequelize.define('Team', { id, name: DataTypes.STRING }, options)
  const Player = sequelize.define('Player', { id, level: DataTypes.INTEGER }, options)
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  app.use(crudRouter(Team))
  const players = crudRouter(Player, { flatten: ['team'], operations: Operations.All | Operations.Aggregate })
  app.get('/api/levels', async (req, res) => {
    res.json(await Player.findAll(await players.findOptions(req, { aggregate: 'max(level)' })))
  })
  app.use(players)
  return { Team, Player }
})
test.after.always(() => stage.close())
test.before(async () => {
  await stage.Team.create({ id: 1, name: 'Reds' })
  await stage.Player.bulkCreate([1, 2, 3].map((id) => ({ id, level: Math.min(id, 2), teamId: 1 })))
})

test('a record with fields of a related record is read', async (t) => {
  const { status, body } = await stage.get('/api/players/2')
  t.deepEqual([status, body], [200, { id: 2, level: 2, teamId: 1, teamName: 'Reds' }])
})

test('measures of all records need no order, and neither does the number of groups', async (t) => {
  const all = await stage.get('/api/players?aggregate=count,max(level)')
  t.deepEqual(all.body?.items, [{ count: 3, max: { level: 2 } }], all.text)
  const grouped = await stage.get('/api/players?group=level&aggregate=count&pageSize=1')
  t.deepEqual(grouped.body?.items, [{ group: { level: 1 }, count: 1 }], grouped.text)
  t.is(grouped.body.totalCount, 2)
  const own = await stage.get('/api/levels')
  t.deepEqual(own.body, [{ max: { level: 2 } }], own.text)
})

test('lists have the order of the list', async (t) => {
  const { body } = await stage.get('/api/players?select=id')
  t.deepEqual(body.items, [{ id: 1 }, { id: 2 }, { id: 3 }])
})
