// A logger of the host, in front of the routers: what it reads of a response at `finish` is what the client has received.

import test from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations, problemHandler } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

interface Line {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly isSent: boolean
  readonly milliseconds: number
}

const lines: Line[] = []
/** Statuses as `writeHead` is called with them, the way in which middleware learns that headers are about to be sent. */
const heads: number[] = []

const logger: RequestHandler = (req, res, next) => {
  const { method, originalUrl: path } = req
  const began = performance.now()
  const { writeHead } = res
  res.writeHead = function (this: typeof res, ...given: unknown[]) {
    heads.push(res.statusCode)
    res.setHeader('X-Logged', 'yes')
    return Reflect.apply(writeHead, this, given)
  } as typeof writeHead
  res.on('finish', () => {
    const headers = Object.entries(res.getHeaders()).map(([name, value]) => [name, [value].flat().join(', ')])
    lines.push({
      method,
      path,
      status: res.statusCode,
      headers: Object.fromEntries(headers),
      isSent: res.headersSent && res.writableEnded,
      milliseconds: performance.now() - began,
    })
  })
  next()
}

const stage = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { timestamps: false })
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20), level: DataTypes.INTEGER })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const operations = Operations.AllWithBulk | Operations.Replace | Operations.Export | Operations.Aggregate
  app.use(logger)
  const players = crudRouter(Player, { operations, concurrency: true, idempotency: true })
  app.use(players)
  app.use(crudRouter(Team, { relations: { players: { routes: true, resource: () => players } } }))
  app.use(crudRouter(Player, { route: 'closed', getListPolicy: () => false }))
  app.use(problemHandler())
})
test.after.always(() => stage.close())
const { send, get, post, patch } = stage

/** Headers that Node adds as it writes them. */
const OF_NODE = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding'])

function receivedIn({ headers }: Answer): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !OF_NODE.has(name)))
}

const player = { name: 'Ann', level: 1 }
const match = { 'If-Match': '*' }

/** Requests in their order, with the status that each is answered with. */
const REQUESTS: readonly (readonly [status: number, what: string, request: () => Promise<Answer>])[] = [
  [201, 'POST', () => post('/api/players', player)],
  [201, 'POST under a key', () => post('/api/players', player, { 'Idempotency-Key': 'k' })],
  [201, 'the same once more', () => post('/api/players', player, { 'Idempotency-Key': 'k' })],
  [201, 'POST of several', () => post('/api/players/bulk', [player, player])],
  [201, 'POST of another resource', () => post('/api/teams', { name: 'Red' })],
  [200, 'GET', () => get('/api/players/1')],
  [200, 'HEAD', () => send('HEAD', '/api/players/1')],
  [200, 'a list', () => get('/api/players?pageSize=2&sort=-id')],
  [200, 'a page behind a token', () => get('/api/players?after=&pageSize=2')],
  [200, 'a number', () => get('/api/players?count=true')],
  [200, 'a list below a record', () => get('/api/teams/1/players')],
  [200, 'an aggregate', () => get('/api/players?aggregate=count')],
  [200, 'a file', () => get('/api/players?format=csv')],
  [200, 'PATCH', () => patch('/api/players/1', { level: 2 }, match)],
  [
    204,
    'PATCH that asks for little',
    () => patch('/api/players/1', { level: 3 }, { ...match, Prefer: 'return=minimal' }),
  ],
  [200, 'PUT', () => send('PUT', '/api/players/1', { json: player, headers: match })],
  [204, 'DELETE', () => stage.delete('/api/players/2', match)],
  [400, 'an invalid filter', () => get('/api/players?filter=level=x')],
  [
    400,
    'a body that is no JSON',
    () => send('POST', '/api/players', { body: '{', headers: { 'Content-Type': 'application/json' } }),
  ],
  [400, 'a body with errors of fields', () => post('/api/players', { name: 7 })],
  [401, 'a caller who is not known', () => get('/closed')],
  [404, 'a missing record', () => get('/api/players/999')],
  [405, 'a method of another route', () => send('PUT', '/api/players')],
  [400, 'an unknown format', () => get('/api/players?format=xml')],
  [412, 'a failed precondition', () => patch('/api/players/1', { level: 4 }, { 'If-Match': '"0"' })],
  [
    415,
    'a body of another type',
    () => send('POST', '/api/players', { body: 'a', headers: { 'Content-Type': 'text/plain' } }),
  ],
  [428, 'a missing precondition', () => patch('/api/players/1', { level: 4 })],
  [204, 'OPTIONS', () => send('OPTIONS', '/api/players')],
]

for (const [status, what, request] of REQUESTS) {
  test.serial(`${status}: a logger reads the status and the headers of ${what} at finish, once`, async (t) => {
    lines.length = 0
    heads.length = 0
    const answer = await request()
    t.is(answer.status, status, answer.text)
    t.is(lines.length, 1)
    const [line] = lines
    t.like(line, { status, isSent: true })
    t.deepEqual(line?.headers, receivedIn(answer))
    t.is(answer.headers.get('x-logged'), 'yes')
    t.deepEqual(heads, [status])
    t.true((line?.milliseconds ?? 0) > 0)
  })
}

test.serial('a logger reads the 304 of a record that the client has', async (t) => {
  const etag = (await get('/api/players/1')).headers.get('etag') ?? ''
  lines.length = 0
  const answer = await get('/api/players/1', { 'If-None-Match': etag })
  t.is(answer.status, 304)
  t.deepEqual(
    lines.map(({ status, headers }) => [status, headers]),
    [[304, receivedIn(answer)]],
  )
})
