// A smart home whose devices show what other tables say of them: the latest reading, how many there are, whether the
// caller watches the device. Each is one query for all records of an answer.

import ava from 'ava'
import { col, DataTypes, fn, type Model, type ModelStatic, Op, type Sequelize } from 'sequelize'
import { authenticated, createCrud, filter, hasRole, Operations, openApi } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const Device = sequelize.define(
    'device',
    {
      serial_no: { type: DataTypes.STRING(20), primaryKey: true },
      device_name: { type: DataTypes.STRING(40), allowNull: false },
      owner_id: { type: DataTypes.INTEGER, allowNull: false },
      install_note: DataTypes.STRING(40),
      room_id: DataTypes.INTEGER,
    },
    options,
  )
  const Reading = sequelize.define(
    'reading',
    { serial_no: DataTypes.STRING(20), degrees: DataTypes.DOUBLE, taken_at: DataTypes.DATE },
    { ...options, indexes: [{ fields: ['serial_no', 'taken_at'] }] },
  )
  const Watch = sequelize.define('watch', { serial_no: DataTypes.STRING(20), account_id: DataTypes.INTEGER }, options)
  const Room = sequelize.define('room', { room_name: DataTypes.STRING(20) }, options)
  Room.hasMany(Device, { as: 'devices', foreignKey: 'room_id' })
  Device.belongsTo(Room, { as: 'room', foreignKey: 'room_id' })
  return { Device, Reading, Watch, Room, Account: defineAccounts(sequelize) }
}

type Models = Readonly<Record<'Device' | 'Reading' | 'Watch' | 'Room', ModelStatic<Model>>>

const serialsOf = (records: readonly object[]): string[] =>
  records.map((record) => String(Reflect.get(record, 'serial_no')))

/** The newest row of each device, by one query. */
async function newest({ Reading }: Models, serials: readonly string[]): Promise<ReadonlyMap<string, Model>> {
  const latest = await Reading.findAll({
    attributes: ['serial_no', [fn('MAX', col('taken_at')), 'taken_at']],
    where: { serial_no: serials },
    group: ['serial_no'],
  })
  if (latest.length === 0) return new Map()
  const rows = await Reading.findAll({
    where: { [Op.or]: latest.map((each) => ({ serial_no: each.get('serial_no'), taken_at: each.get('taken_at') })) },
  })
  return new Map(rows.map((row) => [String(row.get('serial_no')), row]))
}

const counted: number[] = []

const crud = createCrud({ identity, authorizePolicy: authenticated })

function mounted(models: Models) {
  return [
    crud.crudRouter(models.Device, {
      operations: Operations.AllWithBulk | Operations.Export,
      scope: ({ identity: caller }) => filter.or(filter.eq('owner_id', accountOf(caller)), filter.eq('owner_id', 0)),
      mask: { install_note: 'fitter', note_length: 'fitter' },
      computed: {
        temperature: {
          type: 'number',
          nullable: true,
          needs: ['serial_no'],
          resolve: async (records) => {
            const rows = await newest(models, serialsOf(records))
            return serialsOf(records).map((serial) => (rows.get(serial)?.get('degrees') as number | undefined) ?? null)
          },
        },
        measured_at: {
          type: 'datetime',
          nullable: true,
          needs: ['serial_no'],
          resolve: async (records) => {
            const rows = await newest(models, serialsOf(records))
            return serialsOf(records).map((serial) => {
              const taken = rows.get(serial)?.get('taken_at')
              return taken === undefined ? null : new Date(taken as string)
            })
          },
        },
        reading_count: {
          type: 'integer',
          needs: ['serial_no'],
          resolve: async (records, { transaction }) => {
            counted.push(records.length)
            const serials = serialsOf(records)
            const rows = await models.Reading.findAll({
              attributes: ['serial_no', [fn('COUNT', col('id')), 'total']],
              where: { serial_no: serials },
              group: ['serial_no'],
              transaction,
            })
            const totals = new Map(rows.map((row) => [String(row.get('serial_no')), Number(row.get('total'))]))
            return serials.map((serial) => totals.get(serial) ?? 0)
          },
        },
        is_watched: {
          type: 'boolean',
          needs: ['serial_no'],
          perCaller: true,
          resolve: async (records, { identity: caller, transaction }) => {
            const where = { serial_no: serialsOf(records), account_id: accountOf(caller) }
            const own = new Set(serialsOf(await models.Watch.findAll({ where, transaction })))
            return serialsOf(records).map((serial) => own.has(serial))
          },
        },
        note_length: {
          type: 'integer',
          needs: ['install_note'],
          resolve: (records) => records.map((record) => String(Reflect.get(record, 'install_note') ?? '').length),
        },
      },
    }),
    crud.crudRouter(models.Room, { createPolicy: hasRole('fitter') }),
  ]
}

let routers: ReturnType<typeof mounted> = []
const server = await openStage(({ sequelize }, app) => {
  const models = define(sequelize)
  addLogin(app, models.Account)
  routers = mounted(models)
  app.use(routers)
  return models
})
const { Account, Device, Reading, Watch, Room } = server
await Account.create({ user_name: 'ann', password: 'ann 1' })
await Account.create({ user_name: 'bob', password: 'bob 1', user_role: 'fitter' })
await Room.create({ room_name: 'Hall' })
await Device.bulkCreate([
  { serial_no: 'A', device_name: 'Oven', owner_id: 1, install_note: 'gas', room_id: 1 },
  { serial_no: 'B', device_name: 'Fridge', owner_id: 1, room_id: 1 },
  { serial_no: 'C', device_name: 'Street', owner_id: 0, room_id: 1 },
  { serial_no: 'D', device_name: 'Sauna', owner_id: 2 },
])
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute))
await Reading.bulkCreate([
  { serial_no: 'A', degrees: 180.5, taken_at: at(1) },
  { serial_no: 'A', degrees: 20, taken_at: at(9) },
  { serial_no: 'A', degrees: 90, taken_at: at(5) },
  { serial_no: 'C', degrees: -4.25, taken_at: at(2) },
])
await Watch.create({ serial_no: 'C', account_id: 1 })
test.after.always(() => server.close())

let ann: Record<string, string> = {}
let bob: Record<string, string> = {}
test.before(async () => {
  ann = await logIn(server, 'ann', 'ann 1')
  bob = await logIn(server, 'bob', 'bob 1')
})

test('a list has the latest value, its time and the number of readings of each device, by one query each', async (t) => {
  counted.length = 0
  const select = 'serialNo,temperature,measuredAt,readingCount,isWatched'
  const { status, text, body } = await server.get(`/api/devices?sort=serialNo&select=${select}`, ann)
  t.is(status, 200, text)
  t.deepEqual(body.items, [
    { serialNo: 'A', temperature: 20, measuredAt: '2026-01-01T12:09:00.000Z', readingCount: 3, isWatched: false },
    { serialNo: 'B', temperature: null, measuredAt: null, readingCount: 0, isWatched: false },
    { serialNo: 'C', temperature: -4.25, measuredAt: '2026-01-01T12:02:00.000Z', readingCount: 1, isWatched: true },
  ])
  t.deepEqual(counted, [3])
  t.is((await server.get('/api/devices/C', bob)).body.isWatched, false)
})

test('what is not shown is not computed', async (t) => {
  counted.length = 0
  await server.get('/api/devices?select=deviceName', ann)
  await server.get('/api/devices?count=true', ann)
  await server.delete('/api/devices/none', ann)
  t.deepEqual(counted, [])
})

test('it is shown by records, embeds, writes and exports as well', async (t) => {
  const one = await server.get('/api/devices/A', ann)
  t.like(one.body, { serialNo: 'A', temperature: 20, readingCount: 3 })
  t.is(one.headers.get('cache-control'), 'private')
  const room = await server.get('/api/rooms/1?select=roomName,devices(serialNo,readingCount)', ann)
  t.deepEqual(room.body.devices, [
    { serialNo: 'A', readingCount: 3 },
    { serialNo: 'B', readingCount: 0 },
    { serialNo: 'C', readingCount: 1 },
  ])
  const patched = await server.patch('/api/devices/A', { deviceName: 'Stove' }, ann)
  t.like(patched.body, { deviceName: 'Stove', readingCount: 3, isWatched: false })
  const made = await server.post('/api/devices', { serialNo: 'E', deviceName: 'Lamp', ownerId: 1 }, ann)
  t.like(made.body, { serialNo: 'E', temperature: null, readingCount: 0 })
  const csv = await server.get('/api/devices?format=csv&select=serialNo,temperature,readingCount&sort=serialNo', ann)
  t.is(csv.text.replaceAll('\r\n', '|'), 'serialNo,temperature,readingCount|A,20,3|B,,0|C,-4.25,1|E,,0|')
  t.is((await server.delete('/api/devices/E', ann)).status, 204)
})

test('it is in no body, filter and sort, which say why', async (t) => {
  const written = await server.patch('/api/devices/A', { temperature: 5 }, ann)
  t.is(written.status, 200)
  t.is(written.body.temperature, 20)
  for (const [parameter, name] of [
    ['filter=temperature>5', 'filter'],
    ['sort=-temperature', 'sort'],
  ] as const) {
    const { status, body } = await server.get(`/api/devices?${parameter}`, ann)
    t.is(status, 400, parameter)
    t.is(body.code, 'unknown-field', parameter)
    t.regex(body.errors[name][0], /computed/, parameter)
  }
})

test('what is computed of a masked attribute is masked with it', async (t) => {
  const hers = await server.get('/api/devices/A', ann)
  t.is(hers.body.installNote, null)
  t.is(hers.body.noteLength, 0)
  const shared = await server.get('/api/devices/C', bob)
  t.is(shared.body.noteLength, 0)
})

test('a device of somebody else has no values either', async (t) => {
  t.is((await server.get('/api/devices/D', ann)).status, 404)
  t.is((await server.get('/api/devices?select=temperature')).status, 401)
})

test('documents have the fields in replies, with their types, and in no body', (t) => {
  const { components } = openApi({ resources: routers, info: INFO })
  const schemas = components.schemas as unknown as Record<string, { properties: Record<string, unknown> }>
  const { properties = {} } = Object.entries(schemas).find(([name]) => name === 'Device')?.[1] ?? {}
  t.true(['temperature', 'measuredAt', 'readingCount', 'isWatched', 'noteLength'].every((name) => name in properties))
  t.false('temperature' in (schemas.DeviceCreate?.properties ?? {}))
})
