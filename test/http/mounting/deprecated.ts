// The option `deprecated` of a resource and of a field: headers (RFC 9745, RFC 8594), documents and types.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import {
  CrudConfigError,
  type CrudOptions,
  clientTypes,
  createCrud,
  crudRouter,
  Operations,
  openApi,
  queryOf,
} from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const since = '2026-03-01'
const sunset = new Date(Date.UTC(2027, 2, 1))
const link = 'https://example.org/docs/v2'

const mounted: ReturnType<typeof crudRouter>[] = []
const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const name = { type: DataTypes.STRING(20), allowNull: false }
  const Team = sequelize.define('Team', { name, motto: { type: DataTypes.STRING(20) } }, plain)
  const Player = sequelize.define('Player', { name, level: DataTypes.INTEGER }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const players = crudRouter(Player, {
    computed: { rank: { type: 'integer', needs: ['level'], resolve: (all) => all.map(({ level }) => level) } },
    fields: {
      level: { deprecated: { since, link: '/level*/' } },
      rank: { deprecated: { since: '2026-01-01T12:00:00Z' } },
    },
    flatten: ['team'],
  })
  const teams = crudRouter(Team, {
    operations: Operations.AllWithBulk | Operations.Export,
    deprecated: { since, sunset, link },
    relations: { players: { routes: true, resource: players } },
  })
  mounted.push(teams, players)
  app.use(...mounted)
  const v1 = createCrud({ routePrefix: 'v1', deprecated: { since, link: '/v2' } })
  app.use(v1.crudRouter(Team, { deprecated: { sunset, since } }), v1.crudRouter(Player, { deprecated: false }))
  app.use('/linked', (_req, res, next) => {
    res.set('Link', '</style.css>; rel="preload"')
    next()
  })
  app.use('/linked', crudRouter(Team, { route: 'teams', deprecated: { since, link } }))
})
test.after.always(() => server.close())

const DEPRECATION = '@1772323200'
const SUNSET = 'Mon, 01 Mar 2027 00:00:00 GMT'
const LINK = `<${link}>; rel="deprecation sunset"; type="text/html"`

test('every reply of a deprecated resource tells the dates and the page, problems included', async (t) => {
  const { body: team } = await server.post('/api/teams', { name: 'Reds' })
  const replies = [
    await server.get(`/api/teams/${team.id}`),
    await server.post('/api/teams', { name: 'Blues' }),
    await server.patch(`/api/teams/${team.id}`, { motto: 'win' }),
    await server.post('/api/teams', {}),
    await server.get('/api/teams/999'),
    await server.get('/api/teams?format=csv'),
    await server.send('OPTIONS', '/api/teams'),
    await server.send('PUT', `/api/teams/${team.id}`),
    await server.get(`/api/teams/${team.id}/players`),
  ]
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 201, 200, 400, 404, 200, 204, 405, 200],
  )
  for (const { headers } of replies) {
    t.is(headers.get('deprecation'), DEPRECATION)
    t.is(headers.get('sunset'), SUNSET)
    t.true(headers.get('link')?.startsWith(LINK))
  }
})

test('the links to other pages stand beside that to the page for developers, and beside those of the host', async (t) => {
  const paged = await server.get('/api/teams?pageSize=1')
  t.true(paged.headers.get('link')?.startsWith(`${LINK}, <`))
  t.true(paged.headers.get('link')?.includes('rel="next"'))
  const { headers } = await server.get('/linked/teams?pageSize=1')
  t.true(
    headers.get('link')?.startsWith(`</style.css>; rel="preload", <${link}>; rel="deprecation"; type="text/html", <`),
  )
  t.is(headers.get('sunset'), null)
})

test('a resource that stays has no such headers, and a deprecated field makes none', async (t) => {
  const { headers } = await server.get('/api/players')
  t.is(headers.get('deprecation'), null)
  t.is(headers.get('sunset'), null)
})

test('a whole version of an API is deprecated by a default, which a resource adds to or takes back', async (t) => {
  const teams = await server.get('/api/v1/teams')
  t.is(teams.headers.get('deprecation'), DEPRECATION)
  t.is(teams.headers.get('sunset'), SUNSET)
  t.true(teams.headers.get('link')?.startsWith('</v2>; rel="deprecation sunset"'))
  t.is((await server.get('/api/v1/players')).headers.get('deprecation'), null)
})

test('scripts of other origins may read the headers', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { name: DataTypes.STRING(20) }, { timestamps: false })
    app.use((_req, res, next) => {
      res.set('Access-Control-Allow-Origin', '*')
      next()
    })
    app.use(crudRouter(Note, { deprecated: { since, sunset } }))
  })
  t.teardown(() => own.close())
  const { headers } = await own.get('/api/notes')
  t.regex(headers.get('access-control-expose-headers') ?? '', /Deprecation, Sunset/)
})

test('OpenAPI marks the operations of the resource, the properties and parameters of the fields, and x-crud has the dates', (t) => {
  const { paths, components, tags } = openApi({ resources: mounted, info: { title: 'League', version: '1' } })
  const list = paths['/api/teams']?.get
  t.true(list?.deprecated)
  t.true(list?.description?.endsWith(` Deprecated from 2026-03-01, to be removed from 2027-03-01: ${link}.`))
  t.is(paths['/api/players']?.get?.deprecated, undefined)
  t.true(paths['/api/teams/{id}/players']?.get?.deprecated)
  const propertyOf = (schema: string, name: string): unknown =>
    Reflect.get(Object(components.schemas?.[schema]?.properties), name)
  t.like(Object(propertyOf('Player', 'level')), {
    deprecated: true,
    description: 'Deprecated from 2026-03-01: /level*/.',
  })
  t.like(Object(propertyOf('PlayerCreate', 'level')), { deprecated: true })
  t.like(Object(propertyOf('Player', 'rank')), { deprecated: true, readOnly: true })
  t.is(Reflect.get(Object(propertyOf('Player', 'name')), 'deprecated'), undefined)
  const parameters = [paths['/api/players']?.get?.parameters ?? [], Object.values(components.parameters ?? {})].flat()
  t.true(parameters.some(({ name, deprecated }) => name === 'level' && deprecated === true))
  const [teams, players] = tags.map((tag) => tag['x-crud'])
  t.deepEqual(teams?.deprecated, { since: '2026-03-01T00:00:00.000Z', sunset: sunset.toISOString(), link })
  t.is(players?.deprecated, undefined)
  t.like(
    players?.fields.find(({ name }) => name === 'rank'),
    { deprecated: { since: '2026-01-01T12:00:00.000Z' } },
  )
})

test('the declarations of clients mark deprecated fields for editors', (t) => {
  const text = clientTypes({ resources: mounted })
  t.true(text.includes('/** @deprecated Deprecated from 2026-03-01: /level*\\/. */\n  level: number | null'))
})

const WRONG: readonly (readonly [options: unknown, problem: string])[] = [
  [true, 'Note: the option "deprecated" must be false or an object.'],
  [
    {},
    'Note: deprecated: the option "since" is missing: it must be a Date, or text such as "2026-01-31" or "2026-01-31T12:00:00Z".',
  ],
  [
    { since: 'soon' },
    'Note: deprecated: the option "since" must be a Date, or text such as "2026-01-31" or "2026-01-31T12:00:00Z".',
  ],
  [
    { since: '2026-02-30T25:00:00Z' },
    'Note: deprecated: the option "since" must be a Date, or text such as "2026-01-31" or "2026-01-31T12:00:00Z".',
  ],
  [{ since, sunset: '2026-02-01' }, 'Note: deprecated: "sunset" must not be before "since".'],
  [
    { since, link: '/a>; rel="next"' },
    'Note: deprecated: the option "link" must be a percent-encoded URL or path, such as "https://example.com/v2" or "/v2".',
  ],
  [{ since, sunsett: '2027-01-01' }, 'Note: deprecated: the option "sunsett" does not exist. Did you mean "sunset"?'],
]

test('wrong dates and addresses are refused at mount, of resources and of fields', (t) => {
  const { sequelize } = server
  const Note = sequelize.define('Note', { name: DataTypes.STRING(20) }, { timestamps: false })
  for (const [deprecated, problem] of WRONG) {
    const error = t.throws(() => crudRouter(Note, { deprecated } as CrudOptions), { instanceOf: CrudConfigError })
    t.true(error?.message.includes(problem), `${error?.message} should have: ${problem}`)
  }
  const fields = { name: { deprecated: { since, sunset: '2026-01-01' } } }
  t.throws(() => crudRouter(Note, { fields }), { message: /fields\.name\.deprecated: "sunset" must not be before/ })
  t.notThrows(() => queryOf(Note, { deprecated: { since } } as CrudOptions))
})
