// Whose policies a request asks: those of the resources that its answer takes something from, and no others.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations, type PolicyContext } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage, type Stage } from '../../support/stage.js'

// The counts are shared.
const test = ava.serial

interface Models {
  readonly Player: ModelStatic<Model>
  readonly Team: ModelStatic<Model>
}

/** How often the policy of the teams, and of the leagues behind them, was asked. */
const asked = { teams: 0, leagues: 0 }

const counted =
  (name: keyof typeof asked): (() => boolean) =>
  () => {
    asked[name] += 1
    return true
  }

async function serving(player: CrudOptions): Promise<Stage<Models>> {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const League = sequelize.define('League', { name: DataTypes.STRING }, plain)
    const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
    const own = { name: DataTypes.STRING, level: DataTypes.INTEGER, deletedAt: DataTypes.DATE }
    const isDeleted = { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false }
    const Player = sequelize.define('Player', { ...own, isDeleted }, plain)
    Team.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    app.use(crudRouter(League, { authorizePolicy: counted('leagues') }))
    app.use(crudRouter(Team, { authorizePolicy: counted('teams'), flatten: ['league'] }))
    app.use(
      crudRouter(Player, { operations: Operations.AllWithBulk + Operations.Restore, softDelete: true, ...player }),
    )
    return { Player, Team, League }
  })
  const { Player, Team, League } = stage
  await League.bulkCreate([{ name: 'First' }])
  await Team.bulkCreate([{ name: 'Lakers', leagueId: 1 }])
  await Player.bulkCreate(['Jan', 'Anna', 'Ola', 'Ewa'].map((name) => ({ name, level: 1, teamId: 1 })))
  return stage
}

type Row = readonly [method: string, path: string, json: unknown, status: number, teams: number, leagues: number]

async function asks(server: Stage<Models>, [method, path, json, status]: Row): Promise<readonly [number, number]> {
  asked.teams = 0
  asked.leagues = 0
  const answer = await server.send(method, path, json === undefined ? {} : { json })
  if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return [asked.teams, asked.leagues]
}

const players = '/api/players'

test('only a list that the default sort orders asks the policy of a path in it', async (t) => {
  const server = await serving({ query: { defaultSort: 'Team.Name' } })
  t.teardown(() => server.close())
  const rows: readonly Row[] = [
    ['GET', players, undefined, 200, 1, 0],
    ['GET', `${players}?sortDirection=desc`, undefined, 200, 1, 0],
    ['GET', `${players}?select=Name`, undefined, 200, 1, 0],
    ['GET', `${players}?count=true`, undefined, 200, 0, 0],
    ['GET', `${players}?cursor=`, undefined, 200, 0, 0],
    ['GET', `${players}?sort=Name`, undefined, 200, 0, 0],
    ['GET', `${players}?sortBy=Name`, undefined, 200, 0, 0],
    ['GET', `${players}?sortBy=nobody`, undefined, 200, 0, 0],
    ['GET', `${players}?count=true&filter=Team.Name=Lakers`, undefined, 200, 1, 0],
    ['GET', `${players}?cursor=&filter=Team.League.Name=First`, undefined, 200, 1, 1],
  ]
  for (const row of rows) t.deepEqual(await asks(server, row), [row[4], row[5]], `${row[0]} ${row[1]}`)
})

test('upserts and actions ask the policy behind flattened and selected relations only if their reply shows it', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
    const code = { type: DataTypes.STRING(9), primaryKey: true }
    const Part = sequelize.define('Part', { code, name: DataTypes.STRING }, plain)
    Part.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    app.use(crudRouter(Team, { authorizePolicy: counted('teams') }))
    app.use(
      crudRouter(Part, {
        flatten: ['team'],
        operations: Operations.All | Operations.Replace,
        actions: { touch: { on: 'record', method: 'post', handler: () => undefined } },
      }),
    )
    return { Team, Part }
  })
  t.teardown(() => server.close())
  await server.Team.create({ name: 'Lakers' })
  const send = async (method: string, path: string, json: unknown): Promise<readonly unknown[]> => {
    asked.teams = 0
    const { status, body } = await server.send(method, `/api/parts${path}`, { json })
    return [status, asked.teams, body]
  }
  t.deepEqual(await send('PUT', '/bulk?by=code', [{ code: 'a', name: 'A', teamId: 1 }]), [
    200,
    0,
    { created: 1, updated: 0 },
  ])
  t.deepEqual(await send('POST', '/a/touch?select=name', {}), [200, 0, { name: 'A' }])
  t.deepEqual(await send('POST', '/a/touch?select=team.name', {}), [200, 1, { team: { name: 'Lakers' } }])
  const full = { code: 'a', name: 'A', teamId: 1, teamName: 'Lakers' }
  t.deepEqual(await send('POST', '/a/touch', {}), [200, 1, full])
})

test('a path that is too long asks no policy of what lies behind the limit', async (t) => {
  const leagues = async (pathDepth: number, name: string): Promise<readonly number[]> => {
    const server = await serving({ limits: { pathDepth } })
    t.teardown(() => server.close())
    asked.teams = 0
    asked.leagues = 0
    const { status } = await list(server, players, { filter: `${name}=x` })
    return [status, asked.leagues]
  }
  // One relation more is looked up, by which the path is known to be too long.
  t.deepEqual(await leagues(2, 'Team.League.Name'), [200, 1])
  t.deepEqual(await leagues(1, 'Team.Players.Team.League.Name'), [400, 0])
  t.deepEqual(await leagues(2, 'Team.Players.Team.Players.Team.League.Name'), [400, 0])
})

test('what is said of the elements of no collection asks no policy', async (t) => {
  const server = await serving({ limits: { pathDepth: 9 } })
  t.teardown(() => server.close())
  for (const [name, leagues] of [
    ['Team.Players.Any(Team.League.Name=x)', 1],
    ['Team.Players.Any.Any(Team.League.Name=x)', 0],
    ['Team.Players.Count.Any(Team.League.Name=x)', 0],
    ['Team.Any(Team.League.Name=x)', 0],
    ['Nobody.Any(Team.League.Name=x)', 0],
  ] as const) {
    asked.leagues = 0
    t.is((await list(server, players, { filter: name })).status, leagues === 1 ? 200 : 400, name)
    t.is(asked.leagues, leagues, name)
  }
})

test('a path of the default sort that the answer takes nothing from leaves no header behind either', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name: DataTypes.STRING }, { timestamps: false })
    const Player = sequelize.define('Player', { name: DataTypes.STRING }, { timestamps: false })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    app.use(crudRouter(Team, { scope: () => ({ name: 'Lakers' }) }))
    app.use(crudRouter(Player, { query: { defaultSort: 'Team.Name', unknownFields: 'ignore' } }))
    return { Player, Team }
  })
  t.teardown(() => server.close())
  const varies = async (query: string): Promise<string | null> =>
    (await server.get(players + query)).headers.get('vary')
  // What several parts of a reply vary by adds up.
  t.is(await varies(''), 'Authorization, Prefer')
  for (const query of ['?count=true', '?cursor=', '?sortBy=Name', '?sort=Name'])
    t.is(await varies(query), 'Prefer', query)
})

test('what the host sorts and searches by says that replies differ by caller to those as well who may not go there', async (t) => {
  const isAsked = ({ request }: PolicyContext): boolean => request.headers['x-open'] !== undefined
  const named = { name: DataTypes.STRING }
  const server = await openStage(({ sequelize }, app) => {
    const League = sequelize.define('League', named, { timestamps: false })
    const Team = sequelize.define('Team', named, { timestamps: false })
    const Player = sequelize.define('Player', named, { timestamps: false })
    Team.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    // The headers are those of what lies behind the team, which nobody gets to who may not list teams.
    app.use(crudRouter(League, { scope: () => ({ name: 'First' }) }))
    app.use(crudRouter(Team, { getListPolicy: isAsked }))
    const query = { defaultSort: 'Team.League.Name,Team.Name', search: ['name', 'team.league.name'] }
    app.use(crudRouter(Player, { query: { ...query, unknownFields: 'ignore' } }))
    return { Player, Team, League }
  })
  const { League, Team, Player } = server
  await League.create({ name: 'First' })
  await Team.bulkCreate(['B', 'A'].map((name) => ({ name, leagueId: 1 })))
  await Player.bulkCreate([1, 2].map((teamId) => ({ name: `p${teamId}`, teamId })))
  t.teardown(() => server.close())
  const headersOf = async (query: string, open: boolean): Promise<unknown> => {
    const answer = await server.get(players + query, open ? { 'x-open': '1' } : {})
    return [answer.status, answer.headers.get('vary'), answer.headers.get('cache-control')]
  }
  const told = [200, 'Authorization, Prefer', 'private']
  const untold = [200, 'Prefer', null]
  const hosted = [
    '',
    '?search=first',
    '?search=first&sort=Name',
    '?search=p&count=true',
    '?filter=Name=p1',
    '?select=Name',
  ]
  for (const query of hosted) {
    for (const open of [true, false]) t.deepEqual(await headersOf(query, open), told, `${query} ${open}`)
  }
  // A path that a client names is as unknown as any other where the caller may not go.
  for (const query of ['?sort=Team.League.Name', '?sort=Name&filter=Team.League.Name=First']) {
    t.deepEqual(await headersOf(query, true), told, query)
    t.deepEqual(await headersOf(query, false), untold, query)
    t.deepEqual(await headersOf(query.replace('League', 'Nowhere'), false), untold, query)
  }
  const names = async (headers: Record<string, string>): Promise<unknown> =>
    (await server.get(players, headers)).body.items.map(({ name }: { name: string }) => name)
  t.deepEqual(
    [await names({}), await names({ 'x-open': '1' })],
    [
      ['p1', 'p2'],
      ['p2', 'p1'],
    ],
  )
})

test('flatten asks the policies of its targets only where the answer holds flattened members', async (t) => {
  const operations = Operations.AllWithBulk + Operations.Restore + Operations.Aggregate
  const server = await serving({ flatten: ['team'], operations })
  t.teardown(() => server.close())
  const rows: readonly Row[] = [
    ['GET', players, undefined, 200, 1, 1],
    ['GET', `${players}?cursor=`, undefined, 200, 1, 1],
    ['GET', `${players}/1`, undefined, 200, 1, 1],
    ['POST', players, { name: 'Iga', teamId: 1 }, 201, 1, 1],
    ['POST', `${players}/bulk`, [{ name: 'Ida', teamId: 1 }], 201, 1, 1],
    ['PATCH', `${players}/1`, { level: 2 }, 200, 1, 1],
    ['GET', `${players}?count=true`, undefined, 200, 0, 0],
    ['GET', `${players}?select=Name`, undefined, 200, 0, 0],
    ['GET', `${players}?select=Team.Name`, undefined, 200, 1, 0],
    ['GET', `${players}?aggregate=count`, undefined, 200, 0, 0],
    ['GET', `${players}?aggregate=count&group=Team.Name`, undefined, 200, 1, 0],
    ['DELETE', `${players}/2`, undefined, 204, 0, 0],
    ['POST', `${players}/bulk-delete`, [3, 4], 200, 0, 0],
    ['POST', `${players}/2/restore`, undefined, 200, 1, 1],
  ]
  for (const row of rows) t.deepEqual(await asks(server, row), [row[4], row[5]], `${row[0]} ${row[1]}`)
  const { body } = await server.get(`${players}/1`)
  t.is(body.teamName, 'Lakers')
  t.is(body.teamLeagueName, 'First')
})

test('a policy behind a relation that is closed to the caller is not evaluated', async (t) => {
  let evaluated = 0
  const fails = (): never => {
    evaluated += 1
    throw new Error('a policy that fails')
  }
  const served = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const League = sequelize.define('League', { name: DataTypes.STRING }, plain)
    const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
    const Player = sequelize.define('Player', { name: DataTypes.STRING }, plain)
    const Coach = sequelize.define('Coach', { name: DataTypes.STRING }, plain)
    Team.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Player.belongsTo(Coach, { as: 'coach', foreignKey: 'coachId' })
    Coach.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    app.use(crudRouter(League, { authorizePolicy: fails }))
    app.use(crudRouter(Coach, { authorizePolicy: fails }))
    app.use(crudRouter(Team, { authorizePolicy: () => false }))
    app.use(crudRouter(Player, { mask: { coachId: { read: 'staff' } }, onError: () => undefined }))
    return { League, Team, Player, Coach }
  })
  const { Player } = served
  await Player.create({ name: 'Jan' })
  t.teardown(() => served.close())
  for (const parameters of [
    { filter: 'Coach.Name=Ewa' },
    { sort: 'Coach.Name' },
    { select: 'Coach.Name' },
    { filter: 'Coach.League.Name=First' },
    { filter: 'Team.League.Name=First' },
    { select: 'name,team.league.name' },
  ]) {
    const { status, text } = await list(served, '/api/players', parameters)
    t.is(status, 400, `${JSON.stringify(parameters)} ${text}`)
  }
  t.is(evaluated, 0)
  t.is((await list(served, '/api/players', {})).status, 200)
})

test('responses with fields that flatten adds from a resource with a policy belong to one caller', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('team', { name: DataTypes.STRING }, { timestamps: false })
    const Player = sequelize.define('player', { name: DataTypes.STRING }, { timestamps: false })
    Player.belongsTo(Team, { as: 'team', constraints: false })
    app.use(crudRouter(Team, { getListPolicy: ({ request }) => request.headers['x-open'] !== undefined }))
    app.use(crudRouter(Player, { flatten: ['team'] }))
    return { Team, Player }
  })
  t.teardown(() => server.close())
  const team = await server.Team.create({ name: 'A' })
  await server.Player.create({ name: 'p', teamId: team.get('id') })
  for (const headers of [{ 'x-open': '1' }, {}] as Record<string, string>[]) {
    for (const path of ['/api/players/1', '/api/players']) {
      const answer = await server.get(path, headers)
      t.is(answer.text.includes('"teamName":"A"'), 'x-open' in headers)
      t.is(answer.headers.get('cache-control'), 'private')
      t.regex(String(answer.headers.get('vary')), /\bAuthorization\b/)
    }
  }
})

test('responses with fields that flatten adds from a resource with soft delete alone belong to everybody', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('team', { name: DataTypes.STRING }, { timestamps: false })
    const Player = sequelize.define('player', { name: DataTypes.STRING }, { timestamps: false })
    Player.belongsTo(Team, { as: 'team', constraints: false })
    app.use(crudRouter(Team, { softDelete: true }))
    app.use(crudRouter(Player, { flatten: ['team'] }))
    return { Team, Player }
  })
  t.teardown(() => server.close())
  const team = await server.Team.create({ name: 'A' })
  await server.Player.create({ name: 'p', teamId: team.get('id') })
  for (const path of ['/api/players/1', '/api/players']) {
    const answer = await server.get(path)
    t.true(answer.text.includes('"teamName":"A"'))
    t.is(answer.headers.get('cache-control'), null, path)
  }
})

test('a list whose default sort ends behind a closed relation belongs to one caller, closed or not', async (t) => {
  const server = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const League = sequelize.define('league', { name: DataTypes.STRING }, plain)
    const Team = sequelize.define('team', { name: DataTypes.STRING }, plain)
    const Player = sequelize.define('player', { name: DataTypes.STRING }, plain)
    Team.belongsTo(League, { as: 'league', constraints: false })
    Player.belongsTo(Team, { as: 'team', constraints: false })
    const getListPolicy = ({ request }: PolicyContext) => request.headers['x-open'] !== undefined
    app.use(crudRouter(League, { operations: ['getList'], getListPolicy }), crudRouter(Team))
    app.use(crudRouter(Player, { query: { defaultSort: 'Team.League.Name' } }))
    return { Player }
  })
  t.teardown(() => server.close())
  await server.Player.create({ name: 'p' })
  for (const headers of [{ 'x-open': '1' }, {}] as Record<string, string>[])
    t.is((await server.get('/api/players', headers)).headers.get('cache-control'), 'private')
  t.is((await server.get('/api/players?sort=Name')).headers.get('cache-control'), null)
})
