// Agents run actions by one more tool, which is there where one could run.

import test from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { connectAgentOverHttp } from '../../support/mcp.js'
import { identityFromHeader, openStage, readStoredRow } from '../../support/stage.js'

const READING = ['list_resources', 'describe_resource', 'query_records', 'get_record']
const WRITING = ['create_record', 'update_record', 'delete_record']

const stage = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
  const Player = sequelize.define(
    'Player',
    { name: DataTypes.STRING(20), level: DataTypes.INTEGER, wages: DataTypes.INTEGER },
    { timestamps: false },
  )
  const identity = identityFromHeader
  const teams = crudRouter(Team, { identity, authorizePolicy: () => true })
  const players = crudRouter(Player, {
    identity,
    authorizePolicy: ({ identity: caller }) => caller !== null,
    concurrency: true,
    mask: { wages: 'payroll' },
    onError: () => undefined,
    actions: {
      promote: {
        on: 'record',
        method: 'post',
        input: Joi.object({ by: Joi.number().integer().min(1).required() }),
        handler: ({ record, input }) => {
          record.set('level', Number(record.get('level')) + (input as { by: number }).by)
        },
      },
      rest: { on: 'collection', method: 'post', handler: () => undefined },
      best: {
        on: 'collection',
        method: 'get',
        input: Joi.object({ level: Joi.number(), names: Joi.array().items(Joi.string()) }),
        handler: async ({ input }) => {
          const { level = 0, names } = input as { level?: number; names?: string[] }
          const all = await Player.findAll({ order: [['level', 'DESC'], 'id'] })
          return all.filter(
            (each) => Number(each.get('level')) >= level && (names?.includes(String(each.get('name'))) ?? true),
          )
        },
      },
      rank: {
        on: 'record',
        method: 'get',
        output: Joi.number(),
        handler: ({ record }) => Number(record.get('level')) * 2,
      },
      boss: {
        on: 'record',
        method: 'post',
        policy: ({ identity: caller }) => caller?.name === 'boss',
        handler: () => undefined,
      },
    },
  })
  for (const router of [teams, players]) app.use(router)
  app.all('/mcp', crudMcp({ resources: [teams, players], identity, write: true, maxRecords: 2 }))
  app.all('/reading', crudMcp({ resources: [teams, players], identity }))
  app.all('/teams', crudMcp({ resources: [teams], identity, write: true }))
})
const Player = stage.sequelize.model('Player')
await Player.bulkCreate([1, 2, 3].map((level) => ({ name: `p${level}`, level, wages: level })))
const bob = { 'x-user': 'bob' }
const agent = await connectAgentOverHttp(`${stage.url}/mcp`, bob)

test.after.always(() => stage.close())

test.serial('the tool is there where an action could run', async (t) => {
  t.deepEqual(await agent.tools(), [...READING, ...WRITING, 'run_action'])
  t.deepEqual(await (await connectAgentOverHttp(`${stage.url}/reading`, bob)).tools(), [...READING, 'run_action'])
  t.deepEqual(await (await connectAgentOverHttp(`${stage.url}/teams`, bob)).tools(), [...READING, ...WRITING])
})

test.serial('descriptions have the actions that the caller may run, and what they take', async (t) => {
  const { body } = await agent.call('describe_resource', { resource: 'players' })
  t.true(body.tools.includes('run_action'))
  t.deepEqual(
    body.actions.map(({ name, on, output }: Record<string, unknown>) => [name, on, output]),
    [
      ['promote', 'record', 'record'],
      ['rest', 'collection', 'none'],
      ['best', 'collection', 'list'],
      ['rank', 'record', 'value'],
    ],
  )
  t.deepEqual(body.actions[0].input, {
    type: 'object',
    required: ['by'],
    properties: { by: { type: 'integer', minimum: 1 } },
    additionalProperties: false,
  })
  const boss = await connectAgentOverHttp(`${stage.url}/mcp`, { 'x-user': 'boss' })
  const { actions } = (await boss.call('describe_resource', { resource: 'players' })).body
  t.true(actions.some(({ name }: { name: string }) => name === 'boss'))
  const reader = await connectAgentOverHttp(`${stage.url}/reading`, bob)
  const read = (await reader.call('describe_resource', { resource: 'players' })).body
  t.deepEqual(
    read.actions.map(({ name }: { name: string }) => name),
    ['best', 'rank'],
  )
  t.false((await agent.call('describe_resource', { resource: 'teams' })).body.tools.includes('run_action'))
})

test.serial('actions of records take the key and the version', async (t) => {
  const { body } = await agent.call('get_record', { resource: 'players', key: 1 })
  const given = { resource: 'players', action: 'promote', key: 1, input: { by: 5 } }
  const missing = await agent.call('run_action', given)
  t.true(missing.isError)
  t.is(missing.body.status, 428)
  t.regex(missing.body.detail, /as the argument version/)
  const done = await agent.call('run_action', { ...given, version: body.version })
  t.is(done.body.record.level, 6)
  t.is(done.body.record.wages, null)
  t.not(done.body.version, body.version)
  t.is((await agent.call('run_action', { ...given, version: body.version })).body.status, 412)
  t.is((await readStoredRow(Player, 1))?.level, 6)
})

test.serial('actions of collections, values and lists are answered as they are', async (t) => {
  t.deepEqual((await agent.call('run_action', { resource: 'players', action: 'rest' })).body, { done: true })
  t.deepEqual((await agent.call('run_action', { resource: 'players', action: 'rank', key: '2' })).body, { value: 4 })
  const best = await agent.call('run_action', { resource: 'players', action: 'best' })
  t.deepEqual(
    best.body.items.map(({ name }: { name: string }) => name),
    ['p1', 'p3'],
  )
  t.true(best.body.more)
  const some = await agent.call('run_action', {
    resource: 'players',
    action: 'best',
    input: { level: 2, names: ['p2', 'p3'] },
  })
  t.deepEqual(
    some.body.items.map(({ name }: { name: string }) => name),
    ['p3', 'p2'],
  )
})

test.serial('what is wrong with a call is told', async (t) => {
  const wrong = async (given: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const { isError, body } = await agent.call('run_action', { resource: 'players', ...given })
    t.true(isError)
    return body
  }
  t.deepEqual((await wrong({ action: 'promot', key: 1 })).errors, {
    action: ['is not an action of this resource. Call describe_resource for the names.'],
  })
  t.deepEqual((await wrong({ action: 'promote' })).errors, { key: ['is missing.'] })
  t.deepEqual((await wrong({ action: 'rest', key: 1 })).errors, {
    key: ['is not allowed: this action applies to the collection.'],
  })
  t.deepEqual((await wrong({ action: 'rest', input: {} })).errors, {
    input: ['is not allowed: this action has no input.'],
  })
  t.deepEqual((await wrong({ action: 'rank', key: 1, version: 1 })).errors, {
    version: ['is not allowed: this action does not change a record with a version.'],
  })
  t.is((await wrong({ action: 'boss', key: 1 })).status, 403)
  t.is((await wrong({ action: 'promote', key: 99, version: 1, input: { by: 1 } })).status, 404)
  const tag = (await agent.call('get_record', { resource: 'players', key: 2 })).body.version
  const input = await wrong({ action: 'promote', key: 2, version: tag, input: { by: 0 } })
  t.is(input.status, 400)
  t.deepEqual(Object.keys(Object(input.errors)), ['by'])
})

test.serial('POST actions are for agents that may write', async (t) => {
  const reader = await connectAgentOverHttp(`${stage.url}/reading`, bob)
  const told = await reader.call('run_action', { resource: 'players', action: 'rest' })
  t.true(told.isError)
  t.deepEqual(Object.keys(told.body.errors), ['action'])
  t.deepEqual((await reader.call('run_action', { resource: 'players', action: 'rank', key: 3 })).body, { value: 6 })
})

test.serial('who is nobody runs no action', async (t) => {
  const nobody = await connectAgentOverHttp(`${stage.url}/mcp`)
  const { isError, body } = await nobody.call('run_action', { resource: 'players', action: 'rest' })
  t.true(isError)
  t.is(body.status, 401)
})
