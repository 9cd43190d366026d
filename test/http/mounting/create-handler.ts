// A resource on servers other than Express: what Node's own server and Fastify answer is what Express does, byte for byte.

import { getEventListeners, once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import express from 'express'
import fastify from 'fastify'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import {
  type CrudHandler,
  type CrudOptions,
  createHandler,
  crudRouter,
  Operations,
  type PolicyContext,
} from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { type Answer, clientOf, type TestClient } from '../../support/server.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

const operations = Operations.AllWithBulk | Operations.Replace | Operations.Export | Operations.Aggregate
const errors: unknown[] = []
const options: CrudOptions = {
  operations,
  concurrency: true,
  idempotency: true,
  onError: (error) => errors.push(error),
  limits: { bodySize: 2000 },
}

interface Models {
  readonly Team: ModelStatic<Model>
  readonly Player: ModelStatic<Model>
  readonly Tag: ModelStatic<Model>
}

/** What a server mounts of the models, in this order. */
type Mount = (model: ModelStatic<Model>, options: CrudOptions) => ReturnType<typeof crudRouter> | CrudHandler

/** A database of its own with the same records. */
async function opened(t: ExecutionContext, mount: Mount): Promise<Models> {
  const database = await openDatabase()
  t.teardown(() => database.close())
  const { sequelize } = database
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20), level: DataTypes.INTEGER }, plain)
  const Tag = sequelize.define('Tag', { slug: { type: DataTypes.STRING(20), primaryKey: true } }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  mount(Player, options)
  mount(Team, { relations: { players: { routes: true, write: true } }, onError: (error) => errors.push(error) })
  mount(Tag, {
    keyProperty: 'slug',
    operations: Operations.AllWithBulk,
    getListPolicy: hasName,
    identity: identityFromHeader,
  })
  await sequelize.sync()
  await Tag.bulkCreate([{ slug: 'bulk' }, { slug: 'a/b' }])
  return { Team, Player, Tag }
}

function hasName({ identity }: PolicyContext): boolean {
  return identity !== null
}

async function listening(t: ExecutionContext, server: Server): Promise<TestClient> {
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

async function onExpress(t: ExecutionContext): Promise<TestClient> {
  const app = express().disable('x-powered-by')
  await opened(t, (model, given) => {
    const router = crudRouter(model, given)
    app.use(router)
    return router
  })
  return listening(t, createServer(app))
}

/** The first of the handlers that has the path answers. */
function answererOf(handlers: readonly CrudHandler[]): RequestListener {
  const answer = async (request: IncomingMessage, response: Parameters<RequestListener>[1]): Promise<void> => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    for (const { handle } of handlers) {
      const reply = await handle(request, { signal: gone.signal })
      if (gone.signal.aborted) return
      if (reply === null) continue
      response.writeHead(reply.status, reply.headers)
      pipeline(reply.body, response, () => undefined)
      return
    }
    response.writeHead(404).end()
  }
  return (request, response) => void answer(request, response)
}

async function onNode(t: ExecutionContext): Promise<TestClient> {
  const handlers: CrudHandler[] = []
  await opened(t, (model, given) => {
    const handler = createHandler(model, given)
    handlers.push(handler)
    return handler
  })
  return listening(t, createServer(answererOf(handlers)))
}

async function onFastify(t: ExecutionContext): Promise<TestClient> {
  const handlers: CrudHandler[] = []
  await opened(t, (model, given) => {
    const handler = createHandler(model, given)
    handlers.push(handler)
    return handler
  })
  const server = fastify()
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _payload, done) => done(null))
  server.all('*', async (request, reply) => {
    for (const { handle } of handlers) {
      const answer = await handle(request.raw)
      if (answer !== null) return reply.code(answer.status).headers(answer.headers).send(answer.body)
    }
    return reply.callNotFound()
  })
  await server.ready()
  return listening(t, server.server)
}

const player = { name: 'Ann', level: 1 }
const match = { 'If-Match': '*' }
const json = { 'Content-Type': 'application/json' }

/** Fastify refuses what does not decode by itself. */
const UNDECODABLE = 'a key that does not decode'

const REQUESTS: readonly (readonly [what: string, request: (client: TestClient) => Promise<Answer>])[] = [
  ['POST', ({ post }) => post('/api/players', player)],
  ['POST under a key', ({ post }) => post('/api/players', player, { 'Idempotency-Key': 'k' })],
  ['the same once more', ({ post }) => post('/api/players', player, { 'Idempotency-Key': 'k' })],
  ['POST that asks for little', ({ post }) => post('/api/players', player, { Prefer: 'return=minimal' })],
  ['POST of several', ({ post }) => post('/api/players/bulk', [player, player])],
  ['POST with children', ({ post }) => post('/api/teams', { name: 'Red', players: [player] })],
  ['POST below a record', ({ post }) => post('/api/teams/1/players', player)],
  ['GET', ({ get }) => get('/api/players/1')],
  ['GET in another case, with a slash', ({ get }) => get('/API/Players/1/')],
  ['HEAD', ({ send }) => send('HEAD', '/api/players/1')],
  ['a list', ({ get }) => get('/api/players?pageSize=2&sort=-id')],
  ['a page behind a token', ({ get }) => get('/api/players?after=&pageSize=2')],
  ['a list below a record', ({ get }) => get('/api/teams/1/players')],
  ['a record below a record', ({ get }) => get('/api/teams/9/players')],
  ['an aggregate', ({ get }) => get('/api/players?aggregate=count')],
  ['a file', ({ get }) => get('/api/players?format=csv')],
  ['a file by Accept', ({ get }) => get('/api/players', { Accept: 'application/jsonl' })],
  ['a record that the client has', ({ get }) => get('/api/players/1', { 'If-None-Match': '*' })],
  [
    'a list that the client has',
    ({ get }) => get('/api/players', { 'If-None-Match': '*', 'Cache-Control': 'no-cache' }),
  ],
  ['PATCH', ({ patch }) => patch('/api/players/1', { level: 2 }, match)],
  [
    'PATCH that asks for little',
    ({ patch }) => patch('/api/players/1', { level: 3 }, { ...match, Prefer: 'return=minimal' }),
  ],
  ['PUT', ({ send }) => send('PUT', '/api/players/1', { json: player, headers: match })],
  ['DELETE', (client) => client.delete('/api/players/2', match)],
  ['an invalid filter', ({ get }) => get('/api/players?filter=level=x')],
  ['a body that is no JSON', ({ send }) => send('POST', '/api/players', { body: '{', headers: json })],
  ['a body that is too large', ({ post }) => post('/api/players', { name: 'n'.repeat(3000) })],
  ['no body', ({ send }) => send('POST', '/api/players', { headers: json })],
  ['a body with errors of fields', ({ post }) => post('/api/players', { name: 7 })],
  ['a caller who is not known', ({ get }) => get('/api/tags')],
  ['a caller who is', ({ get }) => get('/api/tags', asUser('ann'))],
  ['a key that is the word of a path', ({ get }) => get('/api/tags/bulk')],
  ['a key with a slash', ({ get }) => get('/api/tags/a%2Fb')],
  [UNDECODABLE, ({ get }) => get('/api/tags/%E0%A4%A')],
  ['a missing record', ({ get }) => get('/api/players/999')],
  ['a method of another route', ({ send }) => send('PUT', '/api/players')],
  ['a method that a path of a relation does not have', ({ send }) => send('DELETE', '/api/teams/1/players')],
  ['a failed precondition', ({ patch }) => patch('/api/players/1', { level: 4 }, { 'If-Match': '"0"' })],
  [
    'a body of another type',
    ({ send }) => send('POST', '/api/players', { body: 'a', headers: { 'Content-Type': 'text/plain' } }),
  ],
  ['OPTIONS', ({ send }) => send('OPTIONS', '/api/players')],
  ['OPTIONS below a record', ({ send }) => send('OPTIONS', '/api/teams/1/players')],
]

/** Headers that servers add as they write. */
const OF_SERVER = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding'])

function told({ status, headers, text }: Answer): unknown {
  return { status, text, headers: [...headers].filter(([name]) => !OF_SERVER.has(name)).sort() }
}

for (const [server, start, isReached] of [
  ["Node's server", onNode, () => true],
  ['Fastify', onFastify, (what: string) => what !== UNDECODABLE],
] as const) {
  test(`${server} answers what Express does`, async (t) => {
    const [one, other] = [await onExpress(t), await start(t)]
    for (const [what, request] of REQUESTS.filter(([each]) => isReached(each))) {
      t.deepEqual(told(await request(other)), told(await request(one)), what)
    }
    t.is((await other.get('/api/others')).status, 404)
    t.deepEqual(errors, [])
  })
}

test('a host gives a path of its own and a body that it has parsed, and hears of what fails', async (t) => {
  const failed: unknown[] = []
  let handler: CrudHandler | undefined
  const { Player } = await opened(t, (model, given) => createHandler(model, given))
  handler = createHandler(Player, {
    route: 'people',
    getListPolicy: () => {
      throw new Error('a secret')
    },
    onError: (error) => failed.push(error),
  })
  const server = createServer((request, response) => {
    void handler?.handle(request, { url: request.url?.slice('/below'.length) ?? '', body: player }).then((reply) => {
      response.writeHead(reply?.status ?? 404, reply?.headers)
      reply?.body.pipe(response)
    })
  })
  const client = await listening(t, server)
  const { status, headers } = await client.post('/below/people', { name: 'Bob' })
  t.is(status, 201)
  t.is(headers.get('location'), '/people/1')
  t.is((await client.get('/below/people')).status, 500)
  t.deepEqual(failed.map(String), ['Error: a secret'])
  await handler.close()
  t.is((await client.get('/below/people/1')).status, 503)
  t.throws(() => createHandler(Player, { route: 'x', use: () => undefined }), { code: 'INVALID_OPTION' })
})

test('a body that the host has parsed is taken as it is, null included, and a signal of many requests keeps no listener', async (t) => {
  const { Player } = await opened(t, (model, given) => createHandler(model, given))
  const { handle } = createHandler(Player, { route: 'api/people' })
  const { signal } = new AbortController()
  const server = createServer((request, response) => {
    const answered = async (): Promise<void> => {
      const body: unknown = request.method === 'GET' ? undefined : JSON.parse(await text(request))
      const reply = await handle(request, { body, signal })
      response.writeHead(reply?.status ?? 404, reply?.headers)
      reply?.body.pipe(response)
    }
    void answered()
  })
  const client = await listening(t, server)
  const other = await onExpress(t)
  for (const body of [null, [], player]) {
    const [here, there] = [await client.post('/api/people', body), await other.post('/api/players', body)]
    t.is(here.status, there.status, JSON.stringify(body))
    t.deepEqual(here.body, there.body)
  }
  t.is((await client.get('/api/people')).status, 200)
  await setImmediate()
  t.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('a file ends when the signal says that its client has gone, and so does what was not begun', async (t) => {
  const { Player } = await opened(t, (model, given) => createHandler(model, given))
  await Player.bulkCreate(Array.from({ length: 3000 }, (_, index) => ({ name: `n${index}` })))
  const handler = createHandler(Player, { route: 'files', operations })
  const gone = new AbortController()
  const ended: Promise<unknown>[] = []
  const server = createServer((request, response) => {
    const answered = async (): Promise<void> => {
      const reply = await handler.handle(request, { signal: gone.signal })
      if (reply === null) throw new TypeError('a path of the resource')
      response.writeHead(reply.status, reply.headers)
      ended.push(once(reply.body, 'close'))
      pipeline(reply.body, response, () => undefined)
      reply.body.once('data', () => gone.abort())
    }
    void answered()
  })
  const client = await listening(t, server)
  await t.throwsAsync(client.get('/files?format=jsonl'))
  await Promise.all(ended)
  t.is(ended.length, 1)
  // What is read of the host's own is not waited for.
  await handler.close()
})
