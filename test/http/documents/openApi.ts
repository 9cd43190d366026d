// Documents as a whole: valid for others, complete, and by names that stay.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { Router } from 'express'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { type CrudOptions, crudController, crudRouter, hasRole, Operations, openApi } from '../../../lib/index.js'
import { RELATION_ROUTES } from '../../../lib/nested/routes.js'
import { NESTED_ENTRIES, nestedPlaceOf } from '../../../lib/openapi/routes.js'
import { OPERATIONS } from '../../../lib/operations.js'
import { sqliteOptions } from '../../support/database.js'
import { defineKinds, INFO, KIND_OPTIONS, resolveReferences } from '../../support/documented.js'
import { openLeague } from '../../support/league.js'
import { findErrors, lintDocuments } from '../../support/linter.js'
import { root } from '../../support/program.js'
import { identity } from '../../support/tokens.js'

const ALL = Object.values(OPERATIONS).reduce((sum, { flag }) => sum | flag, 0)

/** Models that are never asked for anything. */
function models(): {
  readonly sequelize: Sequelize
  readonly Player: ModelStatic<Model>
  readonly Team: ModelStatic<Model>
} {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Team = sequelize.define('Team', { name: { type: DataTypes.STRING(50), allowNull: false, unique: true } })
  const Player = sequelize.define('Player', {
    name: { type: DataTypes.STRING(50), allowNull: false },
    level: DataTypes.INTEGER,
    secret: DataTypes.STRING,
    salary: { type: DataTypes.INTEGER, allowNull: false },
  })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  return { sequelize, Player, Team }
}

const GUARDED: CrudOptions = {
  identity,
  operations: ALL,
  softDelete: true,
  concurrency: true,
  audit: true,
  deletePolicy: hasRole('admin'),
  mask: { salary: { read: 'payroll', write: 'payroll.write' } },
  scope: () => null,
  flatten: ['team'],
  fields: { secret: { exclude: true } },
}

test('documents are valid OpenAPI 3.1, and a linter finds nothing in them by its strict rules', async (t) => {
  const { sequelize, Player, Team } = models()
  const Place = sequelize.define('Place', { code: { type: DataTypes.STRING(8), primaryKey: true } })
  const players = crudRouter(Player, GUARDED)
  const teams = crudRouter(Team, { operations: ALL - Operations.GetById - 128 })
  const kinds = crudRouter(defineKinds(sequelize), { ...KIND_OPTIONS, operations: ALL, softDelete: true })
  const places = crudController(Place, { operations: ['getList'], route: '/', query: { sortable: false } })
  const documents = {
    guarded: openApi({ resources: [players, teams], info: INFO }),
    kinds: openApi({ resources: [kinds.resource], info: INFO, servers: [{ url: 'https://api.test.pl' }] }),
    places: openApi({ resources: [places], info: INFO }),
    twice: openApi({
      resources: [
        { resource: teams, at: '/tenants/:tenant' },
        { resource: teams, at: '/other', names: { response: 'Squad' } },
      ],
      info: INFO,
    }),
  }
  for (const document of Object.values(documents)) t.is(await findErrors(document), null)
  t.deepEqual(await lintDocuments(documents), [])
  t.not(await findErrors({ ...documents.places, paths: null }), null)
  t.not((await lintDocuments({ broken: { ...documents.places, servers: [] } })).length, 0)
})

const SNAPSHOT = join(root, 'test/http/documents/league.json')

test("the league's document is the one that clients were made from", async (t) => {
  const league = await openLeague()
  const routers = [league.Player, league.Team].map((model) => crudRouter(model, { operations: Operations.AllWithBulk }))
  const document = openApi({ resources: routers, info: { ...INFO, title: 'League' } })
  await league.close()
  const text = `${JSON.stringify(document, null, 2)}\n`
  // What changes here changes for every client: that is for the CHANGELOG to say.
  if (process.env.UPDATE_DOCUMENTS) await writeFile(SNAPSHOT, text)
  t.deepEqual(JSON.parse(await readFile(SNAPSHOT, 'utf8')), JSON.parse(text))
})

test('the description of a patch says that JSON is one value, where bodies have any', (t) => {
  const { sequelize, Player } = models()
  const Place = sequelize.define('Place', { name: DataTypes.STRING, address: DataTypes.JSON })
  const Hidden = sequelize.define('Hidden', { name: DataTypes.STRING, address: DataTypes.JSON })
  const resources = [
    crudRouter(Player, { operations: ALL, softDelete: true }),
    crudRouter(Place, { operations: ALL, softDelete: true }),
    crudRouter(Hidden, {
      operations: ALL,
      softDelete: true,
      fields: { address: { exclude: 'update' } },
      route: 'api/hidden',
    }),
  ]
  const { paths } = openApi({ resources, info: INFO })
  const whole = ' A JSON field is replaced as a whole.'
  const expected = { players: '', places: whole, hidden: '' }
  for (const [name, more] of Object.entries(expected)) {
    const [one, several] = [`/api/${name}/{id}`, `/api/${name}/bulk`].map((path) => paths[path]?.patch?.description)
    t.is(one, `Omitted members keep their values, and null clears a value (RFC 7396).${more}`, name)
    t.is(
      several,
      `Changes all records or none. Omitted members keep their values, and null clears a value.${more}`,
      name,
    )
  }
})

/** The routes that Express has, by method and path. */
function routesOf(router: Router): readonly string[] {
  return router.stack.flatMap(({ route }) => {
    if (route === undefined || typeof route.path !== 'string') return []
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    const methods = new Set(route.stack.flatMap(({ method }) => method ?? []))
    return [...methods].map((method) => `${method} ${path}`)
  })
}

test('every route of a resource is in its document, and no other, but an upsert that nothing tells records apart for', (t) => {
  for (const operations of [Operations.Read, Operations.AllWithBulk, ALL]) {
    const { Player, Team } = models()
    for (const model of [Player, Team]) {
      const router = crudRouter(model, { operations, softDelete: true })
      const { paths } = openApi({ resources: [router], info: INFO })
      const told = Object.entries(paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method} ${path}`),
      )
      const routes = routesOf(router).filter((route) => model === Team || !/^put .*bulk$/.test(route))
      t.deepEqual(told.toSorted(), routes.toSorted())
    }
  }
})

test('routes below a record are in the document of its resource, with what the target says of its records', (t) => {
  const { sequelize, Player, Team } = models()
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING })
  Player.belongsToMany(Tag, { as: 'tags', through: 'player_tags' })
  crudRouter(Tag)
  const players = crudRouter(Player, { ...GUARDED, relations: { tags: { routes: true }, team: { routes: true } } })
  const teams = crudRouter(Team, { relations: { players: { routes: true } } })
  const { paths, components } = openApi({ resources: [players, teams], info: INFO })
  const below = paths['/api/teams/{id}/players']
  t.like(below?.get, { operationId: 'listTeamPlayers', tags: ['Teams'], security: [{ bearerAuth: [] }, {}] })
  t.like(below?.post, { operationId: 'createTeamPlayer', requestBody: { required: true } })
  t.deepEqual(Object.keys(below?.get?.responses ?? {}), ['200', '304', '400', '401', '403', '404', '500', '503'])
  t.is(paths['/api/players/{id}/team']?.get?.operationId, 'getPlayerTeam')
  t.is(paths['/api/players/{id}/tags']?.get?.operationId, 'listPlayerTags')
  // The target is told of whether or not it is among the resources.
  t.true('TagPage' in (components.schemas ?? {}))
})

test('bodies that hold records of others, and replies to them, are told of', (t) => {
  const { Player, Team } = models()
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const teams = crudRouter(Team, { operations, relations: { players: { write: true } } })
  const { components } = openApi({ resources: [teams, crudRouter(Player, GUARDED)], info: INFO })
  t.like(components.schemas, {
    TeamCreate: {
      properties: { players: { type: 'array', items: { $ref: '#/components/schemas/TeamPlayerCreate' } } },
    },
    TeamPlayerCreate: { required: ['name', 'salary'] },
    TeamPlayerUpdate: { properties: { id: { type: 'integer' }, rowVersion: { type: 'integer' } } },
    Team: { required: ['id', 'name', 'createdAt', 'updatedAt'], properties: { players: { type: 'array' } } },
  })
  const changed = { properties: { players: { items: { $ref: '#/components/schemas/TeamPlayerUpdate' } } } }
  t.like(components.schemas, {
    TeamUpdate: changed,
    TeamBulkUpdate: changed,
    TeamReplace: changed,
    TeamUpsert: changed,
  })
})

test('every route of relations has its entry', (t) => {
  for (const route of RELATION_ROUTES) {
    for (const kind of route.kinds) t.truthy(NESTED_ENTRIES[nestedPlaceOf(route, kind)], nestedPlaceOf(route, kind))
  }
})

test('names of the options name components, operations and tags, and those of the entry win', (t) => {
  const { Player } = models()
  const router = crudRouter(Player, { names: { response: 'Athlete', create: 'NewAthlete' } })
  const named = openApi({ resources: [router], info: INFO })
  t.deepEqual(Object.keys(named.components.schemas ?? {}), [
    ...['Athlete', 'AthleteCursorPage', 'AthleteKeysetPage', 'AthletePage'],
    ...['AthleteProjection', 'AthleteProjectionKeysetPage', 'AthleteProjectionPage', 'AthleteUpdate'],
    ...['Count', 'IntegerInput', 'NewAthlete', 'Problem', 'ValidationProblem'],
  ])
  t.deepEqual(
    Object.values(named.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId)),
    ['listAthletes', 'createAthlete', 'getAthlete', 'updateAthlete', 'deleteAthlete'],
  )
  t.deepEqual(
    named.tags.map(({ name }) => name),
    ['Athletes'],
  )
  const other = openApi({ resources: [{ resource: router, names: { response: 'Runner' } }], info: INFO })
  t.true('Runner' in (other.components.schemas ?? {}))
  t.is(other.paths['/api/players/{id}']?.get?.operationId, 'getRunner')
})

test('models named in snake case or in lower case have types with capitals, and the operations their plural', (t) => {
  const { sequelize } = models()
  const router = crudRouter(sequelize.define('order_line', { name: DataTypes.STRING }))
  const { paths, tags } = openApi({ resources: [router], info: INFO })
  t.is(paths['/api/order_lines']?.get?.operationId, 'listOrderLines')
  t.is(paths['/api/order_lines/{id}']?.get?.operationId, 'getOrderLine')
  t.deepEqual(
    tags.map(({ name }) => name),
    ['OrderLines'],
  )
})

test('two resources of one name, or at one path, are refused with the option that helps', (t) => {
  const { Player } = models()
  const one = crudRouter(Player)
  const other = crudRouter(Player, { route: 'api/others' })
  const made = (...resources: Parameters<typeof openApi>[0]['resources'][number][]) =>
    openApi({ resources, info: INFO })
  t.throws(() => made(one, other), {
    code: 'INVALID_OPTION',
    message: /"Player\w*"\. Set other names for Player at \/api\/others, .* names: \{ response: 'OtherPlayer' \}/,
  })
  t.throws(() => made(one, { resource: one, names: { response: 'Other' } }), { message: /Set "at"/ })
  t.notThrows(() => made(one, { resource: other, names: { response: 'Other' } }))
  t.throws(() => openApi({ resources: [], info: INFO }), { message: /must be a non-empty array of routers/ })
  // @ts-expect-error: a model is no resource
  t.throws(() => made(Player), { message: /resources\[0\] must be a router/ })
})

test('what is excluded is nowhere in a document, and what is masked says by which permission it is seen', (t) => {
  const { Player, Team } = models()
  const document = openApi({ resources: [crudRouter(Player, GUARDED), crudRouter(Team)], info: INFO })
  t.false(JSON.stringify(document).includes('secret'))
  const { Player: player, PlayerCreate: create } = document.components.schemas ?? {}
  t.like(player, {
    properties: {
      salary: { type: ['integer', 'null'], 'x-permission': 'payroll' },
      teamName: { type: ['string', 'null'], readOnly: true },
      id: { readOnly: true },
    },
  })
  t.like(create, {
    required: ['name', 'salary'],
    properties: { salary: { type: 'integer', 'x-permission': 'payroll.write' } },
  })
})

test('operations with a policy ask for a token, those whose masks look at the caller take one, and others do without', (t) => {
  const { Player, Team } = models()
  const document = openApi({ resources: [crudRouter(Player, GUARDED), crudRouter(Team)], info: INFO })
  const security = (path: string, method: 'get' | 'delete'): unknown => document.paths[path]?.[method]?.security
  t.deepEqual(security('/api/players/{id}', 'delete'), [{ bearerAuth: [] }])
  t.deepEqual(security('/api/players/{id}', 'get'), [{ bearerAuth: [] }, {}])
  t.deepEqual(security('/api/teams/{id}', 'get'), [])
  t.like(document.components.securitySchemes, { bearerAuth: { type: 'http', scheme: 'bearer' } })

  const own = models()
  const router = crudRouter(own.Player, { ...GUARDED, identity: () => null })
  const silent = openApi({ resources: [router, crudRouter(own.Team)], info: INFO })
  t.is(silent.components.securitySchemes, undefined)
  t.deepEqual(silent.paths['/api/players/{id}']?.delete?.security, [])
  const schemes = { session: { type: 'apiKey', in: 'cookie', name: 'sid' } }
  const told = openApi({ resources: [router], info: INFO, security: { schemes, requirement: [{ session: [] }] } })
  t.deepEqual(told.paths['/api/players/{id}']?.delete?.security, [{ session: [] }])
  t.deepEqual(told.components.securitySchemes, schemes)
})

test('If-Match is required where a PATCH is refused without', (t) => {
  const { Player, Team } = models()
  const document = resolveReferences(
    openApi({ resources: [crudRouter(Player, GUARDED), crudRouter(Team)], info: INFO }),
  )
  const matches = (path: string): unknown =>
    document.paths[path]?.patch?.parameters?.find(({ name }) => name === 'If-Match')?.required
  t.true(matches('/api/players/{id}'))
  t.is(matches('/api/teams/{id}'), undefined)
})

test('a resource that is mounted under a path has that path, with its parameters', (t) => {
  const { Player } = models()
  const resources = [{ resource: crudRouter(Player), at: '/tenants/:tenant' }]
  const { paths } = resolveReferences(openApi({ resources, info: INFO }))
  t.deepEqual(Object.keys(paths), ['/tenants/{tenant}/api/players', '/tenants/{tenant}/api/players/{id}'])
  t.like(paths['/tenants/{tenant}/api/players']?.post, { parameters: [{ name: 'tenant', in: 'path', required: true }] })
})

test('the tag of a resource tells programs what its queries may name', (t) => {
  const { Player, Team } = models()
  const document = openApi({ resources: [crudRouter(Player, GUARDED), crudRouter(Team)], info: INFO })
  t.like(document.tags[0]?.['x-crud'], {
    resource: 'Player',
    path: '/api/players',
    key: { name: 'id', type: 'integer' },
    quantifiers: ['Any', 'All', 'None', 'Count'],
    softDeletes: true,
    versions: true,
    hub: null,
  })
  const fields = document.tags[0]?.['x-crud'].fields ?? []
  t.like(
    fields.find(({ name }) => name === 'level'),
    { type: 'integer', nullable: true, operators: ['=', '!=', '>', '>=', '<', '<=', '=in=', '=out='], sortable: true },
  )
  t.like(
    fields.find(({ name }) => name === 'salary'),
    { permission: 'payroll', writePermission: 'payroll.write' },
  )
  t.like(document.tags[1]?.['x-crud'].relations[0], { name: 'players', many: true, resource: 'Player' })
})

test('aggregates are told in the place of the list, or alone where there is no list', (t) => {
  const { Player, Team } = models()
  const read = Operations.Read | Operations.Aggregate
  const resources = [crudRouter(Player, { operations: read }), crudRouter(Team, { operations: ['aggregate'] })]
  const { paths, components } = resolveReferences(openApi({ resources, info: INFO }))
  const namesOf = (path: string): unknown[] =>
    (paths[path]?.get?.parameters ?? []).map((parameter) => Reflect.get(parameter, 'name'))
  t.is(paths['/api/players']?.get?.operationId, 'listPlayers')
  for (const name of ['select', 'aggregate', 'group', 'having']) t.true(namesOf('/api/players').includes(name), name)
  t.is(paths['/api/teams']?.get?.operationId, 'aggregateTeams')
  t.true(namesOf('/api/teams').includes('having'))
  t.false(namesOf('/api/teams').includes('select'))
  for (const name of ['PlayerGroup', 'PlayerGroupPage', 'TeamGroupPage'])
    t.true(name in (components.schemas ?? {}), name)
})
