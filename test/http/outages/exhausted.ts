// A pool whose connections are all with others: every kind of request is 503 within the pool's own time, writes nothing, and is
// answered as ever as soon as there is one. SQLite has no pool for its reads, and writes there wait for each other.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Transaction } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage, type Stage } from '../../support/stage.js'

const test = databaseName === 'sqlite' ? ava.serial.skip : ava.serial

const POOL = { max: 2, acquire: 400 }
const ALL =
  Operations.AllWithBulk |
  Operations.Restore |
  Operations.Aggregate |
  Operations.Export |
  Operations.BulkUpdate |
  Operations.Replace

interface Models {
  readonly Team: ModelStatic<Model>
  readonly Player: ModelStatic<Model>
  readonly Tag: ModelStatic<Model>
}

/** Teams with players and tags, with everything that a write may ask the database for. */
async function served(options: CrudOptions): Promise<Stage<Models>> {
  const stage = await openStage<Models>(
    ({ sequelize }, app) => {
      const plain = { timestamps: false }
      const player = { name: DataTypes.STRING(30), code: { type: DataTypes.STRING(10), unique: true } }
      const marks = { isDeleted: DataTypes.BOOLEAN, deletedAt: DataTypes.DATE }
      const Team = sequelize.define('Team', { name: DataTypes.STRING(30), ...marks }, plain)
      const Player = sequelize.define('Player', { ...player, level: DataTypes.INTEGER }, plain)
      const Tag = sequelize.define('Tag', { name: DataTypes.STRING(30) }, plain)
      Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
      Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
      Team.belongsToMany(Tag, { as: 'tags', through: 'TeamTag', timestamps: false })
      Tag.belongsToMany(Team, { as: 'teams', through: 'TeamTag', timestamps: false })
      const common = { operations: ALL, onError: () => undefined, idempotency: true, ...options }
      const relations = { players: { routes: true, write: true }, tags: { routes: true, write: true } } as const
      app.use(crudRouter(Team, { ...common, softDelete: true, query: { search: ['name'] }, relations }))
      app.use(crudRouter(Player, { ...common, softDelete: false, operations: ALL & ~Operations.Restore }))
      app.use(crudRouter(Tag, { ...common, operations: ALL & ~Operations.Restore }))
      return { Team, Player, Tag }
    },
    { sequelize: { pool: POOL } },
  )
  const { Team, Player, Tag } = stage
  const named = (names: string): { name: string; isDeleted: boolean }[] =>
    [...names].map((name) => ({ name, isDeleted: name === 'X' }))
  await Team.bulkCreate(named('ABCDEX'))
  await Player.bulkCreate(
    [...'abcdef'].map((name, index) => ({ name, code: name, level: index, teamId: (index % 3) + 1 })),
  )
  await Tag.bulkCreate([{ name: 'one' }, { name: 'two' }])
  return stage
}

type Sent = readonly [method: string, path: string, status: number, json?: unknown, headers?: Record<string, string>]

/** One request of every kind, in an order in which each finds what it needs. */
const REQUESTS: readonly Sent[] = [
  ['GET', '/api/teams/1', 200],
  ['GET', '/api/teams/1?select=*,Players(*)', 200],
  ['HEAD', '/api/teams/1', 200],
  ['GET', '/api/teams', 200],
  ['GET', '/api/teams?count=true', 200],
  ['GET', '/api/teams?count=none', 200],
  ['GET', '/api/teams?cursor=', 200],
  ['GET', '/api/teams?after=&sort=-name', 200],
  ['GET', '/api/teams?select=name,Players(name)', 200],
  ['GET', '/api/teams?search=A', 200],
  ['GET', '/api/teams?filter=Players.Level>1', 200],
  ['GET', '/api/teams?aggregate=count', 200],
  ['GET', '/api/players?group=Team.Name&aggregate=avg(level)', 200],
  ['GET', '/api/players?format=csv', 200],
  ['GET', '/api/players?format=jsonl', 200],
  ['GET', '/api/teams/1/players', 200],
  ['GET', '/api/teams/1/tags', 200],
  ['POST', '/api/teams', 201, { name: 'New' }],
  ['POST', '/api/teams', 201, { name: 'Once' }, { 'idempotency-key': 'exhausted-1' }],
  ['POST', '/api/teams', 201, { name: 'Deep', players: [{ name: 'inner' }] }],
  ['POST', '/api/teams/1/players', 201, { name: 'nested' }],
  ['PATCH', '/api/teams/2', 200, { name: 'B2' }],
  ['PATCH', '/api/teams/2', 200, { name: 'B3' }, { 'idempotency-key': 'exhausted-2' }],
  ['PUT', '/api/players/2', 200, { name: 'b2', code: 'b', level: 3, teamId: 1 }],
  ['PUT', '/api/players/bulk?by=code', 200, [{ code: 'c', name: 'c3', level: 1, teamId: 1 }]],
  ['PATCH', '/api/players/bulk', 200, [{ id: 1, level: 9 }]],
  ['POST', '/api/players/bulk', 201, [{ name: 'many' }, { name: 'more' }]],
  ['POST', '/api/players/bulk-delete', 200, [5]],
  ['DELETE', '/api/players/6', 204],
  ['DELETE', '/api/teams/5', 204],
  ['POST', '/api/teams/5/restore', 200],
  ['PUT', '/api/teams/1/tags/1', 204],
  ['DELETE', '/api/teams/1/tags/1', 204],
]

/** How many connections of the pool are with somebody. */
function takenOf({ sequelize }: Stage<Models>): number {
  const { connectionManager } = sequelize as unknown as { connectionManager: { pool: { using: number } } }
  return connectionManager.pool.using
}

async function rowsOf({ Team, Player, Tag, sequelize }: Stage<Models>): Promise<unknown> {
  const links = sequelize.model('TeamTag')
  const all = [Team, Player, Tag, links].map((model) => model.unscoped().findAll({ raw: true }))
  return (await Promise.all(all)).map((rows) => rows.map((row) => JSON.stringify(row)).sort())
}

const SETTINGS: readonly (readonly [name: string, options: CrudOptions])[] = [
  ['', {}],
  [' with a limit of time for statements', { limits: { statementTime: 60_000 } }],
]

for (const [name, options] of SETTINGS) {
  test(`where all connections are with others, each kind of request is 503 and writes nothing, and is answered when there is one again${name}`, async (t) => {
    const server = await served(options)
    t.teardown(server.close)
    // The table of replies that are kept is known since something mounted.
    await server.sequelize.sync()
    const before = await rowsOf(server)
    const held: Transaction[] = []
    for (let count = 0; count < POOL.max; count += 1) held.push(await server.sequelize.transaction())
    const refused = await Promise.all(
      REQUESTS.map(([method, path, , json, headers]) => server.send(method, path, { json, headers: headers ?? {} })),
    )
    for (const transaction of held) await transaction.rollback()
    for (const [index, { status, headers, body }] of refused.entries()) {
      const [method, path] = REQUESTS[index] ?? []
      t.is(status, 503, `${method} ${path}`)
      t.is(headers.get('retry-after'), '1', `${method} ${path}`)
      t.is(headers.get('content-type'), 'application/problem+json', `${method} ${path}`)
      if (method !== 'HEAD') t.is(body.code, 'unavailable', `${method} ${path}`)
    }
    t.deepEqual(await rowsOf(server), before)
    for (const [method, path, status, json, headers] of REQUESTS) {
      const answer = await server.send(method, path, { json, headers: headers ?? {} })
      t.is(answer.status, status, `${method} ${path} ${answer.text}`)
    }
    t.is(takenOf(server), 0)
  })
}

test('the more requests wait for a connection, the later the next ones are told to come again', async (t) => {
  const server = await openStage<Pick<Models, 'Player'>>(
    ({ sequelize }, app) => {
      const Player = sequelize.define('Player', { name: DataTypes.STRING(30) })
      app.use(crudRouter(Player, { limits: { waiting: 1000 } }))
      app.use('/busy', crudRouter(Player, { limits: { waiting: 1 }, onError: () => undefined }))
      return { Player }
    },
    { sequelize: { pool: { ...POOL, acquire: 60_000 } } },
  )
  await Promise.resolve()
  t.teardown(server.close)
  await server.get('/api/players')
  const held = [await server.sequelize.transaction(), await server.sequelize.transaction()]
  const { pool } = Object(Reflect.get(server.sequelize, 'connectionManager'))
  const waiting: ReturnType<typeof server.get>[] = []
  const told: unknown[] = []
  for (const many of [1, 150, 350]) {
    while (waiting.length < many) waiting.push(server.get('/api/players?count=none'))
    while (pool.waiting < many) await new Promise((resolve) => setTimeout(resolve, 5))
    const { status, headers } = await server.get('/busy/api/players')
    told.push([status, headers.get('retry-after')])
  }
  for (const transaction of held) await transaction.rollback()
  t.deepEqual(told, [
    [503, '1'],
    [503, '2'],
    [503, '4'],
  ])
  t.deepEqual([...new Set((await Promise.all(waiting)).map(({ status }) => status))], [200])
})

test('beyond limits.waiting requests are 503 at once, and those that wait are answered', async (t) => {
  const server = await served({ limits: { waiting: 2 } })
  t.teardown(server.close)
  await server.get('/api/teams/1')
  const held: Transaction[] = []
  for (let count = 0; count < POOL.max; count += 1) held.push(await server.sequelize.transaction())
  const waiting = [server.get('/api/teams/1'), server.get('/api/teams/1')]
  const { pool } = Object(Reflect.get(server.sequelize, 'connectionManager'))
  while (pool.waiting < 2) await new Promise((resolve) => setImmediate(resolve))
  t.is((await server.get('/api/teams/1')).body.detail, 'Too many requests are waiting. Try again later.')
  const answers = await Promise.all(waiting)
  for (const transaction of held) await transaction.rollback()
  t.true(answers.every(({ status }) => status === 503))
  t.is((await server.get('/api/teams/1')).status, 200)
})
