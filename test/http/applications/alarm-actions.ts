// A smart home whose alarm is armed by an action, with sensors and a log that change with it in one transaction, and
// messages that are marked as read, one and many.

import ava from 'ava'
import Joi from 'joi'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { resource } from '../../../lib/client/actions.js'
import { ProblemError } from '../../../lib/client/index.js'
import { type ActionContext, authenticated, createCrud, filter, openApi, Problem } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const House = sequelize.define(
    'house',
    {
      slug: { type: DataTypes.STRING(30), primaryKey: true },
      owner_id: { type: DataTypes.INTEGER, allowNull: false },
      alarm_mode: {
        type: DataTypes.STRING(10),
        allowNull: false,
        defaultValue: 'off',
        validate: { isIn: [['off', 'home', 'away']] },
      },
      alarm_code: { type: DataTypes.STRING(8), allowNull: false },
      row_version: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
    },
    options,
  )
  const Sensor = sequelize.define(
    'sensor',
    { house_slug: DataTypes.STRING(30), place: DataTypes.STRING(20), is_active: DataTypes.BOOLEAN },
    options,
  )
  const Message = sequelize.define(
    'message',
    {
      house_slug: DataTypes.STRING(30),
      message_text: { type: DataTypes.STRING(60), allowNull: false },
      is_read: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
    },
    options,
  )
  House.hasMany(Sensor, { as: 'sensors', foreignKey: 'house_slug' })
  Sensor.belongsTo(House, { as: 'house', foreignKey: 'house_slug' })
  House.hasMany(Message, { as: 'messages', foreignKey: 'house_slug' })
  Message.belongsTo(House, { as: 'house', foreignKey: 'house_slug' })
  return { House, Sensor, Message, Account: defineAccounts(sequelize) }
}

type Models = Readonly<Record<'House' | 'Sensor' | 'Message', ModelStatic<Model>>>

interface Arming {
  readonly mode: string
  readonly code: string
}

async function arm({ Sensor, Message }: Models, { record, input, transaction }: ActionContext<Model, Arming>) {
  if (input.code !== record.get('alarm_code')) {
    throw new Problem({ status: 403, code: 'wrong-code', detail: 'The code is wrong.' })
  }
  // Armed twice it is armed once, and says so once.
  if (record.get('alarm_mode') === input.mode) return
  record.set('alarm_mode', input.mode)
  const where = { house_slug: String(record.get('slug')) }
  await Sensor.update({ is_active: input.mode !== 'off' }, { where, transaction })
  await Message.create({ ...where, message_text: `alarm: ${input.mode}` }, { transaction })
}

const crud = createCrud({ identity, authorizePolicy: authenticated })
const ARMING = Joi.object<Arming>({ mode: Joi.valid('off', 'home', 'away').required(), code: Joi.string().required() })

function mounted(models: Models) {
  const { House, Sensor, Message } = models
  const houses = crud.crudRouter(House, {
    scope: ({ identity: caller }) => ({ owner_id: accountOf(caller) }),
    fields: { alarm_code: { exclude: true }, alarm_mode: { exclude: ['create', 'update'] } },
    relations: { sensors: { routes: true }, messages: { routes: true } },
    concurrency: { rowVersion: 'row_version' },
    actions: {
      arm: {
        on: 'record',
        method: 'post',
        input: ARMING,
        handler: (context: ActionContext<Model, Arming>) => arm(models, context),
      },
      break: {
        on: 'record',
        method: 'post',
        handler: async ({ record, transaction }) => {
          await Sensor.destroy({ where: { house_slug: String(record.get('slug')) }, transaction })
          record.set('alarm_mode', 'broken')
        },
      },
      sell: { on: 'record', method: 'post', handler: ({ record }) => record.set('owner_id', 2) },
    },
  })
  const owned = (caller: Parameters<typeof accountOf>[0]) => filter.eq('house.owner_id', accountOf(caller))
  const messages = crud.crudRouter(Message, {
    operations: ['getById', 'getList'],
    idempotency: true,
    scope: ({ identity: caller }) => owned(caller),
    actions: {
      markRead: { on: 'record', method: 'post', handler: ({ record }) => record.set('is_read', true) },
      markAllRead: {
        on: 'collection',
        method: 'post',
        input: Joi.object({ ids: Joi.array().items(Joi.number().integer()).max(100) }),
        output: 'list',
        handler: async ({ input, identity: caller, transaction }: ActionContext<null, { ids?: number[] }>) => {
          const unread = await Message.findAll({
            where: { is_read: false, '$house.owner_id$': accountOf(caller), ...(input?.ids ? { id: input.ids } : {}) },
            include: 'house',
            order: ['id'],
            transaction,
          })
          for (const each of unread) await each.update({ is_read: true }, { transaction })
          return unread
        },
      },
      unread: {
        on: 'collection',
        method: 'get',
        output: Joi.object({ count: Joi.number().required() }),
        handler: async ({ identity: caller }) => {
          const where = { is_read: false, '$house.owner_id$': accountOf(caller) }
          return { count: await Message.count({ where, include: 'house' }) }
        },
      },
    },
  })
  const sensors = crud.crudRouter(Sensor, {
    operations: ['getById', 'getList'],
    scope: ({ identity: caller }) => owned(caller),
  })
  return { houses, messages, sensors }
}

let models: ReturnType<typeof define> | null = null
let routers: ReturnType<typeof mounted> | null = null
const server = await openStage(({ sequelize }, app) => {
  models = define(sequelize)
  addLogin(app, models.Account)
  routers = mounted(models)
  app.use(Object.values(routers))
})
test.after.always(() => server.close())

let ann: Record<string, string> = {}
let bob: Record<string, string> = {}
test.before(async () => {
  for (const user_name of ['ann', 'bob']) await models?.Account.create({ user_name, password: `${user_name} 1` })
  await models?.House.bulkCreate([
    { slug: 'lake', owner_id: 1, alarm_code: '1234' },
    { slug: 'town', owner_id: 2, alarm_code: '9999' },
  ])
  await models?.Sensor.bulkCreate(['door', 'roof'].map((place) => ({ house_slug: 'lake', place, is_active: false })))
  await models?.Message.create({ house_slug: 'town', message_text: 'hello' })
  ann = await logIn(server, 'ann', 'ann 1')
  bob = await logIn(server, 'bob', 'bob 1')
})

const any = { 'if-match': '*' }
const actives = async (): Promise<unknown> =>
  (await server.get('/api/houses/lake/sensors?sort=id&select=isActive', ann)).body.items.map(
    ({ isActive }: { isActive: boolean }) => isActive,
  )
const texts = async (): Promise<unknown> =>
  (await server.get('/api/houses/lake/messages?sort=id', ann)).body.items.map(
    ({ messageText }: { messageText: string }) => messageText,
  )

test('arming a house changes it, its sensors and its log, under its version', async (t) => {
  const { status, text, body, headers } = await server.post(
    '/api/houses/lake/arm',
    { mode: 'away', code: '1234' },
    { ...ann, 'if-match': 'W/"0"' },
  )
  t.is(status, 200, text)
  t.deepEqual(body, { slug: 'lake', ownerId: 1, alarmMode: 'away', rowVersion: 1 })
  t.is(headers.get('etag'), 'W/"1"')
  t.deepEqual(await actives(), [true, true])
  t.deepEqual(await texts(), ['alarm: away'])
})

test('armed once more it stays as it is, and under an old version it is refused', async (t) => {
  const again = await server.post('/api/houses/lake/arm', { mode: 'away', code: '1234' }, { ...ann, ...any })
  t.is(again.status, 200)
  t.is(again.body.alarmMode, 'away')
  t.deepEqual(await texts(), ['alarm: away'])
  const old = await server.post('/api/houses/lake/arm', { mode: 'off', code: '1234' }, { ...ann, 'if-match': 'W/"0"' })
  t.is(old.status, 412)
  t.is((await server.post('/api/houses/lake/arm', { mode: 'off', code: '1234' }, ann)).status, 428)
  t.deepEqual(await actives(), [true, true])
})

test('a wrong code and a wrong mode change nothing, and say which is wrong', async (t) => {
  const code = await server.post('/api/houses/lake/arm', { mode: 'off', code: '0' }, { ...ann, ...any })
  t.is(code.status, 403)
  t.is(code.body.code, 'wrong-code')
  const { status, body } = await server.post('/api/houses/lake/arm', { mode: 'party' }, { ...ann, ...any })
  t.is(status, 400)
  t.deepEqual(body.errors, { mode: ['must be one of [off, home, away]'], code: ['is required'] })
  const plain = await server.patch('/api/houses/lake', { alarmMode: 'off' }, { ...ann, ...any })
  t.is(plain.body.alarmMode, 'away')
})

test('what a handler has done elsewhere is undone with what it may not store', async (t) => {
  const { status, body } = await server.send('POST', '/api/houses/lake/break', { headers: { ...ann, ...any } })
  t.is(status, 400)
  t.deepEqual(body.errors, { alarmMode: ['must be one of: off, home, away.'] })
  const sold = await server.send('POST', '/api/houses/lake/sell', { headers: { ...ann, ...any } })
  t.is(sold.status, 403)
  t.is(sold.body.detail, 'You may not store this record.')
  t.deepEqual(await actives(), [true, true])
})

test('the house of another owner is missing before anything else is said', async (t) => {
  t.is((await server.post('/api/houses/lake/arm', { mode: 'party' }, { ...bob, ...any })).status, 404)
  t.is((await server.post('/api/houses/lake/arm', { mode: 'off', code: '1234' }, bob)).status, 404)
  t.is((await server.post('/api/houses/lake/arm', { mode: 'off', code: '1234' })).status, 401)
})

test('messages are marked as read one by one, and again without harm', async (t) => {
  const { items } = (await server.get('/api/messages', ann)).body
  const { id } = items[0]
  for (let time = 0; time < 2; time += 1) {
    const { status, body, text } = await server.send('POST', `/api/messages/${id}/mark-read`, { headers: ann })
    t.is(status, 200, text)
    t.is(body.isRead, true)
  }
  t.is((await server.send('POST', `/api/messages/${id}/mark-read`, { headers: bob })).status, 404)
})

test('and all at once: those of the caller alone, with those that were changed as the answer', async (t) => {
  for (const mode of ['home', 'off']) {
    await server.post('/api/houses/lake/arm', { mode, code: '1234' }, { ...ann, ...any })
  }
  t.deepEqual((await server.get('/api/messages/unread', ann)).body, { count: 2 })
  const once = { ...ann, 'idempotency-key': 'read-1' }
  const { status, body, text } = await server.post('/api/messages/mark-all-read?select=messageText,isRead', {}, once)
  t.is(status, 200, text)
  t.deepEqual(body, {
    items: [
      { messageText: 'alarm: home', isRead: true },
      { messageText: 'alarm: off', isRead: true },
    ],
  })
  // The answer that was kept, and not an empty one.
  t.is((await server.post('/api/messages/mark-all-read?select=messageText,isRead', {}, once)).text, text)
  t.deepEqual((await server.send('POST', '/api/messages/mark-all-read', { headers: ann })).body, { items: [] })
  t.deepEqual((await server.get('/api/messages/unread', ann)).body, { count: 0 })
  t.deepEqual((await server.get('/api/messages/unread', bob)).body, { count: 1 })
  const wrong = await server.post('/api/messages/mark-all-read', { ids: ['x'] }, ann)
  t.is(wrong.status, 400)
  t.deepEqual(wrong.body.errors, { 'ids[0]': ['must be a number'] })
})

test('the typed client arms by the record that it has read, and tells a conflict', async (t) => {
  type Houses = ReturnType<typeof mounted>['houses']
  const client = resource<Houses>(`${server.url}/api/houses`, {
    key: 'slug',
    versions: true,
    headers: ann,
    actions: {
      arm: { on: 'record', method: 'post' },
      break: { on: 'record', method: 'post' },
      sell: { on: 'record', method: 'post' },
    },
  })
  const house = await client.get('lake')
  await client.actions.arm(house, { mode: 'home', code: '1234' })
  const error = await t.throwsAsync(client.actions.arm(house, { mode: 'off', code: '1234' }), {
    instanceOf: ProblemError,
  })
  t.is(error.status, 412)
})

test('documents have each action with its input', (t) => {
  const { paths } = openApi({ resources: Object.values(routers ?? {}), info: INFO })
  t.is(paths['/api/houses/{id}/arm']?.post?.operationId, 'armHouse')
  t.is(paths['/api/messages/mark-all-read']?.post?.operationId, 'markAllReadMessages')
  t.regex(JSON.stringify(paths['/api/houses/{id}/arm']?.post?.requestBody), /"enum":\["off","home","away"\]/)
})
