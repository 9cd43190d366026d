// Agents, by the SDK's own client: over HTTP, and over standard input and output of a program.

import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import test from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes } from 'sequelize'
import {
  createCrud,
  crudController,
  crudRouter,
  hasRole,
  Operations,
  type PolicyContext,
  Problem,
} from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { connectAgent, connectAgentOverHttp, REVISIONS } from '../../support/mcp.js'
import { likeThis } from '../../support/program.js'
import { openStage, type Stage } from '../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../support/tokens.js'

const READING = ['list_resources', 'describe_resource', 'query_records', 'get_record']
const WRITING = ['create_record', 'update_record', 'delete_record']

const KEY = 'must be a whole number, or a text other than "", "." and "..".'

const heard: string[] = []
const asked: (string | null)[] = []

const someone = { ...bearer({ sub: 'someone' }), 'x-client': 'agent' }

const stage = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
  const Player = sequelize.define(
    'Player',
    {
      name: { type: DataTypes.STRING(20), allowNull: false },
      level: { type: DataTypes.INTEGER, validate: { min: 0 } },
      salary: DataTypes.INTEGER,
    },
    { timestamps: false },
  )
  const Line = sequelize.define(
    'Line',
    {
      order: { type: DataTypes.INTEGER, primaryKey: true },
      line: { type: DataTypes.STRING(10), primaryKey: true },
      text: DataTypes.STRING,
    },
    { timestamps: false },
  )
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const authorizePolicy = ({ identity: caller }: PolicyContext): boolean => {
    asked.push(caller?.name ?? null)
    return true
  }
  const teams = crudRouter(Team, { identity, authorizePolicy, relations: { players: { write: true } } })
  const players = crudRouter(Player, {
    identity,
    authorizePolicy,
    deletePolicy: hasRole('owner'),
    concurrency: true,
    mask: { salary: 'payroll' },
    query: { search: ['name'], pageSize: 3 },
    use: (req, _res, next) => {
      heard.push(`${req.method} ${req.originalUrl} ${req.get('x-client') ?? ''}`)
      next()
    },
  })
  const lines = crudRouter(Line, {
    identity,
    authorizePolicy,
    idempotency: { required: true },
    keyProperty: ['order', 'line'],
  })
  const open = crudRouter(Line, { route: 'open', keyProperty: ['order', 'line'], operations: Operations.Read })
  for (const router of [teams, players, lines, open]) app.use(router)
  const resources = [teams, players, { resource: lines, name: 'order-lines' }, open]
  app.all('/mcp', crudMcp({ resources, identity, write: true, maxRecords: 4 }))
  app.all('/reading', crudMcp({ resources, identity }))
})
const { sequelize } = stage
await sequelize.model('Team').bulkCreate([{ name: 'Lakers' }, { name: 'Bulls' }])
await sequelize
  .model('Player')
  .bulkCreate(Array.from({ length: 6 }, (_, at) => ({ name: `p${at}`, level: at, salary: at, teamId: 1 + (at % 2) })))
await sequelize.model('Line').bulkCreate([{ order: 7, line: 'a~b', text: 'x' }])
const agent = await connectAgentOverHttp(`${stage.url}/mcp`, someone)

test.after.always(() => stage.close())

test.serial('the tools that write are there where they are asked for', async (t) => {
  t.deepEqual(await agent.tools(), [...READING, ...WRITING])
  const reader = await connectAgentOverHttp(`${stage.url}/reading`, someone)
  t.deepEqual(await reader.tools(), READING)
  await t.throwsAsync(reader.call('create_record', { resource: 'teams', values: { name: 'x' } }), {
    message: /no tool/,
  })
  t.deepEqual((await reader.call('list_resources')).body.resources[0], {
    name: 'teams',
    tools: ['query_records', 'get_record'],
  })
})

test.serial('lists and descriptions show what the caller may use', async (t) => {
  const tools = ['query_records', 'get_record', 'create_record', 'update_record']
  const { body } = await agent.call('list_resources')
  t.deepEqual(body.resources, [
    { name: 'teams', tools: [...tools, 'delete_record'] },
    { name: 'players', tools },
    { name: 'order-lines', tools: [...tools, 'delete_record'] },
    { name: 'open', tools: ['query_records', 'get_record'] },
  ])
  const described = (await agent.call('describe_resource', { resource: 'players' })).body
  t.deepEqual(described.tools, tools)
  t.true(described.versions)
  t.deepEqual(
    described.fields.map(({ name }: { name: string }) => name),
    ['id', 'name', 'level', 'teamId'],
  )
  t.deepEqual(
    described.relations.map(({ name, many, resource }: Record<string, unknown>) => [name, many, resource]),
    [['team', false, 'teams']],
  )
  const create = described.components.schemas[described.bodies.create.$ref.split('/').at(-1)]
  t.deepEqual(create.required, ['name'])
  t.is(create.properties.level.minimum, 0)
  const paid = await connectAgentOverHttp(`${stage.url}/mcp`, withPermission('payroll'))
  const names = (await paid.call('describe_resource', { resource: 'players' })).body.fields.map(
    ({ name }: { name: string }) => name,
  )
  t.true(names.includes('salary'))
  const owner = await connectAgentOverHttp(`${stage.url}/mcp`, withRole('owner'))
  t.true((await owner.call('describe_resource', { resource: 'players' })).body.tools.includes('delete_record'))
})

test.serial(
  'records are queried by the filter language, and errors of it are answers that can be mended',
  async (t) => {
    const found = await agent.call('query_records', {
      resource: 'players',
      filter: 'Level>1,Team.Name=Lakers',
      sort: '-level',
      select: 'name,team.name',
      limit: 2,
    })
    t.false(found.isError)
    t.deepEqual(found.body.items, [
      { name: 'p4', team: { name: 'Lakers' } },
      { name: 'p2', team: { name: 'Lakers' } },
    ])
    t.is(found.body.totalCount, 2)
    for (const filter of ['Level>', 'Levle>3', 'Level>x']) {
      const told = await agent.call('query_records', { resource: 'players', filter })
      const { body } = await stage.get(`/api/players?filter=${encodeURIComponent(filter)}`, someone)
      t.true(told.isError)
      t.deepEqual(told.body, body)
    }
  },
)

test.serial('answers are bounded, collections in them as well', async (t) => {
  const query = async (given: object) => (await agent.call('query_records', { resource: 'players', ...given })).body
  t.is((await query({})).items.length, 3)
  t.is((await query({ limit: 4 })).items.length, 4)
  t.deepEqual((await query({ limit: 5 })).errors, { limit: ['must be at most 4.'] })
  const { body } = await agent.call('query_records', {
    resource: 'teams',
    select: 'name,players.name',
    sort: 'id',
    limit: 2,
  })
  t.deepEqual(body.items, [
    { name: 'Lakers', players: [{ name: 'p0' }, { name: 'p2' }], 'players@more': true },
    { name: 'Bulls', players: [{ name: 'p1' }, { name: 'p3' }], 'players@more': true },
  ])
  const one = await agent.call('get_record', { resource: 'teams', key: 1, select: 'players(name)' })
  t.is(one.body.record.players.length, 3)
  const Player = sequelize.model('Player')
  await Player.bulkCreate(Array.from({ length: 3 }, () => ({ name: 'more', teamId: 1 })))
  const many = (await agent.call('get_record', { resource: 'teams', key: 1, select: 'players(name)' })).body.record
  t.is(many.players.length, 4)
  t.true(many['players@more'])
  await Player.destroy({ where: { name: 'more' } })
})

test.serial('records are read, created, changed by their version and deleted', async (t) => {
  const created = await agent.call('create_record', { resource: 'players', values: { name: 'New', level: 7 } })
  t.false(created.isError)
  const { record, version } = created.body
  t.is(record.name, 'New')
  t.is(version, 0)
  const { body: got } = await agent.call('get_record', { resource: 'players', key: record.id })
  t.deepEqual(got, { record, version })
  const change = (more: object) =>
    agent.call('update_record', { resource: 'players', key: record.id, values: { level: 8 }, ...more })
  for (const [given, code, detail] of [
    [{}, 'precondition-required', /as the argument version/],
    [{ version: 5 }, 'precondition-failed', /Read it again with get_record/],
  ] as const) {
    const { body } = await change(given)
    t.is(body.code, code)
    t.regex(body.detail, detail)
  }
  const changed = await change({ version })
  t.deepEqual(changed.body, { record: { ...record, level: 8 }, version: 1 })
  t.is((await agent.call('delete_record', { resource: 'players', key: record.id, version: 1 })).body.status, 403)
  const owner = await connectAgentOverHttp(`${stage.url}/mcp`, withRole('owner'))
  t.deepEqual((await owner.call('delete_record', { resource: 'players', key: String(record.id), version: '1' })).body, {
    deleted: true,
  })
  t.is((await stage.get(`/api/players/${record.id}`, someone)).status, 404)
})

test.serial('what is wrong with values is told by field, as over HTTP', async (t) => {
  for (const values of [{}, { name: null, level: -1 }, { name: 'x'.repeat(21) }]) {
    const told = await agent.call('create_record', { resource: 'players', values })
    const { body, status } = await stage.post('/api/players', values, someone)
    t.true(told.isError)
    t.is(status, 400)
    t.deepEqual(told.body, body)
  }
})

test.serial('names that mean nothing in values are errors, whatever the API lets pass', async (t) => {
  const unknown = ['is not a known property.']
  const over = await stage.post('/api/players', { name: 'New', levle: 7 }, someone)
  t.is(over.status, 201)
  const { id } = over.body
  const created = await agent.call('create_record', { resource: 'players', values: { name: 'New', levle: 7, nmae: 1 } })
  t.true(created.isError)
  t.deepEqual(created.body.errors, { levle: unknown, nmae: unknown })
  const update = (values: object) => agent.call('update_record', { resource: 'players', key: id, version: 0, values })
  t.deepEqual((await update({ level: 3, levle: 7 })).body.errors, { levle: unknown })
  // Over HTTP as well.
  const misspelt = ['is not a known property. Did you mean level?']
  t.deepEqual((await update({ Level: 3 })).body.errors, { Level: misspelt })
  const posted = await stage.post('/api/players', { name: 'New', Level: 3 }, someone)
  t.deepEqual(posted.body.errors, { Level: misspelt })
  const players = [{ name: 'in', levle: 1 }]
  const nested = await agent.call('create_record', { resource: 'teams', values: { name: 'Nets', players } })
  t.deepEqual(nested.body.errors, { 'players[0].levle': unknown })
  const inner = { players: [{ id, rowVersion: 0, levle: 2 }, ...players] }
  const patched = await agent.call('update_record', { resource: 'teams', key: 1, values: inner })
  t.true(patched.isError)
  // What was read can be sent back.
  const { record } = (await agent.call('get_record', { resource: 'players', key: id })).body
  t.is((await update({ ...record, level: 4 })).body.record.level, 4)
  await sequelize.model('Player').destroy({ where: { id } })
})

test.serial('records of others are written in the values of their owner', async (t) => {
  const values = { name: 'Nets', players: [{ name: 'in', level: 1 }] }
  const { body } = await agent.call('create_record', { resource: 'teams', values })
  t.is(body.record.players[0].name, 'in')
  const described = (await agent.call('describe_resource', { resource: 'teams' })).body
  t.deepEqual(Object.keys(described.components.schemas.TeamPlayerCreate.properties).toSorted(), [
    'level',
    'name',
    'salary',
    'teamId',
  ])
  await agent.call('delete_record', { resource: 'teams', key: body.record.id })
  await sequelize.model('Player').destroy({ where: { name: 'in' } })
})

test.serial('keys of several parts are text, and writes that must carry a key of their own do', async (t) => {
  const { body } = await agent.call('get_record', { resource: 'order-lines', key: '7~a%7Eb' })
  t.deepEqual(body, { record: { order: 7, line: 'a~b', text: 'x' } })
  for (const line of ['1', '2']) {
    const told = await agent.call('create_record', { resource: 'order-lines', values: { order: 8, line } })
    t.false(told.isError, JSON.stringify(told.body))
  }
})

test.serial('what tools do not take, lack or cannot read is an answer that says where', async (t) => {
  const rows: (readonly [tool: string, given: Record<string, unknown>, errors: Record<string, string[]>])[] = [
    [
      'query_records',
      { resource: 'players', filtre: 'x' },
      { filtre: ['is not an argument of this tool. Did you mean "filter"?'] },
    ],
    ['query_records', {}, { resource: ['is missing.'] }],
    [
      'query_records',
      { resource: 'toString' },
      { resource: ['is not a known resource. Call list_resources for the names.'] },
    ],
    ['get_record', { resource: 'players', key: { $gt: 0 } }, { key: [KEY] }],
    ['create_record', { resource: 'players', values: [] }, { values: ['must be an object.'] }],
    [
      'update_record',
      { resource: 'teams', key: 1, values: {}, version: 1 },
      { version: ['is not allowed: records of this resource have no version.'] },
    ],
    ['query_records', { resource: 'players', limit: 0 }, { limit: ['must be a whole number from 1.'] }],
  ]
  const tools = ['get_record', 'update_record', 'delete_record']
  for (const key of ['', '.', '..']) {
    for (const tool of tools) {
      const values = tool === 'update_record' ? { values: { level: 1 } } : {}
      rows.push([tool, { resource: 'players', key, ...values }, { key: [KEY] }])
    }
  }
  for (const [tool, given, errors] of rows) {
    const told = await agent.call(tool, given)
    t.true(told.isError)
    t.deepEqual(told.body.errors, errors)
  }
  const off = await agent.call('delete_record', { resource: 'open', key: '7~1' })
  t.is(off.body.code, 'method-not-allowed')
  const large = await agent.call('create_record', { resource: 'players', values: { name: 'x'.repeat(1_100_000) } })
  t.is(large.body.code, 'content-too-large')
})

test.serial('each call passes what stands in front of the routes, and says anew who it is', async (t) => {
  heard.length = 0
  asked.length = 0
  await agent.call('query_records', { resource: 'players', limit: 1 })
  await agent.call('get_record', { resource: 'players', key: 1 })
  t.deepEqual(heard, ['GET /api/players?after=&pageSize=1 agent', 'GET /api/players/1 agent'])
  t.deepEqual(asked, ['someone', 'someone'])
  heard.length = 0
  t.true((await agent.call('query_records', { resource: 'players', filter: 'Nothing=1' })).isError)
  t.is(heard.length, 1)
})

test.serial('who is nobody uses no resource without policies, and a token that does not hold is a 401', async (t) => {
  const nobody = await connectAgentOverHttp(`${stage.url}/mcp`)
  const told = await nobody.call('query_records', { resource: 'open' })
  t.is(told.body.status, 401)
  t.is((await nobody.call('describe_resource', { resource: 'open' })).body.status, 401)
  const names = (await nobody.call('list_resources')).body.resources.map(({ name }: { name: string }) => name)
  t.deepEqual(names, ['teams', 'players', 'order-lines'])
  const wrong = await stage.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { authorization: 'Bearer nonsense' },
  )
  t.is(wrong.status, 401)
  t.is(wrong.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
  await t.throwsAsync(connectAgentOverHttp(`${stage.url}/mcp`, { authorization: 'Bearer nonsense' }))
})

test.serial('pages of other origins are refused, and there is nothing but POST', async (t) => {
  const accept = 'application/json, text/event-stream'
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const from = (origin: string) => stage.post('/mcp', message, { ...someone, accept, origin })
  t.is((await from(stage.url)).status, 200)
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1', 'not an origin']) {
    const { status, body } = await from(origin)
    t.is(status, 403, origin)
    t.is(
      body.detail,
      'Requests from pages of other origins are not allowed. The option `origins` of crudMcp lists allowed origins.',
    )
  }
  const { status, headers, body } = await stage.get('/mcp', someone)
  t.is(status, 405)
  t.is(headers.get('allow'), 'POST')
  t.is(body.detail, 'This path does not support GET. It supports POST.')
})

const [newer, older] = ['POST /mcp HTTP/1.1', 'POST /mcp HTTP/1.0']

/** What is answered to a message with these headers, as no client of HTTP would send them. */
function said(first: string, headers: string): Promise<string> {
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const socket = connect(Number(new URL(stage.url).port), '127.0.0.1')
  const spoken =
    'Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n'
  const mine = Object.entries(someone).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = `Content-Length: ${message.length}\r\n`
  socket.write(`${first}\r\n${headers}${mine.join('')}${spoken}${length}\r\n${message}`)
  return text(socket)
}

test.serial(
  'a page is of the host that it asks where both have the port, said or not, and never where there is no host',
  async (t) => {
    for (const [origin, host, status] of [
      ['http://localhost', 'localhost', 200],
      ['http://localhost', 'LOCALHOST:80', 200],
      ['http://localhost:80', 'localhost', 200],
      ['https://localhost', 'localhost:443', 200],
      ['https://localhost', 'localhost:80', 403],
      ['http://localhost', 'localhost:8080', 403],
      ['http://localhost:8080', 'localhost', 403],
      // What a browser may say of a page that is a file.
      ['file://', 'localhost', 403],
      ['http://localhost', 'a b', 403],
      ['http://localhost', '', 403],
    ] as const) {
      const answer = await said(newer, `Host: ${host}\r\nOrigin: ${origin}\r\n`)
      t.true(answer.startsWith(`HTTP/1.1 ${status} `), `${origin} at ${host}: ${answer}`)
    }
    for (const origin of ['http://localhost', 'http://undefined', 'file://']) {
      t.regex(await said(older, `Origin: ${origin}\r\n`), /"code":"forbidden"/, origin)
    }
  },
)

test.serial('a request to no host is a problem like others', async (t) => {
  for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:3000', '[::1]:3000', 'my_host.internal']) {
    t.regex(await said(newer, `Host: ${host}\r\n`), /^HTTP\/1\.1 200 /, host)
  }
  for (const host of ['Host: a b\r\n', 'Host: a@b\r\n', 'Host: a/b\r\n', 'Host: a:port\r\n', 'Host: \r\n']) {
    const answer = await said(newer, host)
    t.regex(answer, /^HTTP\/1\.1 400 /, host)
    t.regex(answer, /"detail":"The Host header is malformed\."/, host)
  }
  t.regex(await said(older, ''), /"code":"bad-request"/)
})

test.serial('options that are wrong are told when it is made', (t) => {
  const router = crudRouter(sequelize.model('Line'), { route: 'other/open', keyProperty: ['order', 'line'] })
  const same = crudRouter(sequelize.model('Line'), { route: 'open', keyProperty: ['order', 'line'] })
  const rows: readonly (readonly [options: unknown, message: RegExp])[] = [
    [undefined, /options are missing/],
    [[router], /^crudMcp: the argument must be an object with "resources"\. /],
    [router, /^crudMcp: the argument must be an object with "resources"\. /],
    [{}, /resources must be/],
    [{ resources: router }, /resources must be/],
    [{ resources: [] }, /resources must be/],
    [{ resources: [{}] }, /^crudMcp: resources\[0\] must be a router, a controller/],
    [{ resources: [router, same] }, /two resources are named "open"/],
    ...['a b', ' a', 'a ', '', 5, {}].map(
      (name) => [{ resources: [{ resource: router, name }] }, /resources\[0\]\.name/] as const,
    ),
    [{ resources: [router], writes: true }, /the option "writes" does not exist\. Did you mean "write"/],
    [{ resources: [router], maxRecords: 0 }, /maxRecords/],
    [{ resources: [router], write: 1 }, /write must be/],
    [{ resources: [router], identity: undefined }, /identity must be/],
  ]
  for (const [options, message] of rows) {
    t.throws(() => crudMcp(options as Parameters<typeof crudMcp>[0]), { message, code: 'INVALID_OPTION' })
  }
})

test.serial('one identity for everybody is none that HTTP serves', async (t) => {
  const other: Stage = await openStage(({ sequelize: own }, app) => {
    const Note = own.define('Note', { text: DataTypes.STRING })
    const everybody = { name: 'x', roles: new Set<string>(), permissions: new Set<string>(), claims: {} }
    app.all('/mcp', crudMcp({ resources: [crudRouter(Note)], identity: everybody }))
  })
  t.teardown(other.close)
  const { error } = console
  console.error = () => undefined
  t.teardown(() => {
    console.error = error
  })
  t.is((await other.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).status, 500)
})

test.serial(
  'what stands in front of the handlers of a controller answers in their stead, and its errors are answers',
  async (t) => {
    const other: Stage = await openStage(({ sequelize: own }, app) => {
      const Note = own.define('Note', { text: DataTypes.STRING }, { timestamps: false })
      const door: RequestHandler = (req, res, next) => {
        const word = req.get('x-door')
        if (word === 'open') next()
        else if (word === 'busy') next(new Problem({ status: 429, detail: 'Later.' }))
        else if (word === 'broken') throw new TypeError('a secret of the host')
        else if (word === 'away') res.redirect('/login')
        else if (word === 'answered') res.json({ own: true })
        else if (word === 'nowhere') next('route')
        else res.status(401).json({ error: 'closed' })
      }
      const notes = crudController(Note, { identity, authorizePolicy: () => true, use: [door] })
      const free = createCrud({ identity }).crudRouter(Note, { route: 'free', authorizePolicy: () => true })
      app.all('/mcp', crudMcp({ resources: [{ resource: notes.resource }, free] }))
    })
    t.teardown(other.close)
    await other.sequelize.model('Note').create({ text: 'x' })
    const { error } = console
    const logged: unknown[] = []
    console.error = (text) => logged.push(text)
    t.teardown(() => {
      console.error = error
    })
    const at = (door: string): ReturnType<typeof connectAgentOverHttp> =>
      connectAgentOverHttp(`${other.url}/mcp`, { ...someone, 'x-door': door })
    const asking = async (door: string): Promise<unknown> => {
      const own = await at(door)
      const { body, isError } = await own.call('get_record', { resource: 'notes', key: 1 })
      const { resources } = (await own.call('list_resources')).body
      const names = resources?.map(({ name }: { name: string }) => name)
      return isError ? [body.status, body.title, body.detail, names] : [body.record, names]
    }
    t.deepEqual(await asking('open'), [{ id: 1, text: 'x' }, ['notes', 'free']])
    t.deepEqual(await asking('shut'), [401, 'Unauthorized', undefined, ['free']])
    t.deepEqual(await asking('busy'), [429, 'Status 429', 'Later.', ['free']])
    t.deepEqual(await asking('away'), [403, 'Forbidden', undefined, ['free']])
    t.deepEqual(await asking('answered'), [{ own: true }, ['free']])
    t.deepEqual(await asking('nowhere'), [404, 'Not Found', undefined, ['free']])
    t.deepEqual(logged, [])
    const unexpected = 'An unexpected error occurred.'
    t.deepEqual(await asking('broken'), [500, 'Internal Server Error', unexpected, undefined])
    t.is(logged.length, 2)
  },
)

for (const revision of REVISIONS) {
  test.serial(
    `a program serves one agent by its standard input and output, as whom it says, in revision ${revision}`,
    async (t) => {
      const program = fileURLToPath(new URL('../../support/mcpProgram.js', import.meta.url))
      const environment = Object.entries(process.env).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      )
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [...likeThis, program],
        env: Object.fromEntries(environment),
      })
      const local = await connectAgent(transport, { revision })
      t.deepEqual(await local.tools(), [...READING, ...WRITING])
      t.deepEqual((await local.call('list_resources')).body, {
        resources: [
          { name: 'notes', tools: ['query_records', 'get_record', 'create_record', 'update_record', 'delete_record'] },
        ],
      })
      const { body } = await local.call('create_record', { resource: 'notes', values: { text: 'by hand' } })
      t.is(body.record.text, 'by hand')
      t.is(body.record.author, 'the operator')
      const { body: found } = await local.call('query_records', { resource: 'notes', filter: 'Text^by' })
      t.deepEqual(found.items, [body.record])
      t.is((await local.call('query_records', { resource: 'notes', filter: 'Nothing=1' })).body.code, 'unknown-field')
      const byKey = await local.call('query_records', { resource: 'notes', filter: 'Id=1' })
      t.deepEqual(byKey.body.errors, {
        filter: ['Unknown field "Id" at position 0. Use get_record to read a record by key.'],
      })
      t.deepEqual((await local.call('delete_record', { resource: 'notes', key: body.record.id })).body, {
        deleted: true,
      })
      await local.close()
    },
  )
}
