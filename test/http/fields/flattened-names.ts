// What `flatten` makes members of records is selected, filtered and sorted by that name: another name of the path.

import { Agent } from 'node:http'
import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, hasRole, Operations } from '../../../lib/index.js'
import { listPath } from '../../support/league.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission, withRole } from '../../support/tokens.js'
import { describeResponse } from '../../support/told.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const League = sequelize.define('League', { name: DataTypes.STRING, rank: DataTypes.INTEGER }, plain)
  const Team = sequelize.define(
    'Team',
    { name: DataTypes.STRING, budget: DataTypes.INTEGER, motto: DataTypes.STRING, hidden: DataTypes.STRING },
    plain,
  )
  // The name of one of its own is that of a flattened member.
  const Player = sequelize.define('Player', { name: DataTypes.STRING, teamMotto: DataTypes.STRING }, plain)
  Team.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  app.use(crudRouter(League, { identity, getListPolicy: hasRole('fan') }))
  app.use(
    crudRouter(Team, {
      identity,
      flatten: ['league'],
      mask: { budget: 'finance' },
      fields: { hidden: { exclude: true } },
    }),
  )
  app.use(crudRouter(Player, { identity, flatten: ['team'], operations: Operations.All | Operations.Aggregate }))
  const Coach = sequelize.define('Coach', { name: DataTypes.STRING }, plain)
  Coach.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  app.use(
    crudRouter(Coach, {
      identity,
      flatten: ['team'],
      operations: Operations.All | Operations.Export,
      limits: { pathDepth: 1 },
    }),
  )
  const Ticket = sequelize.define('Ticket', { seat: DataTypes.INTEGER }, plain)
  Ticket.belongsTo(Player, { as: 'player', foreignKey: 'playerId' })
  app.use(crudRouter(Ticket, { identity, flatten: ['player'] }))
})
const { League, Team, Player, Ticket } = stage.sequelize.models
await League?.bulkCreate([
  { name: 'North', rank: 2 },
  { name: 'South', rank: 1 },
])
await Team?.bulkCreate([
  { name: 'Lakers', budget: 5, motto: 'run', hidden: 'x', leagueId: 1 },
  { name: 'Celtics', budget: 9, motto: 'jump', hidden: 'y', leagueId: 2 },
])
await Player?.bulkCreate([
  { name: 'Jan', teamMotto: 'own', teamId: 1 },
  { name: 'Anna', teamMotto: null, teamId: 2 },
  { name: 'Ola', teamMotto: 'other' },
])
await Ticket?.create({ seat: 1, playerId: 1 })
const agent = new Agent({ keepAlive: true })
test.after.always(async () => {
  agent.destroy()
  await stage.close()
})

const fan = withRole('fan')

test('a flattened member is selected under its own name, on pages and by key', async (t) => {
  const { body } = await list(stage, '/api/players', { select: 'Name,TeamName' })
  t.deepEqual(body.items, [
    { name: 'Jan', teamName: 'Lakers' },
    { name: 'Anna', teamName: 'Celtics' },
    { name: 'Ola', teamName: null },
  ])
  const single = await stage.get(listPath('/api/players/1', { select: 'teamname,TEAMLEAGUENAME,Team.Name' }), fan)
  t.deepEqual(single.body, { teamName: 'Lakers', teamLeagueName: 'North', team: { name: 'Lakers' } })
})

test('a file has a flattened member and its path at their places in select', async (t) => {
  const { text } = await stage.get('/api/coaches?format=csv&select=team.name,id,teamName,team.id,id', fan)
  t.is(text.split('\r\n')[0], 'team.name,id,teamName,team.id')
})

test('a flattened member filters and sorts as its path does', async (t) => {
  for (const [name, path] of [
    ['TeamName', 'Team.Name'],
    ['teamleaguerank', 'Team.League.Rank'],
  ] as const) {
    const ask = async (parameters: Record<string, string>): Promise<unknown> => {
      const { status, text, body } = await stage.get(listPath('/api/players', parameters), fan)
      t.is(status, 200, text)
      return body.items.map(({ id }: { id: number }) => id)
    }
    for (const sort of ['', '-']) t.deepEqual(await ask({ sort: sort + name }), await ask({ sort: sort + path }))
    for (const clause of ['=null', '!=null', '>0', '=Lakers', '=in=1;null', '=out=null']) {
      if (name !== 'TeamName' && clause === '=Lakers') continue
      t.deepEqual(await ask({ filter: name + clause }), await ask({ filter: path + clause }), clause)
    }
  }
  t.deepEqual(await keysOf(stage, '/api/players', { filter: 'TeamName=Lakers' }), [1])
  t.deepEqual(await keysOf(stage, '/api/players', { sort: 'TeamName' }), [3, 2, 1])
})

test('a field of that name is meant, and quantifiers and paths know no flattened names', async (t) => {
  const { body } = await list(stage, '/api/players', { select: 'TeamMotto', filter: 'TeamMotto=own' })
  t.deepEqual(body.items, [{ teamMotto: 'own' }])
  t.is((await stage.get('/api/players/1', fan)).body.teamMotto, 'own')
  for (const filter of [
    'Team.LeagueName=North',
    'Team.Players.Any(TeamName=Lakers)',
    'Team.Players.TeamName=Lakers',
    'TeamName.Foo=Lakers',
    'TeamName.Name=Lakers',
  ]) {
    t.is((await list(stage, '/api/players', { filter })).status, 400, filter)
  }
})

test('groups are sorted by a flattened member, whichever name the group has in the request', async (t) => {
  const names = ['Lakers', 'Celtics', null]
  for (const [group, sort] of [
    ['TeamName', '-TeamName'],
    ['TeamName', '-Team.Name'],
    ['Team.Name', '-TeamName'],
  ] as const) {
    const { status, body } = await list(stage, '/api/players', { group, sort })
    t.is(status, 200, `${group} ${sort}`)
    t.deepEqual(
      body.items.map((item: { readonly group: { readonly team: { readonly name: string } } }) => item.group.team.name),
      names,
    )
  }
  const { status, body } = await list(stage, '/api/players', { aggregate: 'max(TeamName)', sort: 'max(Team.Name)' })
  t.is(status, 200)
  t.deepEqual(body.items, [{ max: { team: { name: 'Lakers' } } }])
})

test('of two flattened members of one name the one of the nearer record is in responses, as in selections', async (t) => {
  const selected = await list(stage, '/api/tickets', { select: 'PlayerTeamMotto', filter: 'PlayerTeamMotto=own' })
  t.deepEqual(selected.body.items, [{ playerTeamMotto: 'own' }])
  const [item] = (await list(stage, '/api/tickets', {})).body.items
  const { body: single } = await stage.get('/api/tickets/1', fan)
  const { body: written } = await stage.patch('/api/tickets/1', { seat: 2 }, fan)
  for (const record of [item, single, written]) t.is(record.playerTeamMotto, 'own')
})

test('the limit of relations in a path holds for the names of flattened members too', async (t) => {
  const parameters = (name: string) => [{ filter: `${name}=North` }, { sort: name }, { select: name }]
  for (const within of parameters('TeamName')) {
    t.is((await stage.get(listPath('/api/coaches', within), fan)).status, 200, JSON.stringify(within))
  }
  for (const beyond of [...parameters('TeamLeagueName'), ...parameters('Team.League.Name')]) {
    const { status, body } = await stage.get(listPath('/api/coaches', beyond), fan)
    t.is(status, 400, JSON.stringify(beyond))
    t.regex(body.detail, /more relations than the limit of 1 \(pathDepth\)/)
  }
  // Responses contain flattened members whatever the limit is.
  t.is((await stage.get('/api/coaches', fan)).status, 200)
})

test('a flattened member is no parameter and no sortBy', async (t) => {
  t.deepEqual((await list(stage, '/api/players', { teamName: 'Lakers' })).body.errors, {
    teamName: ['is not a parameter of this list.'],
  })
  t.deepEqual(await keysOf(stage, '/api/players', { sortBy: 'teamName' }), [1, 2, 3])
})

test('what the caller may not read is unknown by that name as well, and dropped from a selection where it is masked', async (t) => {
  const ask = (name: string, parameters: Record<string, string>): Promise<unknown> =>
    describeResponse(agent, stage.url + listPath('/api/players', parameters), name, {})
  // Masked, excluded, and behind a resource that the caller may not list.
  for (const [name, absent] of [
    ['teamBudget', 'teamBudgez'],
    ['teamHidden', 'teamHiddez'],
    ['teamLeagueName', 'teamLeagueNamz'],
  ] as const) {
    for (const parameter of ['filter', 'sort'] as const) {
      const value = (each: string): string => (parameter === 'filter' ? `${each}=null` : each)
      const answer = await ask(name, { [parameter]: value(name) })
      t.like(answer, { status: 400 }, `${parameter} ${name}`)
      t.deepEqual(answer, await ask(absent, { [parameter]: value(absent) }))
    }
  }
  t.deepEqual((await list(stage, '/api/players', { select: 'Name,TeamBudget', pageSize: 1 })).body.items, [
    { name: 'Jan' },
  ])
  t.is((await list(stage, '/api/players', { select: 'Name,TeamLeagueName' })).status, 400)
  const seen = await stage.get(
    listPath('/api/players', { select: 'TeamBudget', filter: 'TeamBudget>5' }),
    withPermission('finance'),
  )
  t.deepEqual(seen.body.items, [{ teamBudget: 9 }])
})

test('below a flattened relation that the caller may not list everything is null, however open it is by itself', async (t) => {
  const closed = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const City = sequelize.define('City', { name: DataTypes.STRING }, plain)
    const Club = sequelize.define('Club', { name: DataTypes.STRING }, plain)
    const Member = sequelize.define('Member', { name: DataTypes.STRING }, plain)
    Club.belongsTo(City, { as: 'city', foreignKey: 'cityId' })
    Member.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
    app.use(crudRouter(City, { identity }))
    app.use(crudRouter(Club, { identity, flatten: ['city'], getListPolicy: hasRole('fan') }))
    app.use(crudRouter(Member, { identity, flatten: ['club'] }))
  })
  t.teardown(closed.close)
  const { City: Cities, Club: Clubs, Member: Members } = closed.sequelize.models
  await Cities?.create({ name: 'Boston' })
  await Clubs?.create({ name: 'Celtics', cityId: 1 })
  await Members?.create({ name: 'Jan', clubId: 1 })
  const own = { id: 1, name: 'Jan', clubId: 1 }
  const flattened = { clubName: 'Celtics', clubCityId: 1, clubCityName: 'Boston' }
  const hidden = { clubName: null, clubCityId: null, clubCityName: null }
  for (const [headers, shown] of [
    [fan, flattened],
    [{}, hidden],
  ] as const) {
    const { status, body } = await closed.get('/api/members/1', headers)
    t.is(status, 200)
    t.deepEqual(body, { ...own, ...shown })
    t.deepEqual((await closed.get('/api/members', headers)).body.items, [{ ...own, ...shown }])
  }
  // What is closed is the way, and not what it leads to.
  t.is((await closed.get('/api/cities/1')).status, 200)
})
