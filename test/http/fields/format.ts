// The option `format`: bodies of another API, made of the replies of records and lists.

import test from 'ava'
import Joi from 'joi'
import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from 'sequelize'
import { Server } from 'socket.io'
import { io as connectTo } from 'socket.io-client'
import {
  CrudConfigError,
  clientTypes,
  createCrud,
  createHandler,
  crudRouter,
  type FormatFunction,
  Operations,
  openApi,
  Problem,
} from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { databaseName } from '../../support/database.js'
import { connectAgentOverHttp } from '../../support/mcp.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

class Team extends Model<InferAttributes<Team>, InferCreationAttributes<Team>> {
  declare id: CreationOptional<number>
  declare name: string
}

class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: CreationOptional<number>
  declare name: string
  declare teamId: number | null
}

const errors: unknown[] = []
const onError = (error: unknown): void => void errors.push(error)
let broken: (() => unknown) | null = null

/** As finale-rest answers: lists as arrays, records within `data`. */
const format: FormatFunction = ({ reply, request }) => {
  if (broken !== null) return broken()
  if (reply.kind === 'page') return { data: reply.body.items, meta: { total: reply.body.totalCount } }
  return { kind: reply.kind, status: reply.status, by: request.headers['x-client'] ?? null, data: reply.body }
}

const io = new Server()
let documented: ReturnType<typeof openApi>
let types = ''
const stage = await openStage(({ sequelize }, app) => {
  const id = () => ({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true })
  Team.init({ id: id(), name: { type: DataTypes.STRING(20), allowNull: false } }, { sequelize, timestamps: false })
  Player.init(
    { id: id(), name: { type: DataTypes.STRING(20), allowNull: false }, teamId: DataTypes.INTEGER },
    { sequelize, timestamps: false },
  )
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const players = crudRouter(Player, {
    identity: identityFromHeader,
    onError,
    format,
    operations:
      Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace | Operations.Aggregate | Operations.Export,
    concurrency: true,
    idempotency: true,
    push: { io },
    actions: {
      shout: {
        on: 'record',
        method: 'post',
        handler: ({ record }) => {
          record.name = record.name.toUpperCase()
        },
      },
      best: { on: 'collection', method: 'get', handler: () => Player.findAll({ order: ['id'], limit: 1 }) },
      number: { on: 'collection', method: 'get', output: Joi.object({ n: Joi.number() }), handler: () => ({ n: 7 }) },
    },
  })
  const teams = crudRouter(Team, { onError, relations: { players: { routes: true } } })
  app.use(players, teams)
  app.use('/mcp', crudMcp({ resources: [players], write: true }))
  documented = openApi({ resources: [players, teams], info: { title: 'Format', version: '1.0.0' } })
  types = clientTypes({ resources: [players, teams] })
})
io.attach(stage.server)

test.beforeEach(async () => {
  broken = null
  errors.splice(0)
  await Player.destroy({ where: {} })
  await Team.destroy({ where: {} })
  await Team.create({ id: 1, name: 'Bulls' })
  await Player.bulkCreate([
    { id: 1, name: 'Ann', teamId: 1 },
    { id: 2, name: 'Bob', teamId: null },
  ])
  if (databaseName === 'postgres') {
    await stage.sequelize.query(`SELECT setval(pg_get_serial_sequence('"Players"', 'id'), 100)`)
  }
})
test.after.always(async () => {
  await io.close()
  await stage.close()
})

const any = { 'if-match': '*' }
const ann = { id: 1, name: 'Ann', teamId: 1 }

test.serial('a record and a list have the body that the host makes, and keep status and headers', async (t) => {
  const record = await stage.get('/api/players/1', { 'x-client': 'old' })
  t.deepEqual(record.body, { kind: 'record', status: 200, by: 'old', data: ann })
  t.is(record.headers.get('etag'), 'W/"0"')
  const list = await stage.get('/api/players?sort=id&pageSize=1&select=name')
  t.deepEqual(list.body, { data: [{ name: 'Ann' }], meta: { total: 2 } })
  t.is(list.headers.get('x-total-count'), '2')
  t.regex(list.headers.get('link') ?? '', /rel="next"/)
  t.is((await stage.get('/api/players?cursor=')).body.kind, 'cursorPage')
  t.is((await stage.get('/api/players?after=')).body.kind, 'keysetPage')
  t.deepEqual((await stage.get('/api/players?aggregate=count')).body, { data: [{ count: 2 }], meta: { total: 1 } })
})

test.serial('writes and actions have it as well', async (t) => {
  const created = await stage.post('/api/players', { name: 'Cid' })
  t.like(created, { status: 201, body: { kind: 'record', status: 201, data: { name: 'Cid' } } })
  t.is(created.headers.get('location'), `/api/players/${created.body.data.id}`)
  const patched = await stage.patch('/api/players/1', { name: 'Eve' }, any)
  t.like(patched, { status: 200, body: { kind: 'record', data: { name: 'Eve' } } })
  t.is(patched.headers.get('etag'), 'W/"1"')
  t.like((await stage.send('PUT', '/api/players/1', { json: { name: 'Ann' }, headers: any })).body.data, {
    name: 'Ann',
  })
  const several = await stage.post('/api/players/bulk', [{ name: 'X' }, { name: 'Y' }])
  t.deepEqual([several.body.kind, several.body.data.length], ['records', 2])
  t.like(await stage.post('/api/players/1/shout', undefined, any), { body: { kind: 'record', data: { name: 'ANN' } } })
  t.like((await stage.get('/api/players/best')).body, { kind: 'items', data: { items: [{ id: 1 }] } })
})

test.serial('counts, numbers, values of actions, files, problems and empty answers are as they were', async (t) => {
  t.deepEqual((await stage.get('/api/players?count=true')).body, { count: 2 })
  t.deepEqual((await stage.get('/api/players/number')).body, { n: 7 })
  t.deepEqual((await stage.post('/api/players/bulk-delete', [2])).body, { deleted: 1 })
  t.is((await stage.get('/api/players?format=jsonl')).text, `${JSON.stringify(ann)}\n`)
  t.like((await stage.get('/api/players/9')).body, { status: 404, code: 'not-found' })
  t.is((await stage.patch('/api/players/1', {}, { ...any, prefer: 'return=minimal' })).text, '')
})

test.serial('records below a record of another resource have the format of their own', async (t) => {
  t.deepEqual((await stage.get('/api/teams/1/players')).body, { data: [ann], meta: { total: 1 } })
  t.deepEqual((await stage.get('/api/teams/1?select=players(name)')).body, { players: [{ name: 'Ann' }] })
  t.is((await stage.post('/api/teams/1/players', { name: 'Dan' })).body.data.name, 'Dan')
})

test.serial('a client that has a record or a list is not sent it again, and HEAD has the headers of GET', async (t) => {
  t.is((await stage.get('/api/players/1', { 'if-none-match': 'W/"0"' })).status, 304)
  const list = await stage.get('/api/players')
  const tag = list.headers.get('etag') ?? ''
  t.is((await stage.get('/api/players', { 'if-none-match': tag })).status, 304)
  const head = await stage.send('HEAD', '/api/players')
  t.is(head.headers.get('content-length'), list.headers.get('content-length'))
  t.is(head.headers.get('etag'), tag)
})

test.serial('a reply that is sent again has the format as well', async (t) => {
  const headers = { 'idempotency-key': 'once' }
  const first = await stage.post('/api/players', { name: 'Once' }, headers)
  const again = await stage.post('/api/players', { name: 'Once' }, headers)
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.deepEqual(again.body, first.body)
  t.is(await Player.count({ where: { name: 'Once' } }), 1)
})

test.serial('what format throws, and what is no JSON, is a 500, and what was written stays', async (t) => {
  const failures = [
    () => {
      throw new Error('a secret')
    },
    () => {
      throw new Problem({ status: 403 })
    },
    () => undefined,
    () => Promise.reject(new Error('late')),
    () => () => 1,
    () => ({ n: 1n }),
  ]
  for (const each of failures) {
    broken = each
    const reply = await stage.get('/api/players/1')
    t.like(reply, { status: 500, body: { code: 'internal' } })
    t.false(reply.text.includes('secret'))
    t.is(reply.headers.get('etag'), null)
  }
  t.is(errors.length, failures.length)
  t.is((await stage.patch('/api/players/1', { name: 'Kept' }, any)).status, 500)
  t.is((await Player.findByPk(1))?.name, 'Kept')
})

test.serial('an event of push and the tools of agents have the records as they are', async (t) => {
  const hub = connectTo(`${stage.url}/api/players/hub`, { forceNew: true, reconnection: false })
  t.teardown(() => hub.disconnect())
  await new Promise((resolve) => hub.once('connect', () => resolve(null)))
  const heard = new Promise((resolve) => hub.once('OnUpdated', resolve))
  await stage.patch('/api/players/1', { name: 'Fay' }, any)
  t.like(await heard, { id: 1, name: 'Fay' })
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, asUser('agent'))
  t.teardown(() => agent.close())
  const { body } = await agent.call('get_record', { resource: 'players', key: 1 })
  t.deepEqual(body, { record: { ...ann, name: 'Fay' }, version: 1 })
})

test.serial('the documents and the types of clients say nothing of the bodies', (t) => {
  const at = (path: string, method: string, status: string): unknown =>
    Object(documented.paths)[path]?.[method]?.responses[status]
  const schemaOf = (reply: unknown): unknown => {
    const name =
      String(Reflect.get(Object(reply), '$ref') ?? '')
        .split('/')
        .at(-1) ?? ''
    const whole = Reflect.get(Object(documented.components.responses), name) ?? reply
    return Object(whole).content['application/json'].schema
  }
  for (const [path, method, status] of [
    ['/api/players', 'get', '200'],
    ['/api/players', 'post', '201'],
    ['/api/players/{id}', 'get', '200'],
    ['/api/players/{id}', 'patch', '200'],
    ['/api/players/{id}/shout', 'post', '200'],
    ['/api/players/best', 'get', '200'],
    ['/api/teams/{id}/players', 'get', '200'],
  ] as const) {
    t.deepEqual(schemaOf(at(path, method, status)), {}, `${method} ${path}`)
  }
  t.notDeepEqual(schemaOf(at('/api/teams', 'get', '200')), {})
  t.notDeepEqual(schemaOf(at('/api/players/number', 'get', '200')), {})
  t.regex(types, /readonly row: \{ readonly \[name: string\]: unknown \}/)
  t.regex(types, /readonly OnUpdated: \(record: Player\) => void/)
})

test.serial('a format that is no function is refused when it is mounted, and createCrud has it as a default', (t) => {
  const error = t.throws(() => crudRouter(Player, { route: 'x', format: 'json' as never }), {
    instanceOf: CrudConfigError,
  })
  t.regex(error?.message ?? '', /^Player: the option "format" must be a function\./)
  t.regex(t.throws(() => crudRouter(Player, { formt: format } as never))?.message ?? '', /Did you mean "format"/)
  t.notThrows(() => createCrud({ format }))
})

test.serial('a handler without Express has it too', async (t) => {
  const handler = createHandler(Team, { route: 'handled', format, onError })
  t.teardown(() => handler.close())
  const reply = await handler.handle({ method: 'GET', headers: {}, url: '/handled/1' } as never)
  const chunks: Buffer[] = []
  for await (const chunk of reply?.body ?? []) chunks.push(Buffer.from(chunk))
  t.like(JSON.parse(Buffer.concat(chunks).toString()), { kind: 'record', data: { name: 'Bulls' } })
})
