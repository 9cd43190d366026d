// Arrays of scalars as collections of filters: JSON attributes and members declared as `['string']`.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { CrudConfigError, crudRouter } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { keysOf, list, type Parameters } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}

const MEMBERS = {
  labels: ['string'],
  'deep.ranks': ['integer'],
  sizes: ['number'],
  flags: ['boolean'],
  days: ['date'],
  times: ['datetime'],
  words: 'array',
} as const
const fields = {
  id: { filterable: true },
  tags: { members: { '': ['string'] } },
  meta: { members: { ...MEMBERS, color: 'string' } },
} as const

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const parsed = databaseName === 'postgres' ? DataTypes.JSONB : DataTypes.JSON
  const Team = sequelize.define('Team', { tags: parsed, meta: DataTypes.JSON }, plain)
  const Item = sequelize.define('Item', { tags: DataTypes.JSON, meta: parsed }, plain)
  const Hooked = sequelize.define('Hooked', { tags: parsed, meta: DataTypes.JSON }, plain)
  const Strict = sequelize.define('Strict', { tags: { type: DataTypes.JSON, allowNull: false } }, plain)
  const Closed = sequelize.define('Closed', { tags: DataTypes.JSON }, plain)
  const Masked = sequelize.define('Masked', { tags: DataTypes.JSON }, plain)
  const Scoped = sequelize.define('Scoped', { tags: DataTypes.JSON }, plain)
  Hooked.addHook('beforeFind', () => undefined)
  for (const model of [Item, Hooked]) model.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  Team.hasMany(Item, { as: 'items', foreignKey: 'teamId', constraints: false })
  Object.assign(models, { Team, Item, Hooked, Strict, Scoped })
  app.use(crudRouter(Team, { fields }))
  app.use(crudRouter(Item, { fields }))
  app.use(crudRouter(Hooked, { route: 'hooked', fields }))
  app.use(crudRouter(Strict, { fields: { tags: fields.tags } }))
  app.use(
    crudRouter(Scoped, { route: 'scoped', fields: { tags: fields.tags }, scope: () => 'tags.Any=vip,tags.Count<3' }),
  )
  app.use(crudRouter(Closed, { route: 'closed', fields: { tags: { ...fields.tags, filterable: false } } }))
  app.use(crudRouter(Masked, { route: 'masked', fields: { tags: fields.tags }, mask: { tags: 'secret' } }))
  app.use(crudRouter(Hooked, { route: 'few', fields, limits: { quantifiers: 2, quantifierDepth: 1 } }))
})
test.after.always(() => server.close())

const TAGS: readonly unknown[] = [
  ['vip', 'new'],
  ['VIP'],
  [],
  ['vip', 5, null, ['vip'], { a: 1 }, true],
  'vip',
  null,
  { vip: 'vip' },
  ['it\'s "q" \\ %_|*', '😀 Łódź', '', ' vip'],
  7,
  ['new', 'new'],
  [null],
]
const METAS: readonly unknown[] = [
  {
    labels: ['a', 'b'],
    deep: { ranks: [1, 2, 3] },
    sizes: [0.1, 2],
    flags: [true],
    days: ['2026-02-28'],
    words: ['a'],
  },
  { labels: [1, 'a'], deep: { ranks: [2.5, '3', 1e20, 5] }, sizes: ['2', null, 1e300], flags: [false, 1], words: [5] },
  { labels: 'a', deep: [{ ranks: [1] }], sizes: {}, flags: [], days: ['2026-02-29', 20260228], words: 'a' },
  { times: ['2026-11-20T10:00:00.000Z', '2026-11-20', '2026-11-20T10:00:00Z'], days: ['2024-02-29', 'x'] },
  { deep: { ranks: [9007199254740991, -1, 5.0] }, times: ['2026-11-19T23:59:59.999Z'] },
  null,
  [],
  'text',
  { labels: [], deep: { ranks: [] }, words: [] },
  { labels: ['B'], deep: { ranks: [0] }, sizes: [-2, 0], flags: [true, false, 'true'], words: ['b', 'a'] },
  { labels: null, deep: null },
]
const rows = TAGS.map((tags, index) => ({ id: index + 1, tags, meta: METAS[index], teamId: (index % 4) + 1 }))
const teams = TAGS.slice(0, 3).map((tags, index) => ({ id: index + 1, tags, meta: METAS[index] }))

test.before(async () => {
  const { Team, Item, Hooked } = models
  await Team?.bulkCreate(teams.map(({ tags, meta }) => ({ tags, meta })) as never)
  for (const model of [Item, Hooked]) await model?.bulkCreate(rows as never)
})

const idsOf = (path: string, parameters: Parameters): Promise<number[]> =>
  keysOf(server, path, { sort: 'id', pageSize: 100, select: 'id', ...parameters })

// ---------------------------------------------------------------- an oracle over the documents

type Row = { readonly tags: unknown; readonly meta: unknown }

const IS = {
  string: (value: unknown) => typeof value === 'string',
  integer: Number.isSafeInteger,
  number: (value: unknown) => typeof value === 'number',
  boolean: (value: unknown) => typeof value === 'boolean',
  date: (value: unknown) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && new Date(value).toJSON()?.slice(0, 10) === value,
  datetime: (value: unknown) => typeof value === 'string' && new Date(value).toJSON() === value,
}

/** The items at a path: those of another type are null; what is no array has none. */
function itemsOf(row: Row, path: string): readonly unknown[] {
  const [attribute, ...names] = path.split('.')
  let value: unknown = attribute === 'tags' ? row.tags : row.meta
  for (const name of names) {
    value = typeof value === 'object' && value !== null && !Array.isArray(value) ? Reflect.get(value, name) : undefined
  }
  const declared = attribute === 'tags' ? 'string' : MEMBERS[names.join('.') as keyof typeof MEMBERS]
  const type = declared === 'array' ? 'string' : typeof declared === 'string' ? declared : declared[0]
  return Array.isArray(value) ? value.map((item) => (IS[type](item) ? item : null)) : []
}

type Met = (value: never) => boolean

const QUANTIFIERS = {
  Any: (items: readonly unknown[], isMet: Met) => items.some((item) => isMet(item as never)),
  All: (items: readonly unknown[], isMet: Met) => items.every((item) => isMet(item as never)),
  None: (items: readonly unknown[], isMet: Met) => !items.some((item) => isMet(item as never)),
}

const CASES: readonly (readonly [path: string, clause: string, isMet: Met])[] = [
  ['tags', '=vip', (item) => item === 'vip'],
  ['tags', '!=vip', (item) => item !== 'vip'],
  ['tags', '=VIP/i', (item: unknown) => String(item).toLowerCase() === 'vip' && item !== null],
  ['tags', '^v', (item: string | null) => item?.startsWith('v') ?? false],
  ['tags', '!^v', (item: string | null) => !(item?.startsWith('v') ?? false)],
  ['tags', '$p', (item: string | null) => item?.endsWith('p') ?? false],
  ['tags', '=*i', (item: string | null) => item?.includes('i') ?? false],
  ['tags', '=*%_', (item: string | null) => item?.includes('%_') ?? false],
  ['tags', '=😀 Łódź', (item) => item === '😀 Łódź'],
  ['tags', '=it\'s "q" \\\\ %_\\|*', (item) => item === 'it\'s "q" \\ %_|*'],
  ['tags', '=in=vip;new', (item) => item === 'vip' || item === 'new'],
  ['tags', '=out=vip;null', (item) => item !== 'vip' && item !== null],
  ['tags', '=null', (item) => item === null],
  ['tags', '!=null', (item) => item !== null],
  ['tags', '=', (item) => item === ''],
  ['meta.labels', '=a', (item) => item === 'a'],
  ['meta.labels', '=b/i', (item: string | null) => item?.toLowerCase() === 'b'],
  ['meta.words', '=a', (item) => item === 'a'],
  ['meta.words', '!=a', (item) => item !== 'a'],
  ['meta.deep.ranks', '>2', (item: number | null) => item !== null && item > 2],
  ['meta.deep.ranks', '=5', (item) => item === 5],
  ['meta.deep.ranks', '=in=1;2', (item) => item === 1 || item === 2],
  ['meta.deep.ranks', '<=9007199254740991', (item: number | null) => item !== null],
  ['meta.deep.ranks', '!=2', (item) => item !== 2],
  ['meta.sizes', '=0.1', (item) => item === 0.1],
  ['meta.sizes', '<1', (item: number | null) => item !== null && item < 1],
  ['meta.flags', '=true', (item) => item === true],
  ['meta.flags', '!=true', (item) => item !== true],
  ['meta.days', '>=2025-01-01', (item: string | null) => item !== null && item >= '2025-01-01'],
  ['meta.days', '=2024-02-29', (item) => item === '2024-02-29'],
  ['meta.times', '=2026-11-20', (item: string | null) => item?.startsWith('2026-11-20') ?? false],
  ['meta.times', '<2026-11-20T11:00:00+01:00', (item: string | null) => item !== null && item < '2026-11-20T10:00'],
  ['meta.times', '=2026-11-20T10:00:00Z', (item) => item === '2026-11-20T10:00:00.000Z'],
]

const COUNTS: readonly (readonly [clause: string, isMet: (count: number) => boolean])[] = [
  ['<9007199254740993', () => true],
  ['>2147483648', () => false],
  ['=0', (count) => count === 0],
  ['!=2', (count) => count !== 2],
  ['>2', (count) => count > 2],
  ['<=1', (count) => count <= 1],
  ['=in=1;4', (count) => count === 1 || count === 4],
  ['=out=0;1', (count) => count !== 0 && count !== 1],
]

const PATHS = ['tags', ...Object.keys(MEMBERS).map((path) => `meta.${path}`)]

test('quantifiers ask for the items of an array: those of another type are null, and what is no array has none', async (t) => {
  for (const route of ['/api/items', '/hooked']) {
    for (const [path, clause, isMet] of CASES) {
      for (const [word, quantifier] of Object.entries(QUANTIFIERS)) {
        const met = rows.filter((row) => quantifier(itemsOf(row, path), isMet)).map(({ id }) => id)
        t.deepEqual(
          await idsOf(route, { filter: `${path}.${word}${clause}` }),
          met,
          `${route} ${path}.${word}${clause}`,
        )
      }
    }
  }
})

test('Count is the number of items, those of another type included', async (t) => {
  for (const route of ['/api/items', '/hooked']) {
    for (const path of PATHS) {
      for (const [clause, isMet] of COUNTS) {
        const met = rows.filter((row) => isMet(itemsOf(row, path).length)).map(({ id }) => id)
        t.deepEqual(await idsOf(route, { filter: `${path}.COUNT${clause}` }), met, `${route} ${path}.Count${clause}`)
      }
    }
  }
})

test('names and words are in any case, and clauses join with others', async (t) => {
  t.deepEqual(await idsOf('/api/items', { filter: 'TAGS.any=vip,Meta.Labels.ANY=a' }), [1])
  t.deepEqual(await idsOf('/api/items', { filter: '(Tags.Any=VIP|Tags.None!=null),id<3' }), [2])
})

test('arrays behind a to-one relation: without a record there are no items', async (t) => {
  const behind = (row: { teamId: number }): Row => teams[row.teamId - 1] ?? { tags: null, meta: null }
  for (const route of ['/api/items', '/hooked']) {
    for (const [path, clause, isMet] of CASES) {
      for (const [word, quantifier] of Object.entries(QUANTIFIERS)) {
        const met = rows.filter((row) => quantifier(itemsOf(behind(row), path), isMet)).map(({ id }) => id)
        t.deepEqual(
          await idsOf(route, { filter: `team.${path}.${word}${clause}` }),
          met,
          `${route} ${path}.${word}${clause}`,
        )
      }
    }
    for (const [clause, isMet] of COUNTS) {
      const met = rows.filter((row) => isMet(itemsOf(behind(row), 'tags').length)).map(({ id }) => id)
      t.deepEqual(await idsOf(route, { filter: `team.tags.Count${clause}` }), met, `${route} team.tags.Count${clause}`)
    }
  }
})

test('arrays of the records of a collection, and of what is behind those', async (t) => {
  const of = (id: number): readonly Row[] => rows.filter(({ teamId }) => teamId === id)
  const has = (row: Row | undefined, isMet: Met): boolean =>
    row !== undefined && QUANTIFIERS.Any(itemsOf(row, 'tags'), isMet)
  const isNew: Met = (item: unknown) => item === 'new'
  const cases: readonly (readonly [filter: string, isMet: (team: number) => boolean])[] = [
    ['items.tags.Any=new', (team) => of(team).some((row) => has(row, isNew))],
    ['items.None(tags.Any=new,id>0)', (team) => !of(team).some((row) => has(row, isNew))],
    ['items.Any(tags.Count>2)', (team) => of(team).some((row) => itemsOf(row, 'tags').length > 2)],
    ['items.Any(team.tags.Any=new)', (team) => of(team).length > 0 && has(teams[team - 1], isNew)],
    [
      'items.All(team.tags.Count=2)',
      (team) => of(team).every(() => itemsOf(teams[team - 1] as Row, 'tags').length === 2),
    ],
    ['items.Count(tags.All!=new)>1', (team) => of(team).filter((row) => !has(row, isNew)).length > 1],
  ]
  for (const [filter, isMet] of cases) {
    const met = teams.map(({ id }) => id).filter(isMet)
    t.deepEqual(await idsOf('/api/teams', { filter }), met, filter)
  }
})

const failed = async (path: string, parameters: Parameters): Promise<string> => {
  const { status, body } = await list(server, path, parameters)
  return `${status} ${JSON.stringify(body.errors)}`
}

test('the array itself has no operators, and the answer names the words that ask for its items', async (t) => {
  for (const [filter, path] of [
    ['tags=vip', 'tags'],
    ['Tags!=null', 'Tags'],
    ['meta.labels=in=a', 'meta.labels'],
    ['team.tags^a', 'team.tags'],
  ]) {
    const answer = await failed('/api/items', { filter: filter ?? '' })
    t.true(answer.startsWith('400'), answer)
    t.true(answer.includes(`${path} at position 0: the operator`), answer)
    t.true(answer.includes('cannot be used with an array; use Any, All, None or Count to filter its items'), answer)
  }
})

test('a list of texts keeps its operators beside the words', async (t) => {
  const has = (value: string) => rows.filter((row) => itemsOf(row, 'meta.words').includes(value)).map(({ id }) => id)
  t.deepEqual(await idsOf('/api/items', { filter: 'meta.words=a' }), has('a'))
  t.deepEqual(await idsOf('/api/items', { filter: 'meta.words.Any=a' }), has('a'))
})

test('what the items lack is 400: operators, values of another type, groups, and numbers that are none', async (t) => {
  for (const [filter, message] of [
    ['meta.deep.ranks.Any^1', 'meta.deep.ranks.Any at position 0: the operator \\"^\\" cannot be used with'],
    ['meta.deep.ranks.Any=x', '\\"x\\" is not a whole number'],
    ['meta.flags.All>true', 'the operator \\">\\" cannot be used with'],
    ['tags.Count^1', 'the operator \\"^\\" cannot be used with a number of elements'],
    ['tags.Count=x', '\\"x\\" is not a whole number'],
    ['tags.Any(tags=vip)', 'tags at position 0: an array has no conditions in parentheses; write tags.Any=value'],
    ['tags.Count(tags=vip)>1', 'tags at position 0: an array has no conditions in parentheses; write tags.Any=value'],
    ['tags.Some=vip', 'Unknown field \\"tags.Some\\"'],
    ['tags.Any.x=vip', 'Unknown field \\"tags.Any.x\\"'],
    ['meta.Any=vip', 'Unknown field \\"meta.Any\\"'],
  ]) {
    const answer = await failed('/api/items', { filter: filter ?? '' })
    t.true(answer.startsWith('400') && answer.includes(message ?? ''), `${filter}: ${answer}`)
  }
})

test('no sort, selection, group and typed parameter knows the words', async (t) => {
  for (const parameters of [
    { sort: 'tags.Count' },
    { select: 'tags.Count' },
    { select: 'tags.Any' },
    { sort: 'tags' },
  ]) {
    t.true((await failed('/api/items', parameters)).startsWith('400'), JSON.stringify(parameters))
  }
  t.true((await failed('/api/items', { tags: 'vip' })).startsWith('400'))
})

test('a suggestion for a member has a word about items only where the query accepts it', async (t) => {
  for (const [parameters, hint] of [
    [{ filter: 'meta.lables.Any=a' }, ' Did you mean "meta.labels.Any"?'],
    [{ filter: 'meta.lables.count>1' }, ' Did you mean "meta.labels.count"?'],
    [{ filter: 'meta.wrods.None=a' }, ' Did you mean "meta.words.None"?'],
    [{ filter: 'meta.color.Count>0' }, ''],
    [{ filter: 'meta.colour.Any=red' }, ''],
    [{ select: 'meta.labels.Count' }, ''],
    [{ select: 'meta.lables' }, ' Did you mean "meta.labels"?'],
    [{ sort: 'meta.words.Any' }, ''],
    [{ sort: 'meta.colour' }, ' Did you mean "meta.color"?'],
  ] as const) {
    const [[parameter, written = '']] = Object.entries(parameters) as [[string, string]]
    const { body } = await list(server, '/api/items', parameters)
    const [path] = written.split(/[=>]/)
    t.deepEqual(body.errors, { [parameter]: [`Unknown field "${path}" at position 0.${hint}`] })
  }
})

test('an array that may not be filtered, or that the caller may not read, is an unknown field', async (t) => {
  const unknown = await failed('/masked', { filter: 'tags.Any=vip' })
  t.true(unknown.includes('Unknown field \\"tags.Any\\"'), unknown)
  t.true((await failed('/closed', { filter: 'tags.Any=vip' })).includes('Unknown field \\"tags.Any\\"'))
  t.true((await failed('/closed', { filter: 'tags.Count>1' })).includes('Unknown field \\"tags.Count\\"'))
  t.true((await failed('/closed', { filter: 'tags.Any(a=1)' })).includes('Unknown field \\"tags\\"'))
})

test('conditions of a scope ask for items as filters do', async (t) => {
  await models.Scoped?.bulkCreate(TAGS.map((tags) => ({ tags })) as never)
  const { body } = await list(server, '/scoped', { select: 'tags', sort: 'id' })
  t.deepEqual(body.items, [{ tags: ['vip', 'new'] }])
})

test('each array counts as a quantifier', async (t) => {
  t.deepEqual(await idsOf('/few', { filter: 'tags.Any=vip,tags.Count=2' }), [1])
  const many = await failed('/few', { filter: 'tags.Any=vip,tags.Count=2,meta.labels.Any=a' })
  t.true(many.includes('crosses more collections than the limit of 2 (quantifiers)'), many)
  const deep = await failed('/few', { filter: 'team.items.Any(tags.Any=vip)' })
  t.true(deep.includes('nests collections deeper than the limit of 1 (quantifierDepth)'), deep)
})

test('bodies hold arrays whose items have the type; what is wrong is told with its place', async (t) => {
  const wrong: readonly (readonly [body: object, errors: object])[] = [
    [{ tags: 'vip' }, { tags: ['must be an array.'] }],
    [{ tags: { 0: 'vip' } }, { tags: ['must be an array.'] }],
    [{ tags: ['a', 5, 'b', true] }, { 'tags[1]': ['must be a string.'], 'tags[3]': ['must be a string.'] }],
    [{ tags: ['a', null] }, { 'tags[1]': ['cannot be null.'] }],
    [{ tags: [['a']] }, { 'tags[0]': ['must be a string.'] }],
    [{ meta: { labels: 'a' } }, { 'meta.labels': ['must be an array.'] }],
    [{ meta: { labels: [null] } }, { 'meta.labels[0]': ['cannot be null.'] }],
    [
      { meta: { deep: { ranks: [1, 2.5, '3'] } } },
      { 'meta.deep.ranks[1]': ['must be an integer.'], 'meta.deep.ranks[2]': ['must be an integer.'] },
    ],
    [{ meta: { days: ['2026-02-30'] } }, { 'meta.days[0]': ['must be a date.'] }],
    [
      { tags: [1], meta: { flags: [1] } },
      { 'tags[0]': ['must be a string.'], 'meta.flags[0]': ['must be a boolean.'] },
    ],
  ]
  for (const [body, errors] of wrong) {
    const created = await server.post('/api/teams', body)
    t.is(created.status, 400)
    t.deepEqual(created.body.errors, errors)
    t.deepEqual((await server.patch('/api/teams/1', body)).body.errors, errors)
  }
  const strict = await server.post('/api/stricts', { tags: null })
  t.deepEqual(strict.body.errors, { tags: ['cannot be null.'] })
})

test('arrays are written and read as they are, dates as answers show them', async (t) => {
  const meta = {
    labels: [],
    deep: { ranks: [1] },
    words: [5, null],
    times: ['2026-11-20T10:00:00.000Z'],
    other: [null],
  }
  const sent = { tags: ['a', ''], meta: { ...meta, times: ['2026-11-20T11:00:00+01:00'] } }
  const { status, body, text } = await server.post('/api/teams', sent)
  t.is(status, 201, text)
  t.deepEqual({ tags: body.tags, meta: body.meta }, { tags: ['a', ''], meta })
  t.deepEqual((await server.get(`/api/teams/${body.id}`)).body, body)
  t.deepEqual(await idsOf('/api/teams', { filter: 'meta.times.Any=2026-11-20T10:00:00Z' }), [body.id])
  for (const part of [
    { tags: null },
    { meta: null },
    { meta: { labels: null, deep: 'x' } },
    { meta: [1] },
    { tags: [] },
  ]) {
    t.is((await server.patch(`/api/teams/${body.id}`, part)).status, 200, JSON.stringify(part))
  }
  t.is((await server.delete(`/api/teams/${body.id}`)).status, 204)
})

test('wrong declarations are refused when the router is made', (t) => {
  const { sequelize } = server
  const Bare = sequelize.define('Bare', { tags: DataTypes.JSON, name: DataTypes.STRING }, { timestamps: false })
  const cases: readonly (readonly [fields: object, message: RegExp])[] = [
    [
      { tags: { members: { '': 'string' } } },
      /fields\.tags: members: "" must be names .*\. Only for an array the path may be empty: \{ '': \['string'\] \}/,
    ],
    [{ tags: { members: { '': 'array' } } }, /"" must be names .*\. Only for an array the path may be empty/],
    [{ tags: { members: { '': ['strin'] } } }, /"": the type "strin".*Did you mean "string"\?/],
    [{ tags: { members: { '': ['array'] } } }, /"": the type "array"/],
    [{ tags: { members: { '': [] } } }, /"": the type "undefined"/],
    [{ tags: { members: { a: ['string', 'integer'] } } }, /"a": the items of an array must have a single type/],
    [
      { tags: { members: { '': ['string'], a: 'string' } } },
      /the path "" is the whole document, so no other path is possible/,
    ],
    [
      { tags: { members: { a: 'string', '': ['string'] } } },
      /the path "" is the whole document, so no other path is possible/,
    ],
    [{ tags: { members: { a: ['string'], 'a.b': 'string' } } }, /"a\.b" overlaps with another member/],
    [{ name: { members: { '': ['string'] } } }, /only a JSON column can have members, but "name" is not one/],
  ]
  for (const [fields, message] of cases) {
    const error = t.throws(() => crudRouter(Bare, { fields }), { instanceOf: CrudConfigError })
    t.regex(error?.message ?? '', message)
  }
})
