// `fields: { meta: { members: { color: 'string' } } }`: typed members of a JSON attribute as paths of filter, sort and select.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, Operations, openApi, queryOf } from '../../../lib/index.js'
import { readCsv } from '../../support/csv.js'
import { databaseName } from '../../support/database.js'
import { randomOf } from '../../support/differential/random.js'
import { INFO } from '../../support/documented.js'
import { keysOf, list, type Parameters } from '../../support/lists.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}

const MEMBERS = {
  color: 'string',
  size: 'number',
  rank: 'integer',
  isOld: 'boolean',
  day: 'date',
  at: 'datetime',
  tags: 'array',
  'address.city': 'string',
  'address.Street.no': 'integer',
} as const
const fields = { id: { filterable: true }, meta: { members: MEMBERS } }
const operations = Operations.All | Operations.Export | Operations.Aggregate

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const type = databaseName === 'postgres' ? DataTypes.JSONB : DataTypes.JSON
  const Team = sequelize.define('Team', { name: DataTypes.STRING, meta: type }, plain)
  const Item = sequelize.define('Item', { name: DataTypes.STRING, meta: DataTypes.JSON }, plain)
  const Hooked = sequelize.define('Hooked', { name: DataTypes.STRING, meta: DataTypes.JSON }, plain)
  Hooked.addHook('beforeFind', () => undefined)
  for (const model of [Item, Hooked]) model.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  Team.hasMany(Item, { as: 'items', foreignKey: 'teamId', constraints: false })
  Object.assign(models, { Team, Item, Hooked })
  app.use(crudRouter(Team, { fields }))
  app.use(crudRouter(Item, { fields, operations }))
  app.use(crudRouter(Hooked, { route: 'hooked', fields, operations }))
})
test.after.always(() => server.close())

const DOCUMENTS: readonly unknown[] = [
  {
    color: 'red',
    size: 1.5,
    rank: 3,
    isOld: true,
    day: '2026-02-28',
    at: '2026-11-20T10:00:00.000Z',
    tags: ['a', 'b'],
  },
  { color: 'Red', size: -2, rank: -1, isOld: false, day: '2024-02-29', at: '2026-11-20T09:59:59.999Z', tags: [] },
  { color: '', size: 0, rank: 0, address: { city: 'Łódź 😀', Street: { no: 7 } }, tags: ['A', 5, null, ['a'], 'b '] },
  { color: 5, size: '5', rank: 2.5, isOld: 'true', day: '2026-02-29', at: '2026-11-20', tags: 'a', address: 'x' },
  { color: null, size: null, rank: 1e20, isOld: 1, day: 20260228, at: '2026-11-20T10:00:00Z', tags: { 0: 'a' } },
  { color: ['red'], size: [1], rank: 9007199254740991, day: '2026-13-01', at: '2026-11-20T25:00:00.000Z', address: [] },
  { Color: 'red', size: 1e300, address: { City: 'x', street: { no: 7 } }, day: '0000-01-01' },
  { color: 'it\'s "quoted" \\ %_|*', size: 0.1, day: '2026-01-01 ', tags: ['"', '\\', "'", '%', ''] },
  [],
  'text',
  5,
  null,
  { color: 'red ', rank: 3, tags: ['é', '5'] },
  { color: 'a\u0001\tb', address: { city: null, Street: { no: -7 } } },
]
const docs = DOCUMENTS.map((meta, index) => ({ id: index + 1, name: `n${index}`, meta, teamId: (index % 3) + 1 }))

test.before(async () => {
  const { Team, Item, Hooked } = models
  await Team?.bulkCreate([
    { name: 'Red', meta: { color: 'blue', size: 2 } },
    { name: 'Blue', meta: { color: 'green' } },
    { name: 'None', meta: null },
  ])
  for (const model of [Item, Hooked]) await model?.bulkCreate(docs as never)
})

const idsOf = (path: string, parameters: Parameters): Promise<number[]> =>
  keysOf(server, path, { sort: 'id', pageSize: 100, ...parameters })

const ROUTES = ['/api/items', '/hooked']

// ---------------------------------------------------------------- an oracle over the documents

/** The value of a member, as JavaScript sees the document. */
function member(meta: unknown, path: string): unknown {
  let value = meta
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return null
    value = (value as Record<string, unknown>)[name]
  }
  const isOfType: Record<string, (given: unknown) => boolean> = {
    string: (given) => typeof given === 'string',
    number: (given) => typeof given === 'number',
    integer: Number.isSafeInteger,
    boolean: (given) => typeof given === 'boolean',
    date: (given) =>
      /^(?!0000)\d{4}-\d\d-\d\d$/.test(String(given)) && new Date(`${given}`).toJSON()?.slice(0, 10) === given,
    datetime: (given) => typeof given === 'string' && new Date(given).toJSON() === given,
    array: Array.isArray,
  }
  const check = isOfType[MEMBERS[path as keyof typeof MEMBERS]]
  return check?.(value) === true ? value : null
}

const PATHS = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[]

function where(path: string, isMet: (value: never) => boolean): number[] {
  return docs.filter(({ meta }) => isMet(member(meta, path) as never)).map(({ id }) => id)
}

test('a member is its value where the document has one of its type, and null elsewhere', async (t) => {
  for (const route of ROUTES) {
    for (const path of PATHS) {
      const { status, body, text } = await list(server, route, { select: `id,Meta.${path}`, sort: 'id', pageSize: 100 })
      t.is(status, 200, text)
      const values = body.items.map(({ meta }: { meta: unknown }) =>
        path.split('.').reduce<unknown>((at, name) => Reflect.get(Object(at), name), meta),
      )
      t.deepEqual(
        values,
        docs.map(({ meta }) => member(meta, path)),
        `${route} ${path}`,
      )
      t.deepEqual(
        await idsOf(route, { filter: `meta.${path}=null` }),
        where(path, (value) => value === null),
        path,
      )
      t.deepEqual(
        await idsOf(route, { filter: `meta.${path}!=null` }),
        where(path, (value) => value !== null),
        path,
      )
    }
  }
})

test('the operators of a type compare members as they compare fields', async (t) => {
  const escaped = (text: string): string => text.replace(/[\\,;|()/ "]/g, '\\$&')
  const cases: [path: string, filter: string, isMet: (value: never) => boolean][] = [
    ['color', 'Meta.Color=red', (value) => value === 'red'],
    ['color', 'META.COLOR!=red', (value) => value !== 'red'],
    ['color', 'meta.color=red/i', (value: unknown) => typeof value === 'string' && value.toLowerCase() === 'red'],
    ['color', 'meta.color=in=red;Red', (value) => value === 'red' || value === 'Red'],
    ['color', 'meta.color=out=red;null', (value) => value !== 'red' && value !== null],
    ['color', 'meta.color=*e', (value: string | null) => value?.includes('e') ?? false],
    ['color', 'meta.color!*e', (value: string | null) => !(value?.includes('e') ?? false)],
    ['color', 'meta.color^re', (value: string | null) => value?.startsWith('re') ?? false],
    ['color', 'meta.color$d', (value: string | null) => value?.endsWith('d') ?? false],
    ['color', `meta.color=*${escaped('%_|*')}`, (value: string | null) => value?.includes('%_|*') ?? false],
    ['address.city', 'meta.address.CITY=Łódź 😀', (value) => value === 'Łódź 😀'],
    ...(['=', '!=', '>', '>=', '<', '<='] as const).flatMap((operator) => {
      const compare = (against: number) => (value: number | null) => {
        if (operator === '=' || operator === '!=') return (value === against) === (operator === '=')
        if (value === null) return false
        return { '>': value > against, '>=': value >= against, '<': value < against, '<=': value <= against }[operator]
      }
      const numbers = (path: string, ...given: number[]): typeof cases =>
        given.map((against) => [path, `meta.${path}${operator}${against}`, compare(against)])
      return [
        ...numbers('size', 0, 1.5, 0.1, -2),
        ...numbers('rank', 3, 0, 9007199254740991),
        ...numbers('address.Street.no', 7),
      ]
    }),
    ['rank', 'meta.rank=in=3;0', (value) => value === 3 || value === 0],
    ['rank', 'meta.rank<99999999999999999999', (value) => value !== null],
    ['isOld', 'meta.isOld=true', (value) => value === true],
    ['isOld', 'meta.isOld!=true', (value) => value !== true],
    ['isOld', 'meta.isOld=false', (value) => value === false],
    ['day', 'meta.day=2026-02-28', (value) => value === '2026-02-28'],
    ['day', 'meta.day>2024-02-29', (value: string | null) => value !== null && value > '2024-02-29'],
    ['day', 'meta.day<=2026-02-28', (value: string | null) => value !== null && value <= '2026-02-28'],
    ['at', 'meta.at=2026-11-20', (value: string | null) => value?.startsWith('2026-11-20') ?? false],
    ['at', 'meta.at!=2026-11-20', (value: string | null) => !(value?.startsWith('2026-11-20') ?? false)],
    ['at', 'meta.at=2026-11-20T11:00:00+01:00', (value) => value === '2026-11-20T10:00:00.000Z'],
    ['at', 'meta.at<2026-11-20T10:00:00Z', (value: string | null) => value !== null && value < '2026-11-20T10:00:00'],
    ['tags', 'meta.tags=a', (value: unknown[] | null) => value?.includes('a') ?? false],
    ['tags', 'meta.tags!=a', (value: unknown[] | null) => !(value?.includes('a') ?? false)],
    ['tags', 'meta.tags=a/i', (value: unknown[] | null) => (value?.includes('a') || value?.includes('A')) ?? false],
    ['tags', 'meta.tags=5', (value: unknown[] | null) => value?.includes('5') ?? false],
    ['tags', 'meta.tags=in=b;é', (value: unknown[] | null) => (value?.includes('b') || value?.includes('é')) ?? false],
    ['tags', 'meta.tags=out=b;é', (value: unknown[] | null) => !(value?.includes('b') || value?.includes('é'))],
    ['tags', 'meta.tags=%', (value: unknown[] | null) => value?.includes('%') ?? false],
    ['tags', `meta.tags=${escaped('"')}`, (value: unknown[] | null) => value?.includes('"') ?? false],
    ['tags', 'meta.tags=null', (value) => value === null],
  ]
  for (const route of ROUTES) {
    for (const [path, filter, isMet] of cases) {
      t.deepEqual(await idsOf(route, { filter }), where(path, isMet), `${route} ${filter}`)
    }
  }
})

test('random filters over random documents find what the documents say', async (t) => {
  const seed = Number(process.env.MEMBERS_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.log(`MEMBERS_SEED=${seed}`)
  const random = randomOf(seed)
  const pick = <T>(...given: readonly T[]): T => given[Math.floor(random() * given.length)] as T
  const value = (): unknown =>
    pick<unknown>(...[0, 1, -1, 2.5, 1e21, true, false, null, undefined, {}, [], ['a', 'b'], ['b', 1]], ...TEXTS)
  const made = Array.from({ length: 60 }, (_, index) => ({
    id: 2000 + index,
    name: 'random',
    meta: pick<unknown>(
      { color: value(), size: value(), rank: value(), isOld: value(), day: value(), tags: value() },
      null,
      value(),
    ),
  }))
  const { Item } = models
  // A document cannot be undefined, and what is left out of one is not there.
  const rows = made.map((row) => ({ ...row, meta: JSON.parse(JSON.stringify(row.meta ?? null)) as unknown }))
  await Item?.bulkCreate(rows as never)
  for (let round = 0; round < 60; round += 1) {
    const path = pick('color', 'size', 'rank', 'isOld', 'day', 'tags')
    const isOrdered = path === 'size' || path === 'rank' || path === 'day'
    const operator = pick('=', '!=', ...(isOrdered ? ['<', '>=', '>', '<='] : []))
    const texts = {
      color: TEXTS.filter((each) => each.trim() === each),
      day: DAYS,
      size: ['0', '1', '2.5', '-1'],
      rank: ['0', '1', '-1'],
      isOld: ['true', 'false'],
      tags: ['a', 'b', '1'],
    }
    const text = pick(...texts[path])
    const isMet = (found: unknown): boolean => {
      if (path === 'tags') return ((found as unknown[] | null)?.includes(text) ?? false) === (operator === '=')
      if (operator === '=' || operator === '!=')
        return (found !== null && String(found) === text) === (operator === '=')
      const [left, right] = path === 'day' ? [found as never, text as never] : [found as never, Number(text) as never]
      if (found === null) return false
      return { '<': left < right, '>=': left >= right, '>': left > right, '<=': left <= right }[operator as '<']
    }
    const expected = rows.filter(({ meta }) => isMet(member(meta, path))).map(({ id }) => id)
    const filter = `name=random,meta.${path}${operator}${text.replace(/[\\,;|()/]/g, '\\$&')}`
    t.deepEqual(await idsOf('/api/items', { filter }), expected, `${filter} MEMBERS_SEED=${seed}`)
  }
  await Item?.destroy({ where: { name: 'random' } })
})

const DAYS = ['2026-02-28', '2024-02-29', '0001-01-01', '9999-12-31']
const TEXTS = [...DAYS, 'a', 'A', 'a ', 'null!', '0', '1', 'true', '%', '😀', '2026-02-30', '{}']

test('sorts by members put nulls first, and pages by number and by place go through them once', async (t) => {
  for (const route of ROUTES) {
    for (const path of ['size', 'rank', 'isOld', 'day', 'at', 'address.Street.no'] as const) {
      const sorted = docs.toSorted((one, other) => {
        const [left, right] = [member(one.meta, path), member(other.meta, path)] as [never, never]
        if (left === right) return one.id - other.id
        return left === null || (right !== null && left < right) ? -1 : 1
      })
      const ids = sorted.map(({ id }) => id)
      t.deepEqual(await idsOf(route, { sort: `Meta.${path}` }), ids, path)
      t.deepEqual(await idsOf(route, { sort: `-Meta.${path}` }), await walk(route, `-Meta.${path}`, 4), path)
      t.deepEqual(await walk(route, `Meta.${path}`, 3), ids, path)
    }
    t.deepEqual(
      [...(await walk(route, 'Meta.Color,-Meta.size', 2))],
      await idsOf(route, { sort: 'Meta.Color,-Meta.size' }),
    )
  }
})

test('no record is lost behind a member with the digits of a large integer', async (t) => {
  const ranks = [1234567890123456, -9007199254740991, 7, 1234567890123456, 9007199254740991]
  for (const [route, model] of [
    ['/api/items', models.Item],
    ['/hooked', models.Hooked],
  ] as const) {
    await model?.bulkCreate(ranks.map((rank, index) => ({ id: 100 + index, name: 'large', meta: { rank } })) as never)
    t.deepEqual(await walk(route, 'Meta.rank', 1, 'name=large'), [101, 102, 100, 103, 104], route)
    t.deepEqual(await walk(route, '-Meta.rank', 2, 'name=large'), [104, 103, 100, 102, 101], route)
    await model?.destroy({ where: { name: 'large' } })
  }
})

async function walk(route: string, sort: string, pageSize: number, filter = ''): Promise<number[]> {
  const ids: number[] = []
  for (let after: string | null = ''; after !== null; ) {
    const { body, status, text }: Answer = await list(server, route, { sort, pageSize, after, filter })
    if (status !== 200) throw new Error(text)
    ids.push(...body.items.map(({ id }: { id: number }) => id))
    after = body.nextCursor
  }
  return ids
}

test('members are selected within their document, in the names that it has, and all of it stands above them', async (t) => {
  const first = async (select: string, more: Parameters = {}): Promise<unknown> =>
    (await list(server, '/api/items', { select, sort: 'id', pageSize: 1, ...more })).body.items[0]
  t.deepEqual(await first('Meta.Color'), { meta: { color: 'red' } })
  t.deepEqual(await first('meta(color,SIZE),name'), { meta: { color: 'red', size: 1.5 }, name: 'n0' })
  t.deepEqual(await first('meta.address.city,meta.address.street.no'), {
    meta: { address: { city: null, Street: { no: null } } },
  })
  for (const select of ['meta,meta.color', 'meta.color,meta', 'meta.color,*']) {
    t.deepEqual(((await first(select)) as { meta: unknown }).meta, DOCUMENTS[0], select)
  }
  const { body } = await server.get('/api/items/1?select=meta.tags,team.meta.color')
  t.deepEqual(body, { meta: { tags: ['a', 'b'] }, team: { meta: { color: 'blue' } } })
})

test('members are reached behind relations, quantifiers and embeds', async (t) => {
  t.deepEqual(await idsOf('/api/items', { filter: 'Team.Meta.Color=blue' }), [1, 4, 7, 10, 13])
  t.deepEqual(await idsOf('/api/items', { filter: 'Team.Meta.Size=null,id<4' }), [2, 3])
  t.deepEqual(await idsOf('/api/items', { sort: 'Team.Meta.Color,id', filter: 'id<4' }), [3, 1, 2])
  t.deepEqual(await idsOf('/api/teams', { filter: 'Items.Any(Meta.Color=red,Meta.Rank=3)' }), [1])
  t.deepEqual(await idsOf('/api/teams', { filter: 'Items.Meta.Tags=A' }), [3])
  const { body } = await server.get(
    '/api/teams/1?select=items(id,meta.rank)&items.filter=meta.rank!%3Dnull&items.sort=-meta.rank',
  )
  t.deepEqual(body.items, [
    { id: 13, meta: { rank: 3 } },
    { id: 1, meta: { rank: 3 } },
  ])
})

test('undeclared members, members of members and wrong values are refused as for fields', async (t) => {
  const unknown = (await list(server, '/api/items', { filter: 'Nothing=1' })).body
  for (const path of ['meta.other', 'meta.color.x', 'meta.address', 'meta.address.street', 'meta.Any', 'name.x']) {
    for (const parameters of [{ filter: `${path}=1` }, { sort: path }, { select: path }] as Parameters[]) {
      const { status, body } = await list(server, '/api/items', parameters)
      t.is(status, 400, path)
      t.is(body.code, unknown.code, path)
    }
  }
  for (const [filter, message] of [
    ['meta.size=x', /is not a number/],
    ['meta.rank=1.5', /is not a whole number/],
    ['meta.day=2026-02-30', /is not a date/],
    ['meta.isOld>true', /cannot be used with true or false/],
    ['meta.tags>a', /cannot be used with a list of texts/],
    ['meta.tags=*a', /cannot be used with a list of texts/],
    ['meta=1', /cannot be used with JSON/],
  ] as const) {
    const { status, text } = await list(server, '/api/items', { filter })
    t.is(status, 400, filter)
    t.regex(text, message, filter)
  }
  t.is((await list(server, '/api/items', { sort: 'meta.tags' })).status, 400)
  for (const [parameters, message] of [
    [{ group: 'meta.tags' }, /records cannot be grouped by arrays in JSON/],
    [{ aggregate: 'max(meta.size)' }, /max\(\) cannot be used with members of JSON/],
  ] as const) {
    const { status, text } = await list(server, '/api/items', parameters)
    t.is(status, 400)
    t.regex(text, message)
  }
})

test('aggregates group records by members, as the list shows the members', async (t) => {
  const paths = Object.entries(MEMBERS).flatMap(([path, type]) => (type === 'array' ? [] : [path]))
  const valueAt = (document: unknown, path: string): unknown =>
    path.split('.').reduce<unknown>((at, name) => Reflect.get(Object(at), name) ?? null, document)
  for (const route of ['/api/items', '/hooked']) {
    for (const path of paths) {
      const { items } = (await list(server, route, { select: `meta.${path}`, pageSize: '1000' })).body
      const counts = new Map<string, number>()
      for (const { meta } of items) {
        const text = JSON.stringify(valueAt(meta, path))
        counts.set(text, (counts.get(text) ?? 0) + 1)
      }
      const group = `meta.${path}`
      const found = await list(server, route, { aggregate: 'count', group, sort: `-count,${group}`, pageSize: '1000' })
      t.is(found.status, 200, found.text)
      const groups = found.body.items.map(
        (each: { readonly group: { readonly meta: unknown }; readonly count: number }) => [
          JSON.stringify(valueAt(each.group.meta, path)),
          each.count,
        ],
      )
      t.deepEqual(groups.toSorted(), [...counts].toSorted(), `${route} ${path}`)
    }
    const rest = { group: 'team.meta.color,meta.isOld', having: 'count>0', filter: 'meta.color!=null' }
    t.is((await list(server, route, { aggregate: 'count,max(id)', ...rest })).status, 200)
    t.is((await list(server, route, { group: 'meta.color,Meta.Color' })).status, 400)
  }
})

test('exports have members as columns and within their documents', async (t) => {
  const csv = await list(server, '/api/items', {
    format: 'csv',
    select: 'id,meta.color,name,meta.size',
    filter: 'id<3',
  })
  t.deepEqual(readCsv(csv.text), [
    ['id', 'meta.color', 'name', 'meta.size'],
    ['1', 'red', 'n0', '1.5'],
    ['2', 'Red', 'n1', '-2'],
  ])
  const lines = await list(server, '/api/items', { format: 'jsonl', select: 'meta.color', filter: 'id=1' })
  t.is(lines.text, '{"meta":{"color":"red"}}\n')
})

test('hosts that read by findOptions find the same records', async (t) => {
  const { Item } = models
  if (Item === undefined) throw new TypeError('there is no model')
  const options = queryOf(Item, { fields }).toFindOptions({
    filter: 'Meta.Rank=3',
    sort: '-Meta.Size',
    select: 'id,meta.color',
  })
  t.deepEqual(
    (await Item.findAll(options)).map((item) => item.get('id')),
    [1, 13],
  )
})

test('hosts that read by findOptions find the document of a selected member, and nothing that was not selected', async (t) => {
  const { Item } = models
  if (Item === undefined) throw new TypeError('there is no model')
  for (const [select, names] of [
    ['id,meta.color', ['id', 'meta']],
    ['meta.address.city,name', ['meta', 'name']],
    ['name', ['name']],
  ] as const) {
    const [item] = await Item.findAll(queryOf(Item, { fields }).toFindOptions({ filter: 'id=1', select }))
    t.deepEqual(Object.keys(item?.get() ?? {}).toSorted(), names, select)
  }
})

test('a document that says what no text of the database is hides its own members, and no list', async (t) => {
  const { Item } = models
  const bad = ['\ud800', 'x\udc00', '\\ud83d\ude00', 'a\u0000b', '\\u0000', '😀']
  for (const [index, text] of bad.entries()) {
    const id = 1000 + index
    // What a database does not take is in none of its lists.
    await Item?.create({ id, name: 'bad', meta: { color: 'red', note: text } }).catch(() => undefined)
  }
  const { status, text } = await list(server, '/api/items', { filter: 'meta.color=red,name=bad', sort: 'meta.size' })
  t.is(status, 200, text)
  t.is((await list(server, '/api/items', { filter: 'meta.size=null,name=bad', select: 'meta.tags' })).status, 200)
  await Item?.destroy({ where: { name: 'bad' } })
})

test('masks and exclusions of the attribute are those of its members', async (t) => {
  const { Item } = models
  if (Item === undefined) throw new TypeError('there is no model')
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { meta: DataTypes.JSON, other: DataTypes.JSON }, { timestamps: false })
    const members = { color: 'string' } as const
    app.use(
      crudRouter(Note, {
        identity,
        fields: { meta: { members }, other: { members, exclude: true } },
        mask: { meta: 'secrets' },
      }),
    )
    app.use(crudRouter(Note, { route: 'closed', fields: { meta: { members, filterable: false, sortable: false } } }))
  })
  try {
    await stage.sequelize.models.Note?.create({ meta: { color: 'red' }, other: { color: 'red' } })
    const allowed = bearer({ sub: 'a', permissions: ['secrets'] })
    const told = async (query: string, headers: Record<string, string> = {}): Promise<string> => {
      const { status, text } = await stage.get(`/api/notes?${query}`, headers)
      return `${status} ${text.replace(/meta|other|nope/gi, 'X')}`
    }
    for (const query of ['filter=X.color=red', 'sort=X.color', 'filter=X.color=null']) {
      const unknown = await told(query.replace('X', 'nope'))
      t.true(unknown.startsWith('400'))
      t.is(await told(query.replace('X', 'meta')), unknown)
      t.is(await told(query.replace('X', 'other')), unknown)
      t.true((await told(query.replace('X', 'meta'), allowed)).startsWith('200'))
    }
    t.deepEqual((await stage.get('/api/notes?select=id,meta.color')).body.items, [{ id: 1 }])
    t.deepEqual((await stage.get('/api/notes?select=id,meta.color', allowed)).body.items, [
      { id: 1, meta: { color: 'red' } },
    ])
    t.is((await stage.get('/api/notes?select=other.color', allowed)).status, 400)
    t.is((await stage.get('/closed?filter=meta.color=red')).status, 400)
    t.is((await stage.get('/closed?sort=meta.color')).status, 400)
  } finally {
    await stage.close()
  }
})

test('behind a relation members are as open as every resource over the target leaves them', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Shop = sequelize.define('Shop', { meta: DataTypes.JSON }, plain)
    const Sale = sequelize.define('Sale', { name: DataTypes.STRING }, plain)
    Sale.belongsTo(Shop, { as: 'shop', foreignKey: 'shopId' })
    const declared = { color: 'string', size: 'number', city: 'string' } as const
    app.use(crudRouter(Shop, { identity, fields: { meta: { members: declared } }, mask: { meta: 'secrets' } }))
    const { city: _, ...others } = declared
    app.use(crudRouter(Shop, { route: 'other', fields: { meta: { members: { ...others, size: 'integer' } } } }))
    app.use(crudRouter(Sale, { identity }))
  })
  try {
    const { Shop, Sale } = stage.sequelize.models
    await Shop?.create({ meta: { color: 'red', size: 1, city: 'x' } })
    await Sale?.create({ name: 'one', shopId: 1 })
    const allowed = bearer({ sub: 'a', permissions: ['secrets'] })
    const told = async (name: string, headers: Record<string, string>): Promise<string> => {
      const answers = ['filter=X!=null', 'sort=X', 'select=name,X'].map(async (query) => {
        const { status, text } = await stage.get(`/api/sales?${query.replace('X', `shop.${name}`)}`, headers)
        return `${status} ${text.replaceAll(name, 'X')}`
      })
      return (await Promise.all(answers)).join()
    }
    const unknown = await told('nothing', allowed)
    // One of the two does not declare it, or not as that.
    for (const name of ['meta.city', 'meta.size']) t.is(await told(name, allowed), unknown, name)
    t.deepEqual((await stage.get('/api/sales?select=shop.meta.color', allowed)).body.items, [
      { shop: { meta: { color: 'red' } } },
    ])
    t.is((await stage.get('/api/sales?filter=shop.meta.color=red', allowed)).body.totalCount, 1)
    for (const query of ['filter=shop.meta.color=red', 'sort=shop.meta.color']) {
      t.is((await stage.get(`/api/sales?${query}`)).status, 400, query)
    }
    t.false((await stage.get('/api/sales?select=name,shop.meta.color')).text.includes('red'))
  } finally {
    await stage.close()
  }
})

test('wrong declarations are refused when the router is made, each by its name', (t) => {
  const { Item } = models
  if (Item === undefined) throw new TypeError('there is no model')
  const refused = (options: object): string =>
    t.throws(() => crudRouter(Item, options as CrudOptions), { instanceOf: CrudConfigError })?.message ?? ''
  const members = (given: object, attribute = 'meta'): object => ({ fields: { [attribute]: { members: given } } })
  t.regex(refused(members({ color: 'text' })), /"color": the type.*string/s)
  t.regex(refused(members({ color: 'string', Color: 'string' })), /"Color" overlaps with another member/)
  t.regex(refused(members({ a: 'string', 'a.b': 'string' })), /"a.b" overlaps with another member/)
  t.regex(refused(members({ 'a.b': 'string', a: 'array' })), /"a" overlaps with another member/)
  for (const path of ['', 'a..b', "a'b", 'a"b', 'a b', '$', 'a.'])
    t.regex(refused(members({ [path]: 'string' })), /must be names/, path)
  t.regex(refused(members({ a: 'string' }, 'name')), /JSON column can have members, but "name" is not one/)
  t.regex(refused({ fields: { meta: { members: ['a'] } } }), /members.*must be an object of types by path/)
})

test('the document tells of members where it tells of fields', (t) => {
  const { Item } = models
  if (Item === undefined) throw new TypeError('there is no model')
  const router = crudRouter(Item, { route: 'told', fields })
  const document = JSON.stringify(openApi({ resources: [router], info: INFO }))
  for (const path of ['meta.color', 'meta.address.Street.no', '-meta.size'])
    t.true(document.includes(`"${path}"`), path)
  t.true(document.includes('`meta.color` (string, null)'))
  const { fields: told } = (JSON.parse(document).tags[0] as { 'x-crud': { fields: { name: string }[] } })['x-crud']
  const tags = told.find(({ name }) => name === 'meta.tags')
  t.deepEqual(tags, {
    name: 'meta.tags',
    type: 'array',
    nullable: true,
    operators: ['=', '!=', '=in=', '=out='],
    sortable: false,
    selectable: true,
  } as never)
  void router.close()
})
