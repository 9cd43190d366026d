// The providers of Refine: its own hooks over a real server, and every operator held against an evaluation by hand.

import {
  type CrudFilter,
  useCreate,
  useDelete,
  useForm,
  useInfiniteList,
  useList,
  useMany,
  useOne,
  useUpdate,
} from '@refinedev/core'
import ava from 'ava'
import { DataTypes } from 'sequelize'
import { Server } from 'socket.io'
import { ProblemError } from '../../../lib/client/index.js'
import { crudRouter, Operations } from '../../../lib/index.js'
import { dataProvider, liveProvider } from '../../../lib/refine/index.js'
import { renderHooks } from '../../support/refine.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

interface Player {
  readonly id: number
  readonly name: string
  readonly level: number | null
}

const NAMES = ['Amber', 'amber', 'Birch', 'Cedar', 'delta', 'Ember', 'fjord']
const PLAYERS: readonly Player[] = NAMES.map((name, index) => ({
  id: index + 1,
  name: `${name} ${index}`,
  level: index === 3 ? null : index * 10,
}))

const io = new Server()
const requests: string[] = []
const served = await openStage(({ sequelize }, app) => {
  const options = { timestamps: false }
  const Player = sequelize.define(
    'player',
    {
      name: { type: DataTypes.STRING(20), allowNull: false, validate: { len: [2, 20] } },
      level: { type: DataTypes.INTEGER, validate: { min: 0 } },
      teamId: DataTypes.INTEGER,
    },
    options,
  )
  const Note = sequelize.define(
    'note',
    {
      text: { type: DataTypes.STRING(20), allowNull: false },
      pinned: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
      rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
    },
    options,
  )
  const Code = sequelize.define(
    'code',
    { code: { type: DataTypes.STRING(20), primaryKey: true }, text: DataTypes.STRING(20) },
    options,
  )
  app.use((request, _, next) => {
    requests.push(`${request.method} ${decodeURIComponent(request.url)}`)
    next()
  })
  app.use(crudRouter(Player, { query: { search: ['name'] }, fields: { teamId: { exclude: 'list' } } }))
  app.use(crudRouter(Note, { concurrency: { inBody: true }, push: { io }, operations: Operations.AllWithBulk }))
  app.use(crudRouter(Code, { keyProperty: 'code' }))
  return { Player, Note, Code }
})
await served.Player.bulkCreate(PLAYERS.map(({ id: _, ...player }) => player))
io.attach(served.server)
test.after.always(async () => {
  await io.close()
  await served.close()
})

const options = { resources: { players: { search: true }, codes: { key: 'code' } } }
const provider = dataProvider(`${served.url}/api`, options)
const providers = { dataProvider: provider, liveProvider: liveProvider(`${served.url}/api`, options) }

async function found(...filters: CrudFilter[]): Promise<unknown[]> {
  const { data, total } = await provider.getList({
    resource: 'players',
    filters,
    sorters: [{ field: 'id', order: 'asc' }],
    pagination: { pageSize: 50 },
  })
  if (total !== data.length) throw new RangeError(`${data.length} of ${total}`)
  return data.map(({ id }) => id)
}

// ---------------------------------------------------------------- filters

const lower = (text: unknown): string => String(text).toLowerCase()

/** What each operator means, on a name and on a level; null is met by what a negation says of it. */
const MEANINGS: readonly (readonly [operator: string, value: unknown, (player: Player) => boolean])[] = [
  ['eq', 'AMBER 0', ({ name }) => lower(name) === 'amber 0'],
  ['ne', 'AMBER 0', ({ name }) => lower(name) !== 'amber 0'],
  ['eqs', 'AMBER 0', ({ name }) => name === 'AMBER 0'],
  ['eqs', 'Amber 0', ({ name }) => name === 'Amber 0'],
  ['nes', 'Amber 0', ({ name }) => name !== 'Amber 0'],
  ['contains', 'AMB', ({ name }) => lower(name).includes('amb')],
  ['contains', '', () => true],
  ['ncontains', 'AMB', ({ name }) => !lower(name).includes('amb')],
  ['ncontains', '', () => false],
  ['containss', 'Amb', ({ name }) => name.includes('Amb')],
  ['ncontainss', 'Amb', ({ name }) => !name.includes('Amb')],
  ['startswith', 'aMb', ({ name }) => lower(name).startsWith('amb')],
  ['nstartswith', 'aMb', ({ name }) => !lower(name).startsWith('amb')],
  ['startswiths', 'amb', ({ name }) => name.startsWith('amb')],
  ['nstartswiths', 'amb', ({ name }) => !name.startsWith('amb')],
  ['endswith', 'R 0', ({ name }) => lower(name).endsWith('r 0')],
  ['nendswith', 'R 0', ({ name }) => !lower(name).endsWith('r 0')],
  ['endswiths', 'R 0', () => false],
  ['nendswiths', 'R 0', () => true],
  ['in', ['Amber 0', 'amber 0', 'fjord 6'], ({ name }) => ['Amber 0', 'fjord 6'].includes(name)],
  ['in', ['', 'Amber 0'], ({ name }) => name === 'Amber 0'],
  ['in', [], () => false],
  ['nin', ['', 'Amber 0'], ({ name }) => name !== 'Amber 0'],
  ['nin', [], () => true],
]

const LEVELS: typeof MEANINGS = [
  ['eq', 10, ({ level }) => level === 10],
  ['eq', '10', ({ level }) => level === 10],
  ['eq', null, ({ level }) => level === null],
  ['ne', '10', ({ level }) => level !== 10],
  ['nes', null, ({ level }) => level !== null],
  ['lt', 20, ({ level }) => level !== null && level < 20],
  ['lte', '20', ({ level }) => level !== null && level <= 20],
  ['gt', 40, ({ level }) => level !== null && level > 40],
  ['gte', 40, ({ level }) => level !== null && level >= 40],
  ['in', [10, null, 50], ({ level }) => level === null || [10, 50].includes(level)],
  ['nin', [10, 50], ({ level }) => level === null || ![10, 50].includes(level)],
  ['between', [10, 40], ({ level }) => level !== null && level >= 10 && level <= 40],
  ['nbetween', [10, 40], ({ level }) => level !== null && (level < 10 || level > 40)],
  ['null', true, ({ level }) => level === null],
  ['nnull', true, ({ level }) => level !== null],
]

test('every operator finds what it means', async (t) => {
  for (const [field, meanings] of [
    ['name', MEANINGS],
    ['level', LEVELS],
  ] as const) {
    for (const [operator, value, isMet] of meanings) {
      const expected = PLAYERS.filter(isMet).map(({ id }) => id)
      t.deepEqual(await found({ field, operator, value } as CrudFilter), expected, `${field} ${operator} ${value}`)
    }
  }
})

test('conditions join by and, or and each other, with what is empty among them', async (t) => {
  const level = { field: 'level', operator: 'gt', value: 30 } as const
  const name = { field: 'name', operator: 'startswith', value: 'a' } as const
  const none = { field: 'name', operator: 'in', value: [] } as const
  t.deepEqual(await found(level, name), [])
  t.deepEqual(await found({ operator: 'or', value: [level, name] }), [1, 2, 5, 6, 7])
  t.deepEqual(await found({ operator: 'or', value: [none, { operator: 'and', value: [level, name] }] }), [])
  t.deepEqual(await found({ operator: 'or', value: [none, level] }), [5, 6, 7])
  t.deepEqual(await found({ operator: 'and', value: [] }, { ...name, value: undefined }), [1, 2, 3, 4, 5, 6, 7])
})

test('what cannot be asked is not sent: operators of arrays, ranges that are none, and lists of nothing', async (t) => {
  const before = requests.length
  for (const operator of ['ina', 'nina', 'smells']) {
    const filters = [{ field: 'name', operator, value: ['x'] } as CrudFilter]
    await t.throwsAsync(provider.getList({ resource: 'players', filters }), { instanceOf: TypeError }, operator)
  }
  await t.throwsAsync(found({ field: 'level', operator: 'between', value: 3 }), { instanceOf: TypeError })
  await t.throwsAsync(found({ field: 'level', operator: 'gt', value: {} }), { instanceOf: TypeError })
  t.deepEqual(await found({ field: 'level', operator: 'in', value: [] }), [])
  t.deepEqual(await found({ field: 'id', operator: 'in', value: [] }), [])
  t.is(requests.length, before)
})

test('`id` asks for keys, and `q` searches', async (t) => {
  t.deepEqual(await found({ field: 'id', operator: 'in', value: [2, 5, 99] }), [2, 5])
  t.deepEqual(
    await found({ field: 'id', operator: 'eq', value: '4' }, { field: 'level', operator: 'null', value: 1 }),
    [4],
  )
  t.deepEqual(await found({ field: 'q', operator: 'contains', value: 'AMB 1' }), [2])
})

// ---------------------------------------------------------------- lists

test('lists come in pages, whole, or by keyset, and say at least how many there are', async (t) => {
  const sorters = [{ field: 'name', order: 'desc' } as const, { field: 'id', order: 'asc' } as const]
  const page = { currentPage: 2, pageSize: 3 }
  const { data, total } = await provider.getList<Player>({ resource: 'players', pagination: page, sorters })
  t.is(data.length, 3)
  t.is(total, 7)
  const uncounted = { parameters: { count: 'none' } }
  t.is((await provider.getList({ resource: 'players', pagination: page, meta: uncounted })).total, 7)
  t.is(
    (await provider.getList({ resource: 'players', pagination: { ...page, currentPage: 3 }, meta: uncounted })).total,
    7,
  )
  const filters: CrudFilter[] = [{ field: 'level', operator: 'nnull', value: true }]
  const whole = await provider.getList<Player>({ resource: 'players', pagination: { mode: 'off' }, sorters, filters })
  t.is(whole.total, 6)
  t.regex(requests.at(-1) ?? '', /after=/)

  const first = await provider.getList({ resource: 'players', pagination: { pageSize: 5 }, meta: { cursor: '' } })
  t.is(first.data.length, 5)
  t.is(first.cursor.prev, undefined)
  const meta = { cursor: first.cursor.next }
  const second = await provider.getList({ resource: 'players', pagination: { pageSize: 5 }, meta })
  t.deepEqual(
    second.data.map(({ id }) => id),
    [6, 7],
  )
  t.is(second.cursor.next, undefined)
  const back = await provider.getList({ resource: 'players', meta: { cursor: second.cursor.prev } })
  t.deepEqual(back.data, first.data)
})

test('many records come by their keys, and parameters of the application go along', async (t) => {
  const { data } = await provider.getMany({
    resource: 'players',
    ids: [5, 99, 2],
    meta: { parameters: { select: 'id,name' } },
  })
  t.deepEqual(data, [
    { id: 5, name: 'delta 4' },
    { id: 2, name: 'amber 1' },
  ])
  t.deepEqual(await provider.getMany({ resource: 'players', ids: [] }), { data: [] })
})

// ---------------------------------------------------------------- writes

test('writes of many: created in one request, changed and deleted whatever their versions', async (t) => {
  const made = await provider.createMany({ resource: 'notes', variables: [{ text: 'a' }, { text: 'b' }] })
  t.deepEqual(
    made.data.map(({ text, _etag }) => [text, _etag]),
    [
      ['a', 'W/"0"'],
      ['b', 'W/"0"'],
    ],
  )
  const ids = made.data.map(({ id }) => id ?? 0)
  const { data } = await provider.updateMany({ resource: 'notes', ids, variables: { pinned: true } })
  t.deepEqual(
    data.map(({ _etag }) => _etag),
    ['W/"1"', 'W/"1"'],
  )
  t.deepEqual(await provider.deleteMany({ resource: 'notes', ids }), { data: ids.map((id) => ({ id })) })
  t.is((await provider.getList({ resource: 'notes' })).total, 0)
  t.is(provider.getApiUrl(), `${served.url}/api`)
})

test('an id or resource that would lead to another address is not sent', async (t) => {
  const before = requests.length
  for (const id of ['', '.', '..']) {
    await t.throwsAsync(provider.getOne({ resource: 'codes', id }), { instanceOf: TypeError }, id)
    await t.throwsAsync(provider.update({ resource: 'codes', id, variables: { text: 'a' } }), undefined, id)
    await t.throwsAsync(provider.updateMany({ resource: 'codes', ids: [id], variables: { text: 'a' } }), undefined, id)
    await t.throwsAsync(provider.deleteOne({ resource: 'codes', id }), undefined, id)
    await t.throwsAsync(provider.deleteMany({ resource: 'codes', ids: [id] }), undefined, id)
    await t.throwsAsync(provider.deleteOne({ resource: id, id: 'codes' }), undefined, `resource ${id}`)
  }
  t.deepEqual(requests.slice(before), [])
})

test('variables with the version that was read are written under it, what differs where that is known', async (t) => {
  const { data: note } = await provider.create<{ id: number; text: string }>({
    resource: 'notes',
    variables: { text: 'first' },
  })
  const { data: second } = await provider.update<{ id: number; _etag: string }>({
    resource: 'notes',
    id: note.id,
    variables: { ...note, text: 'second' },
  })
  t.is(second._etag, 'W/"1"')
  const late = provider.update({ resource: 'notes', id: note.id, variables: { ...note, text: 'late' } })
  const lost = await t.throwsAsync(late, { instanceOf: ProblemError })
  const conflict = 'Somebody else has changed this record. Reload it and apply your change again.'
  t.like(lost, { statusCode: 412, code: 'precondition-failed', message: conflict })
  const meta = { previousData: second }
  const before = requests.length
  await provider.update({ resource: 'notes', id: note.id, variables: { ...second }, meta })
  t.is(requests.length, before, 'nothing differs')
  await t.throwsAsync(provider.deleteOne({ resource: 'notes', id: note.id, variables: note }), {
    message: conflict,
  })
  await provider.deleteOne({ resource: 'notes', id: note.id, variables: second })
  const { data: code } = await provider.create({ resource: 'codes', variables: { code: 'a/b', text: 'old' } })
  t.deepEqual((await provider.update({ resource: 'codes', id: 'a/b', variables: { ...code, text: 'new' } })).data, {
    id: 'a/b',
    code: 'a/b',
    text: 'new',
  })
})

// ---------------------------------------------------------------- hooks

test("Refine's hooks list, read and page through the records of a server", async (t) => {
  const page = renderHooks(providers, () => ({
    list: useList<Player>({
      resource: 'players',
      filters: [{ field: 'name', operator: 'contains', value: 'AMB' }],
      sorters: [{ field: 'id', order: 'desc' }],
    }),
    one: useOne<Player>({ resource: 'players', id: 3 }),
    many: useMany<Player>({ resource: 'players', ids: [7, 1] }),
    feed: useInfiniteList<Player>({
      resource: 'players',
      pagination: { pageSize: 3 },
      sorters: [{ field: 'id', order: 'asc' }],
      meta: { cursor: '' },
    }),
  }))
  t.teardown(page.end)
  const { list, one, many } = await page.when(
    ({ list, one, many, feed }) =>
      list.query.isSuccess && one.query.isSuccess && many.query.isSuccess && feed.query.isSuccess,
  )
  t.deepEqual(
    list.result.data.map(({ id }) => id),
    [2, 1],
  )
  t.is(list.result.total, 2)
  t.is(one.result?.name, 'Birch 2')
  t.deepEqual(
    many.result.data.map(({ id }) => id),
    [7, 1],
  )
  for (let pages = 1; pages < 3; pages += 1) {
    t.true(page.now().feed.query.hasNextPage, `${pages}`)
    await page.now().feed.query.fetchNextPage()
    await page.when(({ feed }) => feed.query.data?.pages.length === pages + 1)
  }
  t.deepEqual(
    page.now().feed.query.data?.pages.flatMap(({ data }) => data.map(({ id }) => id)),
    [1, 2, 3, 4, 5, 6, 7],
  )
  t.false(page.now().feed.query.hasNextPage)
})

test("Refine's hooks write under the version that they have read, and lists follow what others write", async (t) => {
  const page = renderHooks(providers, () => ({
    list: useList<{ id: number; text: string; _etag: string }>({ resource: 'notes' }),
    create: useCreate(),
    update: useUpdate(),
    remove: useDelete(),
  }))
  t.teardown(page.end)
  await page.when(({ list }) => list.query.isSuccess)
  await untilListening()
  const { data: note } = await page.now().create.mutateAsync({ resource: 'notes', values: { text: 'mine' } })
  const [read] = (await page.when(({ list }) => list.result.total === 1)).list.result.data
  t.like(read, { id: note.id, text: 'mine', _etag: 'W/"0"' })

  // Somebody else, whom nothing but the hub tells of.
  await provider.update({ resource: 'notes', id: note.id ?? 0, variables: { ...note, text: 'theirs' } })
  await page.when(({ list }) => list.result.data[0]?.text === 'theirs')

  const late = page.now().update.mutateAsync({
    resource: 'notes',
    id: note.id ?? 0,
    values: { ...note, text: 'late' },
    errorNotification: false,
  })
  t.is(Reflect.get((await t.throwsAsync(late)) ?? {}, 'statusCode'), 412)
  await page
    .now()
    .remove.mutateAsync({ resource: 'notes', id: note.id ?? 0, values: page.now().list.result.data[0] ?? {} })
  await page.when(({ list }) => list.result.total === 0)
})

test("Refine's forms are told what is wrong with which of their values", async (t) => {
  const page = renderHooks(providers, () =>
    useForm({ resource: 'players', action: 'create', redirect: false, errorNotification: false }),
  )
  t.teardown(page.end)
  const { onFinish } = await page.when(() => true)
  const thrown = await t.throwsAsync(onFinish({ name: 'x', level: -1 }))
  t.like(thrown, { statusCode: 400, errors: { level: ['must be at least 0.'] } } as never)
})

async function untilListening(): Promise<void> {
  for (let tries = 0; io.of('/api/notes/hub').sockets.size === 0 && tries < 300; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
}
