// `PUT /{resource}/{key}`: the record is what the body says, and where the client chooses keys it may be made.

import ava from 'ava'
import { DataTypes, literal, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudController, crudRouter, Operations } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const heard: string[] = []

function mount(model: ModelStatic<Model>, options: CrudOptions = {}): void {
  app.use(crudRouter(model, { operations: Operations.All | Operations.Replace, ...options }))
}

function define(name: string, attributes: ModelAttributes, options: ModelOptions = {}): ModelStatic<Model> {
  return sequelize.define(name, attributes, {
    name: { singular: name, plural: name },
    timestamps: false,
    ...options,
  })
}

const FIELDS: ModelAttributes = {
  name: { type: DataTypes.STRING(20), allowNull: false },
  level: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 7, validate: { min: 1, max: 100 } },
  note: DataTypes.STRING(20),
  code: { type: DataTypes.STRING(20), unique: true },
}

const VARIANTS: readonly (readonly [what: string, model: ModelStatic<Model>])[] = [
  ['a plain model', define('plain', FIELDS)],
  ['a model with instance hooks', define('hooked', FIELDS, { hooks: { beforeUpdate: () => undefined } })],
  ['a model that validates as a whole', define('whole', FIELDS, { validate: { always: () => undefined } })],
  ['a model of snake_case columns', define('snaked', FIELDS, { underscored: true, timestamps: true })],
  ['a paranoid model', define('paranoid', FIELDS, { paranoid: true, timestamps: true })],
  ["a model with Sequelize's own version", define('counted', FIELDS, { version: true })],
]
for (const [, model] of VARIANTS) mount(model)

const SLUG: ModelAttributes = {
  slug: { type: DataTypes.STRING(40), primaryKey: true },
  name: { type: DataTypes.STRING, allowNull: false },
  code: { type: DataTypes.STRING(20), unique: true },
}
const SLUGS: readonly (readonly [what: string, model: ModelStatic<Model>])[] = [
  ['a plain model', define('slug', SLUG)],
  ['a model with hooks', define('hookedslug', SLUG, { hooks: { beforeCreate: () => undefined } })],
  ['a paranoid model', define('paranoidslug', SLUG, { paranoid: true, timestamps: true })],
]
for (const [, model] of SLUGS) mount(model)

const Numbered = define('numbered', { id: { type: DataTypes.INTEGER, primaryKey: true }, name: DataTypes.STRING })
const Versioned = define('versioned', { ...SLUG })
const Assigned = define('assigned', { name: DataTypes.STRING })
const Defaults = define('defaults', {
  moment: { type: DataTypes.DATE, defaultValue: DataTypes.NOW },
  token: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
  three: { type: DataTypes.INTEGER, defaultValue: literal('(1 + 2)') },
  made: { type: DataTypes.STRING, allowNull: false },
  asked: { type: DataTypes.STRING, defaultValue: 'x' },
  extra: { type: DataTypes.JSON, defaultValue: { a: 1 } },
  fixed: { type: DataTypes.STRING, defaultValue: 'fixed' },
  shout: { type: DataTypes.VIRTUAL, get: () => 'virtual', set: () => undefined },
})
const Named = define('named', {
  first: DataTypes.STRING(20),
  last: { type: DataTypes.STRING(20), defaultValue: 'Doe' },
  full: {
    type: DataTypes.VIRTUAL(DataTypes.STRING),
    get() {
      return `${this.get('first')} ${this.get('last')}`
    },
    set(value: string) {
      const [first, last] = value.split(' ')
      this.set({ first, last })
    },
  },
})
const Traced = define('traced', SLUG)
const Failing = define('failing', SLUG)
const Contested = define('contested', SLUG)

mount(Contested, { limits: { retries: 1 }, onError: () => undefined })
mount(Numbered)
mount(Named)
mount(Versioned, { concurrency: true })
mount(Assigned, { concurrency: true })
mount(Defaults, {
  fields: { made: { rules: { required: false } }, asked: { rules: { required: true } }, fixed: { exclude: 'update' } },
})
mount(Traced, {
  hooks: {
    beforeCreate: ({ operation }) => void heard.push(`create ${operation}`),
    beforeUpdate: ({ operation }) => void heard.push(`update ${operation}`),
  },
})
const failures: unknown[] = []
mount(Failing, {
  identity: () => ({ name: 'x', roles: new Set(), permissions: new Set(), claims: {} }),
  createPolicy: () => {
    throw new TypeError('the policy is broken')
  },
  onError: (error) => failures.push(error),
})
const Confined = define('confined', { ...SLUG, tenant: DataTypes.INTEGER })
const decided: string[] = []
let mayCreate = true
mount(Confined, {
  scope: () => ({ tenant: 1 }),
  createPolicy: ({ operation }) => {
    decided.push(operation)
    return mayCreate
  },
})
const Placed = define('placed', {
  shelf: { type: DataTypes.INTEGER, primaryKey: true },
  place: { type: DataTypes.INTEGER, primaryKey: true },
  name: DataTypes.STRING,
})
mount(Placed, { scope: () => ({ shelf: 1 }) })
const own = crudController(Numbered, { operations: Operations.Replace })
app.put('/own/:id', own.replace)

await sequelize.sync()
test.after.always(() => server.close())

const put = (path: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  server.send('PUT', `/api/${path}`, { json, headers })

for (const [what, model] of VARIANTS) {
  const { name } = model

  test(`${what}: what the body does not name gets its default, or null, and a GET shows what the reply did`, async (t) => {
    const { id } = (await server.post(`/api/${name}`, { name: 'Ann', level: 50, note: 'n', code: 'c' })).body
    const { status, body, headers } = await put(`${name}/${id}`, { name: 'Ada' })
    t.is(status, 200)
    t.is(headers.get('location'), null)
    t.like(body, { id, name: 'Ada', level: 7, note: null, code: null })
    t.deepEqual((await server.get(`/api/${name}/${id}`)).body, body)
  })

  test(`${what}: what is required must be there, and is told with what else is wrong`, async (t) => {
    const { id } = (await server.post(`/api/${name}`, { name: 'Ann', note: 'n' })).body
    const { status, body } = await put(`${name}/${id}`, { level: 500 })
    t.is(status, 400)
    t.deepEqual(body.errors, { name: ['is required.'], level: ['must be between 1 and 100.'] })
    t.is((await server.get(`/api/${name}/${id}`)).body.note, 'n')
  })

  test(`${what}: a record that does not exist is 404 where the database assigns keys, whatever the body has`, async (t) => {
    for (const path of [`${name}/999999`, `${name}/abc`]) {
      for (const json of [{ name: 'Ada' }, {}]) {
        const { status, body } = await put(path, json)
        t.is(status, 404)
        t.is(body.code, 'not-found')
      }
      t.is((await put(path, { name: 'Ada' }, { 'If-Match': '*' })).status, 404)
      t.is((await put(path, { name: 'Ada' }, { 'If-None-Match': '*' })).status, 404)
    }
  })
}

test('a body that was read can be sent back, and one with another key is 400 before any record is read', async (t) => {
  const { body } = await server.post('/api/plain', { name: 'Ann', level: 3 })
  t.deepEqual((await put(`plain/${body.id}`, body)).body, body)
  t.deepEqual((await put(`plain/${body.id}`, { ...body, id: String(body.id) })).body, body)
  const asked = server.statements.length
  for (const id of [body.id + 1, null, true, 'x', [body.id]]) {
    const { status, body: refused } = await put(`plain/${body.id}`, { ...body, id })
    t.is(status, 400)
    t.deepEqual(refused.errors, { id: ['must be the key in the path.'] })
  }
  t.is(server.statements.length, asked)
})

test('defaults are made anew: functions, expressions and objects; what hooks fill, and what is not for updates, stays', async (t) => {
  const first = (await server.post('/api/defaults', { made: 'by hook', asked: 'y', three: 9, extra: [] })).body
  const missing = await put(`defaults/${first.id}`, {})
  t.deepEqual(missing.body.errors, { asked: ['is required.'] })
  await Defaults.update({ fixed: 'kept', moment: new Date(0) }, { where: { id: first.id } })
  const { status, body } = await put(`defaults/${first.id}`, { asked: 'z' })
  t.is(status, 200)
  t.like(body, { made: 'by hook', asked: 'z', three: 3, fixed: 'kept', shout: 'virtual' })
  t.deepEqual(body.extra, { a: 1 })
  t.not(body.token, first.token)
  t.true(Date.parse(body.moment) > 0)
})

test('columns that a setter of the body sets keep what it sets, and others get their defaults', async (t) => {
  const { id } = (await server.post('/api/named', { full: 'Ann Bee' })).body
  const { status, body } = await put(`named/${id}`, { full: 'Cid Dee' })
  t.is(status, 200)
  t.deepEqual(body, { id, first: 'Cid', last: 'Dee', full: 'Cid Dee' })
  t.deepEqual((await server.get(`/api/named/${id}`)).body, body)
  t.like((await put(`named/${id}`, { first: 'Eve' })).body, { first: 'Eve', last: 'Doe' })
})

test("bodies cannot set Sequelize's own version, and a record that was read can be sent back", async (t) => {
  const { id } = (await server.post('/api/counted', { name: 'Ann', version: 5 })).body
  const { body: read } = await server.get(`/api/counted/${id}`)
  t.is(read.version, 0)
  for (const [method, version] of [
    ['PUT', 1],
    ['PATCH', 2],
  ] as const) {
    const { status, body } = await server.send(method, `/api/counted/${id}`, { json: { ...read, name: method } })
    t.deepEqual([status, body], [200, { ...read, name: method, version }])
  }
})

for (const [what, model] of SLUGS) {
  const { name } = model

  test(`${what}: where the client chooses keys a missing record is made: 201 with Location, and 200 from then on`, async (t) => {
    const made = await put(`${name}/a%20b`, { name: 'Ann', code: `${name}1` })
    t.is(made.status, 201)
    t.is(made.headers.get('location'), `/api/${name}/a%20b`)
    t.like(made.body, { slug: 'a b', name: 'Ann' })
    const again = await put(`${name}/a%20b`, { slug: 'a b', name: 'Ada' })
    t.is(again.status, 200)
    t.is(again.headers.get('location'), null)
    t.like(again.body, { name: 'Ada', code: null })
    t.deepEqual((await put(`${name}/new`, {})).body.errors, { name: ['is required.'] })
    t.is((await server.get(`/api/${name}/new`)).status, 404)
  })

  test(`${what}: If-None-Match: * only makes, and If-Match only changes`, async (t) => {
    const isNew = { 'If-None-Match': '*' }
    t.is((await put(`${name}/only`, { name: 'Ann' }, isNew)).status, 201)
    const twice = await put(`${name}/only`, {}, isNew)
    t.is(twice.status, 412)
    t.is(twice.body.code, 'precondition-failed')
    t.is((await server.get(`/api/${name}/only`)).body.name, 'Ann')
    for (const tag of ['*', 'W/"1"']) {
      t.is((await put(`${name}/nowhere`, { name: 'Ann' }, { 'If-Match': tag })).status, 412)
      t.is((await put(`${name}/only`, { name: 'Ann' }, { 'If-Match': tag })).status, 200)
    }
    t.is((await server.get(`/api/${name}/nowhere`)).status, 404)
  })

  test(`${what}: a unique value that another record has is 409, for a new record and for an old one`, async (t) => {
    await put(`${name}/has`, { name: 'Has', code: 'taken' })
    for (const path of [`${name}/fresh`, `${name}/only`]) {
      const { status, body } = await put(path, { name: 'x', code: 'taken' })
      t.is(status, 409)
      t.deepEqual(body.errors, { code: ['is already taken.'] })
    }
    t.is((await server.get(`/api/${name}/fresh`)).status, 404)
  })

  test(`${what}: twenty at once for one new key make one record, and the others replace it`, async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => put(`${name}/race`, { name: `turn ${turn}` })),
    )
    const statuses = answers.map(({ status }) => status)
    t.is(statuses.filter((status) => status === 201).length, 1, String(statuses))
    t.is(statuses.filter((status) => status === 200).length, 19, String(statuses))
  })
}

test('a deleted record keeps its key: 409', async (t) => {
  await put('paranoidslug/gone', { name: 'Ann' })
  await server.delete('/api/paranoidslug/gone')
  const { status, body } = await put('paranoidslug/gone', { name: 'Ada' })
  t.is(status, 409)
  t.is(body.code, 'conflict')
  t.is((await server.get('/api/paranoidslug/gone')).status, 404)
})

test('what a scope sets of the key is what the path has, or no record is made', async (t) => {
  await Placed.create({ shelf: 2, place: 5, name: 'theirs' } as never)
  for (const key of ['2~1', '2~5']) {
    const { status, body } = await put(`placed/${key}`, { name: 'x' })
    t.deepEqual([status, body.detail], [403, 'You may not create a record with this shelf.'])
  }
  t.is(await Placed.count(), 1)
  t.is((await put('placed/1~5', { name: 'mine' })).status, 201)
  t.is((await put('placed/2~5', { name: 'x' })).status, 403)
})

test('numeric keys that the client chooses are made as numbers', async (t) => {
  const made = await put('numbered/41', { name: 'Ann' })
  t.is(made.status, 201)
  t.deepEqual(made.body, { id: 41, name: 'Ann' })
  t.is((await put('numbered/041', { name: 'Ann' })).status, 404, 'a key that cannot be one is that of no record')
  const controlled = await server.send('PUT', '/own/42', { json: { name: 'Bob' } })
  t.is(controlled.status, 201)
  t.is(controlled.headers.get('location'), '/own/42')
})

test('with concurrency a replacement asks for If-Match, or for If-None-Match: *', async (t) => {
  const none = await put('versioned/v', { name: 'Ann' })
  t.is(none.status, 428)
  t.is((await put('versioned/v', { name: 'Ann' }, { 'If-Match': '*' })).status, 412, 'it could be made, but exists not')
  t.is((await put('versioned/v', { name: 'Ann' }, { 'If-Match': 'W/"0"' })).status, 412)
  const made = await put('versioned/v', { name: 'Ann' }, { 'If-None-Match': '*' })
  t.is(made.status, 201)
  t.is(made.headers.get('etag'), 'W/"0"')
  t.is((await put('versioned/v', { name: 'Ada' })).status, 428)
  t.is((await put('versioned/v', { name: 'Ada' }, { 'If-Match': 'W/"4"' })).status, 412)
  const done = await put('versioned/v', { name: 'Ada' }, { 'If-Match': 'W/"0"' })
  t.is(done.status, 200)
  t.is(done.headers.get('etag'), 'W/"1"')
  t.is((await put('versioned/v', { name: 'Ada' }, { 'If-None-Match': '*', 'If-Match': '*' })).status, 412)
})

test('where the database assigns keys, 404 comes before 428 and 412', async (t) => {
  t.is((await put('assigned/999', { name: 'x' })).status, 404)
  t.is((await put('assigned/999', { name: 'x' }, { 'If-Match': 'W/"1"' })).status, 404)
})

test('Prefer: return=minimal is 204 for a replacement, and 201 for a new record', async (t) => {
  const minimal = { Prefer: 'return=minimal' }
  const made = await put('versioned/m', { name: 'Ann' }, { ...minimal, 'If-None-Match': '*' })
  t.is(made.status, 201)
  t.is(made.text, '')
  t.is(made.headers.get('location'), '/api/versioned/m')
  t.is(made.headers.get('etag'), 'W/"0"')
  const done = await put('versioned/m', { name: 'Ada' }, { ...minimal, 'If-Match': '*' })
  t.is(done.status, 204)
  t.is(done.text, '')
  t.is(done.headers.get('etag'), 'W/"1"')
  t.is(done.headers.get('preference-applied'), 'return=minimal')
})

test('the hooks are those of what happens, and are told the operation', async (t) => {
  heard.length = 0
  await put('traced/t', { name: 'Ann' })
  await put('traced/t', { name: 'Ada' })
  t.deepEqual(heard, ['create replace', 'update replace'])
})

test('a create policy that fails is a failure, and no refusal to be kept for when there is something to create', async (t) => {
  await Failing.create({ slug: 'there', name: 'x' })
  for (const slug of ['there', 'missing']) t.is((await put(`failing/${slug}`, { name: 'y' })).status, 500)
  t.deepEqual(failures.map(String), Array(2).fill('TypeError: the policy is broken'))
})

test('who may make a record is asked once, whether or not there is one, and not of one that the scope refuses', async (t) => {
  for (const status of [201, 200]) {
    decided.length = 0
    t.is((await put('confined/a', { name: 'x' })).status, status)
    t.deepEqual(decided, ['replace'])
  }
  mayCreate = false
  decided.length = 0
  t.is((await put('confined/a', { name: 'y' })).status, 200)
  t.is((await put('confined/b', { name: 'y' })).status, 401)
  t.deepEqual(decided, ['replace', 'replace'])
  decided.length = 0
  const { status, body } = await put('confined/b', { name: 'y', tenant: 2 })
  t.deepEqual([status, body.detail], [403, 'You may not create a record with this tenant.'])
  t.deepEqual(decided, [])
  t.is(await Confined.count(), 1)
})

test('a PUT that would create a record is retried after deadlocks as often as any write', async (t) => {
  let calls = 0
  Contested.addHook('beforeCreate', () => {
    calls += 1
    throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
  })
  for (const headers of [{}, { 'if-none-match': '*' }]) {
    calls = 0
    const { status } = await server.send('PUT', '/api/contested/new', { json: { name: 'New' }, headers })
    t.is(status, 503)
    t.is(calls, 2)
  }
})

test('the route is there with the operation alone', async (t) => {
  t.is(Operations.Replace, 2048)
  t.is(Operations.AllWithBulk & Operations.Replace, 0)
  const { headers } = await server.send('OPTIONS', '/api/plain/1')
  t.is(headers.get('allow'), 'GET, HEAD, PATCH, DELETE, PUT, OPTIONS')
  t.is((await put('plain/1', [])).body.code, 'malformed-body')
})
