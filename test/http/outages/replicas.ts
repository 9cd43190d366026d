// What belongs to a write is read where it was written. The replica of these tests does not answer at all, so that a single read that goes
// there fails the request.

import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { io as client } from 'socket.io-client'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase } from '../../support/database.js'
import { type Answer, type SendOptions, serve, type TestServer } from '../../support/server.js'
import { serverOptions } from '../../support/servers.js'

// Sequelize has no replicas of a file.
const test = databaseName === 'sqlite' ? ava.serial.skip : ava.serial

type Hide = (model: ModelStatic<Model>) => void

interface Variant {
  readonly title: string
  readonly options: CrudOptions
  readonly hide?: Hide
}

const VARIANTS: readonly Variant[] = [
  { title: 'by statements', options: {} },
  { title: 'with hooks', options: { hooks: { beforeCreate: pass, beforeUpdate: pass, beforeDelete: pass } } },
  { title: 'with find hooks', options: {}, hide: (model) => model.addHook('beforeFind', pass) },
  {
    title: 'under a default scope',
    options: {},
    hide: (model) => model.addScope('defaultScope', { where: {} }, { override: true }),
  },
  { title: 'under a scope', options: { scope: () => ({ tenant: 1 }) } },
]

function pass(): void {}

interface World extends TestServer {
  readonly heard: readonly unknown[]
}

function server(): ReturnType<typeof serverOptions> {
  if (databaseName === 'sqlite') throw new TypeError('SQLite has no server')
  return serverOptions(databaseName)
}

async function open(t: ExecutionContext, { options, hide = pass }: Variant): Promise<World> {
  const { sequelize: main, close } = await openDatabase()
  t.teardown(close)
  const host = { ...server(), database: main.getDatabaseName() }
  const replication = { write: host, read: [{ ...host, port: 1 }] }
  const sequelize = new Sequelize({ ...host, logging: false, pool: { max: 3, acquire: 5000 }, replication })
  t.teardown(() => sequelize.close())
  const tenant = { type: DataTypes.INTEGER, defaultValue: 1 }
  const define = (name: string, more = {}): ModelStatic<Model> =>
    sequelize.define(
      name,
      { name: { type: DataTypes.STRING(30), unique: true }, tenant, ...more },
      { timestamps: false, ...(name === 'Player' ? { paranoid: true, timestamps: true } : {}) },
    )
  const Team = define('Team')
  const Player = define('Player', { level: DataTypes.INTEGER })
  const Tag = define('Tag')
  const Lone = define('Lone', { id: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 } })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Player.belongsToMany(Tag, { as: 'tags', through: 'PlayerTags', timestamps: false })
  Tag.belongsToMany(Player, { as: 'players', through: 'PlayerTags', timestamps: false })
  const app = express()
  const io = new Server()
  const operations = Object.values(Operations).reduce((sum, each) => sum | each, 0)
  const shared = { operations: operations & ~Operations.Restore, onError: pass, ...options }
  const idempotency = true
  app.use(crudRouter(Team, { ...shared, idempotency, relations: { players: { write: true, routes: true } } }))
  const players = crudRouter(Player, {
    ...shared,
    operations,
    concurrency: true,
    softDelete: true,
    flatten: ['team'],
    push: { io },
    relations: { team: { routes: true }, tags: { write: true, routes: true } },
    actions: {
      look: { on: 'record', method: 'get', handler: pass },
      best: { on: 'collection', method: 'get', handler: () => [1] },
      praise: { on: 'record', method: 'post', handler: pass },
      choose: { on: 'collection', method: 'post', output: 'list', handler: () => [1] },
    },
  })
  app.use(players)
  app.use(crudRouter(Tag, { ...shared, flatten: [] }))
  app.use(crudRouter(Lone, { ...shared, keyProperty: 'id' }))
  const resources = [Team, Player, Tag, Lone]
  for (const model of resources) hide(model)
  await sequelize.sync()
  const served = await serve(app)
  io.attach(served.server)
  t.teardown(served.close)
  t.teardown(() => io.engine.close())
  const socket = client(`${served.url}/api/players/hub`, { transports: ['websocket'], forceNew: true })
  t.teardown(() => socket.disconnect())
  await new Promise((resolve) => socket.once('connect', () => resolve(null)))
  const heard: unknown[] = []
  socket.onAny((event) => heard.push(event))
  return { ...served, heard }
}

type Step = readonly [status: number, method: string, path: string, json?: unknown, headers?: Record<string, string>]

const ANY = { 'If-Match': '*' }
const ONCE = { 'Idempotency-Key': '"once"' }

/** Each kind of write, in an order in which all can be done. */
const WRITES: readonly Step[] = [
  [201, 'POST', '/api/teams', { name: 'one' }],
  [201, 'POST', '/api/teams', { name: 'two', players: [{ name: 'of two' }] }, ONCE],
  [201, 'POST', '/api/teams', { name: 'two', players: [{ name: 'of two' }] }, ONCE],
  [409, 'POST', '/api/teams', { name: 'two' }],
  [400, 'POST', '/api/teams', { name: 'a name that is much too long for this column' }],
  [201, 'POST', '/api/teams/bulk', [{ name: 'three' }, { name: 'four' }]],
  [201, 'POST', '/api/teams/1/players', { name: 'below' }],
  [404, 'POST', '/api/teams/99/players', { name: 'below none' }],
  [200, 'PUT', '/api/tags/bulk?by=name', [{ name: 'new' }, { name: 'newer' }]],
  [201, 'POST', '/api/players?select=*,Team.Name', { name: 'a', teamId: 1, tags: [1] }],
  [409, 'POST', '/api/players', { name: 'b', teamId: 99 }],
  [201, 'POST', '/api/players', { name: 'b', teamId: 1 }],
  [200, 'PATCH', '/api/players/2', { level: 5 }, ANY],
  [200, 'PATCH', '/api/players/2?select=Name,Tags.Name', { teamId: 2, tags: [1] }, ANY],
  [412, 'PATCH', '/api/players/2', { level: 6 }, { 'If-Match': '"99"' }],
  [428, 'PATCH', '/api/players/2', { level: 6 }],
  [404, 'PATCH', '/api/players/99', { level: 6 }, ANY],
  [200, 'PUT', '/api/players/2', { name: 'put', level: 7, teamId: 1 }, ANY],
  [200, 'POST', '/api/players/2/praise', undefined, ANY],
  [200, 'POST', '/api/players/choose'],
  [
    200,
    'PATCH',
    '/api/teams/bulk',
    [
      { id: 1, name: 'first' },
      { id: 2, name: 'second' },
    ],
  ],
  [204, 'PUT', '/api/players/2/tags/2'],
  [204, 'DELETE', '/api/players/2/tags/2'],
  [200, 'POST', '/api/players/2/tags', [2]],
  [200, 'PUT', '/api/players/2/tags', [1, 2]],
  [204, 'DELETE', '/api/players/2', undefined, ANY],
  [404, 'DELETE', '/api/players/99', undefined, ANY],
  [200, 'POST', '/api/players/2/restore'],
  [200, 'POST', '/api/players/bulk-delete', [1, 2]],
  [201, 'POST', '/api/lones', { name: 'lone' }],
  [200, 'POST', '/api/tags/bulk-delete', [2]],
  [204, 'DELETE', '/api/tags/1'],
  [200, 'PATCH', '/api/teams/1', { name: 'mended' }, ONCE],
  [204, 'DELETE', '/api/teams/4'],
]

async function sent({ send }: TestServer, [, method, path, json, headers = {}]: Step): Promise<Answer> {
  const options: SendOptions = { headers, ...(json === undefined ? {} : { json }) }
  return send(method, path, options)
}

for (const variant of VARIANTS) {
  test(`no write ${variant.title} reads from a replica`, async (t) => {
    const world = await open(t, variant)
    const others: string[] = []
    for (const step of WRITES) {
      const [status, method, path] = step
      const answer = await sent(world, step)
      if (answer.status !== status) others.push(`${method} ${path} ${answer.status}: ${answer.text}`)
    }
    t.deepEqual(others, [])
    for (let turn = 0; world.heard.length < 6 && turn < 200; turn++) await wait(25)
    t.true(world.heard.length >= 6, world.heard.join())
  })
}

const READS: readonly string[] = [
  '/api/teams',
  '/api/teams?filter=Players.Any(Level>1)&select=Name,Players.Name,Players.Count',
  '/api/teams?after=',
  '/api/teams?cursor=',
  '/api/teams?count=true',
  '/api/teams?aggregate=count&group=Name',
  '/api/teams/1',
  '/api/teams/1/players',
  '/api/players/1',
  '/api/players/1/team',
  '/api/players/1/tags',
  '/api/players/1/look',
  '/api/players/best',
]

for (const variant of VARIANTS) {
  test(`reads ${variant.title} go to a replica unless they prefer the primary`, async (t) => {
    const world = await open(t, variant)
    for (const step of WRITES.slice(0, 9)) await sent(world, step)
    for (const path of READS) {
      const far = await world.get(path)
      t.is(far.status, 503, `${path}: ${far.text}`)
      const near = await world.get(path, { Prefer: 'read=primary' })
      t.is(near.status, 200, `${path}: ${near.text}`)
      t.is(near.headers.get('preference-applied'), 'read=primary')
      t.regex(near.headers.get('vary') ?? '', /\bPrefer\b/)
    }
    const file = { Accept: 'application/x-ndjson', Prefer: 'trailer-row, read=primary' }
    const lines = await world.get('/api/teams?sort=id', file)
    t.is(lines.status, 200)
    t.is(lines.headers.get('preference-applied'), 'trailer-row, read=primary')
    t.regex(lines.text, /"one".*"@count":\d/s)
    const query = {
      headers: { Prefer: 'handling=strict; read=primary', 'Content-Type': 'application/json' },
      body: '{}',
    }
    t.is((await world.send('QUERY', '/api/teams', query)).status, 503)
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    for (const [isNear, headers] of [
      [false, {}],
      [true, { Prefer: 'read=primary' }],
    ] as const) {
      const status = isNear ? 200 : 503
      t.is((await world.send('HEAD', '/api/teams/1', { headers })).status, status, 'HEAD')
      const asked = { headers: { ...form, ...headers }, body: 'filter=Name%3Done' }
      t.is((await world.send('QUERY', '/api/teams', asked)).status, status, 'QUERY')
    }
  })
}
