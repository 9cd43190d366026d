// `PATCH /{resource}/bulk`: several patches in one request, all or nothing.

import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudController, crudRouter, Operations, Problem } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server

function mount(model: ModelStatic<Model>, options: CrudOptions = {}): void {
  app.use(crudRouter(model, { operations: Operations.AllWithBulk | Operations.BulkUpdate, ...options }))
}

function define(name: string, attributes: ModelAttributes, options: ModelOptions = {}): ModelStatic<Model> {
  return sequelize.define(name, attributes, { name: { singular: name, plural: name }, ...options })
}

const FIELDS: ModelAttributes = {
  name: { type: DataTypes.STRING(20), allowNull: false },
  level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } },
  code: { type: DataTypes.STRING(20), unique: true },
}

function rejects(name: string, problem: Problem): ModelOptions['hooks'] {
  return {
    beforeUpdate: (instance) => {
      if (instance.get('name') === name) throw problem
    },
  }
}

const VARIANTS: readonly (readonly [what: string, model: ModelStatic<Model>])[] = [
  ['a plain model', define('plain', FIELDS)],
  ['a model with instance hooks', define('hooked', FIELDS, { hooks: { beforeUpdate: () => undefined } })],
  ['a model that validates as a whole', define('whole', FIELDS, { validate: { always: () => undefined } })],
  ['a model of snake_case columns', define('snaked', FIELDS, { underscored: true })],
  ['a paranoid model', define('paranoid', FIELDS, { paranoid: true })],
  ['a model with a default scope', define('scoped', FIELDS, { defaultScope: { where: { code: null } } })],
]
for (const [, model] of VARIANTS) mount(model)

const Versioned = define('versioned', { name: DataTypes.STRING })
const Renamed = define('renamed', { name: DataTypes.STRING, revision: DataTypes.INTEGER }, { timestamps: false })
const Slug = define('slug', { slug: { type: DataTypes.STRING(40), primaryKey: true }, name: DataTypes.STRING })
const Uuid = define('uuid', {
  id: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 },
  name: DataTypes.STRING,
})
const Judged = define('judged', {
  name: { type: DataTypes.STRING, validate: { isNice: (value: string) => assertNice(value) } },
  first: DataTypes.INTEGER,
})
const heard: string[] = []
const Traced = define('traced', { name: DataTypes.STRING })
const Few = define('few', { name: DataTypes.STRING })
const Refusing = define('refusing', { name: DataTypes.STRING }, {
  hooks: rejects('bad', new Problem({ status: 400, code: 'validation', errors: { name: ['is bad.'] } })),
} as ModelOptions)

function assertNice(value: string): void {
  if (value === 'rude') throw new Error('is rude.')
}

mount(Versioned, { concurrency: true })
mount(Renamed, { concurrency: { rowVersion: 'revision' } })
mount(Slug)
mount(Uuid)
mount(Judged)
mount(Few, { limits: { bulkItems: 2 } })
mount(Refusing)
mount(Traced, {
  hooks: {
    beforeUpdate: ({ instance, operation }) => void heard.push(`before ${instance.get('name')} ${operation}`),
    afterUpdate: ({ instance, operation, transaction }) =>
      void heard.push(`after ${instance.get('name')} ${operation} ${transaction === undefined ? 'alone' : 'within'}`),
  },
})
const own = crudController(Few, { operations: Operations.BulkUpdate })
app.patch('/own', own.bulkUpdate)

await sequelize.sync()
test.after.always(() => server.close())

async function create(path: string, ...names: string[]): Promise<number[]> {
  const { body } = await server.post(
    `/api/${path}/bulk`,
    names.map((name) => ({ name })),
  )
  return body.map(({ id }: { id: number }) => id)
}

async function namesOf(path: string, ids: readonly unknown[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await server.get(`/api/${path}/${id}`)).body.name))
}

for (const [what, model] of VARIANTS) {
  const path = `/api/${model.name}/bulk`

  test(`${what} is patched in bulk: 200 with the responses in the order of the body, absent fields as they were`, async (t) => {
    const [a, b, c] = await create(model.name, 'Ann', 'Bob', 'Cid')
    const { status, body } = await server.patch(path, [
      { id: c, level: 3 },
      { id: a, name: 'Ada', level: null },
      { id: b },
    ])
    t.is(status, 200)
    t.like(body[0], { id: c, name: 'Cid', level: 3, code: null })
    t.like(body[1], { id: a, name: 'Ada', level: null })
    t.like(body[2], { id: b, name: 'Bob' })
    t.deepEqual((await server.get(`/api/${model.name}/${a}`)).body, body[1])
  })

  test(`${what}: what is wrong with any item is told of all, by place, and nothing is written`, async (t) => {
    const ids = await create(model.name, 'Ann', 'Bob', 'Cid')
    const { status, body } = await server.patch(path, [
      { id: ids[0], name: 'Ada' },
      { id: ids[1], name: null, level: 200 },
      { id: ids[2], level: 'much' },
    ])
    t.is(status, 400)
    t.is(body.code, 'validation')
    t.deepEqual(body.errors, {
      '[1].name': ['cannot be null.'],
      '[1].level': ['must be between 1 and 100.'],
      '[2].level': ['must be an integer.'],
    })
    t.deepEqual(await namesOf(model.name, ids), ['Ann', 'Bob', 'Cid'])
  })

  test(`${what}: every record that is not there is told of, before what is wrong with values`, async (t) => {
    const [a, gone] = await create(model.name, 'Ann', 'Bob')
    await server.delete(`/api/${model.name}/${gone}`)
    const { status, body } = await server.patch(path, [
      { id: a, name: 'Ada', level: 'much' },
      { id: gone, name: 'x' },
      { id: 'abc', name: 'x' },
      { id: 999_999, name: null },
    ])
    t.is(status, 404)
    t.is(body.code, 'not-found')
    t.deepEqual(body.errors, {
      '[1]': ['does not exist.'],
      '[2]': ['does not exist.'],
      '[3]': ['does not exist.'],
    })
    t.deepEqual(await namesOf(model.name, [a]), ['Ann'])
  })

  test(`${what}: a conflict undoes all, and names the field without its place`, async (t) => {
    const [a, b] = await create(model.name, 'Ann', 'Bob')
    await model.unscoped().create({ name: 'Has', code: `${model.name}-1` })
    const { status, body } = await server.patch(path, [
      { id: a, name: 'Ada' },
      { id: b, code: `${model.name}-1` },
    ])
    t.is(status, 409)
    t.deepEqual(body.errors, { code: ['is already taken.'] })
    t.deepEqual(await namesOf(model.name, [a]), ['Ann'])
  })
}

test('a missing key, one that is there twice, and what is no object are 400 before any record is read', async (t) => {
  const [a] = await create('plain', 'Ann')
  const asked = server.statements.length
  const { status, body } = await server.patch('/api/plain/bulk', [
    { id: a },
    { name: 'x' },
    'x',
    { id: a, name: 'again' },
    { id: String(a) },
    { id: null },
  ])
  t.is(status, 400)
  t.deepEqual(body.errors, {
    '[1].id': ['is required.'],
    '[2]': ['must be an object.'],
    '[3].id': ['is there twice.'],
    '[4].id': ['is there twice.'],
    '[5].id': ['is required.'],
  })
  t.is(server.statements.length, asked)
})

test('no array is 400, an empty one 200 with nothing done, and one of too many items 400', async (t) => {
  t.is((await server.patch('/api/plain/bulk', { id: 1 })).body.code, 'malformed-body')
  const empty = await server.patch('/api/plain/bulk', [])
  t.is(empty.status, 200)
  t.deepEqual(empty.body, [])
  const { status, body } = await server.patch('/api/few/bulk', [{ id: 1 }, { id: 2 }, { id: 3 }])
  t.is(status, 400)
  t.regex(body.detail, /limit of 2 \(bulkItems\)/)
})

test('keys of text and UUIDs are read as in a path', async (t) => {
  await server.post('/api/slug', { slug: 'bulk', name: 'a' })
  const { body } = await server.patch('/api/slug/bulk', [{ slug: 'bulk', name: 'b' }])
  t.like(body[0], { slug: 'bulk', name: 'b' })
  const { id } = (await server.post('/api/uuid', { name: 'a' })).body
  t.is((await server.patch('/api/uuid/bulk', [{ id: id.toUpperCase(), name: 'b' }])).body[0].name, 'b')
  const twice = await server.patch('/api/uuid/bulk', [{ id }, { id: id.toUpperCase() }])
  t.deepEqual(twice.body.errors, { '[1].id': ['is there twice.'] })
})

test('where bulk could be a key, the bulk route has PATCH, and the record with that key has its other methods', async (t) => {
  const { status, body } = await server.patch('/api/slug/bulk', { name: 'c' })
  t.is(status, 400)
  t.is(body.detail, 'The body must be a JSON array.')
  t.is((await server.get('/api/slug/bulk')).body.name, 'b')
  const { headers } = await server.send('OPTIONS', '/api/slug/bulk')
  t.is(headers.get('allow'), 'POST, PATCH, GET, HEAD, DELETE, OPTIONS')
})

test('each item needs its version: 428 of all without, 412 of all that are stale, and nothing is written', async (t) => {
  const [a, b, c] = await create('versioned', 'Ann', 'Bob', 'Cid')
  await server.patch(`/api/versioned/${c}`, { name: 'Cyd' }, { 'If-Match': '*' })
  const missing = await server.patch('/api/versioned/bulk', [
    { id: a, rowVersion: 0, name: 'x' },
    { id: b, name: 'x' },
    { id: c, rowVersion: 0, name: 5 },
  ])
  t.is(missing.status, 428)
  t.is(missing.body.code, 'precondition-required')
  t.deepEqual(missing.body.errors, { '[1]': ['must contain the version that you last read.'] })
  const stale = await server.patch('/api/versioned/bulk', [
    { id: a, rowVersion: 0, name: 'x' },
    { id: b, rowVersion: 7, name: 'x' },
    { id: c, rowVersion: 0, name: 5 },
  ])
  t.is(stale.status, 412)
  t.is(stale.body.code, 'precondition-failed')
  t.deepEqual(stale.body.errors, {
    '[1]': ['has changed since you read it.'],
    '[2]': ['has changed since you read it.'],
  })
  t.deepEqual(await namesOf('versioned', [a, b, c]), ['Ann', 'Bob', 'Cyd'])
  const done = await server.patch('/api/versioned/bulk', [
    { id: a, rowVersion: 0, name: 'x' },
    { id: c, rowVersion: 1 },
  ])
  t.is(done.status, 200)
  t.is((await server.get(`/api/versioned/${a}`)).headers.get('etag'), 'W/"1"')
  t.is((await server.get(`/api/versioned/${c}`)).headers.get('etag'), 'W/"2"', 'an empty patch raises it as well')
})

test('a version that is no number is 400, one that is no version is stale, and there is no *', async (t) => {
  const [a] = await create('versioned', 'Ann')
  for (const rowVersion of ['0', '*', null, true, [0]]) {
    const { status, body } = await server.patch('/api/versioned/bulk', [{ id: a, rowVersion }])
    t.is(status, 400)
    t.deepEqual(body.errors, { '[0].rowVersion': ['must be a number.'] })
  }
  for (const rowVersion of [-1, 0.5, 1e300]) {
    t.is((await server.patch('/api/versioned/bulk', [{ id: a, rowVersion }])).status, 412)
  }
  t.is((await server.patch('/api/versioned/bulk', [{ id: a }], { 'If-Match': '*' })).status, 428)
})

test('a row from before the column existed has the first version, under whatever name', async (t) => {
  const { id } = (await Renamed.create({ name: 'old' })).get() as { id: number }
  await Renamed.update({ revision: null }, { where: { id } })
  t.is((await server.patch('/api/renamed/bulk', [{ id, revision: 1 }])).status, 412)
  t.is((await server.patch('/api/renamed/bulk', [{ id, revision: 0, name: 'new' }])).status, 200)
})

test("the model's own validators are asked before anything is written", async (t) => {
  const ids = await create('judged', 'Ann', 'Bob')
  const { status, body } = await server.patch('/api/judged/bulk', [
    { id: ids[0], name: 'Ada' },
    { id: ids[1], name: 'rude', first: 'x' },
  ])
  t.is(status, 400)
  t.deepEqual(body.errors, { '[1].name': ['is rude.'], '[1].first': ['must be an integer.'] })
  t.deepEqual(await namesOf('judged', ids), ['Ann', 'Bob'])
})

test('a Problem about fields that a hook throws gets the place of its record, and undoes all', async (t) => {
  const ids = await create('refusing', 'Ann', 'Bob')
  const { status, body } = await server.patch('/api/refusing/bulk', [
    { id: ids[0], name: 'Ada' },
    { id: ids[1], name: 'bad' },
  ])
  t.is(status, 400)
  t.deepEqual(body.errors, { '[1].name': ['is bad.'] })
  t.deepEqual(await namesOf('refusing', ids), ['Ann', 'Bob'])
})

test('hooks of the options run once a record, in order, and are told the operation', async (t) => {
  const ids = await create('traced', 'Ann', 'Bob')
  heard.length = 0
  await server.patch('/api/traced/bulk', [
    { id: ids[1], name: 'two' },
    { id: ids[0], name: 'one' },
  ])
  t.deepEqual(heard, [
    'before two bulkUpdate',
    'after two bulkUpdate within',
    'before one bulkUpdate',
    'after one bulkUpdate within',
  ])
})

test('Prefer: return=minimal is 204', async (t) => {
  const [a] = await create('plain', 'Ann')
  const { status, text, headers } = await server.patch('/api/plain/bulk', [{ id: a, name: 'Ada' }], {
    Prefer: 'return=minimal',
  })
  t.is(status, 204)
  t.is(text, '')
  t.is(headers.get('preference-applied'), 'return=minimal')
  t.deepEqual(await namesOf('plain', [a]), ['Ada'])
})

test('the handler of a controller does the same, and is 404 where the operation is off', async (t) => {
  const [a] = await create('few', 'Ann')
  t.is((await server.patch('/own', [{ id: a, name: 'Ada' }])).body[0].name, 'Ada')
  t.is(Operations.BulkUpdate, 1024)
  t.is(Operations.AllWithBulk & Operations.BulkUpdate, 0)
})

test('bulk updates of the same records in opposite orders all succeed or say that they could not, and none is torn', async (t) => {
  const ids = await create('plain', 'a', 'b', 'c')
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, turn) => {
      const items = ids.map((id) => ({ id, name: `turn ${turn}` }))
      return server.patch('/api/plain/bulk', turn % 2 === 0 ? items : items.reverse())
    }),
  )
  for (const { status } of answers) t.is(status, 200)
  t.is(new Set(await namesOf('plain', ids)).size, 1)
})

test('bulk updates of a model with find hooks lock their records in one order: none is rolled back', async (t) => {
  const searched = define('searched', FIELDS, { hooks: { beforeFind: () => undefined } })
  mount(searched)
  await searched.sync()
  await searched.bulkCreate(Array.from({ length: 8 }, (_, index) => ({ id: index + 1, name: 'old', level: 1 })))
  server.statements.length = 0
  const items = (name: string): object[] => Array.from({ length: 8 }, (_, index) => ({ id: index + 1, name }))
  const answers = await Promise.all(
    [items('a'), items('b').reverse(), items('c'), items('d').reverse()].map((json) =>
      server.patch('/api/searched/bulk', json),
    ),
  )
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  t.is(new Set((await searched.findAll()).map((one) => one.get('name'))).size, 1)
  t.deepEqual(
    server.statements.filter((sql) => sql.includes('ROLLBACK')),
    [],
  )
})
