// What documents say of actions: OpenAPI, `x-crud` and the types of clients.

import test from 'ava'
import Joi from 'joi'
import { DataTypes, Sequelize } from 'sequelize'
import { clientTypes, crudRouter, openApi } from '../../../lib/index.js'
import { sqliteOptions } from '../../support/database.js'
import { findErrors, lintDocuments } from '../../support/linter.js'

const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
const Player = sequelize.define(
  'Player',
  { name: { type: DataTypes.STRING(20), allowNull: false }, level: DataTypes.INTEGER },
  { timestamps: false },
)
const handler = (): void => undefined
const players = crudRouter(Player, {
  concurrency: true,
  idempotency: true,
  updatePolicy: () => true,
  actions: {
    publish: {
      on: 'record',
      method: 'post',
      input: Joi.object({
        at: Joi.date().iso().required(),
        to: Joi.array().items(Joi.string().email()).max(3),
        kind: Joi.string().valid('soft', 'hard').allow(null),
        count: Joi.number().integer().min(1).max(9),
        text: Joi.string().allow('').max(10).description('A note.'),
        either: Joi.alternatives(Joi.string(), Joi.number()),
        when: Joi.any(),
        deep: Joi.object({ a: Joi.boolean().required() }).unknown(),
      }),
      handler,
    },
    publishAll: { on: 'collection', method: 'post', policy: () => true, output: 'list', handler },
    best: {
      on: 'collection',
      method: 'get',
      input: Joi.object({ level: Joi.number().required(), names: Joi.array().items(Joi.string()) }),
      output: 'record',
      handler,
    },
    rank: { on: 'record', method: 'get', output: Joi.object({ rank: Joi.number().integer().required() }), handler },
    quiet: { on: 'record', method: 'post', output: 'none', handler },
    strange: { on: 'collection', method: 'get', output: Joi.any().custom((value) => value), handler },
  },
})

// biome-ignore lint/suspicious/noExplicitAny: a test looks into every part of a document, and asserts what it finds
const document: any = openApi({
  resources: [players],
  info: { title: 'League', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
})

// biome-ignore lint/suspicious/noExplicitAny: as above
function resolved(part: any): any {
  const { $ref } = Object(part)
  if (typeof $ref !== 'string') return part
  return $ref
    .slice(2)
    .split('/')
    .reduce((found, name) => found[name], document)
}

test('operations have the name of the action and of the record, or of the records', (t) => {
  const ids = Object.entries<Record<string, { operationId: string }>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
  )
  for (const id of [
    'post /api/players/{id}/publish publishPlayer',
    'post /api/players/publish-all publishAllPlayers',
    'get /api/players/best bestPlayers',
    'get /api/players/{id}/rank rankPlayer',
    'post /api/players/{id}/quiet quietPlayer',
    'get /api/players/strange strangePlayers',
  ]) {
    t.true(ids.includes(id), `${id} in ${ids.join(', ')}`)
  }
})

test('the input of an action is the schema of its body', (t) => {
  const { requestBody } = document.paths['/api/players/{id}/publish'].post
  t.true(requestBody.required)
  t.deepEqual(resolved(requestBody.content['application/json'].schema), {
    type: 'object',
    required: ['at'],
    properties: {
      at: { type: 'string', format: 'date-time' },
      to: { type: 'array', items: { type: 'string', minLength: 1, format: 'email' }, maxItems: 3 },
      kind: { enum: ['soft', 'hard', null] },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      text: { type: 'string', maxLength: 10, description: 'A note.' },
      either: { anyOf: [{ type: 'string', minLength: 1 }, { type: 'number' }] },
      when: {},
      deep: { type: 'object', required: ['a'], properties: { a: { type: 'boolean' } }, additionalProperties: true },
    },
    additionalProperties: false,
  })
})

test('the input of a GET action is its parameters', (t) => {
  const { parameters } = document.paths['/api/players/best'].get
  const told = parameters
    .map(resolved)
    .map(({ name, in: place, required = false }: Record<string, unknown>) => [name, place, required])
  t.deepEqual(told.slice(0, 3), [
    ['level', 'query', true],
    ['names', 'query', false],
    ['select', 'query', false],
  ])
})

test('answers and problems are those that an action has', (t) => {
  const statuses = (path: string, method: string): string[] => Object.keys(document.paths[path][method].responses)
  t.deepEqual(
    ['200', '204', '400', '403', '404', '409', '412', '422', '428'].filter(
      (status) => !statuses('/api/players/{id}/publish', 'post').includes(status),
    ),
    [],
  )
  t.false(statuses('/api/players/publish-all', 'post').includes('428'))
  t.deepEqual(
    ['200', '304', '400', '404'].filter((status) => !statuses('/api/players/best', 'get').includes(status)),
    [],
  )
  t.false(statuses('/api/players/{id}/quiet', 'post').includes('200'))
  const rank = document.paths['/api/players/{id}/rank'].get.responses['200']
  t.deepEqual(resolved(resolved(rank).content['application/json'].schema), {
    type: 'object',
    required: ['rank'],
    properties: { rank: { type: 'integer' } },
    additionalProperties: false,
  })
  const strange = document.paths['/api/players/strange'].get.responses['200']
  t.deepEqual(resolved(strange).content['application/json'].schema, {})
})

test('If-Match and Idempotency-Key are parameters of POST actions that take them', (t) => {
  const named = (path: string): unknown[] =>
    document.paths[path].post.parameters.map(resolved).map(({ name }: { name: string }) => name)
  t.true(named('/api/players/{id}/publish').includes('If-Match'))
  t.true(named('/api/players/{id}/publish').includes('Idempotency-Key'))
  t.false(named('/api/players/publish-all').includes('If-Match'))
  t.true(named('/api/players/publish-all').includes('Idempotency-Key'))
})

test('a document with actions has no finding of a linter', async (t) => {
  t.is(await findErrors(document), null)
  t.deepEqual(await lintDocuments({ league: document }), [])
})

test('x-crud has the actions, and nothing where there are none', (t) => {
  const [{ 'x-crud': crud }] = document.tags
  t.deepEqual(
    crud.actions.map(({ name, on, method, path, output }: Record<string, unknown>) => [name, on, method, path, output]),
    [
      ['publish', 'record', 'post', '/{id}/publish', 'record'],
      ['publishAll', 'collection', 'post', '/publish-all', 'list'],
      ['best', 'collection', 'get', '/best', 'record'],
      ['rank', 'record', 'get', '/{id}/rank', 'value'],
      ['quiet', 'record', 'post', '/{id}/quiet', 'none'],
      ['strange', 'collection', 'get', '/strange', 'value'],
    ],
  )
  t.deepEqual(crud.actions[0].input.required, ['at'])
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
  const plain = openApi({ resources: [crudRouter(Team)], info: { title: 'x', version: '1' } })
  t.false('actions' in Object(plain.tags[0]?.['x-crud']))
})

test('client types have the input and the answer of each action', (t) => {
  const text = clientTypes({ resources: [players] })
  const lines = text.split('\n').map((line) => line.trim())
  for (const line of [
    'readonly publish: {',
    'readonly on: "record"',
    'readonly method: "post"',
    'at: string',
    'to?: readonly string[]',
    'kind?: "soft" | "hard" | null',
    'either?: string | number',
    'when?: unknown',
    'readonly output: Player',
    'readonly input: undefined',
    'readonly items: readonly Player[]',
    'rank: number',
    'readonly output: undefined',
    'readonly output: unknown',
  ]) {
    t.true(lines.includes(line), `${line} in\n${text}`)
  }
})
