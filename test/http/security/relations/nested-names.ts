// What ties a record to its owner may be excluded from every shape, and its name then be that of another field: the owner
// sets his own attribute, by whatever way the record comes, and the other one is the body's.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../../lib/index.js'
import { asUser, identityFromHeader, openStage } from '../../../support/stage.js'

// Most of them write.
const test = ava.serial

const errors: unknown[] = []
const exclude = { exclude: true } as const

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
  const Player = sequelize.define(
    'Player',
    {
      name: DataTypes.STRING(20),
      team_id: { type: DataTypes.INTEGER, field: 'owner_key' },
      teamId: DataTypes.INTEGER,
      kind_of: { type: DataTypes.STRING(9), field: 'owner_kind' },
      kindOf: { type: DataTypes.STRING(9), allowNull: false },
      tenant: DataTypes.INTEGER,
    },
    plain,
  )
  const Tagging = sequelize.define(
    'Tagging',
    {
      id,
      kind_of: { type: DataTypes.STRING(9), field: 'link_kind' },
      kindOf: { type: DataTypes.STRING(9), allowNull: false },
    },
    plain,
  )
  const Guest = sequelize.define(
    'Guest',
    { name: DataTypes.STRING(20), team_id: { type: DataTypes.INTEGER, field: 'host' }, teamId: DataTypes.INTEGER },
    plain,
  )
  Team.hasMany(Player, { as: 'players', foreignKey: 'team_id', constraints: false, scope: { kind_of: 'player' } })
  Team.hasMany(Guest, { as: 'guests', foreignKey: 'team_id', constraints: false })
  Team.belongsToMany(Tag, {
    as: 'tags',
    through: { model: Tagging, unique: false, scope: { kind_of: 'team' } },
    foreignKey: 'teamId',
    otherKey: 'tagId',
    constraints: false,
  })
  const both = { routes: true, write: true } as const
  app.use(
    crudRouter(Team, {
      onError: (error) => errors.push(error),
      identity: identityFromHeader,
      relations: { players: both, tags: both, guests: both },
    }),
  )
  app.use(crudRouter(Tag))
  app.use(
    crudRouter(Player, {
      identity: identityFromHeader,
      audit: true,
      scope: () => ({ tenant: 5 }),
      fields: { team_id: exclude, kind_of: exclude, tenant: exclude },
    }),
  )
  app.use(crudRouter(Tagging, { fields: { kind_of: exclude } }))
  app.use(
    crudRouter(Guest, {
      fields: { team_id: exclude },
      scope: ({ operation }) => (operation === 'create' ? { team_id: 1 } : null),
    }),
  )
})
const { sequelize } = stage
const model = (name: string): ModelStatic<Model> => sequelize.model(name)
await model('Team').bulkCreate([{ name: 'one' }, { name: 'two' }])
await model('Tag').bulkCreate([{ name: 'red' }, { name: 'blue' }])
test.after.always(() => stage.close())

const stored = async (name: string): Promise<readonly object[]> => {
  const rows = await model(name).findAll({ raw: true, order: ['id'] })
  await model(name).destroy({ where: {} })
  return rows
}

test('a nested POST sets what ties the record to its owner, and what else the resource sets, and leaves the field of that name to the body', async (t) => {
  const json = { name: 'Ann', teamId: 77, kindOf: 'mine' }
  const { status, body } = await stage.post('/api/teams/2/players', json, asUser('ann'))
  t.is(status, 201, JSON.stringify(body))
  t.like(body, json)
  const rows = await stored('Player')
  t.is(rows.length, 1)
  t.like(rows[0], { ...json, team_id: 2, kind_of: 'player', tenant: 5, createdBy: 'ann' })
})

test('a nested POST gives a field nothing that has the name of what ties the record to its owner', async (t) => {
  const { status, body } = await stage.post('/api/teams/2/players', { name: 'Ann', kindOf: 'mine' })
  t.is(status, 201, JSON.stringify(body))
  t.like(body, { teamId: null, kindOf: 'mine' })
  t.like((await stored('Player'))[0], { team_id: 2, teamId: null })
  const wrong = await stage.post('/api/teams/2/players', { name: 'Ann', teamId: 'x' })
  t.deepEqual([wrong.status, wrong.body.errors], [400, { teamId: ['must be an integer.'], kindOf: ['is required.'] }])
})

test('what is wrong with a field of a nested record is told, where the owner sets an attribute of that name too', async (t) => {
  const json = { name: 'one', players: [{ name: 'Ann', teamId: 'x' }] }
  const expected = { 'players[0].teamId': ['must be an integer.'], 'players[0].kindOf': ['is required.'] }
  for (const [method, path] of [
    ['POST', '/api/teams'],
    ['PATCH', '/api/teams/1'],
  ] as const) {
    const { status, body } = await stage.send(method, path, { json })
    t.deepEqual([status, body.errors], [400, expected], method)
  }
  t.deepEqual(await stored('Player'), [])
  const fit = { name: 'one', players: [{ name: 'Ann', teamId: 77, kindOf: 'mine' }] }
  t.is((await stage.patch('/api/teams/1', fit)).status, 200)
  t.like((await stored('Player'))[0], { teamId: 77, kindOf: 'mine', team_id: 1, kind_of: 'player', tenant: 5 })
})

test('the body of a link sets a field that has the name of what ties the link to its owner', async (t) => {
  const at = '/api/teams/2/tags/1'
  const made = await stage.send('PUT', at, { json: { kindOf: 'mine', teamId: 2, tagId: 1 } })
  t.deepEqual([made.status, made.text], [204, ''])
  const changed = await stage.send('PUT', at, { json: { kindOf: 'other' } })
  t.deepEqual([changed.status, changed.text], [204, ''])
  const rows = await stored('Tagging')
  t.is(rows.length, 1)
  t.like(rows[0], { kindOf: 'other', kind_of: 'team', teamId: 2, tagId: 1 })
  const missing = await stage.send('PUT', at, { json: {} })
  t.deepEqual([missing.status, missing.body.errors], [400, { kindOf: ['is required.'] }])
  const several = await stage.post('/api/teams/2/tags', [1])
  t.deepEqual([several.status, several.body.errors], [400, { '[0].kindOf': ['is required.'] }])
  t.deepEqual(await stored('Tagging'), [])
})

test('who may create records of another owner only creates none here, by whatever way', async (t) => {
  const answers = [
    await stage.post('/api/teams/2/guests', { name: 'Ann' }),
    await stage.patch('/api/teams/2', { guests: [{ name: 'Ann' }] }),
    await stage.post('/api/teams', { name: 'three', guests: [{ name: 'Ann' }] }),
  ]
  t.deepEqual(
    answers.map(({ status, body }) => [status, body.detail]),
    answers.map(() => [403, 'You may not create a record with this teamId.']),
  )
  t.deepEqual(await stored('Guest'), [])
  t.is((await stage.post('/api/teams/1/guests', { name: 'Ann', teamId: 2 })).status, 201)
  t.like((await stored('Guest'))[0], { name: 'Ann', team_id: 1, teamId: 2 })
})
