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

test('a body that changes a record and removes it from a tree is refused, and nothing is written', async (t) => {
  const tree = await openStage(({ sequelize }, app) => {
    const Page = sequelize.define('Page', { name: DataTypes.STRING }, { timestamps: false })
    Page.hasMany(Page, { as: 'pages', foreignKey: 'upId', constraints: false })
    const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
    app.use(crudRouter(Page, { operations, relations: { pages: { write: true } } }))
  })
  t.teardown(() => tree.close())
  await tree.post('/api/pages', { name: 'home', pages: [{ name: 'a' }, { name: 'b' }] })
  const error = 'The body removes a record that it also changes.'
  const several = await tree.patch('/api/pages/bulk', [
    { id: 2, name: 'A' },
    { id: 1, pages: [{ id: 3 }] },
  ])
  t.deepEqual([several.status, several.body.errors], [400, { '[1].pages': [error] }])
  t.is((await tree.patch('/api/pages/1', { upId: 1 })).status, 200)
  for (const method of ['PATCH', 'PUT']) {
    const { status, body } = await tree.send(method, '/api/pages/1', { json: { name: 'x', pages: [{ id: 2 }] } })
    t.deepEqual([status, body.errors], [400, { pages: [error] }])
  }
  const { body } = await tree.get('/api/pages?select=name')
  t.deepEqual(body.items, [{ name: 'home' }, { name: 'a' }, { name: 'b' }])
  const kept = await tree.patch('/api/pages/1', { name: 'start', pages: [{ id: 1 }, { id: 2 }] })
  t.deepEqual(kept.body.pages, [
    { id: 1, name: 'start', upId: 1 },
    { id: 2, name: 'a', upId: 1 },
  ])
})
