import ava, { type ExecutionContext } from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { Server } from 'socket.io'
import { io as client } from 'socket.io-client'
import {
  apiDocs,
  CrudConfigError,
  type CrudDefaults,
  createCrud,
  crudRouter,
  hasRole,
  Operations,
  type Policy,
  type RoutedModels,
  type RoutedOptions,
} from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { serve, type TestServer } from '../../support/server.js'

const test = ava.serial

const { sequelize, close } = await openDatabase()
const plain = { timestamps: false }
const Player = sequelize.define('Player', { name: DataTypes.STRING }, plain)
const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
const AuditLog = sequelize.define('AuditLog', { text: DataTypes.STRING }, plain)
Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
await sequelize.sync()

test.after.always(() => close())

const admit: Policy = () => true

async function served(t: ExecutionContext, use: readonly RequestHandler[]): Promise<TestServer> {
  const app = express()
  app.use(...use)
  const server = await serve(app)
  t.teardown(server.close)
  return server
}

function refused(
  t: ExecutionContext,
  models: unknown,
  options: unknown = {},
  defaults: CrudDefaults = { authorizePolicy: admit },
): readonly string[] {
  const error = t.throws(() => createCrud(defaults).routers(models as RoutedModels, options as RoutedOptions), {
    instanceOf: CrudConfigError,
  })
  return error.problems.map(
    ({ code, message }) => `${code} ${message.replace(/ Valid:.*/, '').replace(/ \([A-Z_]+\)$/, '')}`,
  )
}

test('routers mounts all models of a Sequelize instance but those that are left out', async (t) => {
  const crud = createCrud({ authorizePolicy: admit, idempotency: true, operations: Operations.Read + Operations.Write })
  const routers = crud.routers(sequelize.models, { Player: { route: 'people' }, AuditLog: false })
  t.deepEqual(
    routers.resources.map(({ resource }) => resource.name),
    ['Player', 'Team'],
  )
  await sequelize.sync()
  // The table of kept replies is a model of the instance by now.
  t.true(sequelize.isDefined('crud_idempotency_keys'))
  const again = createCrud({ authorizePolicy: admit }).routers(sequelize.models)
  t.deepEqual(
    again.resources.map(({ resource }) => resource.name),
    ['Player', 'Team', 'AuditLog'],
  )
  await again.close()
  const docs = apiDocs({ resources: routers.resources, info: { title: 'x', version: '1' } })
  const server = await served(t, [routers, docs])
  t.is((await server.post('/api/teams', { name: 'a' }, { 'Idempotency-Key': 'k' })).status, 201)
  t.is((await server.get('/people')).status, 200)
  t.is((await server.get('/api/auditlogs')).status, 404)
  t.is((await server.get('/api/teams?filter=Players.Any(Name=a)')).status, 200)
  await routers.close()
  t.is((await server.get('/people')).status, 503)
})

test('a model that keeps replies is not mounted either', (t) => {
  const Kept = sequelize.define(
    'Kept',
    {
      id: { type: DataTypes.STRING(64), primaryKey: true },
      fingerprint: { type: DataTypes.STRING(64), allowNull: false },
      reply: DataTypes.TEXT,
      expiresAt: { type: DataTypes.DATE(3), allowNull: false },
    },
    plain,
  )
  const routers = createCrud({ authorizePolicy: admit, idempotency: { model: Kept } }).routers([Team, Kept])
  t.deepEqual(
    routers.resources.map(({ resource }) => resource.name),
    ['Team'],
  )
  const variants = createCrud({ authorizePolicy: admit, idempotency: { model: Kept } })
  t.is(variants.routers([Kept.unscoped()]).resources.length, 0, 'a variant of it is no other table')
})

test('what is wrong with the models, their names and options is told at once', (t) => {
  t.deepEqual(
    refused(t, [Player, Team, { name: 'x' }], {
      Plyer: {},
      Player: { route: 5 },
      Team: { fields: { nmae: {} }, operations: ['list'] },
    }),
    [
      'UNKNOWN_MODEL routers: the model "Plyer" does not exist. Did you mean "Player"?',
      'INVALID_OPTION Player: the option "route" must be a path of letters, digits and - . _ ~.',
      'UNKNOWN_ATTRIBUTE Team: fields: the attribute "nmae" does not exist. Did you mean "name"?',
      'UNKNOWN_OPERATION Team: the operation "list" does not exist. Did you mean "getList"?',
      'NOT_A_MODEL The first argument must be a Sequelize model class, not an object.',
    ],
  )
  t.deepEqual(refused(t, [Player], { Player: undefined }), [
    'INVALID_OPTION routers: the options of "Player" must be an object or false.',
  ])
  t.deepEqual(refused(t, [Player], null), [
    'INVALID_OPTION routers: the options must be an object with names of models as keys.',
  ])
  for (const models of [null, 5, Player, sequelize]) {
    t.deepEqual(refused(t, models), [
      'NOT_A_MODEL routers: the first argument must be an array of models or sequelize.models.',
    ])
  }
})

test('routers that throws leaves nothing mounted, and the models as they were', async (t) => {
  const Lone = sequelize.define('Lone', { name: DataTypes.STRING }, plain)
  const Other = sequelize.define('Other', { name: DataTypes.STRING, loneId: DataTypes.INTEGER }, plain)
  Other.belongsTo(Lone, { as: 'lone', foreignKey: 'loneId' })
  await Promise.all([Lone.sync(), Other.sync()])
  const before = Object.keys(Lone.getAttributes())
  refused(t, [Lone, Other], { Other: { route: 5 } }, { authorizePolicy: admit, concurrency: true })
  t.deepEqual(Object.keys(Lone.getAttributes()), before)
  const server = await served(t, [crudRouter(Other)])
  t.is((await server.get('/api/others?filter=Lone.Name=a')).status, 400, 'no resource answers for the path')
})

test('what other errors than those of options end leaves nothing mounted either', async (t) => {
  const Left = sequelize.define('Left', { name: DataTypes.STRING }, plain)
  const Right = sequelize.define('Right', { leftId: DataTypes.INTEGER }, plain)
  Right.belongsTo(Left, { as: 'left', foreignKey: 'leftId' })
  await Promise.all([Left.sync(), Right.sync()])
  const broken: CrudDefaults = {
    get routePrefix(): string {
      throw new RangeError('of the host')
    },
  }
  const { routers } = createCrud({ authorizePolicy: admit })
  t.throws(() => routers([Left, Right], { Right: broken }), { instanceOf: RangeError })
  const Odd = Object.assign(() => undefined, { getAttributes: () => ({}), sequelize: null })
  t.throws(() => routers([Left, Odd as never]), { instanceOf: TypeError })
  const server = await served(t, [crudRouter(Right)])
  t.is((await server.get('/api/rights?filter=Left.Name=a')).status, 400, 'no resource answers for the path')
})

test('what has no prototype is no model', (t) => {
  t.deepEqual(refused(t, [Object.create(null)]), [
    'NOT_A_MODEL The first argument must be a Sequelize model class, not an object.',
  ])
})

test('required policies close what no policy covers: nested bodies and links', async (t) => {
  const Club = sequelize.define('Club', { name: DataTypes.STRING }, plain)
  const Member = sequelize.define('Member', { name: DataTypes.STRING }, plain)
  const Badge = sequelize.define('Badge', { id: { type: DataTypes.STRING, primaryKey: true } }, plain)
  Club.hasMany(Member, { as: 'members', foreignKey: 'clubId' })
  Club.belongsToMany(Badge, { as: 'badges', through: 'ClubBadge', timestamps: false })
  Badge.belongsToMany(Club, { as: 'clubs', through: 'ClubBadge', timestamps: false })
  await sequelize.sync()
  await Badge.create({ id: 'gold' })
  const relations = { members: { write: true }, badges: { write: true, routes: true } }
  const routers = createCrud().routers([Club, Member, Badge], {
    Club: { authorizePolicy: admit, relations },
    Member: { operations: Operations.Read, getByIdPolicy: admit, getListPolicy: admit },
    Badge: { operations: ['getList'], getListPolicy: admit },
  })
  const server = await served(t, [routers])
  t.is((await server.post('/api/clubs', { name: 'a', members: [{ name: 'b' }] })).status, 401)
  t.is((await server.post('/api/clubs', { name: 'a' })).status, 201)
  t.is((await server.patch('/api/clubs/1', { badges: ['gold'] })).status, 401)
  t.is((await server.send('PUT', '/api/clubs/1/badges/gold')).status, 401)
  t.is(await Member.count(), 0)
  await routers.close()
})

test('required policies close the pushes of a resource that nobody reads', async (t) => {
  const Note = sequelize.define('Note', { text: DataTypes.STRING }, plain)
  await Note.sync()
  const app = express()
  const server = await serve(app)
  const io = new Server(server.server)
  const routers = createCrud({ io }).routers([Note], {
    Note: { operations: ['create'], createPolicy: admit, push: true },
  })
  app.use(routers)
  const socket = client(`${server.url}/api/notes/hub`, { transports: ['websocket'] })
  const error = await new Promise<Error | null>((resolve) => {
    socket.on('connect_error', resolve).on('connect', () => resolve(null))
  })
  t.is(error?.message, 'Unauthorized')
  socket.close()
  await routers.close()
  await io.close()
  await server.close()
})

test('what an upsert creates needs a policy as well', (t) => {
  const options = { operations: ['upsert'] as const, updatePolicy: admit }
  const Coin = sequelize.define('Coin', { id: { type: DataTypes.STRING, primaryKey: true } }, plain)
  t.deepEqual(refused(t, [Coin], { Coin: options }, {}), [
    'UNGUARDED Coin: no policy covers upsert: set authorizePolicy or createPolicy, or requirePolicies: false.',
  ])
  t.notThrows(() => createCrud({ createPolicy: admit }).routers([Coin], { Coin: options }))
})

test('what no policy covers is UNGUARDED, for all models and operations at once', (t) => {
  const message = (model: string, open: string, policies: string): string =>
    `UNGUARDED ${model}: no policy covers ${open}: set authorizePolicy or ${policies}, or requirePolicies: false.`
  t.deepEqual(
    refused(
      t,
      [Player, Team, AuditLog],
      {
        Player: { operations: Operations.All + Operations.Bulk + Operations.Aggregate, getListPolicy: admit },
        Team: { authorizePolicy: hasRole('admin') },
      },
      { deletePolicy: admit },
    ),
    [
      message('Player', 'getById, create, update, bulkCreate', 'getByIdPolicy, createPolicy, updatePolicy'),
      message(
        'AuditLog',
        'getById, getList, create, update',
        'getByIdPolicy, getListPolicy, createPolicy, updatePolicy',
      ),
    ],
  )
  t.notThrows(() => createCrud({ requirePolicies: false }).routers([Player]))
  t.notThrows(() => createCrud().routers([Player], { Player: { requirePolicies: false } }))
  t.notThrows(() => createCrud().crudRouter(Player))
  const Named: ModelStatic<Model> = Player
  t.throws(() => crudRouter(Named, { requirePolicies: true }), { code: 'UNGUARDED' })
  t.throws(() => createCrud({ requirePolicies: true }).crudController(Named), { code: 'UNGUARDED' })
  t.notThrows(() => crudRouter(Named, { requirePolicies: true, authorizePolicy: admit }))
  t.deepEqual(refused(t, [Named], { Player: { authorizePolicy: 'staff' } }, {}), [
    'UNKNOWN_POLICY Player: authorizePolicy: the policy "staff" does not exist. Define it in the option "policies", or use a function.',
  ])
})

test('routers refuses two models at one route, and names both', (t) => {
  const [device, devices] = ['Device', 'Devices'].map((name) => sequelize.define(name, { label: DataTypes.STRING }))
  const found = (route: string): string =>
    `INVALID_OPTION routers: Device and Devices are both mounted at "${route}": give one of them another "route".`
  t.deepEqual(refused(t, [device, devices]), [found('/api/devices')])
  t.deepEqual(refused(t, [device, devices], { Device: { route: 'Things' }, Devices: { route: '/things/' } }), [
    found('/things'),
  ])
  const routers = createCrud({ authorizePolicy: admit }).routers([Player, Team], { Team: { route: 'teams' } })
  t.is(routers.resources.length, 2)
})
