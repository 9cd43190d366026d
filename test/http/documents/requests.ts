// What documents say of requests: parameters, headers, bodies, and who may send them. Each is held against what a server does.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import {
  apiDocs,
  type CrudOptions,
  crudRouter,
  hasRole,
  type JsonSchema,
  type OpenApiDocument,
  Operations,
  openApi,
} from '../../../lib/index.js'
import type { DocumentedOperation } from '../../../types/openApi.js'
import { sqliteOptions } from '../../support/database.js'
import { INFO, resolveReferences } from '../../support/documented.js'
import { asUser, identityFromHeader as identity, openStage } from '../../support/stage.js'

const security = { schemes: { user: { type: 'apiKey', in: 'header', name: 'x-user' } }, requirement: [{ user: [] }] }

interface Models {
  readonly sequelize: Sequelize
  readonly Team: ModelStatic<Model>
  readonly Player: ModelStatic<Model>
  readonly Note: ModelStatic<Model>
}

function define(sequelize: Sequelize): Models {
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
  const Player = sequelize.define(
    'Player',
    {
      name: { type: DataTypes.STRING(20), allowNull: false },
      salary: DataTypes.INTEGER,
      teamId: { type: DataTypes.INTEGER, allowNull: false },
    },
    { timestamps: false },
  )
  const Note = sequelize.define(
    'Note',
    {
      text: { type: DataTypes.STRING(20), allowNull: false },
      aboutId: { type: DataTypes.INTEGER, allowNull: false },
      aboutType: { type: DataTypes.STRING(20), allowNull: false },
    },
    { timestamps: false },
  )
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasOne(Note, { as: 'note', foreignKey: 'aboutId', constraints: false, scope: { aboutType: 'team' } })
  return { sequelize, Team, Player, Note }
}

function models(): Models {
  return define(new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false }))
}

type Verb = 'get' | 'put' | 'post' | 'patch' | 'delete'

function operationAt(document: OpenApiDocument, verb: Verb, path: string): DocumentedOperation {
  const { paths } = resolveReferences(document, (place) => !/^#\/components\/(parameters|responses)\//.test(place))
  const operation = paths[path]?.[verb]
  if (operation === undefined) throw new RangeError(`there is no ${verb} ${path}`)
  return operation
}

function parameterOf({ parameters = [] }: DocumentedOperation, name: string): JsonSchema | undefined {
  return parameters.find((parameter) => parameter.name === name)
}

function statuses({ responses }: DocumentedOperation): readonly string[] {
  return Object.keys(responses)
}

test('exports and aggregates without a list share one entry, which tells of both', (t) => {
  const { Player } = models()
  const router = crudRouter(Player, { operations: ['export', 'aggregate'] })
  const list = operationAt(openApi({ resources: [router], info: INFO }), 'get', '/api/players')
  t.is(list.operationId, 'aggregatePlayers')
  for (const name of ['format', 'select', 'aggregate', 'having']) t.truthy(parameterOf(list, name), name)
  t.deepEqual(Object.keys(Object(list.responses[200]).content), [
    ...['application/json', 'text/csv', 'application/jsonl', 'application/x-ndjson'],
  ])
})

test('what an export alone refuses is told', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    app.use(crudRouter(define(sequelize).Player, { operations: ['export'] }))
  })
  t.teardown(() => stage.close())
  // The server holds every reply against the document.
  t.is((await stage.get('/api/players?filter=name')).status, 400)
  t.is((await stage.get('/api/players')).status, 200)
})

test('a write that may be done once says so wherever it stands, and its reply whether it was done before', async (t) => {
  const idempotency = { required: true }
  const stage = await openStage(({ sequelize }, app) => {
    const { Team, Player } = define(sequelize)
    const players = crudRouter(Player, { idempotency, operations: Operations.AllWithBulk })
    const teams = crudRouter(Team, { relations: { players: { routes: true } } })
    app.use(players)
    app.use(teams)
    const document = openApi({ resources: [players, teams], info: INFO })
    for (const path of ['/api/players', '/api/players/bulk', '/api/teams/{id}/players']) {
      const post = operationAt(document, 'post', path)
      t.like(parameterOf(post, 'Idempotency-Key'), { in: 'header', required: true }, path)
      t.like(Object(post.responses[201]).headers, {
        'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' },
      })
    }
    t.true(parameterOf(operationAt(document, 'patch', '/api/players/{id}'), 'Idempotency-Key')?.required)
    t.is(parameterOf(operationAt(document, 'delete', '/api/players/{id}'), 'Idempotency-Key'), undefined)
    t.is(parameterOf(operationAt(document, 'post', '/api/teams'), 'Idempotency-Key'), undefined)
    const optional = crudRouter(models().Player, { idempotency: true })
    const post = operationAt(openApi({ resources: [optional], info: INFO }), 'post', '/api/players')
    t.is(parameterOf(post, 'Idempotency-Key')?.required, undefined)
  })
  t.teardown(() => stage.close())
  await stage.post('/api/teams', { name: 'Bulls' })
  const key = { 'idempotency-key': '"one"' }
  for (const path of ['/api/players', '/api/teams/1/players']) {
    const body = { name: 'Anna', teamId: 1 }
    t.is((await stage.post(path, body)).status, 400, path)
    t.is((await stage.post(path, body, key)).status, 201, path)
    const again = await stage.post(path, body, key)
    t.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true'], path)
    t.is((await stage.post(path, { ...body, name: 'Bea' }, key)).status, 422, path)
  }
})

test('a body that nests records has the problems of its own resource', (t) => {
  const { Team, Player } = models()
  const players = crudRouter(Player, { concurrency: true })
  const teams = crudRouter(Team, { idempotency: true, relations: { players: { write: true } } })
  const document = openApi({ resources: [teams, players], info: INFO })
  for (const post of [operationAt(document, 'post', '/api/teams'), operationAt(document, 'patch', '/api/teams/{id}')]) {
    const { 400: invalid, 409: conflict } = post.responses
    t.deepEqual(Object.keys(Object(conflict).headers ?? {}), ['Retry-After'])
    t.is(Object(invalid).description, 'The body, or a value in it, is invalid.')
  }
})

test('a body below its owner need not say whose it is, whatever else it must have', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const { Team, Player, Note } = define(sequelize)
    const players = crudRouter(Player)
    const teams = crudRouter(Team, { relations: { players: { routes: true }, note: { write: true } } })
    app.use(players)
    app.use(crudRouter(Note))
    app.use(teams)
    const document = openApi({ resources: [players, teams], info: INFO })
    const { content } = Object(operationAt(document, 'post', '/api/teams/{id}/players').requestBody)
    t.deepEqual(content['application/json'].schema, { $ref: '#/components/schemas/TeamPlayerCreate' })
    const {
      TeamPlayerCreate: below,
      PlayerCreate: own,
      TeamCreate: team,
      TeamNoteCreate: note,
    } = Object(document.components.schemas)
    t.deepEqual([below.required, own.required], [['name'], ['name', 'teamId']])
    t.deepEqual(note.required, ['text'])
    // One record may be none.
    t.deepEqual(team.properties.note, { anyOf: [{ $ref: '#/components/schemas/TeamNoteCreate' }, { type: 'null' }] })
  })
  t.teardown(() => stage.close())
  t.is((await stage.post('/api/teams', { name: 'Bulls', note: { text: 'fine' } })).status, 201)
  t.is((await stage.post('/api/teams', { name: 'Heat', note: null })).status, 201)
  t.is((await stage.post('/api/teams/1/players', { name: 'Anna' })).status, 201)
  t.is((await stage.post('/api/teams/1/players', {})).status, 400)
})

test('what bodies hold of two relations with one name in the singular is named apart', (t) => {
  const { Team, Player, Note } = models()
  Team.hasOne(Note, { as: 'player', foreignKey: 'aboutId', constraints: false })
  crudRouter(Player)
  crudRouter(Note)
  const teams = crudRouter(Team, { relations: { players: { write: true }, player: { write: true } } })
  const { schemas = {} } = openApi({ resources: [teams], info: INFO }).components
  t.deepEqual(
    Object.keys(schemas).filter((name) => /Create$/.test(name)),
    ['TeamCreate', 'Team_PlayerCreate', 'Team_PlayersCreate'],
  )
})

test('a relation and a model whose names are one when joined are named apart, in whatever order they are mounted', async (t) => {
  for (const isFirst of [true, false]) {
    const stage = await openStage(({ sequelize }, app) => {
      const name = { name: DataTypes.STRING }
      const Device = sequelize.define('Device', name, { timestamps: false })
      const Feature = sequelize.define('Feature', name, { timestamps: false })
      const DeviceFeature = sequelize.define('DeviceFeature', name, { timestamps: false })
      Device.hasMany(Feature, { as: 'features', foreignKey: 'deviceId' })
      const devices = crudRouter(Device, { relations: { features: { write: true, routes: true } } })
      const routers = [devices, crudRouter(DeviceFeature), crudRouter(Feature)]
      const resources = isFirst ? routers : routers.toReversed()
      app.use(resources, apiDocs({ resources, info: INFO }))
    })
    t.teardown(() => stage.close())
    const { status, body } = await stage.get('/openapi.json')
    t.is(status, 200)
    const names = Object.keys(body.components.schemas).filter((name) => /^Device_?Feature.*Create$/.test(name))
    t.deepEqual(names, ['DeviceFeatureCreate', 'Device_FeaturesCreate'])
    t.is(body.paths['/api/devices/{id}/features'].get.operationId, 'listDevice_Features')
    t.is(body.paths['/api/devicefeatures'].get.operationId, 'listDeviceFeatures')
    const types = await stage.get('/client.d.ts')
    t.is(types.status, 200)
    t.regex(types.text, /export interface Device_FeaturesCreate /)
    t.is((await stage.get('/docs')).status, 200)
    const device = { name: 'lamp', features: [{ name: 'dim' }] }
    t.is((await stage.post('/api/devices', device)).status, 201)
  }
})

test('models with the names of shapes that all resources share have their names in documents', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const define = (name: string): ModelStatic<Model> =>
      sequelize.define(name, { label: DataTypes.STRING }, { timestamps: false })
    const Problem = define('Problem')
    const through = { through: 'Related', foreignKey: 'one', otherKey: 'other', timestamps: false }
    Problem.belongsToMany(Problem, { as: 'others', ...through })
    const problems = crudRouter(Problem, { relations: { others: { routes: true } } })
    const rest = ['ValidationProblem', 'Linked', 'Count'].map((name) => crudRouter(define(name)))
    const resources = [problems, ...rest]
    app.use(resources, apiDocs({ resources, info: INFO }))
  })
  t.teardown(() => stage.close())
  const { status, body } = await stage.get('/openapi.json')
  t.is(status, 200)
  const { schemas, responses } = body.components
  t.truthy(schemas.Problem.properties.label)
  t.truthy(schemas.Problem_.properties.status)
  t.truthy(schemas.Linked_.properties.linked)
  const { schema } = responses.NotFound.content['application/problem+json']
  t.deepEqual(schema, { $ref: '#/components/schemas/Problem_' })
  const types = await stage.get('/client.d.ts')
  t.is(types.status, 200)
  t.regex(types.text, /export interface Problem /)
  t.is((await stage.get('/docs')).status, 200)
})

test('what the records in a body may be refused for is told of the body, and only some of them need a caller', async (t) => {
  const options: CrudOptions = { identity, createPolicy: hasRole('coach'), concurrency: true }
  const document = ((): OpenApiDocument => {
    const { Team, Player } = models()
    const players = crudRouter(Player, options)
    const teams = crudRouter(Team, { relations: { players: { write: true } }, identity })
    return openApi({
      resources: [players, teams],
      info: INFO,
      security,
    })
  })()
  const post = operationAt(document, 'post', '/api/teams')
  t.deepEqual(statuses(post), ['201', '400', '401', '403', '409', '413', '415', '500', '503'])
  t.deepEqual(post.security, [{ user: [] }, {}])
  const patch = operationAt(document, 'patch', '/api/teams/{id}')
  for (const status of ['401', '403', '412', '428']) t.true(statuses(patch).includes(status), status)
  t.false(statuses(operationAt(document, 'delete', '/api/teams/{id}')).includes('428'))

  const stage = await openStage(({ sequelize }, app) => {
    const { Team, Player } = define(sequelize)
    app.use(crudRouter(Player, options))
    app.use(crudRouter(Team, { relations: { players: { write: true } }, identity }))
  })
  t.teardown(() => stage.close())
  const players = [{ name: 'Anna' }]
  t.is((await stage.post('/api/teams', { name: 'Bulls', players: [] })).status, 201)
  t.is((await stage.post('/api/teams', { name: 'Bulls', players })).status, 401)
  t.is((await stage.post('/api/teams', { name: 'Bulls', players }, asUser('jan'))).status, 403)
  await stage.sequelize.model('Player').create({ name: 'Bea', teamId: 1 })
  t.is((await stage.patch('/api/teams/1', { players: [{ id: 1, name: 'Bee' }] })).status, 428)
  t.is((await stage.patch('/api/teams/1', { players: [{ id: 1, rowVersion: 9, name: 'Bee' }] })).status, 412)
})

test('policies on what only some requests of a route ask for make callers optional, and are told', async (t) => {
  const { sequelize, Player } = models()
  const paths = (options: CrudOptions) => {
    const security = {
      schemes: { user: { type: 'apiKey', in: 'header', name: 'x-user' } },
      requirement: [{ user: [] }],
    }
    const router = crudRouter(Player, { identity, ...options })
    return openApi({ resources: [{ resource: router }], info: INFO, security })
  }
  const optional = [{ user: [] }, {}]
  const isTold = (operation: DocumentedOperation): boolean =>
    ['401', '403'].every((status) => statuses(operation).includes(status))
  const exported = operationAt(
    paths({ operations: ['getList', 'export'], exportPolicy: hasRole('admin') }),
    'get',
    '/api/players',
  )
  t.deepEqual([exported.security, isTold(exported)], [optional, true])
  const alone = operationAt(paths({ operations: ['export'], exportPolicy: hasRole('admin') }), 'get', '/api/players')
  t.deepEqual([alone.security, isTold(alone)], [[{ user: [] }], true])
  const Place = sequelize.define('Place', { code: { type: DataTypes.STRING(8), primaryKey: true } })
  const places = crudRouter(Place, { identity, operations: ['replace'], createPolicy: hasRole('admin') })
  const put = operationAt(openApi({ resources: [places], info: INFO, security }), 'put', '/api/places/{id}')
  t.deepEqual([put.security, isTold(put)], [optional, true])

  const stage = await openStage(({ sequelize }, app) => {
    const Soft = sequelize.define('Soft', { name: DataTypes.STRING }, { paranoid: true })
    const router = crudRouter(Soft, {
      identity,
      softDelete: true,
      operations: ['getList', 'export'],
      includeDeletedPolicy: hasRole('admin'),
    })
    app.use(router)
    const security = {
      schemes: { user: { type: 'apiKey', in: 'header', name: 'x-user' } },
      requirement: [{ user: [] }],
    }
    const list = operationAt(openApi({ resources: [router], info: INFO, security }), 'get', '/api/softs')
    t.deepEqual([list.security, isTold(list)], [optional, true])
  })
  t.teardown(() => stage.close())
  for (const query of ['includeDeleted=true', 'includeDeleted=true&format=csv']) {
    t.is((await stage.get(`/api/softs?${query}`)).status, 401)
    t.is((await stage.get(`/api/softs?${query}`, asUser('jan'))).status, 403)
  }
})

test('setting a masked foreign key by the path is refused, and told', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const { Team, Player } = define(sequelize)
    app.use(crudRouter(Player, { identity, mask: { teamId: { write: 'transfers' } } }))
    app.use(crudRouter(Team, { identity, relations: { players: { routes: true, write: true } } }))
  })
  t.teardown(() => stage.close())
  t.is((await stage.post('/api/teams', { name: 'Bulls' })).status, 201)
  t.is((await stage.post('/api/teams/1/players', { name: 'Anna' })).status, 403)
  t.is((await stage.post('/api/teams', { name: 'Bulls', players: [{ name: 'Anna' }] })).status, 403)
})

test('a cursor may have as many characters as those that the service gives', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Long = sequelize.define(
      'Long',
      { code: { type: DataTypes.STRING(180), primaryKey: true } },
      { timestamps: false },
    )
    const router = crudRouter(Long, { query: { pageSize: 1 } })
    app.use(router)
    const list = operationAt(openApi({ resources: [router], info: INFO }), 'get', '/api/longs')
    const { schema } = Object(parameterOf(list, 'cursor'))
    t.true(schema.maxLength > 512)
  })
  t.teardown(() => stage.close())
  await stage.sequelize.model('Long').bulkCreate([{ code: '\u{1f600}'.repeat(150) }, { code: '\u{1f600}'.repeat(151) }])
  const { body } = await stage.get('/api/longs?cursor=')
  t.true(body.nextCursor.length > 512)
  t.is((await stage.get(`/api/longs?cursor=${body.nextCursor}`)).status, 200)
})

test('a GET of one record honours Prefer, and says so', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const { Team, Player } = define(sequelize)
    const players = crudRouter(Player, { relations: { team: { routes: true } } })
    app.use(players)
    app.use(crudRouter(Team))
    const document = openApi({ resources: [players], info: INFO })
    for (const path of ['/api/players/{id}', '/api/players/{id}/team']) {
      t.like(parameterOf(operationAt(document, 'get', path), 'Prefer'), { in: 'header' }, path)
    }
  })
  t.teardown(() => stage.close())
  await stage.post('/api/teams', { name: 'Bulls' })
  const strict = await stage.get('/api/teams/1?select=nothing', { prefer: 'handling=strict' })
  t.is(strict.status, 400)
  const fine = await stage.get('/api/teams/1?select=name', { prefer: 'handling=strict' })
  t.is(fine.headers.get('preference-applied'), 'handling=strict')
})

test('dots are no key of one part, and may be a part of several', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const key = () => ({ type: DataTypes.STRING(20), primaryKey: true })
    const One = sequelize.define('One', { code: key() }, { timestamps: false })
    const Two = sequelize.define('Two', { code: key(), part: key() }, { timestamps: false })
    const routers = [One, Two].map((model) => crudRouter(model))
    for (const router of routers) app.use(router)
    const { OneCreate: one, TwoCreate: two } = Object(openApi({ resources: routers, info: INFO }).components.schemas)
    t.deepEqual(one.properties.code.not, { enum: ['', '.', '..'] })
    t.deepEqual(two.properties.code.not, { const: '' })
  })
  t.teardown(() => stage.close())
  t.is((await stage.post('/api/ones', { code: '..' })).status, 400)
  t.is((await stage.post('/api/twos', { code: '', part: 'a' })).status, 400)
  const made = await stage.post('/api/twos', { code: '..', part: '.' })
  t.is(made.status, 201)
  const place = made.headers.get('location') ?? ''
  t.is((await stage.get(place)).status, 200, place)
})

test('example filters name nothing that is masked, behind relations neither', (t) => {
  const { Team, Player } = models()
  const players = crudRouter(Player, { identity, mask: { name: 'names' } })
  const teams = crudRouter(Team)
  const document = openApi({ resources: [teams, players], info: INFO })
  const { examples } = Object(parameterOf(operationAt(document, 'get', '/api/teams'), 'filter'))
  t.deepEqual(
    Object.values(examples).map((example) => Object(example).value),
    ['', 'name=*a', 'name=*a,name^a', 'players.Any.salary>=10'],
  )
})

test('the routes of a relation whose name another resource has have ids of their own', (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Book = sequelize.define('Book', { name: DataTypes.STRING })
  const Genre = sequelize.define('Genre', { name: DataTypes.STRING })
  const BookGenre = sequelize.define('BookGenre', { id: { type: DataTypes.INTEGER, primaryKey: true } })
  Book.belongsToMany(Genre, { as: 'genres', through: BookGenre })
  const books = crudRouter(Book, { relations: { genres: { routes: true } } })
  const genres = crudRouter(Genre)
  const links = crudRouter(BookGenre)
  const idsOf = (...resources: Parameters<typeof openApi>[0]['resources'][number][]): readonly string[] => {
    const { paths } = openApi({ resources, info: INFO })
    return Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
  }
  const ids = idsOf(books, genres, links)
  t.is(new Set(ids).size, ids.length)
  for (const id of ['listBookGenres', 'listBook_Genres', 'linkBook_Genres', 'setBook_Genres'])
    t.true(ids.includes(id), id)
  t.deepEqual(idsOf(links, books, genres).toSorted(), ids.toSorted())
  const named = idsOf(books, genres, { resource: links, names: { response: 'Shelf' } })
  t.true(named.includes('listBookGenres') && !named.some((id) => id.includes('_')))
})

test('a model that is called like what another one holds keeps its name, and what is held has another one', (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Order = sequelize.define('Order', { note: DataTypes.STRING })
  const OrderLine = sequelize.define('OrderLine', { text: DataTypes.STRING })
  Order.hasMany(OrderLine, { as: 'lines', foreignKey: 'orderId' })
  const orders = crudRouter(Order, { relations: { lines: { write: true, routes: true } } })
  const lines = crudRouter(OrderLine)
  for (const resources of [
    [orders, lines],
    [lines, orders],
    // What is behind a relation has its name as well.
    [orders],
  ]) {
    const { schemas } = openApi({ resources, info: INFO }).components
    t.true('Order_LinesCreate' in Object(schemas))
  }
  const named = { resource: lines, names: { response: 'Line' } }
  t.true('OrderLineCreate' in Object(openApi({ resources: [orders, named], info: INFO }).components.schemas))
})

test('names of the host that two resources would have are refused when apiDocs is called', (t) => {
  const { Team, Player } = models()
  const teams = crudRouter(Team)
  const players = crudRouter(Player)
  for (const names of [{ response: 'Team' }, { create: 'TeamUpdate' }, { list: 'Team' }]) {
    t.throws(() => apiDocs({ resources: [teams, { resource: players, names }], info: INFO }), {
      code: 'INVALID_OPTION',
      message: /Set other names for Player at \/api\/players/,
    })
  }
  t.notThrows(() => apiDocs({ resources: [teams, { resource: players, names: { response: 'Mate' } }], info: INFO }))
})

test('who may not export what is below a record is told', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const { Team, Player } = define(sequelize)
    app.use(crudRouter(Player, { identity, operations: ['getList', 'export'], exportPolicy: hasRole('admin') }))
    const teams = crudRouter(Team, { identity, relations: { players: { routes: true } } })
    app.use(teams)
    const list = operationAt(openApi({ resources: [teams], info: INFO, security }), 'get', '/api/teams/{id}/players')
    t.deepEqual(list.security, [{ user: [] }, {}])
  })
  t.teardown(() => stage.close())
  await stage.post('/api/teams', { name: 'Bulls' })
  t.is((await stage.get('/api/teams/1/players')).status, 200)
  t.is((await stage.get('/api/teams/1/players?format=csv')).status, 401)
  t.is((await stage.get('/api/teams/1/players?format=csv', asUser('jan'))).status, 403)
})

test('lists below a record are files where those of the target are', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const { Team, Player } = define(sequelize)
    app.use(crudRouter(Player, { operations: ['getList', 'export'] }))
    const teams = crudRouter(Team, { relations: { players: { routes: true } } })
    app.use(teams)
    const list = operationAt(openApi({ resources: [teams], info: INFO }), 'get', '/api/teams/{id}/players')
    t.truthy(parameterOf(list, 'format'))
    const types = ['application/json', 'text/csv', 'application/jsonl', 'application/x-ndjson']
    t.deepEqual(Object.keys(Object(list.responses[200]).content), types)
  })
  t.teardown(() => stage.close())
  await stage.post('/api/teams', { name: 'Bulls' })
  const { headers } = await stage.get('/api/teams/1/players', { accept: 'text/csv' })
  t.regex(headers.get('content-type') ?? '', /^text\/csv/)
})
