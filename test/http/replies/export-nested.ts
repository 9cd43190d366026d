// Exports of lists below a record, and of records with their collections.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, hasRole, Operations } from '../../../lib/index.js'
import { readCsv } from '../../support/csv.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}
const operations = Operations.All | Operations.Export | Operations.Aggregate

const TEAMS = 1100

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING, secret: DataTypes.STRING }, plain)
  const Player = sequelize.define(
    'Player',
    { name: DataTypes.STRING, level: DataTypes.INTEGER, salary: DataTypes.INTEGER },
    plain,
  )
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Player.belongsToMany(Tag, { as: 'tags', through: 'playerTags', timestamps: false })
  Object.assign(models, { Team, Player, Tag, Link: sequelize.models.playerTags })
  const routes = { routes: true } as const
  app.use(crudRouter(Team, { identity, operations, relations: { players: routes }, getByIdPolicy: hasRole('reader') }))
  app.use(
    crudRouter(Player, {
      identity,
      operations,
      relations: { tags: routes },
      mask: { salary: 'payroll' },
      getListPolicy: hasRole('reader'),
      exportPolicy: hasRole('exporter'),
      scope: ({ identity: caller }) => (caller?.name === 'few' ? { level: 1 } : null),
    }),
  )
  app.use(crudRouter(Tag, { operations: ['getList', 'getById'] }))
})
test.after.always(() => server.close())

test.before(async () => {
  const { Team, Player, Tag, Link } = models
  await Team?.bulkCreate(Array.from({ length: TEAMS }, (_, index) => ({ name: `t${index}`, secret: 's' })))
  await Player?.bulkCreate(
    Array.from({ length: 1300 }, (_, index) => ({
      ...{ name: `p${index}`, level: index % 3, salary: index, teamId: index < 700 ? 1 : (index % TEAMS) + 1 },
    })),
  )
  await Tag?.bulkCreate([{ name: 'a' }, { name: 'b' }])
  await Link?.bulkCreate([
    { PlayerId: 1, TagId: 1 },
    { PlayerId: 1, TagId: 2 },
  ])
})

const roles = (...names: string[]): Record<string, string> => bearer({ sub: 'x', roles: names })
const exporter = roles('reader', 'exporter')

const linesOf = ({ text }: Answer): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

test('a list below a record is a file of what the list has, by format and by Accept, in GET, HEAD and QUERY', async (t) => {
  const path = '/api/teams/1/players'
  const listed = (await server.get(`${path}?pageSize=1000&sort=-Level`, exporter)).body.items
  t.is(listed.length, 701)
  const lines = await server.get(`${path}?format=jsonl&sort=-Level`, exporter)
  t.deepEqual(linesOf(lines), listed)
  t.regex(lines.headers.get('vary') ?? '', /Accept/)
  t.is(lines.headers.get('content-disposition'), 'attachment; filename="players.jsonl"')
  t.deepEqual(linesOf(await server.get(`${path}?sort=-Level`, { ...exporter, accept: 'application/x-ndjson' })), listed)
  const csv = await server.get(`${path}?select=name,team.name&filter=Level=1`, { ...exporter, accept: 'text/csv' })
  const [head, ...rows] = readCsv(csv.text)
  t.deepEqual(head, ['name', 'team.name'])
  t.is(rows.length, listed.filter(({ level }: { level: number }) => level === 1).length)
  t.is((await server.send('QUERY', path, { json: { format: 'csv' }, headers: exporter })).status, 200)
  const ahead = await server.send('HEAD', `${path}?format=csv`, { headers: exporter })
  t.is(ahead.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  t.regex((await server.get(path, exporter)).headers.get('vary') ?? '', /Accept/)
})

test('who may list may not export: owner, list and export are asked as on their own routes', async (t) => {
  const asked = async (headers: Record<string, string>, query = 'format=csv'): Promise<number> =>
    (await server.get(`/api/teams/1/players?${query}`, headers)).status
  t.is(await asked({}), 401)
  t.is(await asked(roles('exporter')), 403)
  t.is(await asked(roles('reader')), 403)
  t.is(await asked(roles('reader'), 'count=none'), 200)
  t.is(await asked(exporter), 200)
  const few = await server.get(
    '/api/teams/1/players?format=jsonl',
    bearer({ sub: 'few', name: 'few', roles: ['reader', 'exporter'] }),
  )
  t.true(linesOf(few).every(({ level, salary }) => level === 1 && salary === null))
  t.is(linesOf(few).length, 233)
  t.is((await server.get('/api/teams/99999/players?format=csv', exporter)).status, 404)
  const unknown = await server.get('/api/teams/1/players?format=xml', exporter)
  t.is(unknown.status, 400)
  t.deepEqual(unknown.body.errors, { format: ['must be csv or jsonl.'] })
  t.is((await server.get('/api/teams/1/players?format=csv&count=true', exporter)).status, 400)
})

test('where the target has no exports its lists below a record are none', async (t) => {
  const { status, headers, body } = await server.get('/api/players/1/tags', { ...exporter, accept: 'text/csv' })
  t.is(status, 200)
  t.is(body.items.length, 2)
  t.notRegex(headers.get('vary') ?? '', /Accept/)
  t.is((await server.get('/api/players/1/tags?format=csv', exporter)).body.code, 'unknown-parameter')
})

test('JSON lines have the collections of their records, however many batches they are', async (t) => {
  const select = 'name,players(name,level)&players.sort=-level,name&players.limit=2'
  const lines = linesOf(await server.get(`/api/teams?format=jsonl&select=${select}`, exporter))
  t.is(lines.length, TEAMS)
  const pages: unknown[] = []
  for (const page of [1, 2]) {
    pages.push(...(await server.get(`/api/teams?pageSize=1000&page=${page}&select=${select}`, exporter)).body.items)
  }
  t.deepEqual(lines, pages)
  t.is(lines[0]?.['players@more'], true)
})

test('collections in an export hold the policies of what is behind them, and its limits count a batch', async (t) => {
  const closed = await server.get('/api/teams?format=jsonl&select=name,players.name')
  t.is(closed.status, 400)
  t.is(closed.body.code, 'unknown-field')
  const masked = linesOf(
    await server.get('/api/teams?format=jsonl&select=players(name,salary)&players.limit=1', exporter),
  )
  t.deepEqual(masked[0], { players: [{ name: 'p0' }], 'players@more': true })
  const deep = await server.get(
    '/api/teams?format=jsonl&select=players.tags.name&players.limit=100&players.tags.limit=100',
    exporter,
  )
  t.is(deep.status, 400)
  t.regex(deep.text, /embedTotal/)
})

test('a table has no place for collections: naming one for CSV is a 400, and nothing has been sent', async (t) => {
  for (const headers of [{ ...exporter, accept: 'text/csv' }, exporter, { ...exporter, prefer: 'handling=strict' }]) {
    const { status, body, headers: sent } = await server.get('/api/teams?format=csv&select=name,players.name', headers)
    t.is(status, 400)
    t.is(body.code, 'invalid-query')
    t.regex(body.errors.select[0], /cannot contain a collection in CSV/)
    for (const name of ['content-disposition', 'preference-applied']) t.is(sent.get(name), null)
  }
})

test('a new record below another is no file, and its answer does not differ by Accept', async (t) => {
  const made = await server.post('/api/teams/2/players', { name: 'new' }, { ...exporter, accept: 'text/csv' })
  t.is(made.status, 201)
  t.is(made.body.name, 'new')
  t.notRegex(made.headers.get('vary') ?? '', /Accept/)
})

test('a computed field of a related record is an empty cell where there is no such record', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const named = { name: DataTypes.STRING(9) }
    const Team = sequelize.define('Team', named, { timestamps: false })
    const Player = sequelize.define('Player', named, { timestamps: false })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    const loud = {
      type: 'string' as const,
      needs: ['name'],
      resolve: (records: readonly Readonly<Record<string, unknown>>[]) => records.map(({ name }) => `${name}!`),
    }
    app.use(crudRouter(Team, { computed: { loud } }))
    app.use(crudRouter(Player, { operations: Operations.All | Operations.Export }))
    return { Team, Player }
  })
  t.teardown(() => stage.close())
  await stage.Team.create({ name: 'Lakers' })
  await stage.Player.bulkCreate([{ name: 'Ann', teamId: 1 }, { name: 'Bob' }])
  const { text } = await stage.get('/api/players?format=csv&select=name,team.loud,team.name')
  t.is(text, 'name,team.loud,team.name\r\nAnn,Lakers!,Lakers\r\nBob,,\r\n')
})
