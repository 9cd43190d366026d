// `Idempotency-Key`: a write is done once, however often it is sent, and its reply is the first one, byte for byte.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { DataTypes, type Model, type ModelOptions, type ModelStatic, Op, Sequelize } from 'sequelize'
import { type CrudOptions, createCrud, crudController, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, sqliteOptions } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { openStage, timeOf } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const ALL = Operations.AllWithBulk | Operations.Restore | Operations.BulkUpdate | Operations.Replace
let hold: Promise<void> | null = null
let failing = false

function define(name: string, hooks: Record<string, () => unknown> = {}): ModelStatic<Model> {
  return sequelize.define(
    name,
    {
      name: { type: DataTypes.STRING(30), allowNull: false },
      code: { type: DataTypes.STRING(20), unique: true },
      data: DataTypes.JSON,
    },
    { name: { singular: name, plural: name }, timestamps: false, hooks },
  )
}

function mount(model: ModelStatic<Model>, options: CrudOptions = {}): void {
  app.use(crudRouter(model, { operations: ALL, softDelete: true, idempotency: true, ...options }))
}

const Plain = define('plain')
const Hooked = define('hooked', {
  beforeCreate: async () => {
    await hold
    if (failing) throw new Error('failing')
  },
})
const Brief = define('brief')
const Asked = define('asked')
const Versioned = define('versioned')
const Off = define('off')
const Unset = define('unset')
const Shared = define('shared')
const Kept = sequelize.define(
  'kept_here',
  {
    id: { type: DataTypes.STRING(64), primaryKey: true },
    fingerprint: DataTypes.STRING(64),
    reply: DataTypes.TEXT,
    expiresAt: DataTypes.DATE,
  },
  { timestamps: false },
)
const Elsewhere = define('elsewhere')
mount(Plain)
mount(Hooked, { onError: () => undefined })
mount(Brief, { idempotency: { ttl: '1s' } })
mount(Asked, { idempotency: { required: true } })
mount(Versioned, { concurrency: true })
mount(Off, { idempotency: false })
app.use(crudRouter(Unset))
const TIMES = { '90s': 90, '45m': 2700, '48h': 172_800, '7d': 604_800 }
for (const ttl of Object.keys(TIMES)) mount(Plain, { route: `kept/${ttl}`, idempotency: { ttl } })
mount(Elsewhere, { idempotency: { model: Kept } })
app.use(createCrud({ idempotency: { required: true } }).crudRouter(Shared))
app.post('/own', crudController(Plain, { idempotency: true, softDelete: true }).create)

const plain = (plural: string): ModelOptions => ({ name: { singular: plural, plural }, timestamps: false })
const Order = sequelize.define('order', { name: DataTypes.STRING }, plain('order'))
const Line = sequelize.define('line', { code: DataTypes.STRING, cost: DataTypes.INTEGER }, plain('line'))
const Part = sequelize.define('part', { name: DataTypes.STRING }, plain('part'))
Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId' })
// A circle of relations ends somewhere.
Part.hasMany(Order, { as: 'orders', foreignKey: 'partId' })
const who: CrudOptions['identity'] = ({ headers }) => ({
  name: 'x',
  roles: new Set(),
  permissions: new Set(headers['x-see'] === undefined ? [] : ['costs']),
  claims: {},
})
const NO_RESTORE: CrudOptions = { softDelete: false, operations: Operations.AllWithBulk }
mount(Order, { ...NO_RESTORE, relations: { lines: { write: true, routes: true } }, identity: who })
mount(Line, { ...NO_RESTORE, relations: { parts: { write: true } }, identity: who, mask: { cost: 'costs' } })
mount(Part, { ...NO_RESTORE, relations: { orders: { write: true } }, identity: who })

const Keys = sequelize.model('crud_idempotency_keys')
await sequelize.sync()
test.after.always(() => server.close())

const key = (text: string): Record<string, string> => ({ 'Idempotency-Key': text })
const send = (method: string, path: string, json: unknown, headers: Record<string, string>): Promise<Answer> =>
  server.send(method, path, { ...(json === undefined ? {} : { json }), headers })

/** All of an answer that a client could tell one from another by, but that it is a replay. */
function whole({ status, headers, text }: Answer): unknown {
  return { status, text, headers: [...headers].filter(([name]) => name !== 'date' && name !== 'idempotency-replayed') }
}

async function made(path = 'plain'): Promise<number> {
  return (await send('POST', `/api/${path}`, { name: 'made' }, key(`made ${Math.random()}`))).body.id
}

test('a create that is sent again makes nothing, and has the first reply byte for byte, whatever has become of the record', async (t) => {
  const body = { name: 'Ann', data: { b: 1, '2': [1.5, null], a: { é: '\u2028' } } }
  const first = await server.post('/api/plain', body, key('"8e03978e-40d5"'))
  t.is(first.status, 201)
  t.is(first.headers.get('idempotency-replayed'), null)
  await server.patch(`/api/plain/${first.body.id}`, { name: 'Ada' })
  const again = await server.post('/api/plain', body, key('"8e03978e-40d5"'))
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.deepEqual(whole(again), whole(first))
  await server.delete(`/api/plain/${first.body.id}`)
  t.deepEqual(
    whole(await server.post('/api/plain', body, key('8e03978e-40d5'))),
    whole(first),
    'bare text is the same key',
  )
  t.is(await Plain.count({ where: { name: ['Ann', 'Ada'] } }), 1)
})

test('every write but DELETE has it: patch, put, restore and the bulk routes, by the handler of a controller as well', async (t) => {
  const [one, two] = [await made(), await made()]
  const writes: readonly (readonly [method: string, path: string, body: unknown])[] = [
    ['PATCH', `/api/plain/${one}`, { name: 'patched' }],
    ['PUT', `/api/plain/${one}`, { name: 'put' }],
    ['POST', '/api/plain/bulk', [{ name: 'x' }, { name: 'y' }]],
    ['PATCH', '/api/plain/bulk', [{ id: one, name: 'bulk' }]],
    ['PUT', '/api/plain/bulk?by=code', [{ code: 'c', name: 'upserted' }]],
    ['POST', '/api/plain/bulk-delete', [one, two]],
    ['POST', `/api/plain/${two}/restore`, undefined],
    ['POST', '/own', { name: 'own' }],
  ]
  for (const [method, path, body] of writes) {
    const first = await send(method, path, body, key('the same for all'))
    t.true(first.status < 300, `${method} ${path} ${first.text}`)
    const count = await Plain.count()
    const again = await send(method, path, body, key('the same for all'))
    t.is(again.headers.get('idempotency-replayed'), 'true', `${method} ${path}`)
    t.deepEqual(whole(again), whole(first))
    t.is(await Plain.count(), count)
  }
  const three = await made()
  t.is((await send('DELETE', `/api/plain/${three}`, undefined, key('d'))).status, 204)
  t.is((await send('DELETE', `/api/plain/${three}`, undefined, key('d'))).status, 404)
  t.is((await server.get('/api/plain', key('d'))).headers.get('idempotency-replayed'), null)
})

test('headers of the reply are kept, and a reply without a body', async (t) => {
  const minimal = { Prefer: 'return=minimal', ...key('minimal') }
  const first = await server.post('/api/versioned', { name: 'Ann' }, minimal)
  t.is(first.headers.get('etag'), 'W/"0"')
  const again = await server.post('/api/versioned', { name: 'Ann' }, minimal)
  t.deepEqual(whole(again), whole(first))
  t.is(again.headers.get('location'), first.headers.get('location'))
  const path = String(first.headers.get('location'))
  const patch = { 'If-Match': 'W/"0"', ...minimal }
  t.is((await server.patch(path, { name: 'Ada' }, patch)).status, 204)
  const patched = await server.patch(path, { name: 'Ada' }, patch)
  t.is(patched.status, 204, 'the replay comes before 412')
  t.is(patched.headers.get('etag'), 'W/"1"')
})

test('the same key is the same request whether or not its record is wanted back', async (t) => {
  for (const [index, path] of ['/api/plain', '/api/versioned', '/api/hooked'].entries()) {
    const name = `wanted ${index}`
    const first = await server.post(path, { name }, key(name))
    const again = await server.post(path, { name }, { Prefer: 'return=minimal', ...key(name) })
    t.is(again.headers.get('idempotency-replayed'), 'true', path)
    t.deepEqual(whole(again), whole(first))
  }
})

test('a child made below a record is replayed, whatever has become of the record', async (t) => {
  const { id } = (await server.post('/api/order', { name: 'a' })).body
  const path = `/api/order/${id}/lines`
  const first = await server.post(path, { code: 'x' }, key('below'))
  t.is(first.status, 201)
  await Line.destroy({ where: { id: first.body.id } })
  await server.delete(`/api/order/${id}`)
  const again = await server.post(path, { code: 'x' }, key('below'))
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.deepEqual(whole(again), whole(first))
  t.is((await server.post(path, { code: 'y' }, key('below'))).status, 422)
  t.is((await server.post(path, { code: 5 }, key('below, first'))).status, 404)
  t.is((await server.post(path, { code: 'x' })).status, 404)
})

test('lines of JSON are one body however they are spaced', async (t) => {
  const lines = (body: string): Promise<Answer> =>
    server.send('POST', '/api/plain/bulk', {
      body,
      headers: { ...key('spaced'), 'content-type': 'application/jsonl' },
    })
  const first = await lines('{"name":"one"}\n{"name":"two"}')
  t.is(first.status, 201)
  const again = await lines('{ "name": "one" }\r\n\r\n{ "name": "two" }\r\n')
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.deepEqual(whole(again), whole(first))
  t.is((await lines('{"name":"one"}')).status, 422)
  t.is((await lines('{"name":"one"}\n{"name":"other"}')).status, 422)
})

test('the same key with another body or query is 422, and does nothing; another method or path is another key', async (t) => {
  await server.post('/api/plain', { name: 'first' }, key('m'))
  const { status, body } = await server.post('/api/plain', { name: 'second' }, key('m'))
  t.is(status, 422)
  t.is(body.code, 'idempotency-mismatch')
  t.is((await server.post('/api/plain?x=1', { name: 'first' }, key('m'))).status, 422)
  t.is((await server.post('/api/plain?x=1', { name: 'first' }, key('by query'))).status, 201)
  t.is((await server.post('/api/plain?x=2', { name: 'first' }, key('by query'))).status, 422)
  t.is((await server.post('/api/plain', { name: null }, key('m'))).status, 422, 'before validation')
  t.is(await Plain.count({ where: { name: 'second' } }), 0)
  t.is((await server.post('/api/hooked', { name: 'first' }, key('m'))).status, 201)
  const nested = { name: 'n', data: { field: { a: 1 } } }
  t.is((await server.post('/api/plain', nested, key('n'))).status, 201)
  t.is((await server.post('/api/plain', { name: 'n', data: { field: { a: 2 } } }, key('n'))).status, 422)
})

test('the order of members has no meaning in JSON, but that of items has', async (t) => {
  const body = { name: 'sorted', data: { a: 1, b: [{ c: 1, d: 2 }, 3] } }
  const first = await server.post('/api/plain', body, key('sorted'))
  t.is(first.status, 201)
  const again = await server.post(
    '/api/plain',
    { data: { b: [{ d: 2, c: 1 }, 3], a: 1 }, name: 'sorted' },
    key('sorted'),
  )
  t.is(again.headers.get('idempotency-replayed'), 'true')
  t.deepEqual(whole(again), whole(first))
  const turned = { ...body, data: { a: 1, b: [3, { c: 1, d: 2 }] } }
  t.is((await server.post('/api/plain', turned, key('sorted'))).status, 422)
})

test('a body that holds records of others, and one that holds none, are two bodies: 422 under one key', async (t) => {
  const lines = [{ code: 'a' }]
  for (const [first, second] of [
    [{ name: 'o' }, { name: 'o', lines }],
    [
      { name: 'o', lines },
      { name: 'o', lines: [{ code: 'a', parts: [{ name: 'p' }] }] },
    ],
    [{ name: 'o', lines }, { name: 'o' }],
  ]) {
    const one = key(`nested ${Math.random()}`)
    const made = await server.post('/api/order', first, one)
    t.is(made.status, 201, made.text)
    t.is((await server.post('/api/order', second, one)).status, 422)
    t.is((await server.post('/api/order', first, one)).headers.get('idempotency-replayed'), 'true')
  }
  t.is(await Order.count(), 3)
})

test('who sees more of the records that a body may hold is another caller', async (t) => {
  const one = key('payroll')
  const body = { name: 'o', lines: [{ code: 'a', cost: 5 }] }
  const [seen, hidden] = await Promise.all([
    server.post('/api/order', body, { ...one, 'X-See': 'yes' }),
    server.post('/api/order', body, one),
  ])
  t.is(seen.status, 201, seen.text)
  t.is(hidden.status, 201, hidden.text)
  t.is(seen.body.lines[0].cost, 5)
  t.not(hidden.body.lines[0].cost, 5)
  t.not(seen.body.id, hidden.body.id)
})

test('what was refused, or failed, is not kept, and may be tried again', async (t) => {
  t.is((await server.post('/api/hooked', {}, key('r'))).status, 400)
  failing = true
  t.is((await server.post('/api/hooked', { name: 'again' }, key('r'))).status, 500)
  failing = false
  t.is(await Keys.count({ where: { reply: null } }), 0, 'its place went with it')
  t.is((await server.post('/api/hooked', { name: 'again' }, key('r'))).status, 201)
  t.is((await server.post('/api/hooked', { name: 'again' }, key('r'))).headers.get('idempotency-replayed'), 'true')
  t.is(await Hooked.count({ where: { name: 'again' } }), 1)
  const missing = await server.patch('/api/plain/999999', { name: 'x' }, key('r'))
  t.is(missing.status, 404)
})

test('of twins one runs and one waits for it; the others are 409 with Retry-After', async (t) => {
  let release = (): void => undefined
  hold = new Promise((resolve) => {
    release = resolve
  })
  const twins = Array.from({ length: 6 }, () => server.post('/api/hooked', { name: 'twin' }, key('twins')))
  const early = await Promise.race([...twins, wait(5000, null)])
  t.is(early?.status, 409)
  t.is(early?.body.code, 'idempotency-in-progress')
  t.is(early?.headers.get('retry-after'), '1')
  release()
  hold = null
  const answers = await Promise.all(twins)
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409, 409])
  t.is(await Hooked.count({ where: { name: 'twin' } }), 1)
})

test('twenty at once have one effect and one reply, and no 500', async (t) => {
  for (const [method, path, body] of [
    ['POST', '/api/plain', { name: 'crowd' }],
    ['PUT', '/api/plain/bulk?by=code', [{ code: 'crowd', name: 'crowd 2' }]],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(method, path, body, key('crowd'))))
    const done = answers.filter(({ status }) => status < 300)
    t.true(done.length >= 1)
    for (const answer of done) t.is(answer.text, String(done[0]?.text))
    t.is(done.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1)
    for (const { status } of answers) t.true(status < 300 || status === 409, String(status))
  }
  t.is(await Plain.count({ where: { name: { [Op.like]: 'crowd%' } } }), 2)
})

test('a twin in another process waits for the end of the first, and finds its reply', async (t) => {
  const first = await server.post('/api/plain', { name: 'apart' }, key('apart'))
  const kept = await Keys.findOne({ where: { reply: { [Op.like]: '%apart%' } } })
  const values = kept?.get() as { id: string }
  await Keys.destroy({ where: { id: values.id } })
  // On SQLite whoever writes has the whole database.
  if (server.name === 'sqlite') return t.is(await Keys.count({ where: { id: values.id } }), 0)
  const transaction = await sequelize.transaction()
  await Keys.create(values as never, { transaction })
  const other = server.post('/api/plain', { name: 'apart' }, key('apart'))
  t.is(await Promise.race([other, wait(300, null)]), null)
  await transaction.commit()
  t.deepEqual(whole(await other), whole(first))
  t.is(await Plain.count({ where: { name: 'apart' } }), 1)
})

test('of twins whose key has expired one writes again, and one in another process finds its reply', async (t) => {
  const first = await server.post('/api/plain', { name: 'anew' }, key('anew'))
  const kept = await Keys.findOne({ where: { reply: { [Op.like]: '%anew%' } } })
  const values = kept?.get() as { id: string }
  const expired = { expiresAt: new Date(0) } as never
  await Keys.update(expired, { where: { id: values.id } })
  // On SQLite whoever writes has the whole database.
  if (server.name === 'sqlite') return t.is(await Keys.count({ where: { id: values.id } }), 1)
  const transaction = await sequelize.transaction()
  await Keys.destroy({ where: { id: values.id }, transaction })
  await Keys.create(values as never, { transaction })
  const other = server.post('/api/plain', { name: 'anew' }, key('anew'))
  t.is(await Promise.race([other, wait(300, null)]), null)
  await transaction.commit()
  const { headers, text } = await other
  t.deepEqual([headers.get('idempotency-replayed'), text], ['true', first.text])
  t.is(await Plain.count({ where: { name: 'anew' } }), 1)
})

test('keys are strings of structured fields or bare text, of 1 to 255 characters: all else is 400', async (t) => {
  const long = 'a'.repeat(256)
  for (const text of ['"a', '"a"b', '""', '"a\\b"', long, `"${long}"`, ' ', 'é', 'aé', 'éa', '"é"']) {
    const { status, body } = await server.post('/api/plain', { name: 'key' }, key(Buffer.from(text).toString('latin1')))
    t.is(status, 400, text)
    t.is(body.code, 'bad-request')
    t.is(body.detail, 'The header Idempotency-Key must be a string of 1 to 255 characters, such as "8e03978e".')
  }
  t.is(await Plain.count({ where: { name: 'key' } }), 0)
  for (const text of ['"a \\"b\\" \\\\"', 'a'.repeat(255), 'a b;c="d"', `"${'b'.repeat(255)}"`]) {
    t.is((await server.post('/api/plain', { name: 'key' }, key(text))).status, 201, text)
  }
  for (const text of ['end', 'the"end"', '"the\\"end\\""', '"the\\"end"']) {
    const answer = await server.post('/api/plain', { name: 'key' }, key(text))
    t.deepEqual(
      [answer.status, answer.headers.get('idempotency-replayed')],
      text === '"the\\"end\\""' ? [201, 'true'] : [201, null],
      text,
    )
  }
})

test('where the header is required a write without it is 400, and DELETE and reads go on', async (t) => {
  for (const path of ['asked', 'shared']) {
    const { status, body } = await server.post(`/api/${path}`, { name: 'x' })
    t.is(status, 400)
    t.is(body.code, 'bad-request')
    t.is(body.detail, 'This request requires the header Idempotency-Key. Choose a new key for each write.')
    const { body: record } = await server.post(`/api/${path}`, { name: 'x' }, key('k'))
    t.is((await server.get(`/api/${path}`)).status, 200)
    t.is((await server.delete(`/api/${path}/${record.id}`)).status, 204)
  }
})

test('without the option the header means nothing', async (t) => {
  for (const model of [Off, Unset]) {
    t.is((await server.post(`/api/${model.name}`, { name: 'x' }, key('k'))).status, 201)
    t.is((await server.post(`/api/${model.name}`, { name: 'x' }, key('k'))).headers.get('idempotency-replayed'), null)
    t.is(await model.count(), 2)
  }
})

test('how long a reply is kept is told in seconds, minutes, hours or days, and is a day unless told', async (t) => {
  for (const [path, seconds] of [...Object.entries(TIMES), ['', 86_400] as const]) {
    const known = (await Keys.findAll()).map((row) => row.get('id'))
    const before = Date.now()
    const route = path === '' ? '/api/plain' : `/kept/${path}`
    t.is((await server.post(route, { name: 'timed' }, key('timed'))).status, 201, route)
    const after = Date.now()
    const row = (await Keys.findAll()).find((each) => !known.includes(each.get('id')))
    const expires = timeOf(row?.get('expiresAt'))
    t.true(expires >= before + seconds * 1000, route)
    t.true(expires <= after + seconds * 1000, route)
  }
})

test('a reply is kept for its time; then the write is done anew, and what is over is removed in passing', async (t) => {
  const first = await server.post('/api/brief', { name: 'brief' }, key('b'))
  t.is((await server.post('/api/brief', { name: 'brief' }, key('b'))).headers.get('idempotency-replayed'), 'true')
  const stale = Array.from({ length: 5 }, (_, place) => ({
    id: `stale ${place}`,
    fingerprint: '',
    expiresAt: new Date(0),
  }))
  await Keys.bulkCreate(stale as never)
  await wait(1100)
  const again = await server.post('/api/brief', { name: 'brief' }, key('b'))
  t.is(again.status, 201)
  t.not(again.body.id, first.body.id)
  for (let turn = 0; turn < 12; turn += 1) await made()
  for (let turn = 0; turn < 50 && (await Keys.count({ where: { fingerprint: '' } })) > 0; turn += 1) await wait(20)
  t.is(await Keys.count({ where: { fingerprint: '' } }), 0)
})

test("the host's own model of the table is used where it gives one", async (t) => {
  const first = await server.post('/api/elsewhere', { name: 'x' }, key('own'))
  t.is(await Kept.count(), 1)
  t.deepEqual(whole(await server.post('/api/elsewhere', { name: 'x' }, key('own'))), whole(first))
  const wrong = define('wrong')
  const message = /wrong: idempotency.model needs the attributes fingerprint, reply, expiresAt/
  t.throws(() => crudRouter(wrong, { idempotency: { model: Plain } }), { code: 'INVALID_OPTION', message })
  const times = ['1', '0h', 'x24h', '24hours', '1xh', '24x', '1234567890s', 24, ['24h']]
  for (const idempotency of ['yes', ...times.map((ttl) => ({ ttl })), { required: 1 }, { model: {} }]) {
    t.throws(() => crudRouter(wrong, { idempotency } as never), { code: 'INVALID_OPTION' })
  }
  const none = class {}
  const missing = /wrong: idempotency.model needs the attributes id, fingerprint, reply, expiresAt/
  t.throws(() => crudRouter(wrong, { idempotency: { model: none } } as never), {
    code: 'INVALID_OPTION',
    message: missing,
  })
  const elsewhere = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const foreign = elsewhere.define('kept_there', Kept.getAttributes())
  t.throws(() => crudRouter(wrong, { idempotency: { model: foreign } }), {
    code: 'INVALID_OPTION',
    message: /wrong: idempotency.model must use the same Sequelize instance as the resource/,
  })
})

const betweenWrites = databaseName === 'sqlite' ? ava.serial.skip : ava.serial

betweenWrites('a write sees what others commit while it waits for its record', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Order = sequelize.define('Order', { name: DataTypes.STRING }, { timestamps: false })
    const no = { type: DataTypes.INTEGER, primaryKey: true }
    const Line = sequelize.define('Line', { no, text: DataTypes.STRING }, { timestamps: false })
    Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
    app.use(crudRouter(Order, { idempotency: true, relations: { lines: { write: true } } }), crudRouter(Line))
    return { Order, Line }
  })
  t.teardown(() => stage.close())
  const { Order, Line } = stage
  const body = { lines: [{ no: 1, text: 'new' }] }
  await stage.post('/api/orders', { lines: [{ no: 1, text: 'old' }] })
  const other = await stage.sequelize.transaction()
  await Order.findByPk(1, { transaction: other, lock: true })
  stage.statements.length = 0
  const waiting = stage.patch('/api/orders/1', body, key('waits'))
  while (!stage.statements.some((sql) => / FOR (NO KEY )?UPDATE/.test(sql))) await wait(5)
  await Line.destroy({ where: { no: 1 }, transaction: other })
  await other.commit()
  const { status, body: shown } = await waiting
  t.deepEqual([status, shown.lines], [200, [{ no: 1, text: 'new', orderId: 1 }]])
})
