// Columns of arrays on PostgreSQL as collections of filters, and the indexes that serve them.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { keysOf, list } from '../../support/lists.js'
import { accessesOf, PRIMARY } from '../../support/plans.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}
const isPostgres = databaseName === 'postgres'

const server = await openStage(
  ({ sequelize }, app) => {
    if (!isPostgres) return
    const plain = { timestamps: false }
    const Post = sequelize.define(
      'Post',
      {
        tags: DataTypes.ARRAY(DataTypes.STRING(8)),
        codes: DataTypes.ARRAY(DataTypes.CHAR(4)),
        ranks: DataTypes.ARRAY(DataTypes.INTEGER),
        longs: DataTypes.ARRAY(DataTypes.BIGINT),
        prices: DataTypes.ARRAY(DataTypes.DECIMAL(10, 2)),
        sizes: DataTypes.ARRAY(DataTypes.DOUBLE),
        reals: DataTypes.ARRAY(DataTypes.REAL),
        flags: DataTypes.ARRAY(DataTypes.BOOLEAN),
        kinds: DataTypes.ARRAY(DataTypes.ENUM('big', 'small')),
        owners: DataTypes.ARRAY(DataTypes.UUID),
        moments: DataTypes.ARRAY(DataTypes.DATE),
        days: DataTypes.ARRAY(DataTypes.DATEONLY),
        hours: DataTypes.ARRAY(DataTypes.TIME),
        grid: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.INTEGER)),
        blobs: DataTypes.ARRAY(DataTypes.BLOB),
      },
      plain,
    )
    const Hooked = sequelize.define(
      'Hooked',
      { tags: DataTypes.ARRAY(DataTypes.TEXT), postId: DataTypes.INTEGER },
      plain,
    )
    Hooked.addHook('beforeFind', () => undefined)
    Hooked.belongsTo(Post, { as: 'post', foreignKey: 'postId', constraints: false })
    Post.hasMany(Hooked, { as: 'notes', foreignKey: 'postId', constraints: false })
    const Word = sequelize.define(
      'Word',
      { tags: DataTypes.ARRAY(DataTypes.STRING), labels: DataTypes.JSONB, meta: DataTypes.JSONB },
      {
        ...plain,
        indexes: ['tags', 'labels', 'meta'].map((name) => ({ name: `words_${name}`, fields: [name], using: 'gin' })),
      },
    )
    // With and without hooks, because instances read other expressions than rows.
    for (const name of ['Nested', 'HookedNested']) {
      const Nested = sequelize.define(
        name,
        {
          cells: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.INTEGER)),
          cubes: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.TEXT))),
          documents: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.JSONB)),
          spans: DataTypes.ARRAY(DataTypes.RANGE(DataTypes.INTEGER)),
          words: DataTypes.ARRAY(DataTypes.TSVECTOR),
          hosts: DataTypes.ARRAY(DataTypes.INET),
        },
        plain,
      )
      const Exact = sequelize.define(
        name.replace('Nested', 'Exact'),
        {
          longs: DataTypes.ARRAY(DataTypes.BIGINT),
          prices: DataTypes.ARRAY(DataTypes.DECIMAL(10, 2)),
          sums: DataTypes.ARRAY(DataTypes.DECIMAL(30, 10)),
          codes: DataTypes.ARRAY(DataTypes.CHAR(4)),
          bytes: DataTypes.ARRAY(DataTypes.STRING(9, true)),
          grid: DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.BIGINT)),
        },
        plain,
      )
      if (name.startsWith('Hooked')) {
        for (const model of [Nested, Exact]) {
          model.addHook('beforeFind', () => undefined)
          model.addHook('beforeSave', () => undefined)
        }
      }
      const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
      app.use(crudRouter(Nested, { operations, route: name }), crudRouter(Exact, { operations, route: Exact.name }))
    }
    Object.assign(models, { Post, Hooked, Word })
    app.use(crudRouter(Post))
    app.use(crudRouter(Hooked, { route: 'hooked' }))
    app.use(
      crudRouter(Word, {
        fields: {
          labels: { members: { '': ['string'] } },
          meta: { members: { tags: ['string'], 'deep.ranks': ['integer'], sizes: ['number'] } },
        },
      }),
    )
  },
  { sequelize: { logQueryParameters: true } },
)
test.after.always(() => server.close())

const idsOf = (path: string, filter: string): Promise<number[]> =>
  keysOf(server, path, { filter, sort: 'id', pageSize: 100, select: 'id' })

if (isPostgres) {
  const UUID = 'a0b1c2d3-0000-4000-8000-00000000000a'
  const ROWS = [
    {
      tags: ['vip', 'new', null],
      codes: ['ab', 'c'],
      ranks: [1, 2, 3],
      longs: ['9007199254740993', 1],
      prices: [1.5, 0.25],
      sizes: [0.1, -2],
      reals: [0.3],
      flags: [true, null],
      kinds: ['big'],
      owners: [UUID],
      moments: ['2026-11-20T10:00:00.000Z'],
      days: ['2026-02-28'],
      hours: ['10:30:00'],
      grid: [
        [1, 2],
        [3, 4],
      ],
    },
    { tags: [], ranks: [5], flags: [false], kinds: ['small', 'big'], moments: [], prices: [2] },
    {},
  ]

  test.before(async () => {
    await models.Post?.bulkCreate(ROWS as never)
    await models.Hooked?.bulkCreate([
      { tags: ['a', 'B'], postId: 1 },
      { tags: null, postId: 3 },
      { tags: [null], postId: 9 },
    ] as never)
  })

  test('columns of arrays take the operators of their items', async (t) => {
    const cases: readonly (readonly [filter: string, ids: readonly number[]])[] = [
      ['tags.Any=vip', [1]],
      ['tags.Any=VIP/i', [1]],
      ['tags.Any^v', [1]],
      ['tags.Any!=vip', [1]],
      ['tags.Any=null', [1]],
      ['tags.All=*w', [2, 3]],
      ['tags.None=vip', [2, 3]],
      ['tags.Count=3', [1]],
      ['tags.Count=0', [2, 3]],
      ['tags.Count<9007199254740993', [1, 2, 3]],
      ['tags.Count>2147483648', []],
      ['tags.Any=in=x;new', [1]],
      ['tags.Any=vipvipvipvipvip', []],
      ['codes.Any=ab', [1]],
      ['codes.Any=c', [1]],
      ['ranks.Any>2', [1, 2]],
      ['ranks.All>2', [2, 3]],
      ['ranks.Any=in=3;5', [1, 2]],
      ['ranks.Any=99999999999', []],
      ['longs.Any=9007199254740993', [1]],
      ['longs.Any=9007199254740992', []],
      ['prices.Any=1.5', [1]],
      ['prices.Any<0.251', [1]],
      ['sizes.Any=0.1', [1]],
      ['reals.Any=0.3', [1]],
      ['flags.Any=true', [1]],
      ['flags.Any!=true', [1, 2]],
      ['flags.None=null', [2, 3]],
      ['kinds.Any=BIG', [1, 2]],
      ['kinds.All=big', [1, 3]],
      [`owners.Any=${UUID.toUpperCase()}`, [1]],
      [`owners.Any=in=${UUID}`, [1]],
      ['moments.Any=2026-11-20', [1]],
      ['moments.Any=2026-11-20T11:00:00+01:00', [1]],
      ['moments.Any>2026-11-20', []],
      ['days.Any<=2026-02-28', [1]],
      ['days.Any=2026-02-28', [1]],
      ['hours.Any=10:30', [1]],
      ['hours.Any>10:00', [1]],
      ['notes.Any(tags.Any=a)', [1]],
      ['notes.tags.Count=0', [3]],
    ]
    for (const [filter, ids] of cases) t.deepEqual(await idsOf('/api/posts', filter), ids, filter)
  })

  test('columns of arrays behind relations, and where hooks of the host see the query', async (t) => {
    const cases: readonly (readonly [filter: string, ids: readonly number[]])[] = [
      ['tags.Any=a', [1]],
      ['tags.Any=b/i', [1]],
      ['tags.Count=1', [3]],
      ['post.tags.Any=vip', [1]],
      ['post.tags.None=vip', [2, 3]],
      ['post.tags.Count=0', [2, 3]],
      ['post.moments.Any=2026-11-20', [1]],
    ]
    for (const [filter, ids] of cases) t.deepEqual(await idsOf('/hooked', filter), ids, filter)
  })

  test('arrays of arrays and of bytes are no collections', async (t) => {
    for (const filter of ['grid.Any=1', 'grid.Count=2', 'blobs.Any=x', 'blobs.Count>1']) {
      const { status, body } = await list(server, '/api/posts', { filter })
      t.is(status, 400)
      t.regex(body.errors.filter[0], /^Unknown field/, filter)
    }
    t.is((await list(server, '/api/posts', { filter: 'tags=vip' })).status, 400)
  })

  test('bodies are read by the type of the items, null among them', async (t) => {
    const sent = { tags: ['a', null], ranks: [null, 1], kinds: ['small'], moments: ['2026-11-20T11:00:00+01:00', null] }
    const { status, body, text } = await server.post('/api/posts', sent)
    t.is(status, 201, text)
    t.deepEqual([body.tags, body.ranks, body.kinds], [['a', null], [null, 1], ['small']])
    t.deepEqual(body.moments, ['2026-11-20T10:00:00.000Z', null])
    const wrong = await server.post('/api/posts', {
      tags: ['a', 5, 'too long for it'],
      ranks: [1.5, 3_000_000_000],
      kinds: ['Big'],
      owners: ['x'],
      flags: 'true',
      days: ['2026-02-30'],
    })
    t.deepEqual(wrong.body.errors, {
      'tags[1]': ['must be a string.'],
      'tags[2]': ['must be at most 8 characters.'],
      'ranks[0]': ['must be an integer.'],
      'ranks[1]': ['must be between -2147483648 and 2147483647.'],
      'kinds[0]': ['must be one of: big, small.'],
      'owners[0]': ['must be a UUID.'],
      flags: ['must be an array.'],
      'days[0]': ['must be a date.'],
    })
    t.is((await server.delete(`/api/posts/${body.id}`)).status, 204)
  })

  const ARRAY = ['must be an array.']
  const BOUNDS = ['must be an array of a lower and an upper bound.']
  const MALFORMED: readonly (readonly [field: string, sent: unknown, errors: Readonly<Record<string, unknown>>])[] = [
    ['cells', [null], { 'cells[0]': ARRAY }],
    ['cells', [[1], 2], { 'cells[1]': ARRAY }],
    ['cubes', [['a'], [['b'], null]], { 'cubes[0][0]': ARRAY, 'cubes[1][1]': ARRAY }],
    ['documents', [null, { a: 1 }], { 'documents[0]': ARRAY, 'documents[1]': ARRAY }],
    ['spans', [[1, 2], [1], 5], { 'spans[1]': BOUNDS, 'spans[2]': ARRAY }],
    ['words', [5], { 'words[0]': ['must be a string.'] }],
    ['hosts', ['10.0.0.1', {}], { 'hosts[1]': ['must be a string.'] }],
  ]
  for (const path of ['/Nested', '/HookedNested']) {
    test(`elements of arrays that Sequelize cannot write are client errors: ${path}`, async (t) => {
      const { id } = (await server.post(path, {})).body
      for (const [field, sent, errors] of MALFORMED) {
        const body = { [field]: sent }
        const created = await server.post(path, body)
        t.deepEqual([created.status, created.body.errors], [400, errors], created.text)
        t.deepEqual((await server.patch(`${path}/${id}`, body)).body.errors, errors)
        const placed = Object.fromEntries(Object.entries(errors).map(([place, messages]) => [`[0].${place}`, messages]))
        t.deepEqual((await server.patch(`${path}/bulk`, [{ id, ...body }])).body.errors, placed)
      }
      t.is((await server.post(path, { words: ["'"] })).status, 400)
      t.is((await server.post(path, { cells: [[1], [2, 3]] })).status, 400)
    })

    test(`arrays of arrays, of documents and of ranges are written: ${path}`, async (t) => {
      const bounds = [
        { value: 1, inclusive: true },
        { value: 2, inclusive: false },
      ]
      const sent = {
        cells: [[1, null]],
        cubes: [[['a'], ['b']]],
        documents: [[{ a: 1 }, null]],
        hosts: ['10.0.0.1', null],
      }
      const { status, body, text } = await server.post(path, { ...sent, spans: [[1, 2], [], null] })
      t.is(status, 201, text)
      t.like(body, { ...sent, spans: [bounds, [], null] })
    })
  }

  /** Sent values, and the same values in responses if they differ. */
  const EXACT: readonly (readonly [field: string, sent: unknown, shown?: unknown])[] = [
    ['longs', [1, null, -5]],
    ['longs', ['9007199254740993', '-9223372036854775808', 9007199254740991]],
    ['prices', [1.5, null, 12345678.25]],
    ['sums', ['12345678901234567890.0123456789', null]],
    ['sums', [1.5], ['1.5000000000']],
    ['codes', ['ab', 'abcd']],
    ['bytes', ['a', 'ł']],
    [
      'grid',
      [
        [1, null],
        ['9007199254740993', 2],
      ],
    ],
  ]
  for (const path of ['/Exact', '/HookedExact']) {
    test(`items have the form of their type, and clients can send them back: ${path}`, async (t) => {
      for (const [field, sent, shown = sent] of EXACT) {
        const created = await server.post(path, { [field]: sent })
        t.deepEqual([created.status, created.body[field]], [201, shown], created.text)
        const record = created.body
        const at = `${path}/${record.id}`
        t.deepEqual((await server.get(at)).body, record)
        const listed = await list(server, path, { keys: record.id })
        t.deepEqual([listed.status, listed.body.items], [200, [record]], listed.text)
        const patched = await server.patch(at, record)
        t.deepEqual([patched.status, patched.body], [200, record], patched.text)
        const replaced = await server.send('PUT', at, { json: record })
        t.deepEqual([replaced.status, replaced.body], [200, record], replaced.text)
        const bulk = await server.patch(`${path}/bulk`, [record])
        t.deepEqual([bulk.status, bulk.body], [200, [record]], bulk.text)
        // Filters take an item as responses show it.
        const [item] = record[field].flat()
        if (field === 'bytes' || field === 'grid') continue
        const found = await list(server, path, { filter: `${field}.Any=${item}`, select: 'id', pageSize: 100 })
        t.true(
          found.body.items?.some(({ id }: { id: number }) => id === record.id),
          found.text,
        )
      }
    })

    test(`items that JSON would round or that their type does not allow are refused: ${path}`, async (t) => {
      const digits = ['has more digits than a JSON number keeps; send it as a string.']
      const cases: readonly (readonly [body: object, errors: object])[] = [
        [{ longs: ['1'] }, { 'longs[0]': ['must be an integer.'] }],
        [{ longs: [2 ** 53] }, { 'longs[0]': digits }],
        [{ grid: [[1], [2 ** 53]] }, { 'grid[1][0]': digits }],
        [{ grid: [1] }, { 'grid[0]': ARRAY }],
        [{ grid: [[[1]]] }, { 'grid[0][0]': ['must be an integer.'] }],
        [{ prices: [1.555] }, { 'prices[0]': ['must have at most 2 decimal places.'] }],
      ]
      for (const [body, errors] of cases) {
        const answer = await server.post(path, body)
        t.deepEqual([answer.status, answer.body.errors], [400, errors], answer.text)
      }
    })
  }

  test('a GIN index serves Any= of columns of arrays and of JSONB', async (t) => {
    const { Word } = models
    const words = Array.from({ length: 20_000 }, (_, index) => {
      const texts = [`t${index}`, index % 2 === 0 ? 'even' : 'odd']
      return { tags: texts, labels: texts, meta: { tags: texts, deep: { ranks: [index] }, sizes: [index] } }
    })
    await Word?.bulkCreate(words as never)
    await server.sequelize.query('ANALYZE')
    const cases: readonly (readonly [filter: string, index: string, found: readonly number[]])[] = [
      ['tags.Any=t77', 'words_tags', [78]],
      ['tags.Any=in=t77;t5', 'words_tags', [6, 78]],
      ['labels.Any=t77', 'words_labels', [78]],
      ['labels.Any=in=t77;t5', 'words_labels', [6, 78]],
      ['meta.tags.Any=t77', 'words_meta', [78]],
      ['meta.deep.ranks.Any=77', 'words_meta', [78]],
      ['meta.sizes.Any=77', PRIMARY, [78]],
    ]
    for (const [filter, index, found] of cases) {
      server.statements.length = 0
      t.deepEqual(await idsOf('/api/words', filter), found, filter)
      const [statement = ''] = server.statements
      const [access, ...others] = (await accessesOf(server.sequelize, statement)).filter(
        ({ table }) => table === 'Word',
      )
      t.deepEqual([access?.index, access?.seeks, others], [index, index !== PRIMARY, []], `${filter} ${statement}`)
    }
  })
}

test('nothing in this file was unexpected', (t) => t.pass())
