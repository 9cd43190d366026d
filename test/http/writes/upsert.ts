// `PUT /{resource}/bulk?by=sku`: each object patches the record that has its value, or makes one.

import { setTimeout } from 'node:timers/promises'
import ava from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudController, crudRouter, Operations } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const heard: string[] = []

function mount(model: ModelStatic<Model>, options: CrudOptions = {}): void {
  app.use(crudRouter(model, { operations: Operations.AllWithBulk | Operations.Replace, ...options }))
}

function define(name: string, attributes: ModelAttributes, options: ModelOptions = {}): ModelStatic<Model> {
  return sequelize.define(name, attributes, {
    name: { singular: name, plural: name },
    timestamps: false,
    ...options,
  })
}

const FIELDS: ModelAttributes = {
  sku: { type: DataTypes.STRING(20), allowNull: false, unique: true },
  name: { type: DataTypes.STRING(20), allowNull: false },
  level: { type: DataTypes.INTEGER, defaultValue: 7, validate: { min: 1, max: 100 } },
  code: { type: DataTypes.STRING(20), unique: true },
}

const VARIANTS: readonly (readonly [what: string, model: ModelStatic<Model>])[] = [
  ['a plain model', define('plain', FIELDS)],
  [
    'a model with instance hooks',
    define('hooked', FIELDS, { hooks: { beforeCreate: () => undefined, beforeUpdate: () => undefined } }),
  ],
  ['a model that validates as a whole', define('whole', FIELDS, { validate: { always: () => undefined } })],
  ['a model of snake_case columns', define('snaked', FIELDS, { underscored: true, timestamps: true })],
  ['a paranoid model', define('paranoid', FIELDS, { paranoid: true, timestamps: true })],
]
for (const [, model] of VARIANTS) mount(model)

const Several = define(
  'several',
  {
    day: { type: DataTypes.DATEONLY, allowNull: false },
    place: { type: DataTypes.INTEGER, allowNull: false },
    at: { type: DataTypes.DATE, unique: true },
    price: { type: DataTypes.DECIMAL(10, 2), unique: true },
    big: { type: DataTypes.BIGINT, unique: true },
    uid: { type: DataTypes.UUID, unique: true },
    flag: DataTypes.STRING(10),
    name: DataTypes.STRING,
  },
  {
    indexes: [
      { unique: true, fields: ['day', 'place'] },
      { unique: true, fields: ['flag'], where: { name: 'x' }, name: 'several_partial' },
    ],
  },
)
const Slug = define('slug', { slug: { type: DataTypes.STRING(40), primaryKey: true }, name: DataTypes.STRING })
const Line = define('line', {
  order: { type: DataTypes.INTEGER, primaryKey: true },
  line: { type: DataTypes.INTEGER, primaryKey: true },
  sku: { type: DataTypes.STRING(20), allowNull: false, unique: true },
})
const Versioned = define('versioned', FIELDS)
const Traced = define('traced', FIELDS)
const Few = define('few', FIELDS)
const Contested = define('contested', FIELDS)
const Apart = define('apart', { name: DataTypes.STRING })
const Signed = define('signed', { by: DataTypes.STRING(9) })
mount(Apart)
mount(Signed, { query: { unknownParameters: 'reject' } })
app.use('/read', crudRouter(Signed, { route: 'signed', operations: Operations.Read }))
mount(Several, { fields: { flag: { filterable: true } } })
mount(Slug)
mount(Line)
mount(Versioned, { concurrency: true })
mount(Traced, {
  hooks: {
    beforeCreate: ({ operation }) => void heard.push(`create ${operation}`),
    beforeUpdate: ({ operation }) => void heard.push(`update ${operation}`),
  },
})
mount(Contested)
const opposite = { attempts: 0 }
const Opposite = define('opposite', FIELDS, {
  hooks: {
    beforeCreate: async () => {
      opposite.attempts += 1
      await setTimeout(30)
    },
  },
})
mount(Opposite)
mount(Few, { limits: { bulkItems: 2 }, operations: ['upsert', 'getList'] })
const own = crudController(Slug, { operations: Operations.Replace })
app.put('/own', own.upsert)
app.use(express.text({ type: 'application/jsonl' }))
app.use('/parsed', crudRouter(define('parsed', FIELDS), { operations: Operations.AllWithBulk | Operations.Replace }))

// A partial index is no index of MySQL's.
const partial = server.name === 'sqlite' || server.name === 'postgres'
if (!partial) (Several.options.indexes as object[]).pop()
await sequelize.sync()
await Signed.bulkCreate([{ by: 'Ann' }, { by: 'Bob' }])
test.after.always(() => server.close())

const put = (path: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  server.send('PUT', `/api/${path}`, { json, headers })
const lines = (method: string, path: string, body: string): Promise<Answer> =>
  server.send(method, path, { body, headers: { 'content-type': 'application/jsonl' } })

async function listed(path: string): Promise<Record<string, unknown>[]> {
  return (await server.get(`/api/${path}?sort=id`)).body.items
}

for (const [what, model] of VARIANTS) {
  const { name } = model
  const by = `${name}/bulk?by=sku`

  test(`${what}: an object patches the record that has its value, or makes one; 200 with the numbers`, async (t) => {
    const { id } = (await server.post(`/api/${name}`, { sku: 'a', name: 'Ann', level: 50 })).body
    const { status, body } = await put(by, [
      { sku: 'b', name: 'Bob' },
      { sku: 'a', name: 'Ada' },
    ])
    t.is(status, 200)
    t.deepEqual(body, { created: 1, updated: 1 })
    const records = await listed(name)
    t.like(records[0], { id, sku: 'a', name: 'Ada', level: 50 })
    t.like(records[1], { sku: 'b', name: 'Bob', level: 7 })
    t.deepEqual((await put(by, [{ sku: 'a', name: 'Ada' }])).body, { created: 0, updated: 1 })
    t.deepEqual((await put(by, [])).body, { created: 0, updated: 0 })
  })

  test(`${what}: what is wrong is told of every item, as for a create or a patch, and nothing is written`, async (t) => {
    const { status, body } = await put(by, [
      { sku: 'a', name: 'Eve' },
      { sku: 'a2', level: 500 },
      { sku: 'b', name: null },
      { sku: 'c', name: 'Cid' },
    ])
    t.is(status, 400)
    t.deepEqual(body.errors, {
      '[1].name': ['is required.'],
      '[1].level': ['must be between 1 and 100.'],
      '[2].name': ['cannot be null.'],
    })
    t.deepEqual(
      (await listed(name)).map((each) => each.name),
      ['Ada', 'Bob'],
    )
  })

  test(`${what}: a conflict of another value is 409, and undoes all`, async (t) => {
    await put(by, [{ sku: 'a', code: 'taken' }])
    const { status, body } = await put(by, [
      { sku: 'b', name: 'Eve' },
      { sku: 'new', name: 'New', code: 'taken' },
    ])
    t.is(status, 409)
    t.deepEqual(body.errors, { code: ['is already taken.'] })
    t.is((await listed(name))[1]?.name, 'Bob')
  })

  test(`${what}: twenty at once for one new value make one record, and none of them fails`, async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => put(by, [{ sku: 'race', name: `turn ${turn}` }])),
    )
    for (const { status, text } of answers) t.is(status, 200, text)
    t.is(answers.filter(({ body }) => body.created === 1).length, 1)
    t.is((await listed(name)).filter(({ sku }) => sku === 'race').length, 1)
  })

  test(`${what}: many at once for several new values in different orders end in one record each, and in no 500`, async (t) => {
    const skus = ['o1', 'o2', 'o3', 'o4']
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, turn) => {
        const items = skus.map((sku) => ({ sku, name: `turn ${turn}` }))
        return put(by, turn % 2 === 0 ? items : items.reverse())
      }),
    )
    // Databases break what has locked itself in; that is tried again, and at last a 503.
    for (const { status, text } of answers) t.true(status === 200 || status === 503, text)
    t.true(answers.some(({ status }) => status === 200))
    const made = (await listed(name)).filter(({ sku }) => skus.includes(String(sku)))
    t.is(made.length, 4)
    t.is(new Set(made.map((each) => each.name)).size, 1, 'each is whole')
  })
}

test('an item without a value, with one that is there twice, and what is no object are 400 before any record is read', async (t) => {
  const asked = server.statements.length
  const { status, body } = await put('plain/bulk?by=sku', [
    { sku: 'x', name: 'Ann' },
    { name: 'Ann' },
    { sku: null, name: 'Ann' },
    { sku: 5, name: 'Ann' },
    'x',
    { sku: 'x' },
  ])
  t.is(status, 400)
  t.deepEqual(body.errors, {
    '[1].sku': ['is required.'],
    '[2].sku': ['cannot be null.'],
    '[3].sku': ['must be a string.'],
    '[4]': ['must be an object.'],
    '[5].sku': ['is there twice.'],
  })
  t.is(server.statements.length, asked)
})

test('by is the key where clients choose it, or all fields of a unique index, in any order and case; anything else is 400', async (t) => {
  t.deepEqual((await put('slug/bulk?by=slug', [{ slug: 's', name: 'a' }])).body, { created: 1, updated: 0 })
  t.deepEqual((await put('slug/bulk?by=SLUG', [{ slug: 's', name: 'b' }])).body, { created: 0, updated: 1 })
  t.is((await server.get('/api/slug/s')).body.name, 'b')
  t.is((await server.send('PUT', '/own?by=slug', { json: [{ slug: 's', name: 'c' }] })).body.updated, 1)
  const day = { day: '2026-01-02', place: 3 }
  t.is((await put('several/bulk?by=place,%20Day', [{ ...day, name: 'a' }])).body.created, 1)
  const twice = await put('several/bulk?by=day,place', [day, { ...day, name: 'b' }])
  t.deepEqual(twice.body.errors, { '[1]': ['is there twice.'] })
  const more = Array.from({ length: 120 }, (_, place) => ({ day: '2026-01-02', place, name: 'b' }))
  t.deepEqual((await put('several/bulk?by=day,place', more)).body, { created: 119, updated: 1 })
  const wrong = [
    '',
    '?by=',
    '?by=name',
    '?by=day',
    '?by=day,place,at',
    '?by=day,day',
    '?by=flag',
    '?by=id',
    '?by=nothing',
    '?by=day,',
  ]
  for (const query of wrong) {
    const { status, body } = await put(`several/bulk${query}`, [day])
    t.is(status, 400, query)
    t.is(body.code, 'invalid-query')
    const [message = ''] = body.errors.by
    const [, names = ''] = /^must name a unique key: (.*)\.$/.exec(message) ?? []
    t.deepEqual(names.split(' or ').toSorted(), ['at', 'big', 'day,place', 'price', 'uid'])
  }
  t.is((await put('several/bulk?by=at&by=at', [])).body.errors.by[0], 'is given more than once.')
})

test('a key of several attributes is one to upsert by, whole and in any order; another unique field changes none of its parts', async (t) => {
  const all = [
    { order: 1, line: 1, sku: 'a' },
    { order: 1, line: 2, sku: 'b' },
  ]
  t.deepEqual((await put('line/bulk?by=order,line', all)).body, { created: 2, updated: 0 })
  const more = [
    { line: 2, order: 1, sku: 'c' },
    { line: 3, order: 1, sku: 'd' },
  ]
  t.deepEqual((await put('line/bulk?by=line,order', more)).body, { created: 1, updated: 1 })
  t.deepEqual((await put('line/bulk?by=sku', [{ order: 1, line: 3, sku: 'd' }])).body, { created: 0, updated: 1 })
  const listed = await server.get('/api/line?sort=order,line')
  t.deepEqual(
    listed.body.items.map(({ order, line, sku }: Record<string, unknown>) => [order, line, sku]),
    [
      [1, 1, 'a'],
      [1, 2, 'c'],
      [1, 3, 'd'],
    ],
  )
  t.deepEqual((await put('line/bulk?by=order', [{ order: 1, line: 9, sku: 'e' }])).status, 400)
  const half = await put('line/bulk?by=order,line', [{ order: 1, sku: 'e' }, all[0], all[0]])
  t.deepEqual(half.body.errors, { '[0].line': ['is required.'], '[2]': ['is there twice.'] })
})

test('values of every type are met as they are stored', async (t) => {
  const rows = [
    ['at', '2026-01-02T03:04:05.000Z', '2026-01-02T04:04:05+01:00'],
    ['price', 12.5, 12.5],
    ['big', '9007199254740993', '9007199254740993'],
    ['uid', '0b8b6c1e-8b7a-4d52-9c52-0d2f1f7d5a11', '0B8B6C1E-8B7A-4D52-9C52-0D2F1F7D5A11'],
  ] as const
  for (const [index, [field, first, again]] of rows.entries()) {
    const rest = { day: '2026-02-01', place: index }
    t.is((await put(`several/bulk?by=${field}`, [{ ...rest, [field]: first }])).body.created, 1, field)
    t.is((await put(`several/bulk?by=${field}`, [{ [field]: again, ...rest }])).body.updated, 1, field)
  }
})

test('a deleted record keeps its value: 409, and all is undone', async (t) => {
  await put('paranoid/bulk?by=sku', [{ sku: 'gone', name: 'Ann' }])
  const gone = (await listed('paranoid')).find(({ sku }) => sku === 'gone')
  await server.delete(`/api/paranoid/${gone?.id}`)
  const { status, body } = await put('paranoid/bulk?by=sku', [
    { sku: 'fresh', name: 'Ann' },
    { sku: 'gone', name: 'Ada' },
  ])
  t.is(status, 409)
  t.deepEqual(body.errors, { sku: ['is already taken.'] })
  t.false((await listed('paranoid')).some(({ sku }) => sku === 'fresh'))
})

test('with concurrency an item that meets a record needs its version: 428, 412, and a number else 400', async (t) => {
  const by = 'versioned/bulk?by=sku'
  t.is((await put(by, [{ sku: 'a', name: 'Ann' }])).status, 200, 'one that makes a record needs none')
  const missing = await put(by, [
    { sku: 'b', name: 'Bob' },
    { sku: 'a', name: 'Ada' },
  ])
  t.is(missing.status, 428)
  t.deepEqual(missing.body.errors, { '[1]': ['must contain the version that you last read.'] })
  const stale = await put(by, [{ sku: 'b' }, { sku: 'a', name: 'Ada', rowVersion: 3 }])
  t.is(stale.status, 412)
  t.deepEqual(stale.body.errors, { '[1]': ['has changed since you read it.'] })
  const wrong = await put(by, [{ sku: 'a', name: 'Ada', rowVersion: '0' }])
  t.deepEqual(wrong.body.errors, { '[0].rowVersion': ['must be a number.'] })
  const done = await put(by, [
    { sku: 'b', name: 'Bob', rowVersion: 9 },
    { sku: 'a', name: 'Ada', rowVersion: 0 },
  ])
  t.deepEqual(done.body, { created: 1, updated: 1 })
})

test('hooks run once a record, those of what happens, and are told the operation', async (t) => {
  await put('traced/bulk?by=sku', [{ sku: 'a', name: 'Ann' }])
  await put('traced/bulk?by=sku', [
    { sku: 'b', name: 'Bob' },
    { sku: 'a', name: 'Ada' },
  ])
  t.deepEqual(heard, ['create upsert', 'create upsert', 'update upsert'])
})

test('Prefer: return=minimal leaves the numbers', async (t) => {
  const { status, body, headers } = await put('plain/bulk?by=sku', [{ sku: 'a' }], { Prefer: 'return=minimal' })
  t.is(status, 200)
  t.deepEqual(body, { created: 0, updated: 1 })
  t.is(headers.get('preference-applied'), null)
})

test('upsert comes with Replace, or alone by its name', async (t) => {
  t.false('Upsert' in Operations)
  t.is((await put('few/bulk?by=sku', [{ sku: 'a', name: 'Ann' }])).status, 200)
  t.is((await put('few/1', { sku: 'a', name: 'Ann' })).status, 404)
  t.is((await put('few/bulk?by=sku', [{}, {}, {}])).body.code, 'malformed-body')
  const { headers } = await server.send('OPTIONS', '/api/plain/bulk')
  t.is(headers.get('allow'), 'POST, PUT, OPTIONS')
})

// Writes of SQLite run one at a time.
const onServers = server.name === 'sqlite' ? test.skip : test

onServers('a record that another request creates meanwhile is patched, also after deadlocks', async (t) => {
  let calls = 0
  Contested.addHook('beforeCreate', async (created) => {
    calls += 1
    if (calls < 3) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    await Contested.create({ sku: created.get('sku'), name: 'Ann' }, { hooks: false })
  })
  const { status, body } = await put('contested/bulk?by=sku', [{ sku: 'a', name: 'Ada' }])
  t.is(status, 200)
  t.deepEqual(body, { created: 0, updated: 1 })
  t.is(calls, 3)
  t.like(await listed('contested'), [{ sku: 'a', name: 'Ada' }])
})

onServers('requests that write the same new records in opposite orders wait for each other', async (t) => {
  const skus = Array.from({ length: 4 }, (_, index) => `opposite ${index}`)
  const send = (method: string, path: string) =>
    Promise.all(
      [skus, skus.toReversed()].map((order) =>
        server.send(method, path, { json: order.map((sku) => ({ sku, name: 'Ann' })) }),
      ),
    )
  const upserted = await send('PUT', '/api/opposite/bulk?by=sku')
  t.deepEqual(
    upserted.map(({ status }) => status),
    [200, 200],
  )
  t.deepEqual(upserted.map(({ body }) => body.created).sort(), [0, 4])
  await Opposite.destroy({ where: {} })
  const created = await send('POST', '/api/opposite/bulk')
  t.deepEqual(created.map(({ status }) => status).sort(), [201, 409])
  t.is((await listed('opposite')).length, 4)
  // MariaDB and MySQL detect a deadlock at once, and PostgreSQL only after a second.
  if (server.name === 'postgres') t.is(opposite.attempts, 4 + 4 + 1)
})

test('there is no PUT /bulk where nothing tells records apart, and none may be asked for by name', async (t) => {
  t.is((await put('apart/bulk?by=name', [{ name: 'a' }])).status, 405)
  const { headers } = await server.send('OPTIONS', '/api/apart/bulk')
  t.is(headers.get('allow'), 'POST, OPTIONS')
  t.is((await put('apart/1', { name: 'a' })).status, 404)
  t.throws(() => crudRouter(Apart, { operations: ['getList', 'upsert'] }), {
    message: /^apart: the operation upsert needs a key that clients choose, or a unique index/,
  })
})

test('`by` is a parameter of the service while Replace is on: a field of that name is none', async (t) => {
  t.is((await server.get('/api/signed?by=Ann')).body.code, 'unknown-parameter')
  t.is((await server.get('/api/signed?filter=by=Ann')).body.totalCount, 1)
  t.is((await server.get('/read/signed?by=Ann')).body.totalCount, 1)
})

// ---------------------------------------------------------------- JSON lines

test('upsert and bulk create take JSON lines: one object a line, blank lines skipped and not counted', async (t) => {
  const body = '\uFEFF{"sku":"l1","name":"Ann"}\r\n\n  {"sku":"l2","name":"Bob"}\n \n'
  const made = await lines('POST', '/api/plain/bulk', body)
  t.is(made.status, 201)
  t.deepEqual(
    made.body.map(({ name }: { name: string }) => name),
    ['Ann', 'Bob'],
  )
  const put = await lines('PUT', '/api/plain/bulk?by=sku', `${body}{"sku":"l3","name":"Cid"}`)
  t.deepEqual(put.body, { created: 1, updated: 2 })
  t.deepEqual((await lines('PUT', '/api/plain/bulk?by=sku', ' \n')).body, { created: 0, updated: 0 })
  t.is((await lines('PUT', '/api/few/bulk?by=sku', '{"sku":"a"}\n\n{"sku":"b","name":"Bob"}\n')).status, 200)
})

test('errors of lines name the object, by its place among the objects', async (t) => {
  const invalid = await lines('POST', '/api/plain/bulk', '\n{"sku":"m1","name":"Ann"}\n\n{"sku":"m2"}\n[]\n')
  t.deepEqual(invalid.body.errors, { '[1].name': ['is required.'], '[2]': ['must be an object.'] })
  const broken = await lines('PUT', '/api/plain/bulk?by=sku', '{"sku":"m1","name":"Ann"}\n\n{"sku":\n')
  t.is(broken.status, 400)
  t.is(broken.body.code, 'malformed-body')
  t.is(broken.body.detail, '[1] is not valid JSON.')
  const many = await lines('PUT', '/api/few/bulk?by=sku', '{}\n{}\n{}\n')
  t.regex(many.body.detail, /limit of 2 \(bulkItems\)/)
  const large = await lines('PUT', '/api/plain/bulk?by=sku', ' '.repeat(1_200_000))
  t.is(large.status, 413)
})

test('no other operation takes JSON lines, and the answer says what is taken', async (t) => {
  for (const [method, path] of [
    ['POST', '/api/plain'],
    ['POST', '/api/plain/bulk-delete'],
    ['PUT', '/api/plain/1'],
  ] as const) {
    const { status, headers } = await lines(method, path, '{}')
    t.is(status, 415)
    t.is(headers.get('accept'), 'application/json, application/merge-patch+json')
  }
  const text = await server.send('POST', '/api/plain/bulk', { body: '[]', headers: { 'content-type': 'text/plain' } })
  t.is(text.status, 415)
  t.is(text.headers.get('accept'), 'application/json, application/merge-patch+json, application/jsonl')
})

test('lines that the host has read as text are taken', async (t) => {
  const { status, body } = await lines('PUT', '/parsed/api/parsed/bulk?by=sku', '{"sku":"a","name":"Ann"}\n')
  t.is(status, 200)
  t.deepEqual(body, { created: 1, updated: 0 })
})
