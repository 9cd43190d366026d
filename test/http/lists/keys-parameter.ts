// `keys=1,2,3` limits a list to the records with these keys, in every mode, under all that holds for lists.

import { randomUUID } from 'node:crypto'
import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic } from 'sequelize'
import { crudRouter, escapeFilterValue, hasRole, queryOf } from '../../../lib/index.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial

const UUIDS = Array.from({ length: 3 }, () => randomUUID())
const TEXTS = ['plain', 'a,b', 'a', 'a\\b', ' blank', 'żółw', 'null', '1', 'x=y;z']

const models: Record<string, ModelStatic<Model>> = {}

const server = await openStage(({ sequelize }, app) => {
  const define = (name: string, attributes: ModelAttributes): ModelStatic<Model> => {
    models[name] = sequelize.define(name, { name: DataTypes.STRING, ...attributes }, { timestamps: false })
    return models[name]
  }
  const Row = define('Row', { keys: DataTypes.STRING })
  const Hooked = define('Hooked', { keys: DataTypes.STRING })
  // With a find hook the reads go through Sequelize's own findAll and count.
  Hooked.addHook('beforeFind', () => undefined)
  const Big = define('Big', { id: { type: DataTypes.BIGINT, primaryKey: true } })
  const Uuid = define('Uuid', { id: { type: DataTypes.UUID, primaryKey: true } })
  const Text = define('Text', { id: { type: DataTypes.STRING(40), primaryKey: true } })
  const Kept = define('Kept', { tenantId: DataTypes.INTEGER })
  const ordered = { pageSize: 2, defaultSort: '-name' }
  app.use(crudRouter(Row, { route: 'rows', query: ordered }))
  app.use(crudRouter(Row, { route: 'few', limits: { listItems: 3 } }))
  app.use(crudRouter(Row, { route: 'short', query: { pageSize: 1, maxPageSize: 2 } }))
  app.use(crudRouter(Row, { route: 'strict', query: { unknownParameters: 'reject', sortable: false } }))
  app.use(crudRouter(Hooked, { route: 'hooked', query: ordered }))
  app.use(crudRouter(Big, { route: 'bigs' }))
  app.use(crudRouter(Uuid, { route: 'uuids' }))
  app.use(crudRouter(Text, { route: 'texts', fields: { id: { exclude: 'query' } } }))
  app.use(
    crudRouter(Kept, {
      route: 'kept',
      identity,
      softDelete: true,
      getListPolicy: hasRole('reader'),
      scope: ({ identity: caller }) => ({ tenantId: Number(caller?.claims.tenant) }),
    }),
  )
})

const rows = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, keys: `k${name}` }))
await models.Row?.bulkCreate(rows)
await models.Hooked?.bulkCreate(rows)
await models.Big?.bulkCreate([{ id: '9007199254740992' }, { id: '9007199254740993' }, { id: 5 }])
await models.Uuid?.bulkCreate(UUIDS.map((id) => ({ id })))
await models.Text?.bulkCreate(TEXTS.map((id) => ({ id })))
await models.Kept?.bulkCreate([1, 1, 2, 1].map((tenantId) => ({ tenantId })))

test.after.always(() => server.close())

for (const path of ['/rows', '/hooked']) {
  test(`keys limits ${path} to these records, in the order of the list`, async (t) => {
    for (const [keys, found] of [
      ['1,3,4', [4, 3, 1]],
      ['4,3,1', [4, 3, 1]],
      [' 1 ,\t3, 4 ', [4, 3, 1]],
      ['1,1,3,1,4', [4, 3, 1]],
      ['2', [2]],
      ['2,99', [2]],
      ['99', []],
    ] as const) {
      t.deepEqual(await keysOf(server, path, { keys }), found, keys)
    }
    t.deepEqual(await keysOf(server, path, { keys: '1,3,4', sort: 'name' }), [1, 3, 4])
    t.deepEqual(await keysOf(server, path), [5, 4])
  })

  test(`the page of ${path} holds all records that were named, unless it has a size of its own`, async (t) => {
    for (const [parameters, envelope] of [
      [{ keys: '1,3,4' }, { items: 3, totalCount: 3, pageSize: 3, totalPages: 1, hasNextPage: false }],
      [{ keys: '1,3,99' }, { items: 2, totalCount: 2, pageSize: 3, totalPages: 1, hasNextPage: false }],
      [{ keys: '1,1,1' }, { items: 1, totalCount: 1, pageSize: 2, totalPages: 1, hasNextPage: false }],
      [{ keys: '1' }, { items: 1, totalCount: 1, pageSize: 2, totalPages: 1, hasNextPage: false }],
      [
        { keys: '1,3,4', pageSize: '' },
        { items: 3, totalCount: 3, pageSize: 3, totalPages: 1, hasNextPage: false },
      ],
      [
        { keys: '1,3,4', pageSize: 1 },
        { items: 1, totalCount: 3, pageSize: 1, totalPages: 3, hasNextPage: true },
      ],
      [
        { keys: '1,3,4', count: 'none' },
        { items: 3, totalCount: null, pageSize: 3, totalPages: null, hasNextPage: false },
      ],
      [{ keys: '' }, { items: 0, totalCount: 0, pageSize: 2, totalPages: 0, hasNextPage: false }],
      [{ keys: ' \t' }, { items: 0, totalCount: 0, pageSize: 2, totalPages: 0, hasNextPage: false }],
    ] as const) {
      const { status, body, text } = await list(server, path, parameters)
      t.is(status, 200, text)
      t.deepEqual({ ...body, items: body.items.length }, { ...envelope, page: 1, hasPreviousPage: false })
    }
  })

  test(`keys goes with filters, typed parameters, selections, counts and cursors of ${path}`, async (t) => {
    t.deepEqual(await keysOf(server, path, { keys: '1,3,4', filter: 'Name=a|Name=d|Name=e' }), [4, 1])
    t.deepEqual(await keysOf(server, path, { keys: '1,3,4', name: 'b' }), [])
    t.deepEqual(await keysOf(server, path, { keys: '1,3,4', name: 'c' }), [3])
    const selected = await list(server, path, { keys: '3,1', select: 'name' })
    t.deepEqual(selected.body.items, [{ name: 'c' }, { name: 'a' }])
    t.deepEqual((await list(server, path, { keys: '1,3,99', count: 'true' })).body, { count: 2 })
    t.deepEqual((await list(server, path, { keys: '', count: 'true' })).body, { count: 0 })
    const whole = await list(server, path, { keys: '4,3,1', cursor: '' })
    t.like(whole.body, { nextCursor: null, pageSize: 3, items: [{ id: 1 }, { id: 3 }, { id: 4 }] })
    const first = await list(server, path, { keys: '4,3,1', cursor: '', pageSize: 2 })
    t.like(first.body, { pageSize: 2, items: [{ id: 1 }, { id: 3 }] })
    t.deepEqual(await keysOf(server, path, { keys: '4,3,1', cursor: first.body.nextCursor }), [4])
  })
}

test('keys is there although the key is not filterable, and reads nothing where it names nothing', async (t) => {
  t.is((await list(server, '/rows', { filter: 'Id=1' })).status, 400)
  t.is((await list(server, '/texts', { filter: 'Id=a' })).status, 400)
  t.deepEqual(await keysOf(server, '/texts', { keys: 'a' }), ['a'])
})

test('what cannot be a key is a missing record', async (t) => {
  for (const keys of ['x', '01', '1.0', '1e0', '+1', '0x1', '99999999999999999999', '-', 'null', '\u0000', '1;2']) {
    const { status, body, text } = await list(server, '/rows', { keys })
    t.is(status, 200, text)
    t.like(body, { items: { length: 0 }, totalCount: 0 }, keys)
    t.deepEqual(await keysOf(server, '/rows', { keys: `${keys},2` }), [2], keys)
  }
  t.deepEqual(await keysOf(server, '/texts', { keys: `a,${'x'.repeat(41)},\u0000` }), ['a'])
  t.deepEqual(await keysOf(server, '/uuids', { keys: `nobody,${UUIDS[0]}` }), [UUIDS[0]])
})

test('BIGINTs and UUIDs are named as they stand in responses, UUIDs in any case and each once', async (t) => {
  t.deepEqual(await keysOf(server, '/bigs', { keys: '9007199254740993,5' }), [5, '9007199254740993'])
  const [first = '', second = ''] = UUIDS
  const { body } = await list(server, '/uuids', { keys: `${first.toUpperCase()},${first},${second}` })
  t.deepEqual(body.items.map(({ id }: { id: string }) => id).sort(), [first, second].sort())
})

test('text keys are compared exactly, and a backslash makes a comma, a blank or itself a part of one', async (t) => {
  for (const text of TEXTS) t.deepEqual(await keysOf(server, '/texts', { keys: escapeFilterValue(text) }), [text], text)
  const all = await keysOf<string>(server, '/texts', { keys: TEXTS.map(escapeFilterValue).join(' , ') })
  t.deepEqual([...all].sort(), [...TEXTS].sort())
  t.deepEqual(await keysOf(server, '/texts', { keys: 'a,b' }), ['a'])
  for (const keys of ['A', 'a\\ ', 'PLAIN', 'plaIn', 'blank', 'zolw', 'ŻÓŁW', '%', 'a_b']) {
    t.deepEqual(await keysOf(server, '/texts', { keys }), [], keys)
  }
})

for (const [keys, message] of [
  [',', 'has an empty key at position 1.'],
  ['1,', 'has an empty key at position 2.'],
  [',1', 'has an empty key at position 1.'],
  ['1,,2', 'has an empty key at position 2.'],
  ['1, ,2', 'has an empty key at position 2.'],
  ['1,2\\', 'ends with a "\\" without a character after it.'],
] as const) {
  test(`keys=${keys} is 400: it ${message}`, async (t) => {
    for (const mode of [{}, { count: 'true' }, { cursor: '' }, { select: 'name' }]) {
      const { status, body } = await list(server, '/rows', { keys, ...mode })
      t.is(status, 400)
      t.is(body.code, 'invalid-query')
      t.deepEqual(body.errors, { keys: [message] })
    }
  })
}

test('more keys than a list of values or a page may have are 400 that names the limit, and each key counts once', async (t) => {
  t.deepEqual(await keysOf(server, '/few', { keys: '1,2,3,3,2' }), [1, 2, 3])
  const few = await list(server, '/few', { keys: '1,2,3,4' })
  t.is(few.status, 400)
  t.deepEqual(few.body.errors, { keys: ['has more keys than the limit of 3 (listItems).'] })
  t.deepEqual(await keysOf(server, '/short', { keys: '1,2' }), [1, 2])
  const short = await list(server, '/short', { keys: '1,2,3', pageSize: 1 })
  t.is(short.status, 400)
  t.deepEqual(short.body.errors, { keys: ['has more keys than the limit of 2 (maxPageSize).'] })
  const many = Array.from({ length: 200 }, (_, index) => index + 1).join(',')
  t.is((await list(server, '/rows', { keys: many })).body.pageSize, 200)
  t.is((await list(server, '/rows', { keys: `${many},201` })).status, 400)
})

test('keys is a parameter of every list, of that name alone, once, and a field of the name is in the filter only', async (t) => {
  t.deepEqual(await keysOf(server, '/strict', { keys: '2' }), [2])
  t.deepEqual(await keysOf(server, '/rows', { keys: 'kb' }), [])
  t.deepEqual(await keysOf(server, '/rows', { filter: 'Keys=kb' }), [2])
  for (const name of ['KEYS', 'Keys', 'key']) {
    t.deepEqual((await list(server, '/strict', { [name]: '2' })).body.errors, {
      [name]: ['is not a parameter of this list. Did you mean "keys"?'],
    })
  }
  const twice = await server.get('/rows?keys=1&keys=2')
  t.deepEqual(twice.body.errors, { keys: ['is given more than once.'] })
})

test('the links of a page keep its keys', async (t) => {
  const { headers } = await list(server, '/rows', { keys: '1,3,4', pageSize: 2 })
  t.regex(headers.get('link') ?? '', /<\/rows\?keys=1%2C3%2C4&pageSize=2&page=2>; rel="next"/)
})

test('keys shows nobody what policy, scope and soft delete keep from them', async (t) => {
  const reader = bearer({ sub: 'x', roles: ['reader'], tenant: 1 })
  const found = async (query: string): Promise<readonly number[]> => {
    const { status, body, text } = await server.get(`/kept?${query}`, reader)
    t.is(status, 200, text)
    return body.items.map(({ id }: { id: number }) => id)
  }
  t.deepEqual(await found('keys=1,2,3,4'), [1, 2, 4])
  t.is((await server.delete('/kept/2', reader)).status, 204)
  t.deepEqual(await found('keys=1,2,3,4'), [1, 4])
  t.deepEqual(await found('keys=3'), [])
  t.deepEqual(await found('keys=1,2,3,4&includeDeleted=true'), [1, 2, 4])
  t.deepEqual((await server.get('/kept?keys=1,2,3,4&count=true', reader)).body, { count: 2 })
  t.is((await server.get('/kept?keys=1', bearer({ sub: 'x', tenant: 1 }))).status, 403)
  t.is((await server.get('/kept?keys=1')).status, 401)
})

test('options for findAll hold to keys as well', async (t) => {
  const { Row } = models
  if (Row === undefined) return t.fail()
  const { toFindOptions } = queryOf(Row)
  const found = await Row.findAll(toFindOptions({ keys: '3,1,x', sort: 'name' }))
  t.deepEqual(
    found.map((row) => row.get('id')),
    [1, 3],
  )
  t.deepEqual(await Row.findAll(toFindOptions({ keys: '' })), [])
  t.deepEqual((await Row.findAll(toFindOptions({ keys: 2 }))).length, 1)
})
