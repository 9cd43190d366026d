// Members of bodies that are names of the caller's shape but for case, `_` and `-`.

import ava from 'ava'
import { DataTypes, type Model } from 'sequelize'
import { type CrudOptions, createCrud, crudRouter, identityFromRequest, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const served = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Device = sequelize.define('Device', {
    code: { type: DataTypes.STRING(20), unique: true },
    alarm_mode: { type: DataTypes.STRING(20), allowNull: false, defaultValue: 'off' },
    room_no: DataTypes.INTEGER,
    settings: DataTypes.JSON,
    pin_code: DataTypes.STRING(20),
    last_seen: DataTypes.STRING(20),
    service_note: DataTypes.STRING(20),
    pass_word: DataTypes.STRING(20),
    tenant_id: DataTypes.INTEGER,
    _unit: DataTypes.STRING(20),
    unit_: DataTypes.STRING(20),
  })
  const Sensor = sequelize.define('Sensor', { sensor_kind: { type: DataTypes.STRING(20), allowNull: false } }, plain)
  const Secret = sequelize.define('Secret', { name: DataTypes.STRING(20) }, plain)
  const Label = sequelize.define('Label', { name: DataTypes.STRING(20) }, plain)
  const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, plain)
  Device.hasMany(Sensor, { as: 'sensor_list', foreignKey: 'device_id' })
  Device.hasMany(Secret, { as: 'secret_list', foreignKey: 'device_id' })
  Device.hasMany(Note, { as: 'note_list', foreignKey: 'device_id' })
  Device.belongsToMany(Label, { as: 'label_list', through: 'DeviceLabel', timestamps: false })
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const Tagging = sequelize.define('Tagging', { id }, plain)
  const Marking = sequelize.define('Marking', { id }, plain)
  Device.belongsToMany(Label, { as: 'tag_list', through: Tagging, foreignKey: 'device_id', otherKey: 'tag_id' })
  Device.belongsToMany(Label, { as: 'mark_list', through: Marking, foreignKey: 'device_id', otherKey: 'mark_id' })
  app.use((req, _res, next) => {
    const { permissions = '' } = req.headers
    Object.assign(req, { auth: { permissions: [permissions].flat().join().split(',') } })
    next()
  })
  const crud = createCrud({ identity: identityFromRequest })
  const write = { write: true }
  const options: CrudOptions = {
    operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
    mask: {
      last_seen: { read: 'see' },
      service_note: { write: 'service' },
    },
    fields: { pass_word: { exclude: true }, pin_code: { exclude: 'response' } },
    relations: {
      sensor_list: write,
      secret_list: write,
      label_list: write,
      tag_list: write,
      mark_list: write,
      note_list: true,
    },
  }
  app.use([
    crud.crudRouter(Device, options),
    crud.crudRouter(Device, { ...options, route: 'api/strict', unknownProperties: 'reject' }),
    crud.crudRouter(Device, {
      ...options,
      route: 'api/scoped',
      unknownProperties: 'reject',
      scope: () => ({ tenant_id: 7 }),
    }),
    crud.crudRouter(Sensor),
    crud.crudRouter(Secret, { mask: { device_id: 'see' } }),
    crud.crudRouter(Label),
    crud.crudRouter(Note),
    crud.crudRouter(Tagging, { mask: { tag_id: 'see' } }),
    crud.crudRouter(Marking, { mask: { mark_id: { write: 'link' } } }),
  ])
  return { Device, Sensor, Secret, Label, Note }
})

test.after.always(() => served.close())

const ROUTES = ['/api/devices', '/api/strict']

function meant(name: string): readonly string[] {
  return [`is not a known property. Did you mean ${name}?`]
}

let count = 0

async function made(): Promise<{ readonly id: number; readonly code: string }> {
  const code = `made ${++count}`
  const { body, status, text } = await served.post('/api/devices', { code, alarmMode: 'on' })
  if (status !== 201) throw new Error(text)
  return { id: body.id, code }
}

async function stored(id: number): Promise<Model | null> {
  return served.Device.findByPk(id)
}

for (const route of ROUTES) {
  test(`a body is refused by the name that it misspells, in every operation: ${route}`, async (t) => {
    const { id, code } = await made()
    const before = await served.Device.count()
    for (const name of ['alarm_mode', 'ALARM_MODE', 'AlarmMode', 'alarm-mode', 'alarmmode', '_alarmMode']) {
      const answers = [
        await served.post(route, { [name]: 'armed' }),
        await served.patch(`${route}/${id}`, { [name]: 'armed' }),
        await served.send('PUT', `${route}/${id}`, { json: { code, [name]: 'armed' } }),
      ]
      for (const { status, body } of answers) {
        t.is(status, 400)
        t.deepEqual(body.errors, { [name]: meant('alarmMode') })
      }
    }
    t.is((await stored(id))?.get('alarm_mode'), 'on')
    t.is(await served.Device.count(), before)
  })

  test(`bodies of several records are refused with the places: ${route}`, async (t) => {
    const { id, code } = await made()
    const fine = { code: `${code} fine` }
    const before = await served.Device.count()
    const created = await served.post(`${route}/bulk`, [fine, { alarm_mode: 'x' }, { Room_No: 1, sensorlist: [] }])
    t.deepEqual(created.body.errors, {
      '[1].alarm_mode': meant('alarmMode'),
      '[2].Room_No': meant('roomNo'),
      '[2].sensorlist': meant('sensorList'),
    })
    const patched = await served.patch(`${route}/bulk`, [{ id, alarm_mode: 'x' }])
    t.deepEqual(patched.body.errors, { '[0].alarm_mode': meant('alarmMode') })
    const upserted = await served.send('PUT', `${route}/bulk?by=code`, {
      json: [fine, { code, alarm_mode: 'x' }, { code: `${code} new`, alarm_mode: 'x' }],
    })
    t.deepEqual(upserted.body.errors, {
      '[1].alarm_mode': meant('alarmMode'),
      '[2].alarm_mode': meant('alarmMode'),
    })
    const nameless = await served.send('PUT', `${route}/bulk?by=code`, { json: [{ Code: 'x' }] })
    t.deepEqual(nameless.body.errors, { '[0].code': ['is required.'], '[0].Code': meant('code') })
    t.is(await served.Device.count(), before)
    t.is((await stored(id))?.get('alarm_mode'), 'on')
  })

  test(`records within bodies are refused with the places: ${route}`, async (t) => {
    const { id, code } = await made()
    const sensors = [{ sensorKind: 'heat' }, { sensorKind: 'smoke', sensor_kind: 'x' }, { sensor_kind: 'x' }]
    const places = (before: string) => ({
      [`${before}sensorList[1].sensor_kind`]: meant('sensorKind'),
      [`${before}sensorList[2].sensor_kind`]: meant('sensorKind'),
      [`${before}sensorList[2].sensorKind`]: ['is required.'],
    })
    const before = await served.Sensor.count()
    const within = { sensorList: sensors }
    t.deepEqual((await served.post(route, within)).body.errors, places(''))
    t.deepEqual((await served.patch(`${route}/${id}`, within)).body.errors, places(''))
    t.deepEqual((await served.send('PUT', `${route}/${id}`, { json: within })).body.errors, places(''))
    t.deepEqual((await served.post(`${route}/bulk`, [{}, within])).body.errors, places('[1].'))
    t.deepEqual((await served.patch(`${route}/bulk`, [{ id, ...within }])).body.errors, places('[0].'))
    const upserted = await served.send('PUT', `${route}/bulk?by=code`, { json: [{ code, ...within }] })
    t.deepEqual(upserted.body.errors, places('[0].'))
    t.is(await served.Sensor.count(), before)
  })

  test(`the misspelt key of a record within a body replaces no record: ${route}`, async (t) => {
    const { id, code } = await made()
    const { body } = await served.patch(`${route}/${id}`, { sensorList: [{ sensorKind: 'heat' }] })
    const [sensor] = body.sensorList
    const within = { sensorList: [{ Id: sensor.id, sensorKind: 'smoke' }, { sensorKind: 'x' }, { _ID: sensor.id }] }
    const places = (before: string) => ({
      [`${before}sensorList[0].Id`]: meant('id'),
      [`${before}sensorList[2]._ID`]: meant('id'),
      [`${before}sensorList[2].sensorKind`]: ['is required.'],
    })
    t.deepEqual((await served.patch(`${route}/${id}`, within)).body.errors, places(''))
    t.deepEqual((await served.send('PUT', `${route}/${id}`, { json: within })).body.errors, places(''))
    t.deepEqual((await served.patch(`${route}/bulk`, [{ id, ...within }])).body.errors, places('[0].'))
    const upserted = await served.send('PUT', `${route}/bulk?by=code`, { json: [{ code, ...within }] })
    t.deepEqual(upserted.body.errors, places('[0].'))
    t.is((await served.Sensor.findByPk(sensor.id))?.get('sensor_kind'), 'heat')
    // A record with its key is found, so another name that resembles the key is ignored.
    const kept = await served.patch(`${route}/${id}`, { sensorList: [{ id: sensor.id, ID: 0, sensorKind: 'smoke' }] })
    t.is(kept.status, 200, kept.text)
    t.deepEqual(kept.body.sensorList, [{ ...sensor, sensorKind: 'smoke' }])
  })

  test(`relations are members for whom they are open: ${route}`, async (t) => {
    for (const name of ['sensor_list', 'SensorList', 'sensors-list']) {
      const { status, body } = await served.post(route, { [name]: [] })
      const isNear = name !== 'sensors-list'
      t.is(status, isNear || route === '/api/strict' ? 400 : 201)
      if (isNear) t.deepEqual(body.errors, { [name]: meant('sensorList') })
    }
    t.deepEqual((await served.post(route, { label_list: [] })).body.errors, { label_list: meant('labelList') })
    const open = await served.post(route, { secret_list: [] }, { permissions: 'see' })
    t.deepEqual(open.body.errors, { secret_list: meant('secretList') })
    // One that is closed, and one that bodies have no records of.
    for (const name of ['secret_list', 'note_list']) {
      const closed = await served.post(route, { [name]: [] })
      const unknown = await served.post(route, { nothing_list: [] })
      t.is(closed.status, unknown.status)
      if (closed.status === 400) t.is(closed.text.replaceAll(name, 'nothing_list'), unknown.text)
    }
  })

  test(`what is near a name that no body writes is ignored like that name: ${route}`, async (t) => {
    const { id } = await made()
    const near = { ID: 99_999, created_at: 'x', UpdatedAt: 5, 'updated-at': null }
    for (const hidden of [{}, { 'pass-word': 'x', password_: 'x' }, { Last_Seen: 'x' }, { SERVICE_NOTE: 'x' }]) {
      const body = { ...near, ...hidden }
      const created = await served.post(route, body)
      t.is(created.status, 201, created.text)
      t.not(created.body.id, 99_999)
      t.is((await served.patch(`${route}/${id}`, { ...body, roomNo: 5 })).status, 200)
      const row = await stored(id)
      for (const name of ['last_seen', 'service_note', 'pass_word']) t.is(row?.get(name), null)
      t.is(row?.get('room_no'), 5)
    }
  })

  test(`masked names are suggested to whom they are open: ${route}`, async (t) => {
    const all = { permissions: 'see,service' }
    t.deepEqual((await served.post(route, { Last_Seen: 'x', service_note: 'x' }, all)).body.errors, {
      Last_Seen: meant('lastSeen'),
      service_note: meant('serviceNote'),
    })
    // Excluded from answers alone.
    t.deepEqual((await served.post(route, { pin_code: 'x' })).body.errors, { pin_code: meant('pinCode') })
  })

  test(`what is near two names is unknown: ${route}`, async (t) => {
    const { status, body } = await served.post(route, { UNIT: 'x' })
    t.is(status, route === '/api/strict' ? 400 : 201)
    if (status === 400) t.deepEqual(body.errors, { UNIT: ['is not a known property.'] })
    t.is((await served.post(route, { _unit: 'a', unit_: 'b' })).status, 201)
  })

  test(`values of JSON attributes have names of their own: ${route}`, async (t) => {
    const settings = { alarm_mode: 'x', nested: { Room_No: 1 } }
    const { status, body } = await served.post(route, { settings })
    t.is(status, 201)
    t.deepEqual(body.settings, settings)
  })
}

test('linked records are suggested to callers who may read and write the keys of links', async (t) => {
  const unknown = ['is not a known property.']
  const json = { tag_list: [], mark_list: [] }
  for (const [permissions, errors] of [
    ['', { tag_list: unknown, mark_list: unknown }],
    ['see', { tag_list: meant('tagList'), mark_list: unknown }],
    ['link', { tag_list: unknown, mark_list: meant('markList') }],
  ] as const) {
    const { status, body } = await served.post('/api/strict', json, { permissions })
    t.is(status, 400)
    t.deepEqual(body.errors, errors, permissions)
  }
})

test('what is near an attribute of the scope is ignored like that attribute', async (t) => {
  const created = await served.post('/api/scoped', { tenant_id: 8, TenantId: 9, roomNo: 1 })
  t.is(created.status, 201, created.text)
  t.is(created.body.tenantId, 7)
  const patched = await served.patch(`/api/scoped/${created.body.id}`, { tenant_id: 8, roomNo: 2 })
  t.is(patched.status, 200)
  t.is((await stored(created.body.id))?.get('tenant_id'), 7)
  const bulk = await served.post('/api/scoped/bulk', [{ 'tenant-id': 8 }])
  t.is(bulk.status, 201)
  t.is(bulk.body[0].tenantId, 7)
  t.deepEqual((await served.post('/api/devices', { tenant_id: 8 })).body.errors, { tenant_id: meant('tenantId') })
})

test('within a body, a field whose name resembles the key is no misspelt key, and a misspelt key of the client is told once', async (t) => {
  const { patch, post, close } = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Box = sequelize.define('Box', {}, plain)
    const Slip = sequelize.define('Slip', { _id: DataTypes.STRING(20) }, plain)
    const no = { type: DataTypes.INTEGER, primaryKey: true }
    const Part = sequelize.define('Part', { no, text: DataTypes.STRING(20) }, plain)
    Box.hasMany(Slip, { as: 'slips', foreignKey: 'boxId' })
    Box.hasMany(Part, { as: 'parts', foreignKey: 'boxId' })
    app.use(crudRouter(Box, { relations: { slips: { write: true }, parts: { write: true } } }))
    app.use(crudRouter(Slip), crudRouter(Part))
  })
  t.teardown(close)
  await post('/api/boxes', {})
  const { body } = await patch('/api/boxes/1', { slips: [{ _id: 'x' }] })
  t.deepEqual(body.slips, [{ id: 1, _id: 'x', boxId: 1 }])
  const refused = await patch('/api/boxes/1', { parts: [{ No: 1, text: 'x' }] })
  t.deepEqual(refused.body.errors, { 'parts[0].no': ['is required.'], 'parts[0].No': meant('no') })
})
