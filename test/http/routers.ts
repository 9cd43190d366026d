import ava, { type ExecutionContext } from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
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
} from '../../lib/index.js'
import { openDatabase } from '../support/database.js'
import { serve, type TestServer } from '../support/server.js'

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
    'INVALID_OPTION routers: the options must be an object by the name of a model.',
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

test('what no policy covers is UNGUARDED, for all models and operations at once', (t) => {
  const message = (model: string, open: string, policies: string): string =>
    `UNGUARDED ${model}: no policy covers ${open}: give authorizePolicy or ${policies}, or say requirePolicies: false.`
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
    'UNKNOWN_POLICY Player: authorizePolicy: the policy "staff" does not exist.',
  ])
})
