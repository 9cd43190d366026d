// A smart home: houses by a slug with rooms and devices by keys that people read, in tables that were there before, with
// the names of their columns in the API.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { authenticated, createCrud, filter, openApi } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const SQL = [
  'CREATE TABLE smart_houses (slug VARCHAR(40) NOT NULL PRIMARY KEY, display_name VARCHAR(60) NOT NULL, owner_id INTEGER NOT NULL, alarm_mode VARCHAR(20) NOT NULL)',
  'CREATE TABLE smart_rooms (room_code VARCHAR(60) NOT NULL PRIMARY KEY, house_slug VARCHAR(40) NOT NULL REFERENCES smart_houses (slug), room_name VARCHAR(40) NOT NULL, floor_no INTEGER, UNIQUE (house_slug, room_name))',
  'CREATE TABLE smart_devices (serial_no VARCHAR(20) NOT NULL PRIMARY KEY, room_code VARCHAR(60) NOT NULL REFERENCES smart_rooms (room_code), device_kind VARCHAR(20) NOT NULL, is_on BOOLEAN NOT NULL)',
]

function define(sequelize: Sequelize) {
  const code = (length: number) => ({ type: DataTypes.STRING(length), primaryKey: true })
  const House = sequelize.define(
    'house',
    {
      slug: { ...code(40), validate: { is: /^[a-z][a-z0-9-]*$/ } },
      display_name: { type: DataTypes.STRING(60), allowNull: false, validate: { notEmpty: true } },
      owner_id: { type: DataTypes.INTEGER, allowNull: false },
      alarm_mode: {
        type: DataTypes.STRING(20),
        allowNull: false,
        defaultValue: 'disarmed',
        validate: { isIn: [['disarmed', 'armed_home', 'armed_away']] },
      },
    },
    { timestamps: false, tableName: 'smart_houses' },
  )
  const Room = sequelize.define(
    'room',
    {
      room_code: code(60),
      house_slug: { type: DataTypes.STRING(40), allowNull: false },
      room_name: { type: DataTypes.STRING(40), allowNull: false },
      floor_no: { type: DataTypes.INTEGER, validate: { min: -2, max: 9 } },
    },
    { timestamps: false, tableName: 'smart_rooms', indexes: [{ unique: true, fields: ['house_slug', 'room_name'] }] },
  )
  // As old code fills a column: names are trimmed before they are checked.
  Room.addHook('beforeValidate', (room: Model) => {
    const name: unknown = room.get('room_name')
    if (typeof name === 'string') room.set('room_name', name.trim())
  })
  const Device = sequelize.define(
    'device',
    {
      serial_no: { ...code(20), validate: { isUppercase: true } },
      room_code: { type: DataTypes.STRING(60), allowNull: false },
      device_kind: { type: DataTypes.STRING(20), allowNull: false },
      is_on: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
    },
    { timestamps: false, tableName: 'smart_devices' },
  )
  House.hasMany(Room, { as: 'rooms', foreignKey: 'house_slug', sourceKey: 'slug' })
  Room.belongsTo(House, { as: 'house', foreignKey: 'house_slug', targetKey: 'slug' })
  Room.hasMany(Device, { as: 'room_devices', foreignKey: 'room_code', sourceKey: 'room_code' })
  Device.belongsTo(Room, { as: 'room', foreignKey: 'room_code', targetKey: 'room_code' })
  return { House, Room, Device }
}

const crud = createCrud({ identity, naming: 'attribute', authorizePolicy: authenticated })

function mounted({ House, Room, Device }: Readonly<Record<'House' | 'Room' | 'Device', ModelStatic<Model>>>) {
  const owned = { exclude: ['create', 'update'] } as const
  return [
    crud.crudRouter(House, {
      operations: ['getById', 'getList', 'create', 'update', 'delete', 'replace'],
      fields: { owner_id: owned },
      relations: { rooms: { routes: true, write: true } },
      scope: ({ identity: caller }) => ({ owner_id: accountOf(caller) }),
    }),
    crud.crudRouter(Room, {
      relations: { room_devices: { routes: true, write: true } },
      scope: ({ identity: caller }) => filter.eq('house.owner_id', accountOf(caller)),
    }),
    crud.crudRouter(Device, {
      scope: ({ identity: caller }) => filter.eq('room.house.owner_id', accountOf(caller)),
    }),
  ]
}

let routers: ReturnType<typeof mounted> = []
const server = await openStage(({ sequelize }, app) => {
  // Before the application starts, as another program has left them.
  sequelize.addHook('beforeBulkSync', async () => {
    for (const statement of SQL) await sequelize.query(statement)
  })
  const models = { ...define(sequelize), Account: defineAccounts(sequelize) }
  addLogin(app, models.Account)
  routers = mounted(models)
  app.use(routers)
  return models
})
const { Account, House, Room } = server
for (const user_name of ['ann', 'bob']) await Account.create({ user_name, password: `${user_name} 1` })
await House.create({ slug: 'bobs', display_name: 'At Bob', owner_id: 2 })
await Room.create({ room_code: 'bobs-hall', house_slug: 'bobs', room_name: 'Hall' })
test.after.always(() => server.close())

let ann: Record<string, string> = {}
let bob: Record<string, string> = {}
test.before(async () => {
  ann = await logIn(server, 'ann', 'ann 1')
  bob = await logIn(server, 'bob', 'bob 1')
})

const LAKE = {
  slug: 'lake-house',
  display_name: 'Lake House',
  rooms: [
    {
      room_code: 'lake-kitchen',
      room_name: ' Kitchen ',
      floor_no: 0,
      room_devices: [{ serial_no: 'L1', device_kind: 'lamp', is_on: true }],
    },
    { room_code: 'lake-attic', room_name: 'Attic', floor_no: 2 },
  ],
}

const SELECT = 'slug,rooms(room_name,room_devices(serial_no))'

test('a house comes with its rooms and their devices in one body, and is found by its slug', async (t) => {
  const made = await server.post('/api/houses', LAKE, ann)
  t.is(made.status, 201, made.text)
  t.is(made.headers.get('location'), '/api/houses/lake-house')
  t.like(made.body, { slug: 'lake-house', owner_id: 1, alarm_mode: 'disarmed' })
  t.is(made.body.rooms[0].room_name, 'Kitchen')
  const { body } = await server.get(`/api/houses/lake-house?select=${SELECT}&rooms.sort=-floor_no`, ann)
  t.deepEqual(body, {
    slug: 'lake-house',
    rooms: [
      { room_name: 'Attic', room_devices: [] },
      { room_name: 'Kitchen', room_devices: [{ serial_no: 'L1' }] },
    ],
  })
})

test('a slug that is there is 409, one of another form 400 with everything else that is wrong', async (t) => {
  const twice = await server.post('/api/houses', { slug: 'lake-house', display_name: 'Again' }, ann)
  t.is(twice.status, 409)
  t.deepEqual(twice.body.errors, { slug: ['is already taken.'] })
  const wrong = {
    slug: 'Lake',
    display_name: ' ',
    rooms: [{ room_code: 'x', floor_no: 12, room_devices: [{ serial_no: 'l2' }] }],
  }
  const { status, body } = await server.post('/api/houses', wrong, ann)
  t.is(status, 400)
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
    title: 'One or more validation errors occurred.',
    status: 400,
    code: 'validation',
    errors: {
      slug: ['does not match the required pattern.'],
      display_name: ['must not be blank.'],
      'rooms[0].room_name': ['is required.'],
      'rooms[0].floor_no': ['must be between -2 and 9.'],
      'rooms[0].room_devices[0].serial_no': ['must be upper case.'],
      'rooms[0].room_devices[0].device_kind': ['is required.'],
    },
  })
})

test('names that are almost those of columns are refused at every level, with the right one', async (t) => {
  const { status, body } = await server.patch(
    '/api/houses/lake-house',
    { alarmMode: 'armed_away', rooms: [{ room_code: 'lake-attic', 'Floor-No': 1, roomDevices: [] }] },
    ann,
  )
  t.is(status, 400)
  t.deepEqual(body.errors, {
    alarmMode: ['is not a known property. Did you mean alarm_mode?'],
    'rooms[0].Floor-No': ['is not a known property. Did you mean floor_no?'],
    'rooms[0].roomDevices': ['is not a known property. Did you mean room_devices?'],
  })
  const path = await server.get('/api/houses?filter=alarmMode%3Ddisarmed', ann)
  t.is(path.status, 400)
  t.regex(path.body.errors.filter[0], /Did you mean "alarm_mode"\?/)
})

test('a patch of the house patches, adds and removes rooms and devices', async (t) => {
  const { status, text } = await server.patch(
    '/api/houses/lake-house',
    {
      alarm_mode: 'armed_home',
      rooms: [
        {
          room_code: 'lake-kitchen',
          room_devices: [
            { serial_no: 'L1', is_on: false },
            { serial_no: 'T1', device_kind: 'thermostat' },
          ],
        },
        { room_code: 'lake-cellar', room_name: 'Cellar', floor_no: -1 },
      ],
    },
    ann,
  )
  t.is(status, 200, text)
  const { body } = await server.get(`/api/houses/lake-house?select=alarm_mode,${SELECT}&rooms.sort=floor_no`, ann)
  t.deepEqual(body, {
    alarm_mode: 'armed_home',
    slug: 'lake-house',
    rooms: [
      { room_name: 'Cellar', room_devices: [] },
      { room_name: 'Kitchen', room_devices: [{ serial_no: 'L1' }, { serial_no: 'T1' }] },
    ],
  })
  t.is((await server.get('/api/rooms/lake-attic', ann)).status, 404)
})

test('rooms and devices have routes below their owners and of their own', async (t) => {
  const made = await server.post('/api/houses/lake-house/rooms', { room_code: 'lake-hall', room_name: 'Hall' }, ann)
  t.is(made.status, 201, made.text)
  t.is(made.headers.get('location'), '/api/rooms/lake-hall')
  const rooms = await server.get('/api/houses/lake-house/rooms?sort=room_name&select=room_name', ann)
  t.deepEqual(rooms.body.items, [{ room_name: 'Cellar' }, { room_name: 'Hall' }, { room_name: 'Kitchen' }])
  const devices = await server.get('/api/rooms/lake-kitchen/room-devices', ann)
  const asNamed = await server.get('/api/rooms/lake-kitchen/room_devices?is_on=false&sort=serial_no', ann)
  t.deepEqual([devices.status, asNamed.status], [404, 200])
  t.deepEqual(asNamed.body.items[1], {
    serial_no: 'T1',
    room_code: 'lake-kitchen',
    device_kind: 'thermostat',
    is_on: false,
  })
  const taken = await server.post('/api/houses/lake-house/rooms', { room_code: 'lake-2', room_name: 'Hall ' }, ann)
  t.is(taken.status, 409)
  const { body } = await server.get(
    '/api/devices?filter=room.house.slug%3Dlake-house&select=serial_no,room.room_name',
    ann,
  )
  t.deepEqual(body.items[0], { serial_no: 'L1', room: { room_name: 'Kitchen' } })
})

test('the house of somebody else does not exist, by any way', async (t) => {
  const missing = await server.get('/api/houses/lake-house', bob)
  t.is(missing.status, 404)
  t.deepEqual(missing.body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.5',
    title: 'Not Found',
    status: 404,
    code: 'not-found',
  })
  t.is((await server.patch('/api/houses/lake-house', { display_name: 'Mine' }, bob)).status, 404)
  t.is((await server.delete('/api/houses/lake-house', bob)).status, 404)
  t.is((await server.get('/api/houses/lake-house/rooms', bob)).status, 404)
  t.is((await server.post('/api/houses/lake-house/rooms', { room_code: 'b', room_name: 'B' }, bob)).status, 404)
  t.is((await server.get('/api/rooms/lake-hall', bob)).status, 404)
  t.deepEqual((await server.get('/api/devices', bob)).body.items, [])
  const moved = await server.patch('/api/devices/L1', { room_code: 'bobs-hall' }, ann)
  t.is(moved.status, 403)
  t.is(moved.body.detail, 'You may not store this record.')
  // As to a room that nobody has.
  t.is((await server.patch('/api/devices/L1', { room_code: 'nowhere' }, ann)).text, moved.text)
  const stolen = await server.patch('/api/houses/bobs', { rooms: [{ room_code: 'lake-hall' }] }, bob)
  t.not(stolen.status, 200)
  t.is((await server.get('/api/rooms/lake-hall', ann)).body.house_slug, 'lake-house')
})

test('without a token everything is 401, and a wrong password gets none', async (t) => {
  const { status, headers, body } = await server.get('/api/houses/lake-house')
  t.is(status, 401)
  t.is(headers.get('www-authenticate'), 'Bearer')
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.2',
    title: 'Unauthorized',
    detail: 'This operation requires authentication. Sign in, or send valid credentials.',
    status: 401,
    code: 'unauthorized',
  })
  t.is((await server.post('/api/houses', LAKE)).status, 401)
  t.is((await server.post('/login', { user_name: 'ann', password: 'bob 1' })).status, 401)
})

test('documents have the names of the columns, and the routes below', (t) => {
  const { paths, components } = openApi({ resources: routers, info: INFO })
  const own = ['', '/{id}', '/{id}/rooms'].map((below) => `/api/houses${below}`)
  t.true([...own, '/api/rooms/{id}/room_devices', '/api/devices/{id}'].every((path) => path in paths))
  const { House } = components.schemas as unknown as Record<string, { properties: object }>
  t.deepEqual(Object.keys(House?.properties ?? {}).sort(), ['alarm_mode', 'display_name', 'owner_id', 'rooms', 'slug'])
})
