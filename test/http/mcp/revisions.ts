// The two revisions of the protocol that agents speak: 2025-11-25 with a handshake, and 2026-07-28 without state.

import test from 'ava'
import express from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { OPERATORS } from '../../../lib/language/operators.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { connectAgentInProcess, connectAgentOverHttp, REVISIONS } from '../../support/mcp.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const identity = identityFromHeader
const operator = { name: 'x', roles: new Set<string>(), permissions: new Set<string>(), claims: {} }

const stage = await openStage(({ sequelize }, app) => {
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20) }, { timestamps: false })
  const players = crudRouter(Player, {
    identity,
    authorizePolicy: ({ identity: caller }) => caller !== null,
    concurrency: true,
    actions: {
      rename: { on: 'record', method: 'post', handler: ({ record }) => void record.set('name', 'renamed') },
      all: { on: 'collection', method: 'get', handler: () => Player.findAll({ order: ['id'] }) },
    },
  })
  app.use(players)
  app.all('/mcp', crudMcp({ resources: [players], write: true }))
  app.all('/parsed', express.json(), crudMcp({ resources: [players], write: true }))
})
test.after.always(() => stage.close())

const ann = asUser('ann')
const JSON_TYPE = { 'content-type': 'application/json' }
const accept = 'application/json, text/event-stream'

/** The envelope of a request of revision 2026-07-28. */
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

for (const revision of REVISIONS) {
  for (const path of ['/mcp', '/parsed']) {
    test.serial(`each tool answers by its own schema, in revision ${revision} at ${path}`, async (t) => {
      const agent = await connectAgentOverHttp(stage.url + path, ann, { revision })
      t.is(agent.client.getNegotiatedProtocolVersion(), revision)
      // The client compares each answer with the schema that it has listed.
      const { tools } = await agent.client.listTools()
      for (const { name, outputSchema } of tools) t.is(outputSchema?.type, 'object', name)
      t.deepEqual((await agent.call('list_resources')).body.resources[0].name, 'players')
      t.true((await agent.call('describe_resource', { resource: 'players' })).body.versions)
      const resource = 'players'
      const created = (await agent.call('create_record', { resource, values: { name: 'new' } })).body
      const key = created.record.id
      t.deepEqual((await agent.call('get_record', { resource, key })).body, created)
      const changed = await agent.call('update_record', { resource, key, values: { name: 'other' }, version: 0 })
      t.deepEqual(changed.body, { record: { ...created.record, name: 'other' }, version: 1 })
      const renamed = await agent.call('run_action', { resource, action: 'rename', key, version: 1 })
      t.is(renamed.body.record.name, 'renamed')
      t.is((await agent.call('run_action', { resource, action: 'all' })).body.items.length, 1)
      const { body } = await agent.call('query_records', { resource })
      t.deepEqual(body, { items: [renamed.body.record], totalCount: 1, nextCursor: null })
      await stage.sequelize.model('Player').destroy({ where: {} })
      await agent.close()
    })
  }

  test.serial(`a client within the program speaks revision ${revision}`, async (t) => {
    await stage.sequelize.model('Player').destroy({ where: {} })
    const players = crudRouter(stage.sequelize.model('Player'), { route: `within/${revision}` })
    const agent = await connectAgentInProcess(crudMcp({ resources: [players], identity: operator }), { revision })
    t.is(agent.client.getNegotiatedProtocolVersion(), revision)
    t.deepEqual((await agent.call('query_records', { resource: revision })).body.items, [])
    await agent.close()
    await players.close()
  })
}

test.serial('tools say whether they write, and whether they destroy', async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann)
  const { tools } = await agent.client.listTools()
  const hints = tools.map(({ name, annotations = {} }) => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
    return [name, readOnlyHint, destructiveHint, idempotentHint, openWorldHint]
  })
  t.deepEqual(hints, [
    ['list_resources', true, false, true, false],
    ['describe_resource', true, false, true, false],
    ['query_records', true, false, true, false],
    ['get_record', true, false, true, false],
    ['create_record', false, false, false, false],
    ['update_record', false, true, true, false],
    ['delete_record', false, true, true, false],
    ['run_action', false, true, false, false],
  ])
})

test.serial('the operators that the argument filter names are operators of the language', async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann)
  const { tools } = await agent.client.listTools()
  const { filter } = Object(tools.find(({ name }) => name === 'query_records')).inputSchema.properties
  const [, named = ''] = /Operators: (.*?) and more/.exec(filter.description) ?? []
  const tokens = new Set<string>(OPERATORS.map(({ token }) => token))
  t.deepEqual(
    named.split(' ').filter((token) => !tokens.has(token)),
    [],
  )
  t.true(named.split(' ').length > 5)
})

test.serial('a client discovers the current revision without a handshake', async (t) => {
  const sent = { jsonrpc: '2.0', id: 7, method: 'server/discover', params: { _meta: envelope } }
  const headers = { ...ann, accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }
  const { status, body } = await stage.post('/mcp', sent, headers)
  t.is(status, 200)
  t.is(body.id, 7)
  t.deepEqual(body.result.supportedVersions, ['2026-07-28'])
  t.deepEqual(body.result.capabilities, { tools: {} })
})

test.serial('answers are JSON in both revisions, and nothing of a request is kept', async (t) => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const current = { ...list, params: { _meta: envelope } }
  for (const [sent, more] of [
    [list, {}],
    [list, { 'mcp-protocol-version': '2025-11-25' }],
    [current, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }],
  ] as const) {
    const { status, headers, body } = await stage.post('/mcp', sent, { ...ann, accept, ...more })
    t.is(status, 200)
    t.is(headers.get('content-type'), 'application/json')
    t.is(headers.get('mcp-session-id'), null)
    t.is(body.result.tools.length, 8)
  }
})

test.serial('messages that are no JSON, too large or of another type are errors of the protocol', async (t) => {
  const sent = async (body: string, type = 'application/json') => {
    const answer = await stage.send('POST', '/mcp', { body, headers: { ...ann, accept, 'content-type': type } })
    return [answer.status, answer.body.error.code]
  }
  t.deepEqual(await sent('{'), [400, -32700])
  t.deepEqual(await sent('{}', 'text/plain'), [415, -32000])
  for (const [body, code] of [
    ['', 'malformed-body'],
    [`"${'x'.repeat(1_200_000)}"`, 'content-too-large'],
  ] as const) {
    const answer = await stage.send('POST', '/mcp', { body, headers: { ...ann, accept, ...JSON_TYPE } })
    t.is(answer.body.code, code)
  }
  const unknown = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope } }
  unknown.params._meta = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' }
  const headers = { ...ann, accept, 'mcp-protocol-version': '2031-01-01', 'mcp-method': 'tools/list' }
  const { status, body } = await stage.post('/mcp', unknown, headers)
  t.is(status, 400)
  t.deepEqual(body.error.data.supported, ['2026-07-28'])
})
