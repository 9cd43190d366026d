// Routers that are closed, and relations that nobody has opened.

import { once } from 'node:events'
import { createServer, request } from 'node:http'
import test from 'ava'
import express, { type NextFunction, type Request, type Response } from 'express'
import { DataTypes } from 'sequelize'
import { Server } from 'socket.io'
import { io as connect } from 'socket.io-client'
import { authenticated, CrudConfigError, crudController, crudHub, crudRouter, Operations } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { serve } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const world = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING, story: DataTypes.TEXT('long') }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  app.use(crudRouter(Player, { relations: { team: true } }))
  return { Team, Player }
})
const { Team, Player } = world
await Team.bulkCreate([{ name: 'Lakers' }])
await Player.bulkCreate([{ name: 'Jan', teamId: 1 }])
test.after.always(() => world.close())

type Client = ReturnType<typeof connect>

const told = (client: Client, event: string): Promise<readonly unknown[]> =>
  new Promise((resolve) => client.once(event, (...given: readonly unknown[]) => resolve(given)))

const status = async (): Promise<number> => (await list(world, '/api/players', { filter: 'Team.Name=Lakers' })).status

test.serial('an opened relation whose target has no resource is told once, with the remedy', async (t) => {
  const warnings: (Error & { code?: string })[] = []
  const listener = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  for (let round = 0; round < 3; round += 1) t.is(await status(), 400)
  await new Promise(setImmediate)
  t.is(warnings.length, 1)
  t.is(warnings[0]?.code, 'CRUD_RELATION_CLOSED')
  t.regex(
    warnings[0]?.message ?? '',
    /Player: relations\.team is true, but no router is mounted for Team\. .*Mount a router for Team/,
  )
})

test.serial('a time to close within that no timer takes is refused, and nothing is closed', async (t) => {
  const players = crudRouter(world.Team)
  const wrong: readonly unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, -1, '5s', null]
  for (const within of wrong) {
    await t.throwsAsync(Promise.resolve(Reflect.apply(players.close, undefined, [{ within }])), {
      instanceOf: RangeError,
      message: /^close: within must be a number of milliseconds from 0 to 2147483647, not /,
    })
    t.is(await status(), 200)
  }
  await players.close({ within: 0 })
  t.is(await status(), 400)
})

test.serial('options of close that it does not have are refused, and nothing is closed', async (t) => {
  const players = crudRouter(world.Team)
  const refused: readonly (readonly [given: unknown, message: string])[] = [
    [
      { whithin: 5 },
      'close: the option "whithin" does not exist. Did you mean "within"? Valid: within. (UNKNOWN_OPTION)',
    ],
    [5, 'close: the options must be an object. (INVALID_OPTION)'],
    [[5], 'close: the options must be an object. (INVALID_OPTION)'],
    [null, 'close: the options must be an object. (INVALID_OPTION)'],
  ]
  for (const [given, message] of refused) {
    await t.throwsAsync(Promise.resolve(Reflect.apply(players.close, undefined, [given])), {
      instanceOf: CrudConfigError,
      message,
    })
    t.is(await status(), 200)
  }
  await players.close({})
  t.is(await status(), 400)
})

test.serial(
  'a router or controller that is closed has no say in relation paths, and its model mounts with other options',
  async (t) => {
    for (const mount of [crudRouter, crudController]) {
      const closed = mount(world.Team, { authorizePolicy: authenticated })
      t.is(await status(), 400)
      const open = mount(world.Team)
      t.is(await status(), 400)
      await closed.close()
      await closed.close()
      t.is(await status(), 200)
      await open.close()
      t.is(await status(), 400)
    }
  },
)

test.serial(
  'closing a router or hub tells what was written, disconnects its clients, and frees the path',
  async (t) => {
    const server = createServer()
    const io = new Server(server)
    t.teardown(() => io.close())
    server.listen(0)
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const enter = (): Client => connect(`http://localhost:${port}/live`, { forceNew: true })
    for (const mount of [
      () => crudRouter(world.Team, { push: { io, path: '/live' } }),
      () => crudHub(world.Team, { io, path: '/live' }),
    ]) {
      const first = mount()
      t.throws(mount, { code: 'HUB_PATH_TAKEN' })
      const client = enter()
      t.teardown(() => client.close())
      await told(client, 'connect')
      const heard: unknown[] = []
      client.on('OnUpdated', (record) => heard.push(record))
      const gone = told(client, 'disconnect')
      first.notify?.updated(1)
      await first.close()
      t.is((await gone)[0], 'io server disconnect')
      t.is(heard.length, 1)
      const refused = enter()
      t.teardown(() => refused.close())
      const [error] = await told(refused, 'connect_error')
      t.is((error as Error).message, 'Invalid namespace')
      const second = mount()
      const again = enter()
      t.teardown(() => again.close())
      await told(again, 'connect')
      await second.close()
    }
  },
)

const silent = { onError: () => undefined }

/** Something that is let through later, and how to know that somebody waits for it. */
function gate(): { readonly pass: () => Promise<void>; readonly open: () => void; readonly reached: Promise<void> } {
  let open: () => void = () => undefined
  let reach: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const pass = (): Promise<void> => {
    reach()
    return opened
  }
  return { pass, open, reached }
}

test.serial('a closed router or controller answers new requests 503, and says when to come again', async (t) => {
  const heard: unknown[] = []
  const options = {
    onError: (error: unknown) => heard.push(error),
    operations: Operations.AllWithBulk | Operations.Export,
  }
  const router = crudRouter(world.Team, options as never)
  const controller = crudController(world.Team)
  const team = { routes: true, resource: () => router } as const
  const players = crudRouter(world.Player, { ...silent, route: 'members', relations: { team } })
  const app = express().use(router, players).get('/own', controller.getList)
  app.use((error: unknown, _req: Request, _res: Response, next: NextFunction) => {
    heard.push(error)
    next(error)
  })
  const server = await serve(app)
  t.teardown(() => server.close())
  t.is((await server.get('/api/teams/1')).status, 200)
  t.like((await server.get('/members/1/team')).body, { name: 'Lakers' })
  await Promise.all([router.close(), controller.close(), players.close()])
  const answers = [
    await server.get('/api/teams/1'),
    await server.get('/api/teams'),
    await server.get('/api/teams?format=csv'),
    await server.post('/api/teams', { name: 'x' }),
    await server.patch('/api/teams/1', { name: 'x' }),
    await server.post('/api/teams/bulk-delete', [1]),
    await server.get('/own'),
    await server.get('/members/1/team'),
  ]
  for (const { status, headers, body } of answers) {
    t.is(status, 503)
    t.is(headers.get('retry-after'), '1')
    t.is(headers.get('connection'), 'close')
    t.is(headers.get('content-type'), 'application/problem+json')
    t.like(body, { code: 'unavailable', detail: 'The service is shutting down. Try again later.' })
  }
  t.is(await world.Team.count(), 1)
  t.deepEqual(heard, [])
})

test.serial('a 503 of a closed resource has the headers of its other replies that depend on the caller', async (t) => {
  const key = { singleton: (): number => 1, route: 'own', operations: ['getById'] } as const
  const scope = (): null => null
  const team = { routes: true, resource: () => teams } as const
  const teams = crudRouter(world.Team, silent)
  const scoped = crudRouter(world.Team, { ...silent, route: 'scoped', scope })
  const masked = crudRouter(world.Player, { ...silent, route: 'masked', mask: { story: 'x' }, relations: { team } })
  const routers = [teams, scoped, masked, crudRouter(world.Team, { ...silent, ...key })]
  const server = await serve(express().use(routers))
  t.teardown(() => server.close())
  const paths = ['/scoped', '/scoped/1', '/masked/1', '/masked/1/team', '/own', '/api/teams']
  const ask = async (status: number): Promise<unknown> =>
    await Promise.all(
      paths.map(async (path) => {
        const reply = await server.get(path)
        t.is(reply.status, status, path)
        return [reply.headers.get('vary'), reply.headers.get('cache-control')]
      }),
    )
  const open = await ask(200)
  t.deepEqual(open, [
    ['Authorization', 'private'],
    ['Authorization', 'private'],
    ['Authorization', 'private'],
    ['Authorization', 'private'],
    ['Authorization, Cookie', 'private'],
    [null, null],
  ])
  await Promise.all(routers.map((each) => each.close()))
  t.deepEqual(await ask(503), open)
})

test.serial('what is under way when a router is closed ends, and its clients hear of it', async (t) => {
  const { pass, open, reached } = gate()
  const io = new Server()
  const router = crudRouter(world.Team, { ...silent, push: { io }, hooks: { beforeCreate: pass } })
  const { url, post, server, close } = await serve(express().use(router))
  t.teardown(close)
  io.attach(server)
  t.teardown(() => io.engine.close())
  const client = connect(`${url}/api/teams/hub`, { forceNew: true })
  t.teardown(() => client.close())
  await told(client, 'connect')
  const created = told(client, 'OnCreated')
  const gone = told(client, 'disconnect')
  const first = post('/api/teams', { name: 'Bulls' })
  await reached
  let isClosed = false
  const closed = router.close().then(() => {
    isClosed = true
  })
  t.is((await post('/api/teams', { name: 'late' })).status, 503)
  t.false(isClosed)
  open()
  const { status, body } = await first
  t.is(status, 201)
  t.like((await created)[0], { name: 'Bulls' })
  await closed
  await gone
  await world.Team.destroy({ where: { id: body.id } })
})

test.serial(
  'answers under way when a router is closed end their connections, and those before it do not',
  async (t) => {
    const { pass, open, reached } = gate()
    const getListPolicy = async (): Promise<boolean> => {
      await pass()
      return true
    }
    const options = { ...silent, hooks: { beforeCreate: pass }, getListPolicy, operations: Operations.AllWithBulk }
    const router = crudRouter(world.Team, options)
    const server = await serve(express().use(router))
    t.teardown(() => server.close())
    t.not((await server.get('/api/teams/1')).headers.get('connection'), 'close')
    const asked = [server.post('/api/teams', { name: 'Bulls' }), server.get('/api/teams')]
    await reached
    // The list has asked its policy by then.
    await server.get('/api/teams/1')
    const closed = router.close()
    open()
    const answers = await Promise.all(asked)
    await closed
    t.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('connection')]),
      [
        [201, 'close'],
        [200, 'close'],
      ],
    )
    await world.Team.destroy({ where: { name: 'Bulls' } })
  },
)

test.serial(
  'a request under way follows its paths to the end, also into a resource that is closed at the same time',
  async (t) => {
    const { pass, open, reached } = gate()
    const teams = crudRouter(world.Team)
    const players = crudRouter(world.Player, {
      getListPolicy: async () => {
        await pass()
        return true
      },
    })
    const server = await serve(express().use(teams).use('/all', players))
    t.teardown(() => server.close())
    const asked = server.get('/all/api/players?filter=Team.Name=Lakers')
    await reached
    const closed = Promise.all([teams.close(), players.close()])
    await new Promise(setImmediate)
    open()
    const { status, body } = await asked
    t.is(status, 200)
    t.is(body.totalCount, 1)
    await closed
  },
)

test.serial('what does not end in time is not waited for, and a file that is still read is cut', async (t) => {
  // More than fits into the buffers of sockets.
  const many = Array.from({ length: 4000 }, () => ({ name: 'x'.repeat(250) }))
  for (let times = 0; times < 10; times += 1) await world.Team.bulkCreate(many)
  t.teardown(() => world.Team.destroy({ where: { name: 'x'.repeat(250) } }))
  const router = crudRouter(world.Team, { ...silent, operations: ['getList', 'export'] })
  const server = await serve(express().use(router))
  t.teardown(() => server.close())
  const asked = request(`${server.url}/api/teams?format=jsonl`)
  asked.end()
  const [reply] = await once(asked, 'response')
  // It reads nothing more: what is written waits.
  reply.pause()
  const ended = new Promise((resolve) => reply.once('close', resolve))
  reply.once('error', () => undefined)
  const started = performance.now()
  await router.close({ within: 300 })
  const took = performance.now() - started
  t.true(took >= 250 && took < 5000, String(took))
  reply.resume()
  await ended
  t.false(reply.complete)
})

test.serial('a file that is still read is cut, and a page is read to its end, below a record as well', async (t) => {
  const { id } = (await world.Team.create({ name: 'Celtics' })).get()
  const where = { teamId: id }
  // More than fits into the buffers of sockets.
  for (let times = 0; times < 2; times += 1) {
    await world.Player.create({ name: 'Larry', story: 'x'.repeat(8_000_000), teamId: id })
  }
  t.teardown(async () => {
    await world.Player.destroy({ where })
    await world.Team.destroy({ where: { id } })
  })
  for (const [path, isWhole] of [
    ['/members?name=Larry&format=jsonl', false],
    ['/members?name=Larry', true],
    [`/api/teams/${id}/players?format=jsonl`, false],
    [`/api/teams/${id}/players`, true],
  ] as const) {
    const members = crudRouter(world.Player, { ...silent, route: 'members', operations: ['getList', 'export'] })
    const relations = { players: { routes: true, resource: () => members } } as const
    const teams = crudRouter(world.Team, { ...silent, relations })
    const server = await serve(express().use(members, teams))
    t.teardown(() => server.close())
    const asked = request(`${server.url}${path}`)
    asked.end()
    const [reply] = await once(asked, 'response')
    t.is(reply.statusCode, 200, path)
    reply.pause()
    const ended = new Promise((resolve) => reply.once('close', resolve))
    reply.once('error', () => undefined)
    await Promise.all([members.close({ within: 0 }), teams.close({ within: 0 })])
    reply.resume()
    await ended
    t.is(reply.complete, isWhole, path)
  }
})
