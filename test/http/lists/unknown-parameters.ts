import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { crudRouter, identityFromRequest, Operations, Problem, queryOf } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function related(sequelize: Sequelize): { readonly Measure: ModelStatic<Model>; readonly Owner: ModelStatic<Model> } {
  const plain = { timestamps: false }
  const Owner = sequelize.define('owner', { name: DataTypes.STRING }, plain)
  const Measure = sequelize.define(
    'measure',
    {
      title: DataTypes.STRING,
      level: DataTypes.INTEGER,
      offset: DataTypes.INTEGER,
      alarm_mode_of_the_day: DataTypes.STRING,
    },
    plain,
  )
  Owner.hasMany(Measure, { as: 'measures', foreignKey: 'owner_id' })
  Measure.belongsTo(Owner, { as: 'owner', foreignKey: 'owner_id' })
  return { Measure, Owner }
}

const served = await openStage(({ sequelize }, app) => {
  const define = (plural: string, more: object = {}): ReturnType<typeof sequelize.define> =>
    sequelize.define(
      plural,
      {
        title: DataTypes.STRING,
        salary: DataTypes.INTEGER,
        password: DataTypes.STRING,
        ...more,
      },
      { name: { singular: plural, plural }, timestamps: false },
    )
  const models = {
    Strict: define('strict'),
    Open: define('open'),
    Lenient: define('lenient'),
    Fixed: define('fixed', { id: { type: DataTypes.DOUBLE, primaryKey: true } }),
    ...related(sequelize),
  }
  const { Strict, Open, Lenient, Fixed, Measure, Owner } = models
  app.use((req, _res, next) => {
    const { permissions } = req.headers
    if (permissions !== undefined) Object.assign(req, { auth: { permissions: [permissions].flat() } })
    next()
  })
  app.use(
    crudRouter(Strict, {
      identity: identityFromRequest,
      mask: { salary: 'salaries' },
      fields: { password: { exclude: true } },
      query: { unknownParameters: 'reject' },
    }),
  )
  const ignoring = { unknownParameters: 'ignore' } as const
  app.use(crudRouter(Open, { query: ignoring }))
  app.use(crudRouter(Lenient, { query: { ...ignoring, unknownFields: 'ignore' } }))
  app.use(
    crudRouter(Strict, {
      route: 'api/listed',
      fields: { password: { exclude: true } },
      query: { unknownParameters: ['utm_*', '_', 'api_key', 'password'] },
    }),
  )
  app.use(crudRouter(Measure, { operations: ['getList', 'getById', 'update'], query: { search: ['title'] } }))
  app.use(
    crudRouter(Measure, {
      route: 'api/all',
      operations: Operations.AllWithBulk | Operations.Aggregate | Operations.Export | Operations.Replace,
    }),
  )
  app.use(
    crudRouter(Owner, {
      identity: identityFromRequest,
      relations: { measures: { routes: true, resource: () => measures } },
    }),
  )
  const measures = crudRouter(Measure, {
    route: 'api/masked',
    identity: identityFromRequest,
    mask: { level: 'levels', offset: 'levels' },
    relations: { owner: { routes: true } },
  })
  app.use(measures)
  app.use(crudRouter(Fixed, { query: { unknownParameters: 'reject', sortable: false } }))
  return models
})

test.after.always(() => served.close())

test('a parameter that a strict list does not know is 400, with what was probably meant', async (t) => {
  const { status, body } = await served.get('/api/strict?pagesize=5&titel=x&zzzzzzzz=1')
  t.is(status, 400)
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
    title: 'Unknown parameter.',
    code: 'unknown-parameter',
    status: 400,
    detail: 'pagesize is not a parameter of this list. Did you mean "pageSize"?',
    errors: {
      pagesize: ['is not a parameter of this list. Did you mean "pageSize"?'],
      titel: ['is not a parameter of this list. Did you mean "title"?'],
      zzzzzzzz: ['is not a parameter of this list.'],
    },
  })
  for (const query of ['?TITLE=x&page=1', '?count=true&title=x', '?cursor=&pageSize=3', '?select=Title', '?', '?&&']) {
    t.is((await served.get(`/api/strict${query}`)).status, 200, query)
  }
})

test('what a caller may not read is no parameter of a strict list, and nobody hints at it', async (t) => {
  for (const name of ['salary', 'salarie', 'password', 'passwort']) {
    const { body } = await served.get(`/api/strict?${name}=1`)
    t.deepEqual(body.errors, { [name]: ['is not a parameter of this list.'] })
  }
  t.is((await served.get('/api/strict?salary=1', { permissions: 'salaries' })).status, 200)
  t.deepEqual((await served.get('/api/strict?salarie=1', { permissions: 'salaries' })).body.errors, {
    salarie: ['is not a parameter of this list. Did you mean "salary"?'],
  })
})

test('what a strict list has no use for is unknown to it', async (t) => {
  for (const name of ['includeDeleted', 'cursor', 'sort', 'sortBy', 'sortDirection']) {
    const { status, body } = await served.get(`/api/fixed?${name}=`)
    t.is(status, 400, name)
    t.deepEqual(Object.keys(body.errors), [name])
  }
})

test('names that do not decode, or are like nothing, are told as they came', async (t) => {
  t.deepEqual((await served.get('/api/strict?%ff=1')).body.errors, { '%ff': ['is not a parameter of this list.'] })
  const proto = await served.get('/api/strict?__proto__=1&constructor=2')
  t.deepEqual(Object.keys(proto.body.errors), ['__proto__', 'constructor'])
  t.deepEqual(Object.keys((await served.get('/api/strict?filter%5Bx%5D=1')).body.errors), ['filter[x]'])
})

test('a URL full of unknown names is answered at once, with some of them', async (t) => {
  const many = Array.from({ length: 2000 }, (_, index) => `n${index}`).join('&')
  const started = Date.now()
  const { status, body } = await served.get(`/api/strict?${many}`)
  t.is(status, 400)
  t.is(Object.keys(body.errors).length, 10)
  t.is((await served.get(`/api/strict?${'a'.repeat(12_000)}=1`)).status, 400)
  t.true(Date.now() - started < 1000)
})

test('unknown parameters are ignored elsewhere, unless the request prefers to be held strictly', async (t) => {
  for (const base of ['/api/open', '/api/lenient']) {
    const ignored = await served.get(`${base}?pagesize=5`)
    t.is(ignored.status, 200)
    t.is(ignored.headers.get('vary'), 'Prefer')
    for (const mode of ['', '&count=true', '&cursor=', '&select=Title']) {
      const { status, body } = await served.get(`${base}?pagesize=5${mode}`, { Prefer: 'handling=strict' })
      t.is(status, 400)
      t.is(body.title, 'Unknown parameter.')
    }
    const strict = await served.get(`${base}?title=x`, { Prefer: 'handling=strict' })
    t.is(strict.status, 200)
    t.is(strict.headers.get('preference-applied'), 'handling=strict')
  }
  t.is((await served.get('/api/open?title=x')).headers.get('vary'), null)
})

test('leniency is not the request’s to ask for', async (t) => {
  const { status, headers } = await served.get('/api/strict?pagesize=5', { Prefer: 'handling=lenient' })
  t.is(status, 400)
  t.is(headers.get('preference-applied'), null)
})

test('a query without routes refuses unknown parameters alike', (t) => {
  const query = queryOf(served.Open, { query: { unknownParameters: 'reject' } })
  const error = t.throws(() => query.toFindOptions({ pagesize: 5 }), { instanceOf: Problem })
  t.is(error?.code, 'unknown-parameter')
  const byDefault = t.throws(() => queryOf(served.Open).toFindOptions({ pagesize: 5 }), { instanceOf: Problem })
  t.is(byDefault?.code, 'unknown-parameter')
  const ignoring = queryOf(served.Open, { query: { unknownParameters: 'ignore' } })
  t.notThrows(() => ignoring.toFindOptions({ pagesize: 5 }))
})

function unknown(of: 'list' | 'record', hint = ''): readonly string[] {
  return [`is not a parameter of this ${of}.${hint}`]
}

test('unknown parameters are refused by default, on every way to read', async (t) => {
  await served.Owner.create({ id: 1, name: 'a' })
  await served.Measure.create({ id: 1, title: 'a', owner_id: 1 })
  for (const [path, of] of [
    ['/api/measures', 'list'],
    ['/api/measures/1', 'record'],
    ['/api/owners/1/measures', 'list'],
    ['/api/masked/1/owner', 'record'],
  ] as const) {
    t.is((await served.get(path)).status, 200, path)
    const { status, body } = await served.get(`${path}?zzzzzzzz=1`)
    t.is(status, 400, path)
    t.deepEqual(body.errors, { zzzzzzzz: unknown(of) })
    t.is((await served.send('HEAD', `${path}?zzzzzzzz=1`)).status, 400)
  }
  for (const mode of ['count=true', 'cursor=', 'after=', 'select=title', 'aggregate=count', 'format=csv']) {
    const { body } = await served.get(`/api/all?${mode}&zzzzzzzz=1`)
    t.deepEqual(body.errors, { zzzzzzzz: unknown('list') }, mode)
  }
  t.is((await served.patch('/api/measures/1?zzzzzzzz=1&limit=2', { title: 'a' })).status, 200)
})

test('parameters of lists are unknown to records', async (t) => {
  const { body } = await served.get('/api/measures/1?page=1&filter=Level=1&title=a&selct=title&include=owner')
  t.deepEqual(body.errors, {
    page: unknown('record'),
    filter: unknown('record'),
    title: unknown('record'),
    selct: unknown('record', ' Did you mean "select"?'),
    include: unknown('record', ' Did you mean "select"?'),
  })
  t.is((await served.get('/api/measures/1?select=title')).status, 200)
  t.is((await served.get('/api/owners/1?select=name,measures(title)&measures.limit=1')).status, 200)
})

const MEANT: readonly (readonly [query: string, meant: string])[] = [
  ['limit=5', 'pageSize'],
  ['per_page=5', 'pageSize'],
  ['perPage=5', 'pageSize'],
  ['take=5', 'pageSize'],
  ['page_size=5', 'pageSize'],
  ['skip=5', 'page'],
  ['order=title', 'sort'],
  ['orderBy=title', 'sort'],
  ['order_by=title', 'sort'],
  ['_sort=title', 'sort'],
  ['fields=title', 'select'],
  ['include=owner', 'select'],
  ['expand=owner', 'select'],
  ['populate=owner', 'select'],
  ['with=owner', 'select'],
  ['embed=owner', 'select'],
  ['q=x', 'search'],
  ['query=x', 'search'],
  ['where=x', 'filter'],
  ['ids=1', 'keys'],
  ['level[gte]=30', 'filter=level>=30'],
  ['level%5Blt%5D=30', 'filter=level<30'],
  ['filter[level]=30', 'filter=level=30'],
  ['title[like]=a%20b', 'filter=title=*...'],
  ['Level[ne]=30', 'filter=level!=30'],
  ['filter[level][gte]=30', 'filter=level>=30'],
  ['level_gte=30', 'filter=level>=30'],
  ['level__lt=30', 'filter=level<30'],
  ['title_like=an', 'filter=title=*an'],
  ['level>=30', 'filter=level>=30'],
  ['level<=30', 'filter=level<=30'],
  ['level!=30', 'filter=level!=30'],
  ['level>30', 'filter=level>30'],
  ['Title!^a', 'filter=title!^a'],
  ['_start=40', 'page'],
  ['alarm_mode_of_the_day=x', 'alarmModeOfTheDay'],
]

for (const [query, meant] of MEANT) {
  test(`?${query} is answered with ${meant}`, async (t) => {
    const { status, body } = await served.get(`/api/measures?${query}`)
    t.is(status, 400)
    t.deepEqual(Object.values(body.errors), [unknown('list', ` Did you mean "${meant}"?`)])
  })
}

test('the key is answered with keys=, and a word that is a field stands for nothing else', async (t) => {
  t.deepEqual((await served.get('/api/measures?id=1')).body.errors, {
    id: unknown('list', ' Use the parameter "keys", such as keys=1,2.'),
  })
  t.is((await served.get('/api/measures?offset=1')).status, 200)
  t.deepEqual((await served.get('/api/all?groupBy=title')).body.errors, {
    groupBy: unknown('list', ' Did you mean "group"?'),
  })
  // There is no search here.
  t.deepEqual((await served.get('/api/all?q=x')).body.errors, { q: unknown('list') })
})

test('a parameter of an operation that is off says so', async (t) => {
  for (const [name, operation] of [
    ['aggregate', 'aggregate'],
    ['group', 'aggregate'],
    ['having', 'aggregate'],
    ['format', 'export'],
  ] as const) {
    const { body } = await served.get(`/api/measures?${name}=x`)
    t.deepEqual(body.errors, { [name]: unknown('list', ` It needs the operation "${operation}", which is disabled.`) })
  }
})

test('a comparison in a name is not suggested for operators that the field lacks, or for names that are spelt otherwise', async (t) => {
  for (const [query, hint] of [
    ['level_like=3', ''],
    ['level^3', ' Did you mean "level"?'],
    ['level>3=x', ' Did you mean "level"?'],
    ['titel_gte=3', ''],
    ['page_in=3', ''],
  ] as const) {
    const { body } = await served.get(`/api/measures?${query}`)
    t.deepEqual(Object.values(body.errors), [unknown('list', hint)], query)
  }
})

test('masked names are suggested in no way, and change no answer', async (t) => {
  const all = { permissions: 'levels' }
  for (const [query, hint, open] of [
    ['level[gte]=30', '', ' Did you mean "filter=level>=30"?'],
    ['filter[level]=30', '', ' Did you mean "filter=level=30"?'],
    ['level_gte=30', '', ' Did you mean "filter=level>=30"?'],
    ['level>=30', '', ' Did you mean "filter=level>=30"?'],
    ['levle=1', '', ' Did you mean "level"?'],
    ['offset=1', ' Did you mean "page"?', null],
  ] as const) {
    const masked = await served.get(`/api/masked?${query}`)
    t.deepEqual(Object.values(masked.body.errors), [unknown('list', hint)], query)
    const seen = await served.get(`/api/masked?${query}`, all)
    if (open === null) t.is(seen.status, 200)
    else t.deepEqual(Object.values(seen.body.errors), [unknown('list', open)])
  }
})

test('a list of names and prefixes lets these through and refuses others', async (t) => {
  for (const query of ['utm_source=x', 'utm_=x&utm_medium=y', '_=123', 'api_key=x&title=a', 'password=x']) {
    const { status, headers } = await served.get(`/api/listed?${query}`, { Prefer: 'handling=strict' })
    t.is(status, 200, query)
    t.is(headers.get('preference-applied'), 'handling=strict')
    t.is((await served.get(`/api/listed/1?${query}`)).status, query.includes('title') ? 400 : 404, query)
  }
  for (const name of ['utm', 'UTM_source', '__', 'api_keys', 'Api_key']) {
    t.is((await served.get(`/api/listed?${name}=x`)).status, 400, name)
  }
  for (const wrong of [['a*b'], ['*'], [''], [5], 'all', {}]) {
    t.throws(() => crudRouter(served.Open, { query: { unknownParameters: wrong as never } }), {
      message: /unknownParameters" must be "reject", "ignore", or an array of names/,
    })
  }
})

test('leniency leaves unknown parameters out where the host ignores them', async (t) => {
  await served.Open.create({ id: 1, title: 'a' })
  for (const path of ['/api/open', '/api/open/1']) {
    const lenient = await served.get(`${path}?pagesize=5`, { Prefer: 'handling=lenient' })
    t.is(lenient.status, 200)
    t.is(lenient.headers.get('preference-applied'), 'handling=lenient')
    t.is(lenient.headers.get('vary'), 'Prefer')
    t.is((await served.get(path, { Prefer: 'handling=lenient' })).headers.get('preference-applied'), null)
    const strict = await served.get(`${path}?pagesize=5`, { Prefer: 'handling=strict' })
    t.is(strict.status, 400)
    t.is(strict.body.code, 'unknown-parameter')
  }
})
