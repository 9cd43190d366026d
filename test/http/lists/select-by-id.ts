// GET by id with `select`: which fields, which version, which answers.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
  const Player = sequelize.define(
    'Player',
    { name: DataTypes.STRING, level: DataTypes.INTEGER, story: DataTypes.STRING, rowVersion: DataTypes.INTEGER },
    plain,
  )
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  app.use(crudRouter(Team))
  app.use(
    crudRouter(Player, {
      query: { unknownParameters: ['mine'] },
      concurrency: true,
      softDelete: true,
      fields: { story: { exclude: 'list' } },
    }),
  )
  app.use('/lenient', crudRouter(Player, { query: { unknownFields: 'ignore' } }))
})
const { Team, Player } = stage.sequelize.models
await Team?.create({ name: 'Lakers' })
await Player?.bulkCreate([{ name: 'Jan', level: 42, story: 'long', rowVersion: 3, teamId: 1, isDeleted: false }])
test.after.always(() => stage.close())

const VERSION = 'W/"3"'

test('the record is cut down to what is selected, from the shape of the response', async (t) => {
  const { status, text } = await stage.get('/api/players/1?select=Level,Story,Name')
  t.is(status, 200)
  t.is(text, '{"level":42,"story":"long","name":"Jan"}')
  t.is((await stage.get('/api/players?select=Story')).status, 400, 'a list has no story')
  t.is((await stage.get('/api/players/1?select=Team.Name')).text, '{"team":{"name":"Lakers"}}')
  const whole = await stage.get('/api/players/1')
  for (const query of ['?select=', '?select=*', '?mine=0&mine=x', '']) {
    t.is((await stage.get(`/api/players/1${query}`)).text, whole.text, query)
  }
})

test('a selection of the record’s own fields has its version, one that crosses a relation has not', async (t) => {
  for (const select of ['Name', 'Name,rowVersion', '*']) {
    const { headers } = await stage.get(`/api/players/1?select=${select}`)
    t.is(headers.get('etag'), VERSION)
    const again = await stage.get(`/api/players/1?select=${select}`, { 'If-None-Match': VERSION })
    t.is(again.status, 304)
  }
  for (const select of ['Name,Team.Name', 'rowVersion,Team', 'Team.Players.Name', 'Name,Team.Players.Count']) {
    const { headers, status } = await stage.get(`/api/players/1?select=${select}`, { 'If-None-Match': VERSION })
    t.is(status, 200)
    const tag = headers.get('etag') ?? ''
    t.regex(tag, /^W\/"[0-9a-f]+-.+"$/, 'Express’s own tag of the content')
  }
  await Team?.update({ name: 'Stars' }, { where: { id: 1 } })
  const before = await stage.get('/api/players/1?select=Team.Name', { 'If-None-Match': VERSION })
  t.deepEqual([before.status, before.body], [200, { team: { name: 'Stars' } }])
  await Team?.update({ name: 'Lakers' }, { where: { id: 1 } })
})

test('a bad selection is told before a record that does not exist, and the record is looked for as ever', async (t) => {
  for (const key of ['1', '99', 'abc']) {
    for (const select of ['Nobody', ',', 'Name,Team.Nobody', 'Name&select=Name', '%ff']) {
      t.is((await stage.get(`/api/players/${key}?select=${select}`)).status, 400, `${key} ${select}`)
    }
  }
  const missing = await stage.get('/api/players/99')
  for (const key of ['99', 'abc']) t.is((await stage.get(`/api/players/${key}?select=Name`)).text, missing.text)
})

test('names that are unknown are left out where the host says so, unless the request minds', async (t) => {
  const lenient = await stage.get('/lenient/api/players/1?select=Name,Nobody')
  t.deepEqual(lenient.body, { name: 'Jan' })
  t.is(lenient.headers.get('vary'), 'Prefer')
  const strict = await stage.get('/lenient/api/players/1?select=Name,Nobody', { Prefer: 'handling=strict' })
  t.is(strict.status, 400)
  const applied = await stage.get('/api/players/1?select=Name', { Prefer: 'handling=strict' })
  t.is(applied.headers.get('preference-applied'), 'handling=strict')
  const plain = await stage.get('/api/players/1', { Prefer: 'handling=strict' })
  t.is(plain.headers.get('preference-applied'), null)
})
