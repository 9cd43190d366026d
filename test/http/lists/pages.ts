import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type DataType, DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import type { CrudOptions } from '../../../types/options.js'
import { listPath, serveLeague } from '../../support/league.js'
import { keysOf, list, type Parameters } from '../../support/lists.js'
import type { TestServer } from '../../support/server.js'
import { openStage, type Stage } from '../../support/stage.js'

const league = await serveLeague({ player: { query: { unknownParameters: 'ignore' } } })
const small = await serveLeague({ player: { query: { pageSize: 2, maxPageSize: 3 } } })

/** The key types of keyset pages, each with keys that another type, or a careless reading, would confuse. */
const KEYS: readonly (readonly [
  type: string,
  column: () => { readonly type: DataType },
  keys: readonly (string | number)[],
])[] = [
  ['integer', () => ({ type: DataTypes.INTEGER }), [-2147483648, -1, 0, 1, 7, 10, 100, 2147483647]],
  [
    'bigint',
    () => ({ type: DataTypes.BIGINT }),
    ['-9223372036854775808', -1, 0, 9, 10, '9007199254740992', '9007199254740993', '9223372036854775807'],
  ],
  [
    'uuid',
    () => ({ type: DataTypes.UUID }),
    [
      '00000000-0000-4000-8000-000000000000',
      ...Array.from({ length: 6 }, () => randomUUID()),
      'ffffffff-ffff-4fff-bfff-ffffffffffff',
    ],
  ],
  [
    'string',
    () => ({ type: DataTypes.STRING }),
    [
      ...[
        '',
        'a',
        'b',
        'a b',
        'a%',
        'a_b',
        "it's",
        'x"y',
        '\\',
        '1',
        '10',
        '9',
        '.',
        '1.x.y',
        'żółw',
        '漢字',
        '😀',
        '?',
        '$1',
      ],
      ...[':name', '/', '..', 'null', '+', '&=', '\n', 'x'.repeat(255), 'ż'.repeat(255), '😀'.repeat(250)],
    ],
  ],
]

interface Keyed {
  readonly Row: ModelStatic<Model>
}

async function serveKeyed(
  column: { readonly type: DataType },
  keys: readonly (string | number)[],
  options: CrudOptions = {},
): Promise<Stage<Keyed>> {
  const stage = await openStage<Keyed>(({ sequelize }, app) => {
    const Row = sequelize.define(
      'Row',
      { id: { ...column, primaryKey: true }, odd: DataTypes.BOOLEAN, secret: DataTypes.STRING },
      { timestamps: false },
    )
    app.use(crudRouter(Row, options))
    return { Row }
  })
  const { Row } = stage
  for (const [index, id] of keys.entries()) await Row.create({ id, odd: index % 2 === 1, secret: 's' })
  return stage
}

const keyed = new Map<string, Stage<Keyed>>()
for (const [type, column, keys] of KEYS) keyed.set(type, await serveKeyed(column(), keys))

test.after.always(async () => {
  for (const server of [league, small, ...keyed.values()]) await server.close()
})

// ------------------------------------------------------------------------------------------------------- offset pages

test('a page says where it is: totals, page, size and neighbours', async (t) => {
  const envelope = async (parameters: Parameters): Promise<object> => {
    const { body } = await list(league, '/api/players', parameters)
    return { ...body, items: body.items.length }
  }
  t.deepEqual(await envelope({}), {
    items: 6,
    totalCount: 6,
    page: 1,
    pageSize: 20,
    totalPages: 1,
    hasNextPage: false,
    hasPreviousPage: false,
  })
  for (const filter of [{}, { filter: 'Level>0' }]) {
    t.deepEqual(await envelope({ page: 1, pageSize: 4, ...filter }), {
      items: 4,
      totalCount: 6,
      page: 1,
      pageSize: 4,
      totalPages: 2,
      hasNextPage: true,
      hasPreviousPage: false,
    })
    t.deepEqual(await envelope({ page: 2, pageSize: 4, ...filter }), {
      items: 2,
      totalCount: 6,
      page: 2,
      pageSize: 4,
      totalPages: 2,
      hasNextPage: false,
      hasPreviousPage: true,
    })
    t.deepEqual(await envelope({ page: 2, pageSize: 3, ...filter }), {
      items: 3,
      totalCount: 6,
      page: 2,
      pageSize: 3,
      totalPages: 2,
      hasNextPage: false,
      hasPreviousPage: true,
    })
    t.deepEqual(await envelope({ pageSize: 6, ...filter }), {
      items: 6,
      totalCount: 6,
      page: 1,
      pageSize: 6,
      totalPages: 1,
      hasNextPage: false,
      hasPreviousPage: false,
    })
  }
})

test('a page past the end is empty and has the true totals', async (t) => {
  for (const filter of [{}, { filter: 'Level>0' }]) {
    for (const page of [3, 1000, 450359962737049]) {
      const { status, body } = await list(league, '/api/players', { page, pageSize: 4, ...filter })
      t.is(status, 200)
      t.deepEqual(body, {
        items: [],
        totalCount: 6,
        page,
        pageSize: 4,
        totalPages: 2,
        hasNextPage: false,
        hasPreviousPage: true,
      })
    }
  }
})

test('a list of nothing has no pages', async (t) => {
  const { status, body, headers } = await list(league, '/api/players', { filter: 'Level>1000' })
  t.is(status, 200)
  t.deepEqual(body, {
    items: [],
    totalCount: 0,
    page: 1,
    pageSize: 20,
    totalPages: 0,
    hasNextPage: false,
    hasPreviousPage: false,
  })
  t.is(headers.get('x-total-count'), '0')
})

for (const name of ['page', 'pageSize']) {
  for (const value of ['0', '-1', '1.5', '1e2', 'abc', ' ', '1 2', '0x1', '٣', '+1', 'NaN', 'null']) {
    test(`${name}=${value} is 400: it is no whole number from 1`, async (t) => {
      for (const more of [{}, { select: 'Name' }]) {
        const { status, body } = await list(league, '/api/players', { [name]: value, ...more })
        t.is(status, 400)
        t.is(body.title, 'Invalid query.')
        t.deepEqual(body.errors, { [name]: ['must be a whole number from 1.'] })
      }
    })
  }
}

test('a page so far that it cannot be counted is 400', async (t) => {
  const { status, body } = await list(league, '/api/players', { page: Number.MAX_SAFE_INTEGER, pageSize: 2 })
  t.is(status, 400)
  t.deepEqual(body.errors, { page: ['is too large.'] })
})

test('a page size over the maximum is 400 naming the maximum, in cursor mode too', async (t) => {
  for (const [server, size, maximum] of [
    [league, 1001, 1000],
    [small, 4, 3],
  ] as const) {
    for (const mode of [{}, { cursor: '' }, { select: 'Name' }]) {
      const { status, body } = await list(server, '/api/players', { pageSize: size, ...mode })
      t.is(status, 400)
      t.is(body.title, 'Invalid query.')
      t.deepEqual(body.errors, { pageSize: [`must be at most ${maximum}.`] })
      t.is((await list(server, '/api/players', { pageSize: maximum, ...mode })).status, 200)
    }
  }
  t.is((await list(small, '/api/players')).body.pageSize, 2)
  t.is((await list(small, '/api/players', { cursor: '' })).body.pageSize, 2)
})

test('leading zeros do no harm to a page', async (t) => {
  t.is((await list(league, '/api/players', { page: '01', pageSize: '002' })).body.pageSize, 2)
})

// ------------------------------------------------------------------------------------------------------- modes

test('count=true in any case gives the number alone, and wins over every other mode', async (t) => {
  for (const parameters of [
    { count: 'true' },
    { count: 'TRUE' },
    { count: 'True', cursor: '' },
    { count: true, cursor: 'x' },
    { count: true, select: 'Nobody' },
    { count: true, page: 'x', pageSize: 'y', sort: ',', sortDirection: 'z' },
  ] as const) {
    const { status, body, headers } = await list(league, '/api/players', parameters)
    t.is(status, 200, JSON.stringify(parameters))
    t.deepEqual(body, { count: 6 })
    t.is(headers.get('x-total-count'), '6')
    t.is(headers.get('link'), null)
  }
  t.deepEqual((await list(league, '/api/players', { count: true, filter: 'Level>50' })).body, { count: 3 })
  t.deepEqual((await list(league, '/api/players', { count: true, filter: 'Team.Name=Lakers' })).body, { count: 2 })
  t.deepEqual((await list(league, '/api/players', { count: true, level: 42 })).body, { count: 1 })
  t.is((await list(league, '/api/players', { count: true, filter: 'Level>' })).status, 400)
})

test('count=false and an empty count are no count', async (t) => {
  for (const count of ['false', 'FALSE', '']) t.is((await list(league, '/api/players', { count })).body.totalCount, 6)
})

for (const count of ['1', '0', 'yes', 'tru', ' ', 'null', 'constructor']) {
  test(`count=${count} is 400: it is no word that a count has`, async (t) => {
    const { status, body } = await list(league, '/api/players', { count })
    t.is(status, 400)
    t.is(body.title, 'Invalid query.')
    t.deepEqual(body.errors, { count: ['must be true, false, exact or none.'] })
  })
}

test('cursor wins over select and page, which it does not look at', async (t) => {
  const { status, body } = await list(league, '/api/players', {
    cursor: '',
    select: ',,',
    page: 'x',
    sort: '-Level',
    pageSize: 2,
  })
  t.is(status, 200)
  t.deepEqual(Object.keys(body), ['items', 'nextCursor', 'pageSize'])
  t.deepEqual(
    body.items.map(({ id, salary }: { id: number; salary: number }) => [id, salary]),
    [
      [1, 5000],
      [2, 8000],
    ],
  )
  t.is((await list(league, '/api/players', { cursor: '', pageSize: 'x' })).status, 400)
})

// ------------------------------------------------------------------------------------------------------- keyset pages

interface Walk {
  readonly keys: readonly unknown[]
  readonly cursors: readonly string[]
  readonly sizes: readonly number[]
}

async function walk(server: TestServer, path: string, parameters: Parameters): Promise<Walk> {
  const keys: unknown[] = []
  const cursors: string[] = []
  const sizes: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { status, body, text } = await list(server, path, { ...parameters, cursor })
    if (status !== 200) throw new Error(`${status} ${text} at ${cursor}`)
    keys.push(...body.items.map(({ id }: { id: unknown }) => id))
    sizes.push(body.items.length)
    cursor = body.nextCursor
    if (cursor !== null) cursors.push(cursor)
    if (sizes.length > 100) throw new Error('the cursors go round in circles')
  }
  return { keys, cursors, sizes }
}

for (const [type, , keys] of KEYS) {
  test(`keyset pages over ${type} keys give every record once, in the order of the key`, async (t) => {
    const server = keyed.get(type)
    if (server === undefined) return t.fail()
    const ordered = await keysOf<string | number>(server, '/api/rows', { sort: 'id', pageSize: 100 })
    t.deepEqual([...ordered].sort(), [...keys].sort())
    for (const pageSize of [1, 2, 3, keys.length - 1, keys.length, keys.length + 1]) {
      const { keys: walked, cursors, sizes } = await walk(server, '/api/rows', { pageSize })
      t.deepEqual(walked, ordered)
      t.is(sizes.length, Math.ceil(keys.length / pageSize))
      t.true(cursors.every((cursor) => /^[\w-]+$/.test(cursor)))
    }
    const odd = await keysOf<string | number>(server, '/api/rows', { sort: 'id', pageSize: 100, filter: 'Odd=true' })
    t.deepEqual((await walk(server, '/api/rows', { pageSize: 2, filter: 'Odd=true' })).keys, odd)
    t.deepEqual((await walk(server, '/api/rows', { pageSize: 2, odd: true })).keys, odd)
  })
}

test('cursors of the usual keys have at most 512 characters', async (t) => {
  for (const [type, , keys] of KEYS) {
    const server = keyed.get(type)
    if (server === undefined) return t.fail()
    const { cursors } = await walk(server, '/api/rows', { pageSize: 1 })
    const usual = cursors.filter((_, index) => Buffer.byteLength(String(keys[index])) <= 255)
    t.true(usual.length > 0)
    if (type !== 'string') t.true(cursors.every((cursor) => cursor.length <= 512))
  }
})

test('exactly one page left gives no next cursor, and no Link', async (t) => {
  const { body } = await list(league, '/api/players', { cursor: '', pageSize: 3 })
  t.is(typeof body.nextCursor, 'string')
  const rest = await list(league, '/api/players', { cursor: body.nextCursor, pageSize: 3 })
  t.is(rest.body.items.length, 3)
  t.is(rest.body.nextCursor, null)
  t.is(rest.headers.get('link'), null)
  const none = await list(league, '/api/players', { cursor: '', filter: 'Level>1000' })
  t.deepEqual(none.body, { items: [], nextCursor: null, pageSize: 20 })
})

test('a cursor outlives the record it was made from, and new records before it are not repeated', async (t) => {
  const server = await serveKeyed({ type: DataTypes.INTEGER }, [10, 20, 30, 40])
  t.teardown(() => server.close())
  const { body } = await list(server, '/api/rows', { cursor: '', pageSize: 2 })
  await server.Row.destroy({ where: { id: 20 } })
  await server.Row.create({ id: 15 })
  t.deepEqual(await keysOf(server, '/api/rows', { cursor: body.nextCursor, pageSize: 2 }), [30, 40])
})

test('a cursor goes on from its key whatever the filter of the next request', async (t) => {
  const { body } = await list(league, '/api/players', { cursor: '', pageSize: 2 })
  t.deepEqual(await keysOf(league, '/api/players', { cursor: body.nextCursor, filter: 'Level>50' }), [4, 5])
})

test('keyset pages go through the host’s find hooks all the same', async (t) => {
  const server = await serveKeyed({ type: DataTypes.BIGINT }, ['9007199254740993', '9007199254740992', 5])
  t.teardown(() => server.close())
  server.Row.addHook('beforeFind', () => {})
  t.deepEqual((await walk(server, '/api/rows', { pageSize: 1 })).keys, [5, '9007199254740992', '9007199254740993'])
})

const encode = (text: string): string => Buffer.from(text).toString('base64url')

test('a cursor that was tampered with is 400, however', async (t) => {
  const { body } = await list(league, '/api/players', { cursor: '', pageSize: 2 })
  const token: string = body.nextCursor
  const text = Buffer.from(token, 'base64url').toString()
  const prefix = text.slice(0, text.lastIndexOf('.') + 1)
  const forged: readonly string[] = [
    ...['x', ' ', '=', '%00', 'null', '0', '1', '2', '[]', '{}', '__proto__', 'constructor', '😀', '\0'],
    ...[
      `${token}=`,
      `${token}==`,
      ` ${token}`,
      `${token} `,
      `${token}\n`,
      `${token}A`,
      token.slice(1),
      token.slice(0, -1),
    ],
    ...[token.slice(0, -2), token.toUpperCase(), token.toLowerCase(), `${token}${token}`, token.replace(/.$/, '*')],
    ...[Buffer.from(`${text}¿¿¿`).toString('base64'), 'A'.repeat(511), 'A'.repeat(513), 'A'.repeat(5000)],
    ...[
      '',
      'abc',
      '1.5',
      '1e3',
      '0x2',
      '02',
      '+2',
      '-0',
      ' 2',
      '2 ',
      '2\0',
      '99999999999999999999',
      '-99999999999999999999',
      'null',
      'NaN',
    ].map((key) => encode(prefix + key)),
    ...['2; DROP TABLE Players', "2' OR '1'='1", '2,3', '{"$gt":0}', '2.0', '٢'].map((key) => encode(prefix + key)),
    ...[
      encode('2'),
      encode(`0${text.slice(1)}`),
      encode(`2${text.slice(1)}`),
      encode(text.slice(1)),
      encode(`.${text}`),
    ],
    encode(text.replace(/\..*\./, '.AAAAAAAA.')),
  ]
  for (const cursor of forged) {
    const { status, headers, body: answer } = await list(league, '/api/players', { cursor, pageSize: 2 })
    t.is(status, 400, JSON.stringify(cursor))
    t.is(headers.get('content-type'), 'application/problem+json')
    t.is(answer.title, 'Invalid query.')
    t.deepEqual(answer.errors, { cursor: ['is not a cursor of this resource.'] })
  }
  t.is((await list(league, '/api/players', { cursor: token, pageSize: 2 })).status, 200)
})

test('a cursor of another resource is 400', async (t) => {
  const players = (await list(league, '/api/players', { cursor: '', pageSize: 2 })).body.nextCursor
  const teams = (await list(league, '/api/teams', { cursor: '', pageSize: 2 })).body.nextCursor
  for (const [path, cursor] of [
    ['/api/teams', players],
    ['/api/players', teams],
  ]) {
    const { status, body } = await list(league, path ?? '', { cursor })
    t.is(status, 400)
    t.deepEqual(body.errors, { cursor: ['is not a cursor of this resource.'] })
  }
})

test('where the key’s type has no keyset pages, the cursor parameter does not exist', async (t) => {
  const server = await serveKeyed({ type: DataTypes.DATEONLY }, ['2024-02-28', '2024-02-29'])
  t.teardown(() => server.close())
  for (const cursor of ['', 'x']) {
    const { status, body } = await list(server, '/api/rows', { cursor })
    t.is(status, 400)
    t.deepEqual(body.errors, { cursor: ['is not a parameter of this list.'] })
  }
})

test('keyset pages have whole records, without what the response lacks', async (t) => {
  const server = await serveKeyed({ type: DataTypes.INTEGER }, [1, 2], {
    fields: { odd: { exclude: 'list' }, secret: { exclude: 'response' } },
  })
  t.teardown(() => server.close())
  t.deepEqual((await list(server, '/api/rows', { cursor: '' })).body.items[0], { id: 1, odd: false })
  t.deepEqual((await list(server, '/api/rows')).body.items[0], { id: 1 })
})

test('a key that is in no shape still carries keyset pages', async (t) => {
  const server = await serveKeyed({ type: DataTypes.INTEGER }, [1, 2, 3], { fields: { id: { exclude: true } } })
  t.teardown(() => server.close())
  const { body } = await list(server, '/api/rows', { cursor: '', pageSize: 2 })
  t.deepEqual(body.items, [
    { odd: false, secret: 's' },
    { odd: true, secret: 's' },
  ])
  const rest = await list(server, '/api/rows', { cursor: body.nextCursor, pageSize: 2 })
  t.deepEqual(rest.body.items, [{ odd: false, secret: 's' }])
})

// ------------------------------------------------------------------------------------------------------- headers

/** A Link header by its relations. */
function linksOf(header: string | null): Record<string, string> {
  const links = [...(header ?? '').matchAll(/<([^>]*)>; rel="(\w+)"(?:, |$)/g)]
  return Object.fromEntries(links.map(([, target = '', rel = '']) => [rel, target]))
}

test('Link names the first, previous, next and last page, and each leads there', async (t) => {
  const query = 'filter=Level%3E0%2CName!%3Dx%20y&sort=-Level&pageSize=2'
  const at = async (page: number): Promise<Record<string, string>> =>
    linksOf((await league.get(`/api/players?${query}&page=${page}`)).headers.get('link'))
  const link = (page: number): string => `/api/players?${query}&page=${page}`
  t.deepEqual(await at(1), { first: link(1), next: link(2), last: link(3) })
  t.deepEqual(await at(2), { first: link(1), prev: link(1), next: link(3), last: link(3) })
  t.deepEqual(await at(3), { first: link(1), prev: link(2), last: link(3) })
  t.deepEqual(await at(9), { first: link(1), prev: link(3), last: link(3) })
  const { next = '' } = await at(1)
  t.deepEqual(
    (await league.get(next)).body.items.map(({ id }: { id: number }) => id),
    [4, 1],
  )
})

test('Link keeps the parameters as the client wrote them, and replaces the page under any encoding', async (t) => {
  const { headers } = await league.get('/api/players?x=a+b%20c&%70age=2&pageSize=2&flag&y=%F0%9F%98%80')
  const { next } = linksOf(headers.get('link'))
  t.is(next, '/api/players?x=a+b%20c&pageSize=2&flag&y=%F0%9F%98%80&page=3')
  const plain = await league.get('/api/players')
  t.deepEqual(linksOf(plain.headers.get('link')), { first: '/api/players?page=1', last: '/api/players?page=1' })
  const asking = await league.get('/api/players?other=what?')
  t.is(linksOf(asking.headers.get('link')).first, '/api/players?other=what?&page=1')
  // What has no name or no value is no page, and nothing at all is left out.
  for (const [query, rest] of [
    ['pagex', 'pagex'],
    ['pag', 'pag'],
    ['=page', '=page'],
    ['&x=1&&pageSize=2&', 'x=1&pageSize=2'],
    ['page=1&', ''],
    ['pa%67e=1&x=%zz', 'x=%zz'],
  ] as const) {
    const { status, headers } = await league.get(`/api/players?${query}`)
    t.is(status, 200, query)
    t.is(linksOf(headers.get('link')).first, `/api/players?${rest === '' ? '' : `${rest}&`}page=1`, query)
  }
})

test('Link has the path that the client knows, mount point included', async (t) => {
  const server = await openStage<Keyed>(({ sequelize }, app) => {
    const Row = sequelize.define('Row', { odd: DataTypes.BOOLEAN }, { timestamps: false })
    app.use('/tenant-a', crudRouter(Row, { route: 'v2/rows' }))
    return { Row }
  })
  t.teardown(() => server.close())
  const { headers } = await server.get('/tenant-a/v2/rows?pageSize=1')
  t.is(linksOf(headers.get('link')).first, '/tenant-a/v2/rows?pageSize=1&page=1')
})

test('Link is left out when it would exceed 4 KiB, and nothing else with it', async (t) => {
  const { status, headers, body } = await league.get(`/api/players?x=${'y'.repeat(4000)}`)
  t.is(status, 200)
  t.is(headers.get('link'), null)
  t.is(headers.get('x-total-count'), '6')
  t.is(body.totalCount, 6)
  const cursor = await league.get(`/api/players?cursor=&pageSize=1&x=${'y'.repeat(4080)}`)
  t.is(cursor.headers.get('link'), null)
  t.is(typeof cursor.body.nextCursor, 'string')
  const lengthOf = async (padding: number): Promise<number | undefined> =>
    (await league.get(`/api/players?cursor=&pageSize=1&x=${'y'.repeat(padding)}`)).headers.get('link')?.length
  const padding = 4096 - ((await lengthOf(0)) ?? 0)
  t.is(await lengthOf(padding), 4096)
  t.is(await lengthOf(padding + 1), undefined)
})

test('cursor mode sends Link for the next page only, and no total', async (t) => {
  const { headers, body } = await list(league, '/api/players', { cursor: '', pageSize: 4, filter: 'Level>0' })
  t.is(headers.get('x-total-count'), null)
  const links = linksOf(headers.get('link'))
  t.deepEqual(Object.keys(links), ['next'])
  const next = await league.get(links.next ?? '')
  t.is(next.body.items.length, 2)
  t.true(links.next?.endsWith(`&cursor=${body.nextCursor}`))
})

test('HEAD has the headers of GET and no body', async (t) => {
  const path = listPath('/api/players', { pageSize: 2, filter: 'Level>0' })
  const head = await league.send('HEAD', path)
  const get = await league.get(path)
  t.is(head.status, 200)
  t.is(head.text, '')
  for (const name of ['link', 'x-total-count', 'content-type', 'content-length', 'etag']) {
    t.is(head.headers.get(name), get.headers.get(name), name)
  }
})
