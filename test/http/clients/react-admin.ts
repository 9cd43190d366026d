// The data provider of react-admin: what it answers is what react-admin's own provider of sample data answers over the
// same rows, and what that one does not know of (versions, problems, searches, relations, events) is held by hand.

import { randomInt } from 'node:crypto'
import ava, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { DataProvider } from 'ra-core'
import fakerest from 'ra-data-fakerest'
import { DataTypes } from 'sequelize'
import { Server } from 'socket.io'
import { ProblemError } from '../../../lib/client/index.js'
import { crudRouter, Operations } from '../../../lib/index.js'
import { dataProvider, type RealtimeEvent } from '../../../lib/react-admin/index.js'
import { serve } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const CONFLICT = 'Somebody else has changed this record. Reload it and apply your change again.'

const WORDS = [
  'amber',
  'birch',
  'cedar',
  'delta',
  'ember',
  'fjord',
  'grove',
  'haven',
  'inlet',
  'jetty',
  'knoll',
  'lagoon',
]
const AUTHORS = [1, 2, 3].map((id) => ({ id, name: `author ${id}` }))
/** Titles and views are unique, so that every order by one of them is the only one. */
const POSTS = WORDS.map((title, index) => ({
  id: index + 1,
  title,
  views: (index * 7) % 12,
  published: index % 3 === 0,
  day: `2026-11-${10 + ((index * 5) % 12)}`,
  authorId: 1 + (index % 3),
}))

const io = new Server()
const requests: string[] = []
const served = await openStage(({ sequelize }, app) => {
  const options = { timestamps: false }
  // New objects each time: Sequelize writes into them.
  const unique = () => ({ type: DataTypes.STRING(20), allowNull: false, unique: true })
  const number = () => ({ type: DataTypes.INTEGER, allowNull: false })
  const part = () => ({ type: DataTypes.STRING(20), primaryKey: true })
  const Author = sequelize.define('author', { name: { ...unique(), validate: { len: [2, 20] } } }, options)
  const Post = sequelize.define(
    'post',
    {
      title: unique(),
      views: { ...number(), validate: { min: 0 } },
      published: { type: DataTypes.BOOLEAN, allowNull: false },
      day: { type: DataTypes.DATEONLY, allowNull: false },
      authorId: number(),
    },
    options,
  )
  const version = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }
  const Order = sequelize.define(
    'order',
    { customer: unique(), note: DataTypes.STRING(20), rowVersion: version },
    options,
  )
  const Line = sequelize.define(
    'line',
    { product: DataTypes.STRING(20), quantity: { ...number(), validate: { min: 1 } }, orderId: number() },
    options,
  )
  const Code = sequelize.define('code', { code: part(), text: DataTypes.STRING(20) }, options)
  const Seat = sequelize.define('seat', { row: part(), place: part(), guest: DataTypes.STRING(20) }, options)
  Author.hasMany(Post, { as: 'posts', foreignKey: 'authorId' })
  Post.belongsTo(Author, { as: 'author', foreignKey: 'authorId' })
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  app.use((request, _, next) => {
    requests.push(`${request.method} ${decodeURIComponent(request.url)}`)
    next()
  })
  app.use(crudRouter(Author, { relations: { posts: { routes: true } } }))
  app.use(crudRouter(Post, { query: { search: ['title', 'author.name'] }, relations: { author: true } }))
  app.use(
    crudRouter(Order, {
      concurrency: { inBody: true },
      push: { io },
      relations: { lines: { write: true } },
    }),
    crudRouter(Line, { operations: Operations.All }),
  )
  app.use(crudRouter(Code, { keyProperty: 'code' }), crudRouter(Seat, { keyProperty: ['row', 'place'] }))
  return { Author, Post, Order, Line, Code, Seat }
})
const { Author, Post } = served
// The database counts: PostgreSQL would not know of ids that it has not given.
await Author.bulkCreate(AUTHORS.map(({ id: _, ...author }) => author))
await Post.bulkCreate(POSTS.map(({ id: _, ...post }) => post))
io.attach(served.server)
test.after.always(async () => {
  await io.close()
  await served.close()
})

const provider = dataProvider(`${served.url}/api/`, {
  resources: {
    posts: { search: true },
    writers: { path: 'authors' },
    codes: { key: 'code' },
    seats: { key: ['row', 'place'] },
  },
})

/** A fresh oracle: it keeps the rows that it is given, and changes them. */
function oracle(): DataProvider {
  return fakerest({ posts: structuredClone(POSTS), authors: structuredClone(AUTHORS) })
}

/** What was sent while something was done. */
async function sent(act: () => Promise<unknown>): Promise<string[]> {
  const before = requests.length
  await act()
  return requests.slice(before)
}

// ---------------------------------------------------------------- as the oracle has it

const views = fc.integer({ min: -1, max: 13 })
const day = fc.integer({ min: 9, max: 22 }).map((date) => `2026-11-${String(date).padStart(2, '0')}`)
const title = fc.oneof(fc.constantFrom(...WORDS), fc.constantFrom('a', 'er', 'zz', 'ove'))
const suffix = fc.constantFrom('', '_eq', '_neq', '_gt', '_gte', '_lt', '_lte')
const anyOf = fc.constantFrom('_eq_any', '_neq_any')

const condition: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  fc.record({ by: suffix, views }).map(({ by, views }) => ({ [`views${by}`]: views })),
  fc.record({ by: suffix, views }).map(({ by, views }) => ({ [`views${by}`]: String(views) })),
  fc.record({ by: suffix, title }).map(({ by, title }) => ({ [`title${by}`]: title })),
  fc.record({ by: suffix, day }).map(({ by, day }) => ({ [`day${by}`]: day })),
  fc.record({ by: anyOf, many: fc.array(views, { maxLength: 4 }) }).map(({ by, many }) => ({ [`views${by}`]: many })),
  fc.record({ by: anyOf, many: fc.array(title, { maxLength: 4 }) }).map(({ by, many }) => ({ [`title${by}`]: many })),
  fc.array(fc.integer({ min: 0, max: 14 }), { maxLength: 4 }).map((id) => ({ id })),
  fc.array(title, { maxLength: 3 }).map((many) => ({ title_inc_any: many })),
  title.map((word) => ({ title_q: word.toUpperCase() })),
  fc.boolean().map((published) => ({ published })),
  fc.boolean().map((published) => ({ published: String(published) })),
)
const filters = fc.array(condition, { maxLength: 3 }).map((each) => Object.assign({}, ...each))
const asked = fc.record({
  filter: filters,
  sort: fc.record({
    field: fc.constantFrom('id', 'title', 'views', 'day'),
    order: fc.constantFrom('ASC' as const, 'DESC' as const),
  }),
  pagination: fc.record({ page: fc.integer({ min: 1, max: 4 }), perPage: fc.integer({ min: 1, max: 15 }) }),
})

// REACT_ADMIN_SEED=n repeats a run.
const seed = Number(process.env.REACT_ADMIN_SEED ?? randomInt(2 ** 31))

test('lists in any order, by any filter and page, are those of the oracle', async (t) => {
  const right = oracle()
  await fc.assert(
    fc.asyncProperty(asked, async (params) => {
      const { data, total } = await right.getList('posts', params)
      t.deepEqual(await provider.getList('posts', params), { data, total })
    }),
    { numRuns: 150, seed },
  )
})

test('lists of what refers to a record are those of the oracle', async (t) => {
  const right = oracle()
  await fc.assert(
    fc.asyncProperty(asked, fc.integer({ min: 1, max: 4 }), async (params, id) => {
      const given = { ...params, target: 'authorId', id }
      const { data, total } = await right.getManyReference('posts', given)
      t.deepEqual(await provider.getManyReference('posts', given), { data, total })
    }),
    { numRuns: 50, seed },
  )
})

test('records are read, created, updated and deleted as by the oracle', async (t) => {
  const right = oracle()
  const both = async (act: (of: DataProvider) => Promise<{ readonly data?: unknown }>): Promise<void> => {
    const expected = (await act(right)).data
    t.deepEqual((await act(provider)).data, expected)
  }
  await both((of) => of.getOne('posts', { id: 3 }))
  await both((of) => of.getMany('posts', { ids: [5, 2, 9] }))
  const data = { title: 'marsh', views: 100, published: false, day: '2026-12-01', authorId: 2 }
  await both((of) => of.create('posts', { data }))
  const previousData = { id: 13, ...data }
  await both((of) => of.update('posts', { id: 13, data: { ...previousData, views: 101 }, previousData }))
  await both((of) => of.updateMany('posts', { ids: [2, 13], data: { published: true } }))
  await both((of) => of.getMany('posts', { ids: [2, 13] }))
  await both((of) => of.create('posts', { data: { ...data, title: 'north', views: 102 } }))
  const last = { ...data, id: 14, title: 'north', views: 102 }
  await both((of) => of.delete('posts', { id: 14, previousData: last }))
  await both((of) => of.deleteMany('posts', { ids: [13] }))
  await both((of) =>
    of.getList('posts', { filter: {}, sort: { field: 'id', order: 'DESC' }, pagination: { page: 1, perPage: 3 } }),
  )
  await both((of) =>
    of.update('posts', { id: 2, data: { published: false }, previousData: { id: 2, published: true } }),
  )
  await t.throwsAsync(provider.getOne('posts', { id: 99 }), { instanceOf: ProblemError, message: /Not Found/ })
})

// ---------------------------------------------------------------- lists

test('the words of the search box are sent as `search`, and nothing is where the resource is not said to have one', async (t) => {
  const found = await provider.getList('posts', { filter: { q: 'author 2', views_lt: 8 } })
  t.true(found.data.length > 0 && found.data.every(({ authorId }) => authorId === 2))
  t.regex(requests.at(-1) ?? '', /search=author\+2/)
  t.is((await provider.getList('posts', { filter: { q: '' } })).total, 12)
  const unsent = await sent(() =>
    t.throwsAsync(provider.getList('authors', { filter: { q: 'x' } }), {
      instanceOf: TypeError,
      message: /search: true/,
    }),
  )
  t.deepEqual(unsent, [])
})

test('filters follow paths, written with dots or as objects in objects, and take null', async (t) => {
  const byPath = await provider.getList('posts', { filter: { 'author.name': 'author 3' } })
  t.is(byPath.total, 4)
  t.deepEqual(await provider.getList('posts', { filter: { author: { name: 'author 3' } } }), byPath)
  t.is((await provider.getList('orders', { filter: { note: null, note_neq: null } })).total, 0)
  await t.throwsAsync(provider.getList('posts', { filter: { views_gt: [1] } }), { instanceOf: TypeError })
})

test('where totals are off the page says whether there are more', async (t) => {
  const pagination = { page: 2, perPage: 5 }
  const { data, ...rest } = await provider.getList('posts', { pagination, meta: { parameters: { count: 'none' } } })
  t.is(data.length, 5)
  t.deepEqual(rest, { pageInfo: { hasNextPage: true, hasPreviousPage: true } } as never)
})

test('parameters of the application go with every read', async (t) => {
  const parameters = { select: 'id,title,author.name', filter: 'views>9' }
  const { data } = await provider.getList('posts', { filter: { views_lt: 11 }, meta: { parameters } })
  t.deepEqual(
    data,
    [{ id: 11, title: 'knoll', author: { name: 'author 2' } }].filter(({ id }) => id === data[0]?.id),
  )
  t.is(data.length, 1)
  const { data: one } = await provider.getOne('posts', { id: 1, meta: { parameters: { select: 'id,title' } } })
  t.deepEqual(one, { id: 1, title: 'amber' })
})

test('many records come in requests of fifty keys each, in the order of the keys, and without those that are gone', async (t) => {
  const ids = [12, 400, 1, ...Array.from({ length: 60 }, (_, index) => index + 100), 7]
  let data: readonly { id: unknown }[] = []
  const asked = await sent(async () => {
    data = (await provider.getMany('posts', { ids })).data
  })
  t.deepEqual(
    data.map(({ id }) => id),
    [12, 1, 7],
  )
  t.is(asked.length, 2)
  t.deepEqual(await sent(() => provider.getMany('posts', { ids: [] })), [])
})

test('an id or resource that would lead to another address is not sent, and an empty reference has no record', async (t) => {
  const asked = await sent(async () => {
    for (const id of ['', '.', '..']) {
      await t.throwsAsync(provider.getOne('codes', { id }), { instanceOf: TypeError }, id)
      await t.throwsAsync(provider.update('codes', { id, data: { text: 'a' }, previousData: { id } }), undefined, id)
      await t.throwsAsync(provider.updateMany('codes', { ids: [id], data: { text: 'a' } }), undefined, id)
      await t.throwsAsync(provider.delete('codes', { id }), undefined, id)
      await t.throwsAsync(provider.deleteMany('codes', { ids: [id] }), undefined, id)
      const target = { target: 'authors/posts', id, filter: {} }
      const page = { pagination: { page: 1, perPage: 5 }, sort: { field: 'id', order: 'ASC' } as const }
      await t.throwsAsync(provider.getManyReference('posts', { ...target, ...page }), undefined, id)
      await t.throwsAsync(
        provider.getManyReference('posts', { ...target, ...page, target: `authors/${id || '..'}`, id: 1 }),
      )
      await t.throwsAsync(provider.delete(id, { id: 'codes' }), undefined, `resource ${id}`)
    }
  })
  t.deepEqual(asked, [])
  const { data } = await provider.getMany('posts', { ids: [2, '', 1] })
  t.deepEqual(
    data.map(({ id }) => id),
    [2, 1],
  )
  t.deepEqual((await provider.getMany('posts', { ids: [''] })).data, [])
})

test('references are listed by a route below their owner where the target says so', async (t) => {
  const pagination = { page: 1, perPage: 2 }
  const sort = { field: 'views', order: 'DESC' as const }
  const given = { id: 2, pagination, sort, filter: { views_gt: 1 } }
  const nested = await provider.getManyReference('posts', { ...given, target: 'authors/posts' })
  t.regex(requests.at(-1) ?? '', /^GET \/api\/authors\/2\/posts\?/)
  t.deepEqual(nested, await provider.getManyReference('posts', { ...given, target: 'authorId' }))
  t.is(nested.data.length, 2)
})

test('a signal ends a request', async (t) => {
  t.true(provider.supportAbortSignal)
  const reason = new Error('left')
  const calls = [
    (signal: AbortSignal) => provider.getList('posts', { signal }),
    (signal: AbortSignal) => provider.getOne('posts', { id: 1, signal }),
    (signal: AbortSignal) => provider.getMany('posts', { ids: [1], signal }),
  ]
  for (const call of calls) t.is(await t.throwsAsync(call(AbortSignal.abort(reason))), reason)
})

// ---------------------------------------------------------------- keys

test('a key of another name, or of several parts, is the `id` of records everywhere', async (t) => {
  t.deepEqual((await provider.create('codes', { data: { id: 'ignored', code: 'a,b/c', text: 'old' } })).data, {
    id: 'a,b/c',
    code: 'a,b/c',
    text: 'old',
  })
  await provider.create('codes', { data: { code: 'b', text: 'other' } })
  const { data: code } = await provider.getOne('codes', { id: 'a,b/c' })
  const changed = { ...code, text: 'new' }
  t.deepEqual((await provider.update('codes', { id: code.id, data: changed, previousData: code })).data, changed)
  t.deepEqual((await provider.getMany('codes', { ids: ['a,b/c'] })).data, [changed])
  const sort = { field: 'id', order: 'DESC' as const }
  t.deepEqual(
    (await provider.getList('codes', { sort, filter: { id: ['a,b/c', 'b'] } })).data.map(({ id }) => id),
    ['b', 'a,b/c'],
  )

  const { data: seat } = await provider.create('seats', { data: { row: 'r~1', place: '2', guest: 'Ana' } })
  t.is(seat.id, 'r%7E1~2')
  t.deepEqual((await provider.getOne('seats', { id: seat.id })).data, seat)
  t.deepEqual((await provider.getMany('seats', { ids: [seat.id] })).data, [seat])
  t.deepEqual((await provider.getList('seats', { sort })).data, [seat])
  t.deepEqual((await provider.getList('seats', { filter: { id: seat.id } })).data, [seat])
  await t.throwsAsync(provider.getList('seats', { filter: { id_gt: seat.id } }), { instanceOf: TypeError })
  await provider.delete('seats', { id: seat.id, previousData: seat })
  t.is((await provider.getList('writers', {})).total, 3, 'under another name')
})

// ---------------------------------------------------------------- saves

test('a save sends what differs, under the version that was read, and the later of two loses', async (t) => {
  const { data: order } = await provider.create('orders', { data: { customer: 'Ewa', note: null } })
  t.like(order, { customer: 'Ewa', rowVersion: 0, _etag: 'W/"0"' })
  const bodies = await bodiesOf(t, async () => {
    const data = { ...order, note: 'first' }
    t.like((await provider.update('orders', { id: order.id, data, previousData: order })).data, {
      note: 'first',
      rowVersion: 1,
      _etag: 'W/"1"',
    })
  })
  t.deepEqual(bodies, [{ note: 'first' }])
  const lost = provider.update('orders', { id: order.id, data: { ...order, note: 'lost' }, previousData: order })
  const conflict = await t.throwsAsync(lost, { instanceOf: ProblemError })
  t.like(conflict, { status: 412, code: 'precondition-failed', message: CONFLICT, title: 'Precondition Failed' })
  const late = provider.delete('orders', { id: order.id, previousData: order })
  t.like(await t.throwsAsync(late, { instanceOf: ProblemError }), { status: 412, message: CONFLICT })

  const [listed] = (await provider.getList('orders', { filter: { id: order.id } })).data
  t.is(listed._etag, 'W/"1"', 'by the version in the list')
  t.deepEqual(await provider.getOne('orders', { id: order.id }), { data: listed })
  await provider.updateMany('orders', { ids: [order.id], data: { note: 'whatever version' } })
  const now = (await provider.getOne('orders', { id: order.id })).data
  t.like(now, { note: 'whatever version', _etag: 'W/"2"' })
  t.deepEqual(await sent(() => provider.update('orders', { id: order.id, data: { ...now }, previousData: now })), [])
  const copy = await provider.create('orders', { data: { ...now, id: undefined, customer: 'Copy' } })
  t.like(copy.data, { customer: 'Copy', _etag: 'W/"0"' })
  await provider.deleteMany('orders', { ids: [order.id, copy.data.id] })
  t.is((await provider.getList('orders', {})).total, 0)
})

test('the notice of a conflict is a text or a key of the application', async (t) => {
  const messages = { 'precondition-failed': 'app.conflict', validation: 'app.invalid' }
  const translated = dataProvider(`${served.url}/api`, { messages })
  const { data: order } = await translated.create('orders', { data: { customer: 'Zoe' } })
  await translated.update('orders', { id: order.id, data: { ...order, note: 'first' }, previousData: order })
  const lost = translated.update('orders', { id: order.id, data: { ...order, note: 'lost' }, previousData: order })
  t.is((await t.throwsAsync(lost))?.message, 'app.conflict')
  const invalid = await t.throwsAsync(translated.create('orders', { data: { customer: null } }))
  t.is(invalid?.message, 'app.invalid')
  t.is(Reflect.get(Object(invalid), 'body').errors.root.serverError, 'app.invalid\ncustomer cannot be null.')
  await translated.deleteMany('orders', { ids: [order.id] })
})

test('reads and the deletion of many records have the messages of the application too', async (t) => {
  const messages = { 'not-found': 'app.gone', 'unknown-field': 'app.unknown' }
  const translated = dataProvider(`${served.url}/api`, { messages })
  const unknown = { filter: { nope: 1 } }
  const reference = { id: 99, pagination: { page: 1, perPage: 5 }, sort: { field: 'id', order: 'ASC' } } as const
  const rejections = [
    [() => translated.getOne('orders', { id: 99 }), 'app.gone'],
    [() => translated.getList('orders', unknown), 'app.unknown'],
    [() => translated.getManyReference('posts', { ...reference, ...unknown, target: 'authorId' }), 'app.unknown'],
    [() => translated.getManyReference('posts', { ...reference, filter: {}, target: 'authors/posts' }), 'app.gone'],
    [() => translated.getMany('orders', { ids: [1], meta: { parameters: { select: 'nope' } } }), 'app.unknown'],
    [() => translated.deleteMany('orders', { ids: [99] }), 'app.gone'],
  ] as const
  for (const [call, message] of rejections)
    t.is((await t.throwsAsync(call, { instanceOf: ProblemError }))?.message, message)
})

/** The bodies of the requests that are sent meanwhile. */
async function bodiesOf(t: ExecutionContext, act: () => Promise<unknown>): Promise<unknown[]> {
  const bodies: unknown[] = []
  const { fetch } = globalThis
  t.teardown(() => {
    globalThis.fetch = fetch
  })
  globalThis.fetch = (input, init) => {
    if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body))
    return fetch(input, init)
  }
  await act()
  globalThis.fetch = fetch
  return bodies
}

test('an order is saved with its lines, and read back with them', async (t) => {
  const data = { customer: 'Jan', lines: [{ product: 'Net', quantity: 1 }] }
  const { data: order } = await provider.create('orders', { data })
  t.like(order, { lines: [{ product: 'Net', quantity: 1 }] })
  const meta = { parameters: { select: '*,lines(*)' } }
  const { data: read } = await provider.getOne('orders', { id: order.id, meta })
  t.is(read._etag, 'W/"0"', 'by the version in the body')
  const lines = [
    { ...read.lines[0], quantity: 3 },
    { product: 'Ball', quantity: 2 },
  ]
  const { data: saved } = await provider.update('orders', {
    id: order.id,
    data: { ...read, lines },
    previousData: read,
  })
  t.deepEqual(
    saved.lines.map(({ product, quantity }: { product: string; quantity: number }) => [product, quantity]),
    [
      ['Net', 3],
      ['Ball', 2],
    ],
  )
  await provider.delete('orders', { id: order.id, previousData: saved })
})

test('what is wrong is said at the inputs of the form, and what the form does not have all together', async (t) => {
  const thrown = await t.throwsAsync(provider.create('posts', { data: { title: 'x', views: -1 } }), {
    instanceOf: ProblemError,
  })
  const { errors } = Reflect.get(thrown ?? {}, 'body')
  t.is(errors.views, 'must be at least 0.')
  t.is(errors.authorId, 'is required.')
  t.regex(errors.root.serverError, /^One or more validation errors occurred\.\n.*views must be at least 0\./s)
  t.is(thrown?.status, 400)

  const nested = await t.throwsAsync(
    provider.create('orders', { data: { customer: 'Ola', lines: [{ quantity: 1 }, { quantity: 0 }] } }),
  )
  t.is(Reflect.get(nested ?? {}, 'body').errors['lines.1.quantity'], 'must be at least 1.')
  const absent = await t.throwsAsync(
    provider.update('posts', { id: 99, data: { views: 1 }, previousData: { id: 99, views: 0 } }),
  )
  t.is(Reflect.get(absent ?? {}, 'body'), undefined, 'a problem of no field is a notification')
})

test('a problem of a gateway, whose errors are no lists, is told as it is', async (t) => {
  let errors: unknown
  const gateway = await serve((_, response) => response.writeHead(422).end(JSON.stringify({ title: 'No.', errors })))
  const behind = dataProvider(gateway.url, { retries: 0 })
  for (const [given, told] of [
    [{ title: 'is long.' }, 'is long.'],
    [[{ message: 'is long.' }], undefined],
    [{ title: null }, undefined],
  ] as const) {
    errors = given
    const thrown = await t.throwsAsync(behind.create('posts', { data: { title: 'x' } }), { instanceOf: ProblemError })
    t.is(thrown?.status, 422)
    t.is(Reflect.get(thrown ?? {}, 'body')?.errors.title, told)
  }
  await gateway.close()
})

// ---------------------------------------------------------------- events

test('subscribers hear of what happens to records of a resource, or to one, until they no longer listen', async (t) => {
  const heard: RealtimeEvent[] = []
  const ofOne: RealtimeEvent[] = []
  const listener = (event: RealtimeEvent): void => void heard.push(event)
  const listenerOfOne = (event: RealtimeEvent): void => void ofOne.push(event)
  const connected = new Promise<void>((resolve) => io.of('/api/orders/hub').once('connection', () => resolve()))
  await provider.subscribe('resource/orders', listener)
  await connected
  const { data: order } = await provider.create('orders', { data: { customer: 'Ida' } })
  const { data: other } = await provider.create('orders', { data: { customer: 'Ula' } })
  await until(() => heard.length >= 2)
  await provider.subscribe(`resource/orders/${other.id}`, listenerOfOne)
  await provider.update('orders', { id: order.id, data: { ...order, note: 'x' }, previousData: order })
  await provider.delete('orders', { id: other.id })
  await until(() => heard.length >= 4)
  t.deepEqual(
    heard.map(({ topic, type, payload }) => [topic, type, ...payload.ids]),
    [
      ['resource/orders', 'created', order.id],
      ['resource/orders', 'created', other.id],
      ['resource/orders', 'updated', order.id],
      ['resource/orders', 'deleted', other.id],
    ],
  )
  t.deepEqual(
    ofOne.map(({ type }) => type),
    ['deleted'],
  )
  t.is(io.of('/api/orders/hub').sockets.size, 1, 'one connection for both')

  // Who was away hears that something may have happened.
  io.of('/api/orders/hub').disconnectSockets()
  await until(() => heard.length >= 5)
  t.deepEqual([heard[4]?.type, heard[4]?.payload], ['updated', { ids: [] }])

  await provider.unsubscribe('resource/orders', listener)
  await provider.unsubscribe(`resource/orders/${other.id}`, listenerOfOne)
  await until(() => io.of('/api/orders/hub').sockets.size === 0)
  await t.throwsAsync(provider.subscribe('somewhere', listener), { instanceOf: TypeError })
})

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo() && tries < 300; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20))
}
