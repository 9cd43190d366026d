// Two relations may lead to one record: what one of them holds, the other cannot leave out.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const served = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING, role: DataTypes.STRING }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Team.hasOne(Player, { as: 'captain', foreignKey: 'teamId', scope: { role: 'captain' } })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  app.use(crudRouter(Team, { operations, relations: { players: { write: true }, captain: { write: true } } }))
  app.use(crudRouter(Player))
  return { Team, Player }
})
test.after.always(() => served.close())

test('a record that one part of a body holds and another one removes is refused, and nothing is written', async (t) => {
  const { Team, Player } = served
  const team = await Team.create({ name: 'Lakers' })
  const id = Number(team.get('id'))
  const [captain, other] = await Player.bulkCreate([
    { name: 'Jan', role: 'captain', teamId: id },
    { name: 'Ana', role: 'wing', teamId: id },
  ])
  const players = [{ id: captain?.get('id'), name: 'Jon' }, { id: other?.get('id') }]
  const errors = { 'players[0]': ['is removed by another part of the body.'] }
  const refused = await served.patch(`/api/teams/${id}`, { name: 'x', players, captain: null })
  t.deepEqual([refused.status, refused.body.errors], [400, errors])
  const several = await served.patch('/api/teams/bulk', [{ id, players, captain: null }])
  t.deepEqual(
    [several.status, several.body.errors],
    [400, { '[0].players[0]': ['is removed by another part of the body.'] }],
  )
  const names = (await Player.findAll({ order: ['id'] })).map((player) => player.get('name'))
  t.deepEqual([names, (await team.reload()).get('name')], [['Jan', 'Ana'], 'Lakers'])

  const changed = await served.patch(`/api/teams/${id}`, { players, captain: { role: 'captain' } })
  t.is(changed.status, 200, changed.text)
  const removed = await served.patch(`/api/teams/${id}`, { captain: null })
  t.deepEqual([removed.status, await Player.count()], [200, 1])
})
