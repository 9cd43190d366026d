// Documents of OpenAPI 3.2, which describe QUERY and files of a record a line.

import test from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { CrudConfigError, crudRouter, openApi } from '../../../lib/index.js'
import { OPERATIONS } from '../../../lib/operations.js'
import { SUPPORTS_QUERY } from '../../../lib/parse/queryMethod.js'
import { sqliteOptions } from '../../support/database.js'
import { defineKinds, INFO, KIND_OPTIONS, resolveReferences } from '../../support/documented.js'
import { findErrors, lintDocuments } from '../../support/linter.js'

const ALL = Object.values(OPERATIONS).reduce((sum, { flag }) => sum | flag, 0)

function resources() {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Team = sequelize.define('Team', { name: { type: DataTypes.STRING(50), allowNull: false, unique: true } })
  const Player = sequelize.define('Player', { name: DataTypes.STRING(50), level: DataTypes.INTEGER })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  const players = crudRouter(Player, { operations: ALL, softDelete: true, concurrency: true })
  const relations = { players: { routes: true, write: true, resource: players } }
  const teams = crudRouter(Team, {
    operations: ALL - OPERATIONS.restore.flag,
    relations,
    deprecated: { since: '2026-01-01' },
  })
  const kinds = crudRouter(defineKinds(sequelize), { ...KIND_OPTIONS, operations: ALL, softDelete: true })
  return { players, teams, kinds }
}

test('documents of 3.2 are valid, and a linter finds nothing in them by its strict rules', async (t) => {
  const { players, teams, kinds } = resources()
  const documents = {
    league: openApi({ resources: [players, teams], info: INFO, version: '3.2' }),
    kinds: openApi({ resources: [kinds], info: INFO, version: '3.2' }),
  }
  for (const document of Object.values(documents)) {
    t.is(document.openapi, '3.2.0')
    t.is(await findErrors(document), null)
  }
  t.deepEqual(await lintDocuments(documents), [])
})

test('every list has QUERY, with its parameters in the body, and no document of 3.1 has it', (t) => {
  const { players, teams } = resources()
  const { paths } = resolveReferences(openApi({ resources: [players, teams], info: INFO, version: '3.2' }))
  const queried = Object.entries(paths).flatMap(([path, { query }]) => (query === undefined ? [] : [path]))
  t.deepEqual(queried, SUPPORTS_QUERY ? ['/api/players', '/api/teams', '/api/teams/{id}/players'] : [])
  const older = openApi({ resources: [players, teams], info: INFO })
  t.is(older.openapi, '3.1.0')
  t.true(Object.values(older.paths).every(({ query }) => query === undefined))
  t.regex(older.paths['/api/players']?.get?.description ?? '', /The method `QUERY` returns the same response/)
  t.notRegex(paths['/api/players']?.get?.description ?? '', /QUERY/)
  const operation = paths['/api/players']?.query
  if (!SUPPORTS_QUERY || operation === undefined) return
  t.is(operation.operationId, 'listPlayersByQuery')
  t.true((operation.parameters ?? []).every((each) => each.in === 'header'))
  const content = Object(operation.requestBody?.content)
  t.deepEqual(Object.keys(content), ['application/x-www-form-urlencoded', 'application/json'])
  const { properties } = content['application/json'].schema
  t.like(properties, { filter: { type: 'string' }, sort: { type: 'string' }, page: { type: 'integer' } })
  t.true(['400', '413', '415'].every((status) => Object.hasOwn(operation.responses, status)))
})

test('files of a record a line, in replies and bodies, have a schema for the record', (t) => {
  const { players } = resources()
  const { paths } = resolveReferences(openApi({ resources: [players], info: INFO, version: '3.2' }))
  const { 'application/jsonl': lines, 'text/csv': csv } = Object(paths['/api/players']?.get?.responses['200']?.content)
  t.true(Array.isArray(lines.itemSchema.anyOf))
  t.is(lines.schema, undefined)
  t.deepEqual(csv, { schema: { type: 'string' } })
  const body = Object(paths['/api/players/bulk']?.post?.requestBody?.content)
  t.true(body['application/jsonl'].itemSchema.$ref.endsWith('/PlayerCreate'))
})

test('another version is refused, with a word on the version of the API', (t) => {
  const { players } = resources()
  const wrong = { resources: [players], info: INFO, version: '2.0' } as unknown as Parameters<typeof openApi>[0]
  t.throws(() => openApi(wrong), {
    instanceOf: CrudConfigError,
    message:
      /version must be "3\.1" or "3\.2", the version of OpenAPI\. The version of your API belongs in info\.version\./,
  })
})
