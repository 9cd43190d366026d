// The names of fields and relations in the API, of a resource whose models have snake case.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import {
  apiDocs,
  type CrudOptions,
  type CrudRouter,
  clientTypes,
  createCrud,
  type Identity,
  type NamingFunction,
  Operations,
  openApi,
} from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { connectAgentInProcess } from '../../support/mcp.js'
import { openPush } from '../../support/push.js'

const test = ava.serial

const INFO = { title: 'House', version: '1' }
const EVERYTHING =
  Operations.AllWithBulk + Operations.Aggregate + Operations.Export + Operations.BulkUpdate + Operations.Replace

const AGENT: Identity = { name: 'agent', roles: new Set(), permissions: new Set(), claims: {} }

interface Models {
  readonly House: ModelStatic<Model>
  readonly Device: ModelStatic<Model>
  readonly Feature: ModelStatic<Model>
  readonly Label: ModelStatic<Model>
}

function define(sequelize: Sequelize): Models {
  const settings = { timestamps: false, underscored: true } as const
  const House = sequelize.define('house', { street_name: DataTypes.STRING(40), owner_id: DataTypes.INTEGER }, settings)
  const Device = sequelize.define(
    'device',
    {
      brand_name: { type: DataTypes.STRING(30), allowNull: false, unique: true },
      alarm_mode: { type: DataTypes.ENUM('armed', 'off'), allowNull: false, defaultValue: 'off' },
      watt_hours: { type: DataTypes.INTEGER, validate: { min: 0 } },
      extra_data: DataTypes.JSON,
    },
    settings,
  )
  const Feature = sequelize.define(
    'feature',
    { feature_name: { type: DataTypes.STRING(30), allowNull: false }, is_on: DataTypes.BOOLEAN },
    settings,
  )
  const Label = sequelize.define('label', { label_text: DataTypes.STRING(30) }, settings)
  House.hasMany(Device, { as: 'house_devices', foreignKey: 'house_id' })
  Device.belongsTo(House, { as: 'home_house', foreignKey: 'house_id' })
  Device.hasMany(Feature, { as: 'device_features', foreignKey: 'device_id' })
  Feature.belongsTo(Device, { as: 'own_device', foreignKey: 'device_id' })
  const through = sequelize.define('device_label', {}, settings)
  Device.belongsToMany(Label, { as: 'device_labels', through, foreignKey: 'device_id', otherKey: 'label_id' })
  return { House, Device, Feature, Label }
}

const routers: CrudRouter[] = []
const stage = await openPush(({ sequelize }, app, io) => {
  const { House, Device, Feature, Label } = define(sequelize)
  const { crudRouter } = createCrud({ naming: 'attribute', operations: EVERYTHING, io })
  routers.push(
    crudRouter(House),
    crudRouter(Device, {
      operations: EVERYTHING + Operations.Restore,
      push: true,
      flatten: ['home_house'],
      fields: { extra_data: { members: { 'mac_address.first': 'string' } } },
      relations: {
        device_features: { write: true, routes: true },
        device_labels: { write: true, routes: true, name: 'tags' },
      },
      query: { defaultSort: 'home_house.street_name,-brand_name', search: ['brand_name', 'home_house.street_name'] },
      audit: { createdAt: 'created_at', updatedAt: 'updated_at', createdBy: 'created_by', updatedBy: 'updated_by' },
      softDelete: { isDeleted: 'is_deleted', deletedAt: 'deleted_at' },
      concurrency: { rowVersion: 'row_version', inBody: true },
    }),
    crudRouter(Feature, { fields: { feature_name: { name: 'title' } } }),
    crudRouter(Label),
  )
  app.use(routers, apiDocs({ resources: routers, info: INFO }))
  const Crate = sequelize.define('crate', { label: DataTypes.STRING(20) }, { timestamps: false })
  const Lid = sequelize.define('lid', { main_colour: DataTypes.STRING(20) }, { timestamps: false })
  Crate.belongsTo(Lid, { as: 'lid', foreignKey: 'lidId', constraints: false })
  const query = { defaultSort: '-lid.main_colour', search: ['lid.main_colour'] }
  app.use(createCrud({ operations: EVERYTHING, naming: (name) => name.toUpperCase() }).crudRouter(Crate, { query }))
  // The names of this one are not known where the paths of the other are checked.
  app.use(createCrud({ operations: EVERYTHING }).crudRouter(Lid, { fields: { main_colour: { name: 'hue' } } }))
})
const [, devices] = routers
test.after.always(() => stage.close())

const { get, post, patch, send } = stage

interface Errors {
  readonly status: number
  readonly body: { readonly errors?: Readonly<Record<string, readonly string[]>> }
}

function errorsOf({ status, body }: Errors): readonly [number, Readonly<Record<string, readonly string[]>>] {
  return [status, body.errors ?? {}]
}

test('bodies, responses and errors have the names of the model, and those that options give', async (t) => {
  t.is((await post('/api/houses', { street_name: 'Long Lane', owner_id: 1 })).status, 201)
  t.is((await post('/api/houses', { street_name: 'Abbey Road', owner_id: 2 })).status, 201)
  const made = await post('/api/devices', {
    brand_name: 'Acme',
    alarm_mode: 'armed',
    watt_hours: 5,
    house_id: 1,
    extra_data: { mac_address: { first: 'a0' } },
    device_features: [{ title: 'dim', is_on: true }, { title: 'blink' }],
  })
  t.is(made.status, 201)
  const { device_features: features, ...device } = made.body
  t.deepEqual(device, {
    id: 1,
    brand_name: 'Acme',
    alarm_mode: 'armed',
    watt_hours: 5,
    extra_data: { mac_address: { first: 'a0' } },
    house_id: 1,
    row_version: 0,
    home_houseStreet_name: 'Long Lane',
    home_houseOwner_id: 1,
  })
  t.deepEqual(
    features.map(({ title, is_on, device_id }: Record<string, unknown>) => [title, is_on, device_id]),
    [
      ['dim', true, 1],
      ['blink', null, 1],
    ],
  )
  t.deepEqual(errorsOf(await post('/api/devices', { watt_hours: -1, alarm_mode: 'x', house_id: 9 })), [
    400,
    {
      brand_name: ['is required.'],
      watt_hours: ['must be at least 0.'],
      alarm_mode: ['must be one of: armed, off.'],
    },
  ])
  t.deepEqual(errorsOf(await post('/api/devices', { brand_name: 'Acme' })), [
    409,
    { brand_name: ['is already taken.'] },
  ])
  t.deepEqual(errorsOf(await post('/api/devices', { brand_name: 'B', house_id: 9 })), [
    409,
    { house_id: ['does not exist.'] },
  ])
  const nested = { brand_name: 'B', device_features: [{ title: 'x' }, {}] }
  t.deepEqual(errorsOf(await post('/api/devices', nested)), [400, { 'device_features[1].title': ['is required.'] }])
})

test('a near miss of a name is refused, and its name is suggested', async (t) => {
  t.deepEqual(errorsOf(await post('/api/devices', { brandName: 'B', watt_hours: 1 })), [
    400,
    { brand_name: ['is required.'], brandName: ['is not a known property. Did you mean brand_name?'] },
  ])
  const nested = { brand_name: 'B', device_features: [{ title: 'x', isOn: true }] }
  t.deepEqual(errorsOf(await post('/api/devices', nested)), [
    400,
    { 'device_features[0].isOn': ['is not a known property. Did you mean is_on?'] },
  ])
  t.regex((await get('/api/devices?filter=brandName=Acme')).text, /Did you mean \\"brand_name\\"/)
  t.regex((await get('/api/features?filter=feature_name=dim')).text, /Did you mean \\"title\\"/)
  t.regex((await get('/api/devices?deviceLabels=1')).text, /unknown-parameter/)
})

test('filters, sorts, selections, typed parameters and searches follow the names in any case', async (t) => {
  const labels = await post('/api/labels/bulk', [{ label_text: 'new' }, { label_text: 'old' }])
  t.is(labels.status, 201)
  const second = { brand_name: 'Bolt', watt_hours: 7, house_id: 2, tags: [1, 2] }
  t.is((await post('/api/devices', second)).status, 201)
  const brands = async (query: string): Promise<unknown> => {
    const { status, body } = await get(`/api/devices?${query}`)
    return status === 200 ? body.items.map((item: Record<string, unknown>) => item.brand_name) : body
  }
  t.deepEqual(await brands(''), ['Bolt', 'Acme'])
  t.deepEqual(await brands('filter=Brand_Name=Acme'), ['Acme'])
  t.deepEqual(await brands('alarm_mode=armed'), ['Acme'])
  t.deepEqual(await brands('filter=home_house.street_name^Abbey'), ['Bolt'])
  t.deepEqual(await brands('filter=device_features.Any(title=dim,is_on=true)'), ['Acme'])
  t.deepEqual(await brands('filter=tags.Any.label_text=old'), ['Bolt'])
  t.deepEqual(await brands('filter=tags.Count>1'), ['Bolt'])
  t.deepEqual(await brands('filter=extra_data.mac_address.first=a0'), ['Acme'])
  t.deepEqual(await brands('sort=-watt_hours'), ['Bolt', 'Acme'])
  t.deepEqual(await brands('sort=home_houseStreet_name'), ['Bolt', 'Acme'])
  t.deepEqual(await brands('sort=device_features.Count'), ['Bolt', 'Acme'])
  t.deepEqual(await brands('search=abbey'), ['Bolt'])
  for (const query of [
    'filter=brandName=x',
    'sort=wattHours',
    'filter=device_labels.Count>1',
    'select=homeHouse.street_name',
  ])
    t.is((await get(`/api/devices?${query}`)).status, 400, query)
  const select = 'brand_name,home_house(street_name),device_features(title),tags(label_text),tags.Count'
  const { body } = await get(`/api/devices?sort=brand_name&select=${select}`)
  t.deepEqual(body.items, [
    {
      brand_name: 'Acme',
      home_house: { street_name: 'Long Lane' },
      device_features: [{ title: 'dim' }, { title: 'blink' }],
      tags: [],
      tagsCount: 0,
    },
    {
      brand_name: 'Bolt',
      home_house: { street_name: 'Abbey Road' },
      device_features: [],
      tags: [{ label_text: 'new' }, { label_text: 'old' }],
      tagsCount: 2,
    },
  ])
  const keyset = await get('/api/devices?sort=brand_name&pageSize=1&after=')
  const after = encodeURIComponent(keyset.body.nextCursor)
  t.deepEqual(await brands(`sort=brand_name&pageSize=1&after=${after}`), ['Bolt'])
})

test('routes below a record have the name of the relation', async (t) => {
  const { body: found } = await get('/api/devices?brand_name=Bolt')
  const bolt = `/api/devices/${found.items[0].id}`
  const { status, body } = await get(`${bolt}/tags?sort=label_text`)
  t.deepEqual([status, body.items.map((each: { label_text: string }) => each.label_text)], [200, ['new', 'old']])
  t.is((await get(`${bolt}/device_labels`)).status, 404)
  t.is((await send('DELETE', `${bolt}/tags/1`)).status, 204)
  t.is((await send('PUT', `${bolt}/tags/1`)).status, 204)
  t.is((await post('/api/devices/1/device_features', { title: 'glow' })).status, 201)
  t.is((await get('/api/devices/1/device_features?title=glow')).body.totalCount, 1)
})

test('aggregates and exports have the names', async (t) => {
  const groups = await get('/api/devices?aggregate=count,sum(watt_hours)&group=alarm_mode&sort=alarm_mode')
  t.is(groups.status, 200, groups.text)
  t.deepEqual(
    groups.body.items.map(({ group }: { group: unknown }) => group),
    [{ alarm_mode: 'armed' }, { alarm_mode: 'off' }],
  )
  t.deepEqual(groups.body.items[0].sum, { watt_hours: 5 })
  const behind = await get('/api/devices?aggregate=count&group=home_house.street_name')
  t.deepEqual(
    behind.body.items.map(({ group }: { group: unknown }) => group),
    [{ home_house: { street_name: 'Abbey Road' } }, { home_house: { street_name: 'Long Lane' } }],
  )
  const csv = await get('/api/devices?sort=brand_name&select=brand_name,home_house.street_name', { accept: 'text/csv' })
  t.is(csv.text, 'brand_name,home_house.street_name\r\nAcme,Long Lane\r\nBolt,Abbey Road\r\n')
})

test('versions, stamps, soft delete, bulk and upsert keep to the names', async (t) => {
  const { headers, body } = await get('/api/devices/1')
  t.is(body.row_version, 0)
  const match = { 'if-match': headers.get('etag') ?? '' }
  const changed = await patch('/api/devices/1', { watt_hours: 6 }, match)
  t.deepEqual([changed.status, changed.body.watt_hours, changed.body.row_version], [200, 6, 1])
  t.is((await patch('/api/devices/1', { watt_hours: 8 }, match)).status, 412)
  const bulk = await send('PATCH', '/api/devices/bulk', { json: [{ id: 1, watt_hours: 9 }] })
  t.is(bulk.status, 428)
  t.regex(bulk.text, /\\"row_version\\"/)
  const sent = await send('PATCH', '/api/devices/bulk', { json: [{ id: 1, watt_hours: 9, row_version: 1 }] })
  t.deepEqual([sent.status, sent.body[0].watt_hours], [200, 9])
  const upsert = [{ brand_name: 'Acme', alarm_mode: 'off', row_version: 2 }, { brand_name: 'Crux' }]
  const put = await send('PUT', '/api/devices/bulk?by=brand_name', { json: upsert })
  t.deepEqual([put.status, put.body], [200, { created: 1, updated: 1 }])
  const [row] = await stage.sequelize.query('SELECT created_at, updated_at, row_version FROM devices WHERE id = 1')
  const [stamped] = row as Record<string, unknown>[]
  t.truthy(stamped?.created_at)
  t.is(Number(stamped?.row_version), 3)
  const { body: crux } = await get('/api/devices?brand_name=Crux')
  const path = `/api/devices/${crux.items[0].id}`
  t.is((await send('DELETE', path, { headers: { 'if-match': '*' } })).status, 204)
  t.is((await get(path)).status, 404)
  t.is((await post(`${path}/restore`, undefined)).status, 200)
})

test('push tells records by their names', async (t) => {
  if (devices === undefined) return t.fail()
  const subscriber = await stage.subscribe(devices)
  const { body } = await post('/api/devices', { brand_name: 'Dyno', house_id: 1 })
  await stage.drain(devices, subscriber)
  const [event, record] = subscriber.received.find(([name]) => name === 'OnCreated') ?? []
  t.is(event, 'OnCreated')
  t.like(record, { id: body.id, brand_name: 'Dyno', house_id: 1, row_version: 0, home_houseStreet_name: 'Long Lane' })
})

test('documents, client types, x-crud and tools of agents have the names', async (t) => {
  const { status, body } = await get('/openapi.json')
  t.is(status, 200)
  const { DeviceCreate: create, FeatureCreate: feature, DeviceProjection: projection } = body.components.schemas
  t.deepEqual(Object.keys(create.properties).toSorted(), [
    'alarm_mode',
    'brand_name',
    'device_features',
    'extra_data',
    'house_id',
    'tags',
    'watt_hours',
  ])
  t.deepEqual(feature.required, ['title'])
  for (const name of ['home_houseStreet_name', 'tags', 'tags@more', 'tagsCount', 'home_house'])
    t.true(name in projection.properties, name)
  const operation = body.paths['/api/devices/{id}/tags'].get.operationId
  t.is(operation, 'listDeviceTags')
  const [, tag] = body.tags
  const names = tag['x-crud'].fields.map(({ name }: { name: string }) => name)
  for (const name of ['brand_name', 'alarm_mode', 'extra_data.mac_address.first']) t.true(names.includes(name), name)
  t.deepEqual(
    tag['x-crud'].relations.map(({ name }: { name: string }) => name),
    ['home_house', 'device_features', 'tags'],
  )
  const parameters =
    JSON.stringify(body.paths['/api/devices'].get.parameters) + JSON.stringify(body.components.parameters)
  t.regex(parameters, /"name":"watt_hours"/)
  t.notRegex(JSON.stringify(body), /brandName|deviceFeatures|rowVersion/)
  const types = clientTypes({ resources: routers })
  t.regex(types, /readonly version: "row_version"/)
  t.regex(types, /\n {2}brand_name: string\n/)
  t.regex(types, /tags\?: readonly number\[\]/)
  t.notRegex(types, /brandName/)

  const agent = await connectAgentInProcess(crudMcp({ resources: routers, write: true, identity: AGENT }))
  t.teardown(agent.close)
  const told = await agent.call('describe_resource', { resource: 'devices' })
  t.regex(JSON.stringify(told.body), /"brand_name"/)
  t.notRegex(JSON.stringify(told.body), /brandName/)
  const made = await agent.call('create_record', { resource: 'devices', values: { brand_name: 'Echo', watt_hours: 3 } })
  t.false(made.isError, JSON.stringify(made.body))
  const found = await agent.call('query_records', { resource: 'devices', filter: 'watt_hours=3', select: 'brand_name' })
  t.deepEqual(found.body.items, [{ brand_name: 'Echo' }])
})

test('a function makes names, also of models behind relations and of columns that behaviours add', async (t) => {
  const asked: string[] = []
  const naming: NamingFunction = (name, { model, kind }) => {
    asked.push(`${model.name} ${kind} ${name}`)
    return `${kind === 'field' ? 'f' : 'r'}_${name}`
  }
  const { sequelize } = stage
  const Box = sequelize.define('box', { label: DataTypes.STRING(20) }, { timestamps: false })
  const Lid = sequelize.define('lid', { colour: DataTypes.STRING(20) }, { timestamps: false })
  Box.belongsTo(Lid, { as: 'lid', foreignKey: 'lidId' })
  const { crudRouter } = createCrud({ naming })
  const boxes = crudRouter(Box, {
    relations: { lid: { fields: ['colour'] } },
    query: { defaultSort: 'lid.colour', search: ['r_lid.f_colour'] },
    concurrency: { inBody: true },
  })
  const own = asked.filter((each) => each.startsWith('box'))
  t.is(new Set(own).size, own.length, 'each name is made once')
  const { components } = openApi({ resources: [boxes], info: INFO })
  const { properties } = Object(components.schemas?.BoxProjection)
  t.deepEqual(Object.keys(properties).toSorted(), ['f_id', 'f_label', 'f_lidId', 'f_rowVersion', 'r_lid'])
  t.deepEqual(Object.keys(properties.r_lid.properties), ['f_colour'])
  t.true(asked.includes('lid field colour'))
})

test('paths of options follow the names of resources that mount later', async (t) => {
  await post('/api/lids/bulk', [{ hue: 'red' }, { hue: 'blue' }])
  const made = await post('/api/crates/bulk', [
    { LABEL: 'a', LIDID: 2 },
    { LABEL: 'b', LIDID: 1 },
  ])
  t.is(made.status, 201)
  const labels = async (query: string): Promise<unknown> => {
    const { body } = await get(`/api/crates?${query}`)
    return body.items?.map(({ LABEL }: { LABEL: string }) => LABEL) ?? body.errors
  }
  t.deepEqual(await labels(''), ['b', 'a'])
  t.deepEqual(await labels('search=blue'), ['a'])
  t.deepEqual(await labels('filter=lid.hue=red'), ['b'])
  t.is((await get('/api/crates?filter=lid.mainColour=red')).status, 400)
})

test('names that nobody could use are refused at mount, and so are two members of one name', (t) => {
  const { sequelize } = stage
  const Team = sequelize.define('Team', { name: DataTypes.STRING })
  const Player = sequelize.define('Player', { full_name: DataTypes.STRING, full: DataTypes.STRING })
  Team.hasMany(Player, { as: 'players', foreignKey: 'team_id' })
  Team.hasMany(Player, { as: 'others', foreignKey: 'team_id' })
  const refused = (model: ModelStatic<Model>, options: object, code: string, message: RegExp): void => {
    t.throws(() => createCrud().crudRouter(model, options as CrudOptions), { code, message })
  }
  for (const name of ['', '1st', 'a-b', 'a.b', 'Any', 'count', '__proto__', 5, null]) {
    const message = /must be a name of letters, digits and "_"/
    refused(Player, { fields: { full: { name } } }, 'INVALID_OPTION', message)
    refused(Team, { relations: { players: { name } } }, 'INVALID_OPTION', message)
    refused(
      Player,
      { naming: () => name },
      'INVALID_OPTION',
      /Player: naming: the name of the attribute "\w+" must be a name/,
    )
  }
  const relation = (_name: string, { kind }: { readonly kind: string }): string => (kind === 'field' ? _name : 'none')
  refused(Team, { naming: relation }, 'INVALID_OPTION', /the name of the association "players" must be a name/)
  refused(Player, { naming: 'atribute' }, 'INVALID_OPTION', /"naming" must be "camel", "attribute" or a function/)
  refused(Player, { fields: { full: { nmae: 'x' } } }, 'UNKNOWN_OPTION', /Did you mean "name"/)
  refused(Team, { relations: { players: { nam: 'x' } } }, 'UNKNOWN_OPTION', /Did you mean "name"/)
  refused(Player, { fields: { full: { name: 'FullName' } } }, 'AMBIGUOUS_NAME', /"full_name" and "full" are both/)
  refused(Team, { relations: { players: { name: 'name' } } }, 'AMBIGUOUS_NAME', /"name" and the association "players"/)
  const Member = Team.sequelize?.define('CountedMember', {}) ?? Player
  const Club = Team.sequelize?.define('CountedClub', {}) ?? Team
  Club.hasMany(Member, { as: 'players', foreignKey: 'clubId' })
  Club.hasOne(Member, { as: 'playersCount', foreignKey: 'clubId' })
  refused(Club, {}, 'AMBIGUOUS_NAME', /"playersCount" and the number of "players" are both "playersCount" in responses/)
  refused(Club, { relations: { playersCount: { name: 'PLAYERScount' } } }, 'AMBIGUOUS_NAME', /"playersCount"/)
  t.notThrows(() =>
    createCrud()
      .crudRouter(Club, { relations: { playersCount: false } })
      .close(),
  )
  t.notThrows(() =>
    createCrud()
      .crudRouter(Club, { relations: { playersCount: { name: 'captain' } } })
      .close(),
  )
  refused(
    Team,
    { relations: { players: { name: 'others' } } },
    'AMBIGUOUS_NAME',
    /the associations "players" and "others"/,
  )
  refused(Team, { relations: { players: { name: 'bulk', routes: true } } }, 'INVALID_OPTION', /route of an operation/)
  refused(Team, { query: { defaultSort: 'nmae' }, naming: 'attribute' }, 'UNKNOWN_ATTRIBUTE', /Did you mean "name"/)
  t.notThrows(() =>
    createCrud()
      .crudRouter(Player, { fields: { full: { name: 'größe_2' } } })
      .close(),
  )
  const swapped = { fields: { full_name: { name: 'full' }, full: { name: 'fullName' } } }
  t.notThrows(() => createCrud().crudRouter(Player, swapped).close())
})
