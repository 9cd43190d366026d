// Computed fields: values that the application makes for the records of a reply, all of them at once.

import test from 'ava'
import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from 'sequelize'
import { type ComputedContext, type ComputedField, crudRouter, Operations, Problem } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

class House extends Model<InferAttributes<House>, InferCreationAttributes<House>> {
  declare id: CreationOptional<number>
  declare name: string
  declare code: string | null
}

class Device extends Model<InferAttributes<Device>, InferCreationAttributes<Device>> {
  declare id: CreationOptional<number>
  declare name: string
  declare serial: string | null
  declare houseId: number | null
}

class Report extends Model<InferAttributes<Report>, InferCreationAttributes<Report>> {
  declare id: CreationOptional<number>
  declare name: string
}

interface Resolved {
  readonly field: string
  readonly records: readonly object[]
  readonly context: ComputedContext
}

const calls: Resolved[] = []

/** What was resolved since the last look, by field. */
function resolvedNow(): readonly (readonly [field: string, records: readonly object[]])[] {
  return calls.splice(0).map(({ field, records }) => [field, records] as const)
}

function noted<M extends Model>(field: string, { resolve, ...more }: ComputedField<M>): ComputedField<M> {
  return {
    ...more,
    resolve: (records, context) => {
      calls.push({ field, records, context })
      return resolve(records, context)
    },
  }
}

/** What the resolvers of the field `broken` give next, in place of the right number of values. */
let broken: unknown = null

const stage = await openStage(({ sequelize }, app) => {
  House.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      name: { type: DataTypes.STRING, allowNull: false },
      code: DataTypes.STRING,
    },
    { sequelize, timestamps: false },
  )
  Device.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      name: { type: DataTypes.STRING, allowNull: false },
      serial: DataTypes.STRING,
      houseId: DataTypes.INTEGER,
    },
    { sequelize, timestamps: false },
  )
  Report.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      name: { type: DataTypes.STRING, allowNull: false },
    },
    { sequelize, timestamps: false },
  )
  Device.belongsTo(House, { as: 'house', foreignKey: 'houseId' })
  House.hasMany(Device, { as: 'devices', foreignKey: 'houseId' })
  app.use(
    crudRouter(Device, {
      identity,
      operations: Operations.AllWithBulk | Operations.Export | Operations.Replace | Operations.BulkUpdate,
      concurrency: true,
      idempotency: true,
      onError: () => undefined,
      fields: { serial: { exclude: true }, grade: { exclude: 'list' } },
      mask: { secret: 'service' },
      computed: {
        temperature: noted('temperature', {
          type: 'number',
          nullable: true,
          needs: ['serial'],
          resolve: async (records) => records.map(({ serial }) => (serial === null ? null : serial.length + 0.5)),
        }),
        label: noted('label', {
          type: 'string',
          needs: ['id', 'name'],
          resolve: (records) => records.map(({ id, name }) => `${name} ${id}`),
        }),
        grade: noted('grade', { type: 'integer', resolve: (records) => records.map(() => 1) }),
        secret: noted('secret', {
          type: 'integer',
          nullable: true,
          needs: ['serial'],
          resolve: (records) => records.map(() => 7),
        }),
      },
    }),
  )
  app.use(
    crudRouter(House, {
      operations: Operations.All,
      relations: { devices: { routes: true, write: true } },
      onError: () => undefined,
      computed: {
        motto: noted('motto', {
          type: 'string',
          needs: ['code'],
          resolve: (records) => records.map(({ code }) => `home ${code}`),
        }),
      },
    }),
  )
  app.use(
    crudRouter(Report, {
      operations: Operations.AllWithBulk,
      idempotency: true,
      onError: () => undefined,
      computed: {
        broken: {
          type: 'integer',
          resolve: (records) => {
            if (broken instanceof Error) throw broken
            return Array.isArray(broken) || typeof broken === 'number' ? (broken as never) : records.map(() => 1)
          },
        },
      },
    }),
  )
})

await House.bulkCreate([
  { id: 1, name: 'Mill', code: 'M' },
  { id: 2, name: 'Barn', code: null },
])
await Device.bulkCreate([
  { id: 1, name: 'stove', serial: 's1', houseId: 1 },
  { id: 2, name: 'lamp', serial: 's2', houseId: 1 },
  { id: 3, name: 'gate', serial: null, houseId: 2 },
  { id: 4, name: 'bell', serial: 's4', houseId: null },
])
await Report.create({ id: 1, name: 'Mill' })
if (stage.name === 'postgres') {
  for (const table of ['Houses', 'Devices', 'Reports']) {
    await stage.sequelize.query(`SELECT setval(pg_get_serial_sequence('"${table}"', 'id'), 100)`)
  }
}

test.after.always(() => stage.close())
test.beforeEach(() => {
  calls.length = 0
  broken = null
})

const service = withPermission('service')

test.serial('a record has its computed fields, of what they need alone', async (t) => {
  const { body } = await stage.get('/api/devices/1')
  t.is(body.temperature, 2.5)
  t.is(body.label, 'stove 1')
  t.is(body.grade, 1)
  t.false('serial' in body)
  t.deepEqual(resolvedNow(), [
    ['temperature', [{ serial: 's1' }]],
    ['label', [{ id: 1, name: 'stove' }]],
    ['grade', [{}]],
  ])
})

test.serial('each field of a page is resolved once, for its records in their order', async (t) => {
  const { body } = await list(stage, '/api/devices', { sort: '-name', pageSize: 3 })
  t.deepEqual(
    body.items.map(({ label, temperature }: Record<string, unknown>) => [label, temperature]),
    [
      ['stove 1', 2.5],
      ['lamp 2', 2.5],
      ['gate 3', null],
    ],
  )
  t.deepEqual(
    resolvedNow().map(([field, { length }]) => [field, length]),
    [
      ['temperature', 3],
      ['label', 3],
    ],
  )
})

test.serial('a page without records resolves nothing', async (t) => {
  const { body } = await list(stage, '/api/devices', { filter: 'Name=none' })
  t.deepEqual(body.items, [])
  t.deepEqual(resolvedNow(), [])
})

test.serial('a field that is excluded from lists is unknown there, and is not resolved', async (t) => {
  const { body } = await list(stage, '/api/devices', { select: 'grade' })
  t.deepEqual(body.errors, { select: ['Unknown field "grade" at position 0.'] })
  t.is((await stage.get('/api/devices/1?select=grade')).body.grade, 1)
})

test.serial('select decides what is resolved, and reads what that needs', async (t) => {
  const label = await list(stage, '/api/devices', { select: 'label', sort: 'id', keys: '1,2' })
  t.deepEqual(label.body.items, [{ label: 'stove 1' }, { label: 'lamp 2' }])
  t.deepEqual(
    resolvedNow().map(([field]) => field),
    ['label'],
  )
  const name = await list(stage, '/api/devices', { select: 'name', keys: '1' })
  t.deepEqual(name.body.items, [{ name: 'stove' }])
  t.deepEqual(resolvedNow(), [])
  const all = await list(stage, '/api/devices', { select: '*', keys: '1' })
  t.is(all.body.items[0].label, 'stove 1')
  t.is(all.body.items[0].temperature, 2.5)
  const any = await list(stage, '/api/devices', { select: 'LABEL', keys: '1' })
  t.deepEqual(any.body.items, [{ label: 'stove 1' }])
})

test.serial('counts resolve nothing', async (t) => {
  t.deepEqual((await list(stage, '/api/devices', { count: 'true' })).body, { count: 4 })
  t.deepEqual(resolvedNow(), [])
})

test.serial('pages by keyset and by cursor have them', async (t) => {
  const seek = await list(stage, '/api/devices', { after: '', pageSize: 2, sort: 'name' })
  t.deepEqual(
    seek.body.items.map(({ label }: { label: string }) => label),
    ['bell 4', 'gate 3'],
  )
  const next = await list(stage, '/api/devices', { after: seek.body.nextCursor, pageSize: 2, sort: 'name' })
  t.deepEqual(
    next.body.items.map(({ label }: { label: string }) => label),
    ['lamp 2', 'stove 1'],
  )
  const cursor = await list(stage, '/api/devices', { cursor: '', pageSize: 1 })
  t.is(cursor.body.items[0].label, 'stove 1')
})

test.serial('records behind a to-one relation have them, and those that are missing are left out', async (t) => {
  const { body } = await list(stage, '/api/devices', { select: 'name,house.motto', sort: 'id' })
  t.deepEqual(body.items, [
    { name: 'stove', house: { motto: 'home M' } },
    { name: 'lamp', house: { motto: 'home M' } },
    { name: 'gate', house: { motto: 'home null' } },
    { name: 'bell', house: null },
  ])
  t.deepEqual(resolvedNow(), [['motto', [{ code: 'M' }, { code: 'M' }, { code: null }]]])
})

test.serial('records of collections have them, resolved once for all owners', async (t) => {
  const { body } = await list(stage, '/api/houses', { select: 'motto,devices(label)', sort: 'id' })
  t.deepEqual(body.items, [
    { motto: 'home M', devices: [{ label: 'stove 1' }, { label: 'lamp 2' }] },
    { motto: 'home null', devices: [{ label: 'gate 3' }] },
  ])
  t.deepEqual(
    resolvedNow().map(([field, { length }]) => [field, length]),
    [
      ['motto', 2],
      ['label', 3],
    ],
  )
})

test.serial('a field is resolved once for a whole reply, wherever its records are', async (t) => {
  const { body } = await stage.get('/api/devices/1?select=label,house.devices(label)')
  t.deepEqual(body, { label: 'stove 1', house: { devices: [{ label: 'stove 1' }, { label: 'lamp 2' }] } })
  t.deepEqual(resolvedNow(), [
    [
      'label',
      [
        { id: 1, name: 'stove' },
        { id: 1, name: 'stove' },
        { id: 2, name: 'lamp' },
      ],
    ],
  ])
})

test.serial('the routes below a record have them', async (t) => {
  const { body } = await stage.get('/api/houses/1/devices?sort=id')
  t.deepEqual(
    body.items.map(({ label }: { label: string }) => label),
    ['stove 1', 'lamp 2'],
  )
  const made = await stage.post('/api/houses/2/devices', { name: 'pump' })
  t.is(made.status, 201)
  t.is(made.body.label, `pump ${made.body.id}`)
  await Device.destroy({ where: { id: made.body.id } })
})

test.serial('who may not read a masked field sees null, and nothing is resolved', async (t) => {
  const anonymous = await stage.get('/api/devices/1')
  t.is(anonymous.body.secret, null)
  t.false(resolvedNow().some(([field]) => field === 'secret'))
  t.deepEqual((await stage.get('/api/devices/1?select=name,secret')).body, { name: 'stove' })
  t.is((await stage.get('/api/devices/1', service)).body.secret, 7)
  t.deepEqual((await stage.get('/api/devices/1?select=secret', service)).body, { secret: 7 })
})

test.serial('the resolver gets the request and the caller, and no transaction where nothing is written', async (t) => {
  await stage.get('/api/devices/1?select=label', { ...service, 'x-thing': 'yes' })
  t.is(calls[0]?.context.request?.headers['x-thing'], 'yes')
  t.true(calls[0]?.context.identity?.permissions.has('service'))
  t.is(calls[0]?.context.transaction, null)
  calls.length = 0
  await stage.get('/api/devices/1?select=label')
  t.is(calls[0]?.context.identity, null)
})

test.serial('exports have them, resolved once a page, in the order that select asks for', async (t) => {
  const csv = await stage.get('/api/devices?select=label,name,temperature,id&sort=id', { accept: 'text/csv' })
  t.is(
    csv.text,
    [
      'label,name,temperature,id',
      'stove 1,stove,2.5,1',
      'lamp 2,lamp,2.5,2',
      'gate 3,gate,,3',
      'bell 4,bell,2.5,4',
      '',
    ].join('\r\n'),
  )
  t.deepEqual(
    resolvedNow().map(([field, { length }]) => [field, length]),
    [
      ['label', 4],
      ['temperature', 4],
    ],
  )
  const late = await stage.get('/api/devices?select=label,name,id&keys=1', { accept: 'text/csv' })
  t.is(late.text, 'label,name,id\r\nstove 1,stove,1\r\n')
  const lines = await stage.get('/api/devices?select=label&sort=id&keys=1,2', { accept: 'application/jsonl' })
  t.is(lines.text, '{"label":"stove 1"}\n{"label":"lamp 2"}\n')
})

test.serial('a computed field of a missing related record is an empty cell', async (t) => {
  for (const select of ['name,house.motto', 'name,house(motto)']) {
    const { status, text } = await stage.get(`/api/devices?select=${select}&keys=1,4&format=csv`)
    t.is(status, 200)
    t.is(text, 'name,house.motto\r\nstove,home M\r\nbell,\r\n')
  }
})

test.serial('a collection in an exported record has them', async (t) => {
  const { text } = await stage.get('/api/devices?select=name,house.devices(label)&keys=3', {
    accept: 'application/jsonl',
  })
  t.deepEqual(JSON.parse(text), { name: 'gate', house: { devices: [{ label: 'gate 3' }] } })
})

test.serial('writes answer them, resolved within the transaction of the write', async (t) => {
  const made = await stage.post('/api/devices', { name: 'fan', label: 'mine', temperature: 3 }, service)
  t.is(made.status, 201)
  t.is(made.body.label, `fan ${made.body.id}`)
  t.is(made.body.temperature, null)
  t.true(calls.every(({ context }) => context.transaction !== null && context.identity !== null))
  calls.length = 0
  const path = `/api/devices/${made.body.id}`
  const tag = { 'if-match': made.headers.get('etag') ?? '' }
  const changed = await stage.patch(path, { name: 'big fan' }, tag)
  t.is(changed.body.label, `big fan ${made.body.id}`)
  t.true(calls.every(({ context }) => context.transaction !== null))
  const put = await stage.send('PUT', path, {
    json: { name: 'vent' },
    headers: { 'if-match': changed.headers.get('etag') ?? '' },
  })
  t.is(put.body.label, `vent ${made.body.id}`)
  calls.length = 0
  t.is((await stage.delete(path, { 'if-match': put.headers.get('etag') ?? '' })).status, 204)
  t.deepEqual(calls, [])
})

test.serial('writes of several records resolve each field once', async (t) => {
  const made = await stage.post('/api/devices/bulk', [{ name: 'a' }, { name: 'b' }])
  t.is(made.status, 201)
  t.deepEqual(
    made.body.map(({ label, id }: { label: string; id: number }) => label === `${label.slice(0, 1)} ${id}`),
    [true, true],
  )
  t.deepEqual(
    resolvedNow().map(([field, { length }]) => [field, length]),
    [
      ['temperature', 2],
      ['label', 2],
      ['grade', 2],
    ],
  )
  const changes = made.body.map(({ id }: { id: number }) => ({ id, name: 'c', rowVersion: 0 }))
  const { status, body } = await stage.send('PATCH', '/api/devices/bulk', { json: changes })
  t.is(status, 200, JSON.stringify(body))
  t.deepEqual(
    body.map(({ label }: { label: string }) => label),
    made.body.map(({ id }: { id: number }) => `c ${id}`),
  )
  t.deepEqual(
    resolvedNow().map(([field, { length }]) => [field, length]),
    [
      ['temperature', 2],
      ['label', 2],
      ['grade', 2],
    ],
  )
  await Device.destroy({ where: { name: 'c' } })
})

test.serial('replies that show no record resolve nothing', async (t) => {
  const made = await stage.post('/api/devices', { name: 'shy' }, { prefer: 'return=minimal' })
  t.is(made.status, 201)
  t.deepEqual(resolvedNow(), [])
  const by = await stage.send('PUT', '/api/devices/bulk?by=id', { json: [] })
  t.deepEqual([by.status, resolvedNow()], [by.status, []])
  await Device.destroy({ where: { name: 'shy' } })
})

test.serial('nested bodies are answered with the fields of their records', async (t) => {
  const made = await stage.post('/api/houses', { name: 'Nest', code: 'N', devices: [{ name: 'x' }, { name: 'y' }] })
  t.is(made.status, 201)
  t.is(made.body.motto, 'home N')
  t.deepEqual(
    made.body.devices.map(({ label, id }: { label: string; id: number }) => label.endsWith(` ${id}`)),
    [true, true],
  )
  t.deepEqual(
    calls.map(({ field, records, context }) => [field, records.length, context.transaction !== null]),
    [
      ['motto', 1, true],
      ['temperature', 2, true],
      ['label', 2, true],
      ['grade', 2, true],
    ],
  )
  calls.length = 0
  const [kept] = made.body.devices
  const patched = await stage.patch(`/api/houses/${made.body.id}`, { devices: [{ id: kept.id }, { name: 'z' }] })
  t.is(patched.status, 200, patched.text)
  t.deepEqual(
    patched.body.devices.map(({ label }: { label: string }) => label.slice(0, 1)),
    ['x', 'z'],
  )
  await Device.destroy({ where: { houseId: made.body.id } })
  await House.destroy({ where: { id: made.body.id } })
})

test.serial('nested bodies of a record without computed fields are answered with those of their records', async (t) => {
  const transactions: boolean[] = []
  const shed = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const [Shed, Shelf, Tool] = ['Shed', 'Shelf', 'Tool'].map((name) =>
      sequelize.define(name, { name: DataTypes.STRING }, plain),
    )
    if (Shed === undefined || Shelf === undefined || Tool === undefined) throw new Error('a model is missing')
    Shed.hasMany(Shelf, { as: 'shelves', foreignKey: 'shedId' })
    Shelf.hasMany(Tool, { as: 'tools', foreignKey: 'shelfId' })
    const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
    const written = { write: true, routes: true } as const
    const label: ComputedField<Model> = {
      type: 'string',
      needs: ['name'],
      resolve: (records, { transaction }) => {
        transactions.push(transaction !== null)
        return records.map((record) => `a ${Reflect.get(record, 'name')}`)
      },
    }
    app.use(crudRouter(Tool, { computed: { label } }))
    app.use(crudRouter(Shelf, { relations: { tools: written } }))
    app.use(crudRouter(Shed, { operations, relations: { shelves: written } }))
  })
  t.teardown(shed.close)
  const shelves = [{ name: 'top', tools: [{ name: 'saw' }, { name: 'axe' }] }]
  const labels = ({ status, body, text }: Answer): unknown => {
    t.true(status < 300, text)
    const [first] = [body].flat()
    const nested: readonly { tools: readonly { label: unknown }[] }[] = first.shelves ?? [first]
    return nested.flatMap(({ tools }) => tools.map(({ label }) => label))
  }
  const expected = ['a saw', 'a axe']
  t.deepEqual(labels(await shed.post('/api/sheds', { name: 'old', shelves })), expected)
  t.deepEqual(labels(await shed.post('/api/sheds/bulk', [{ name: 'new', shelves }])), expected)
  t.deepEqual(labels(await shed.patch('/api/sheds/1', { shelves })), expected)
  t.deepEqual(labels(await shed.patch('/api/sheds/bulk', [{ id: 1, shelves }])), expected)
  t.deepEqual(labels(await shed.send('PUT', '/api/sheds/1', { json: { name: 'old', shelves } })), expected)
  t.deepEqual(labels(await shed.post('/api/sheds/1/shelves', shelves[0])), expected)
  t.deepEqual(transactions, [true, true, true, true, true, true])
})

const WRONG: readonly (readonly [what: string, values: unknown])[] = [
  ['too few values', []],
  ['too many values', [1, 2, 3, 4, 5]],
  ['no array', 7],
  ['a text', ['1']],
  ['a fraction', [1.5]],
  ['null', [null]],
  ['undefined', [undefined]],
  ['an error', new Error('no weather today')],
]

test.serial('a wrong number or type of values is 500, and undoes the write', async (t) => {
  for (const [what, values] of WRONG) {
    broken = values
    const read = await stage.get('/api/reports/1')
    t.is(read.status, 500, what)
    t.false(read.text.includes('weather'), what)
    t.is((await stage.get('/api/reports?pageSize=1')).status, 500, what)
    const count = await Report.count()
    t.is((await stage.post('/api/reports', { name: 'gone' })).status, 500, what)
    t.is((await stage.post('/api/reports/bulk', [{ name: 'gone' }])).status, 500, what)
    t.is((await stage.post('/api/reports', { name: 'gone' }, { 'idempotency-key': 'k' })).status, 500, what)
    t.is(await Report.count(), count, what)
    t.is((await stage.patch('/api/reports/1', { name: 'changed' })).status, 500, what)
    t.is((await Report.findByPk(1))?.name, 'Mill', what)
  }
})

test.serial('values may be promises, and one that is rejected is a 500 like every error of a resolver', async (t) => {
  broken = [Promise.resolve(3)]
  t.deepEqual((await stage.get('/api/reports/1')).body, { id: 1, name: 'Mill', broken: 3 })
  for (const values of [['a'], [Promise.reject(new Error('away'))], [1, Promise.reject(new Error('away'))]]) {
    broken = values
    t.is((await stage.get('/api/reports/1')).status, 500)
  }
})

test.serial('a problem that a resolver throws is the answer', async (t) => {
  broken = new Problem({ status: 503, title: 'No weather' })
  const { status, body } = await stage.get('/api/reports/1')
  t.is(status, 503)
  t.is(body.title, 'No weather')
})

test.serial('a kept reply has the values of its write', async (t) => {
  const key = { 'idempotency-key': 'one' }
  const first = await stage.post('/api/reports', { name: 'kept' }, key)
  t.is(first.body.broken, 1)
  broken = [2]
  const second = await stage.post('/api/reports', { name: 'kept' }, key)
  t.is(second.headers.get('idempotency-replayed'), 'true')
  t.is(second.body.broken, 1)
  await Report.destroy({ where: { name: 'kept' } })
})

test.serial('filters, sorts, groups and measures do not have them, and say why', async (t) => {
  const reason = 'It is a computed field. Only the parameter "select" can use it.'
  const filter = await list(stage, '/api/devices', { filter: 'Label=x' })
  t.deepEqual(filter.body.errors, { filter: [`Unknown field "Label" at position 0. ${reason}`] })
  const sort = await list(stage, '/api/devices', { sort: '-label' })
  t.deepEqual(sort.body.errors, { sort: [`Unknown field "label" at position 0. ${reason}`] })
  const behind = await list(stage, '/api/devices', { filter: 'House.Motto=x' })
  t.deepEqual(behind.body.errors, { filter: [`Unknown field "House.Motto" at position 0. ${reason}`] })
  const any = await list(stage, '/api/houses', { filter: 'Devices.Any(Label=x)' })
  t.regex(any.text, /It is a computed field/)
  const parameter = await stage.get('/api/devices?label=x')
  t.deepEqual(parameter.body.errors, { label: [`is not a parameter of this list. ${reason}`] })
  const hidden = await list(stage, '/api/devices', { filter: 'Secret=1' })
  t.deepEqual(hidden.body.errors, { filter: ['Unknown field "Secret" at position 0.'] })
  t.deepEqual((await stage.get('/api/devices?secret=1')).body.errors, {
    secret: ['is not a parameter of this list.'],
  })
})

test.serial('a misspelt name in select is suggested', async (t) => {
  const { body } = await list(stage, '/api/devices', { select: 'temperatur' })
  t.deepEqual(body.errors, { select: ['Unknown field "temperatur" at position 0. Did you mean "temperature"?'] })
})

test.serial('a reply that shows one is sent to whoever has its tag, which If-Match takes', async (t) => {
  const { headers, body } = await stage.get('/api/devices/1')
  const tag = headers.get('etag') ?? ''
  t.is(tag, 'W/"0"')
  t.is((await stage.get('/api/devices/1', { 'if-none-match': tag })).status, 200)
  t.is((await stage.get('/api/devices/1', { 'if-none-match': '*' })).status, 200)
  t.is((await stage.get('/api/devices/1', { 'if-none-match': tag, 'cache-control': 'no-cache' })).status, 200)
  t.is((await stage.get('/api/devices/1?select=name', { 'if-none-match': tag })).status, 304)
  const page = await stage.get('/api/devices')
  const weak = page.headers.get('etag') ?? ''
  t.not(weak, '')
  t.is((await stage.get('/api/devices', { 'if-none-match': weak })).status, 200)
  const plain = await stage.get('/api/devices?select=name')
  t.is((await stage.get('/api/devices?select=name', { 'if-none-match': plain.headers.get('etag') ?? '' })).status, 304)
  const embedded = await stage.get('/api/houses?select=devices(label)')
  t.is(
    (await stage.get('/api/houses?select=devices(label)', { 'if-none-match': embedded.headers.get('etag') ?? '' }))
      .status,
    200,
  )
  t.is((await stage.patch('/api/devices/1', { name: body.name }, { 'if-match': tag })).status, 200)
})
