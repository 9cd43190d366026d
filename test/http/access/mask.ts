// Column masking: a caller without the permission, or a role of its name, sees the default of the column's type, and in
// queries an unknown field. Replies vary by Authorization and are private.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, type Identity, Operations } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { listPath } from '../../support/league.js'
import { openStage, readStoredRow } from '../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../support/tokens.js'

const common: CrudOptions = { identity, operations: Operations.AllWithBulk, onError: () => undefined }
const plain = { timestamps: false }

const stage = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define(
    'Team',
    {
      name: { type: DataTypes.STRING(50), allowNull: false },
      budget: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
    },
    plain,
  )
  const Player = sequelize.define(
    'Player',
    {
      name: { type: DataTypes.STRING(50), allowNull: false },
      salary: DataTypes.INTEGER,
      rank: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0, field: 'player_rank' },
      bonus: DataTypes.INTEGER,
    },
    plain,
  )
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  app.use(
    crudRouter(Player, {
      ...common,
      flatten: ['team'],
      mask: { salary: 'payroll', rank: { read: 'payroll' }, bonus: { write: 'payroll' } },
      concurrency: true,
    }),
  )
  app.use(crudRouter(Team, { ...common, mask: { budget: 'finance' } }))

  const Employee = sequelize.define(
    'Employee',
    {
      name: DataTypes.STRING,
      grade: { type: DataTypes.INTEGER, allowNull: false },
      base_pay: DataTypes.INTEGER,
    },
    plain,
  )
  app.use(
    crudRouter(Employee, {
      ...common,
      unknownProperties: 'reject',
      mask: { grade: { read: 'payroll', write: 'payroll' }, base_pay: { read: 'payroll', write: 'payroll' } },
    }),
  )

  const required = { allowNull: false }
  const Sample = sequelize.define(
    'Sample',
    {
      text: { type: DataTypes.STRING, ...required },
      note: DataTypes.STRING,
      whole: { type: DataTypes.INTEGER, ...required },
      wholeOrNull: DataTypes.INTEGER,
      big: { type: DataTypes.BIGINT, ...required },
      money: { type: DataTypes.DECIMAL(10, 2), ...required },
      exact: { type: DataTypes.DECIMAL(20, 4), ...required },
      bare: { type: DataTypes.DECIMAL, ...required },
      ratio: { type: DataTypes.DOUBLE, ...required },
      flag: { type: DataTypes.BOOLEAN, ...required },
      flagOrNull: DataTypes.BOOLEAN,
      moment: { type: DataTypes.DATE(3), ...required },
      day: { type: DataTypes.DATEONLY, ...required },
      clock: { type: DataTypes.TIME, ...required },
      token: { type: DataTypes.UUID, ...required },
      kind: { type: DataTypes.ENUM('small', 'large'), ...required },
      data: { type: DataTypes.JSON, ...required },
      bytes: { type: DataTypes.BLOB, ...required },
    },
    plain,
  )
  const names = Object.keys(Sample.getAttributes()).filter((name) => name !== 'id')
  app.use(crudRouter(Sample, { ...common, mask: Object.fromEntries(names.map((name) => [name, 'look'])) }))

  const Entry = sequelize.define('Entry', { amount: DataTypes.INTEGER, reason: DataTypes.STRING }, plain)
  app.use(crudRouter(Entry, { ...common, mask: { amount: 'amounts', reason: 'reasons' } }))

  const Clerk = sequelize.define('Clerk', { name: DataTypes.STRING, wage: DataTypes.INTEGER }, plain)
  app.use(
    crudRouter(Clerk, {
      ...common,
      mask: { wage: 'payroll' },
      computed: {
        label: { type: 'string', needs: ['name'], resolve: (records) => records.map(({ name }) => `clerk ${name}`) },
      },
    }),
  )

  const Book = sequelize.define(
    'Book',
    {
      title: DataTypes.STRING,
      price: DataTypes.INTEGER,
      cost: DataTypes.INTEGER,
      pages: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 400 },
    },
    plain,
  )
  const Shelf = sequelize.define('Shelf', { label: DataTypes.STRING }, plain)
  Shelf.hasMany(Book, { as: 'books', foreignKey: 'shelfId' })
  Book.belongsTo(Shelf, { as: 'shelf', foreignKey: 'shelfId' })
  Shelf.belongsTo(Book, { as: 'best', foreignKey: 'bestId', constraints: false })
  app.use('/shop', crudRouter(Book, { ...common, mask: { cost: 'trade', pages: 'trade' } }))
  app.use('/press', crudRouter(Book, { ...common, mask: { price: 'press' } }))
  app.use(crudRouter(Shelf, { ...common, flatten: ['best'] }))
})
const Player = stage.sequelize.model('Player')
await stage.sequelize.model('Team').bulkCreate([
  { name: 'Lakers', budget: 900 },
  { name: 'Celtics', budget: 100 },
])
await Player.bulkCreate([
  { name: 'Jan', salary: 5000, rank: 7, bonus: 1, teamId: 1 },
  { name: 'Anna', salary: 8000, rank: 3, bonus: 2, teamId: 2 },
  { name: 'Piotr', salary: 3000, rank: 9, bonus: 3 },
])
await stage.sequelize.model('Shelf').bulkCreate([{ label: 'top' }, { label: 'low' }])
await stage.sequelize.model('Book').bulkCreate([
  { title: 'Dune', price: 30, cost: 10, shelfId: 1 },
  { title: 'Emma', price: 20, cost: 15, shelfId: 2 },
])
await stage.sequelize.model('Entry').create({ amount: 5, reason: 'late' })
await stage.sequelize.model('Shelf').update({ bestId: 1 }, { where: { id: 1 } })
test.after.always(() => stage.close())

const payroll = withPermission('payroll')

/** The callers who may see the salary, and those who may not. */
const ADMITTED = {
  'a permission of the name': payroll,
  'a role of the name': withRole('other', 'payroll'),
  'a word of the scope claim': bearer({ scope: 'read payroll' }),
}
const OTHERS = {
  'no token': {},
  'no permission': bearer({ sub: 'jan' }),
  'names that are like it': bearer({
    sub: 'jan',
    roles: ['Payroll', 'payroll '],
    permissions: ['payrol', 'payroll,x', ''],
  }),
  'the name in other claims': bearer({
    sub: 'payroll',
    payroll: true,
    groups: ['payroll'],
    claims: { roles: ['payroll'] },
  }),
}

type Headers = Readonly<Record<string, string>>
interface Seen {
  readonly salary: unknown
  readonly rank: unknown
  readonly teamBudget: unknown
}

const body = { name: 'Ola', salary: 4000, rank: 5, teamId: 1 }

/** Every way that a record comes out of the service, with the salary and rank it has. */
const PATHS: readonly (readonly [
  path: string,
  salary: number,
  rank: number,
  read: (headers: Headers) => Promise<Seen>,
])[] = [
  ['GET by id', 5000, 7, async (headers) => (await stage.get('/api/players/1', headers)).body],
  ['GET list', 5000, 7, async (headers) => (await stage.get('/api/players', headers)).body.items[0]],
  ['GET list by cursor', 5000, 7, async (headers) => (await stage.get('/api/players?cursor=', headers)).body.items[0]],
  [
    'GET list of one by filter',
    5000,
    7,
    async (headers) => (await stage.get('/api/players?name=Jan&pageSize=1', headers)).body.items[0],
  ],
  ['POST', 4000, 5, async (headers) => (await stage.post('/api/players', body, headers)).body],
  ['POST bulk', 4000, 5, async (headers) => (await stage.post('/api/players/bulk', [body, body], headers)).body[1]],
  [
    'PATCH',
    5000,
    7,
    async (headers) => (await stage.patch('/api/players/1', { name: 'Jan' }, { ...headers, 'if-match': '*' })).body,
  ],
  [
    'PATCH of nothing',
    5000,
    7,
    async (headers) => (await stage.patch('/api/players/1', {}, { ...headers, 'if-match': '*' })).body,
  ],
]

for (const [path, salary, rank, read] of PATHS) {
  test(`${path} shows masked columns to those who may see them`, async (t) => {
    for (const [who, headers] of Object.entries(ADMITTED)) {
      const seen = await read(headers)
      t.is(seen.salary, salary, who)
      t.is(seen.rank, rank, who)
    }
    t.is((await read(withRole('finance'))).teamBudget, 900)
  })

  test(`${path} shows the defaults of masked columns to everybody else`, async (t) => {
    for (const [who, headers] of Object.entries(OTHERS)) {
      const seen = await read(headers)
      t.is(seen.salary, null, who)
      t.is(seen.rank, 0, who)
      t.is(seen.teamBudget, 0, who)
    }
    // One mask is no other's key.
    t.is((await read(withRole('finance'))).salary, null)
    t.is((await read(payroll)).teamBudget, 0)
  })
}

// Alone, so that the statements are its own.
test.serial('what is masked is not even read from the database', async (t) => {
  for (const path of ['/api/players/1', '/api/players', '/api/players?cursor=', '/api/players?select=name,salary']) {
    const before = stage.statements.length
    await stage.get(path)
    const ran = stage.statements.slice(before).join('\n')
    t.regex(ran, /name/)
    t.notRegex(ran, /salary|player_rank|budget/, path)
  }
})

test.serial('what is masked is not read for a record with computed fields either', async (t) => {
  const { id } = (await stage.sequelize.model('Clerk').create({ name: 'Ewa', wage: 5 })).get()
  const shown = { id, name: 'Ewa', wage: null, label: 'clerk Ewa' }
  for (const path of [`/api/clerks/${id}`, '/api/clerks', '/api/clerks?cursor=']) {
    const before = stage.statements.length
    const { body } = await stage.get(path)
    t.deepEqual(body.items ?? [body], [shown], path)
    const ran = stage.statements.slice(before).join('\n')
    t.regex(ran, /name/)
    t.notRegex(ran, /wage/, path)
  }
})

test('of callers who may see as much, but not the same, each sees what is his, whoever asks first', async (t) => {
  const all = { amount: 5, reason: 'late' }
  const callers = [
    [withPermission('amounts'), { ...all, reason: null }],
    [withPermission('reasons'), { ...all, amount: null }],
    [withPermission('amounts', 'reasons'), all],
    [{}, { amount: null, reason: null }],
  ] as const
  for (const [headers, shown] of [...callers, ...callers.toReversed()]) {
    t.deepEqual((await stage.get('/api/entries/1', headers)).body, { id: 1, ...shown })
    t.deepEqual((await stage.get('/api/entries', headers)).body.items, [{ id: 1, ...shown }])
  }
})

test('a select leaves masked columns out silently', async (t) => {
  const select = async (fields: string, headers: Headers = {}): Promise<unknown> =>
    (await stage.get(listPath('/api/players', { select: fields, pageSize: 1 }), headers)).body.items
  t.deepEqual(await select('name,salary,Rank'), [{ name: 'Jan' }])
  t.deepEqual(await select('salary'), [{}])
  t.deepEqual(await select('name,team.budget'), [{ name: 'Jan' }])
  t.deepEqual(await select('team.name,team.budget'), [{ team: { name: 'Lakers' } }])
  t.deepEqual(await select('name,salary,Rank', payroll), [{ name: 'Jan', salary: 5000, rank: 7 }])
  t.deepEqual(await select('team.name,team.budget', withRole('finance')), [{ team: { name: 'Lakers', budget: 900 } }])
  t.deepEqual(await select('salary,team.budget', payroll), [{ salary: 5000 }])
})

test('masked columns of relation targets are unknown fields in every path from other resources', async (t) => {
  const queries = [
    'filter=team.budget%3E500',
    'filter=team.players.salary%3E1',
    'sort=team.budget',
    'sort=-Team.Budget,name',
  ]
  for (const query of queries) {
    const { status, body } = await stage.get(`/api/players?${query}`, bearer({ sub: 'jan' }))
    t.is(status, 400, query)
    t.is(body.title, 'Unknown field.', query)
  }
  for (const filter of [
    'players.salary>1',
    'players.any(salary>1)',
    'players.all.rank>0',
    'players.count(salary>1)>0',
  ]) {
    const path = listPath('/api/teams', { filter })
    t.is((await stage.get(path)).status, 400, filter)
    t.is((await stage.get(path, withRole('finance'))).status, 400, filter)
    t.is((await stage.get(path, payroll)).status, 200, filter)
  }
  t.is((await stage.get(listPath('/api/players', { filter: 'team.budget>500' }), withRole('finance'))).status, 200)
})

const SAMPLE = {
  text: 'a',
  note: 'b',
  whole: 1,
  wholeOrNull: 2,
  big: 3,
  money: 4.5,
  exact: '5.2500',
  bare: '6',
  ratio: 7.5,
  flag: true,
  flagOrNull: true,
  moment: '2024-05-06T07:08:09.010Z',
  day: '2024-05-06',
  clock: '07:08:09',
  token: '11111111-2222-4333-8444-555555555555',
  kind: 'large',
  data: { a: 1 },
  bytes: 'AQI=',
}
const DEFAULTS = {
  text: null,
  note: null,
  whole: 0,
  wholeOrNull: null,
  big: 0,
  money: 0,
  exact: '0.0000',
  bare: '0',
  ratio: 0,
  flag: false,
  flagOrNull: null,
  moment: null,
  day: null,
  clock: null,
  token: null,
  kind: null,
  data: null,
  bytes: null,
}

test('the defaults are those of the types: zeros, false and null, and null where the column may be', async (t) => {
  const look = withPermission('look')
  const created = await stage.post('/api/samples', SAMPLE, look)
  t.is(created.status, 201, created.text)
  const { id } = created.body
  t.deepEqual(created.body, { id, ...SAMPLE })
  t.deepEqual((await stage.get(`/api/samples/${id}`)).body, { id, ...DEFAULTS })
  t.deepEqual((await stage.get(`/api/samples/${id}`, look)).body, { id, ...SAMPLE })
  const blind = await stage.post('/api/samples', SAMPLE)
  t.deepEqual(blind.body, { id: blind.body.id, ...DEFAULTS })
  t.deepEqual((await stage.get(`/api/samples/${blind.body.id}`, look)).body, { id: blind.body.id, ...SAMPLE })
})

test('masking reading does not mask writing, unless the host says so', async (t) => {
  const { body: created } = await stage.post('/api/players', { name: 'Ewa', salary: 700, rank: 2, bonus: 9 })
  t.like(await readStoredRow(Player, created.id), { salary: 700, rank: 2, bonus: null })
  await stage.patch(`/api/players/${created.id}`, { salary: 800, bonus: 9 }, { 'if-match': '*' })
  t.like(await readStoredRow(Player, created.id), { salary: 800, bonus: null })
})

test('a property that the caller may not write is ignored in every body', async (t) => {
  const bulk = await stage.post('/api/players/bulk', [
    { name: 'Bea', bonus: 1 },
    { name: 'Bob', bonus: 'nonsense' },
  ])
  t.is(bulk.status, 201, bulk.text)
  for (const { id, bonus } of bulk.body) {
    t.is(bonus, null)
    t.is((await readStoredRow(Player, id))?.bonus, null)
  }
  const { body: mine } = await stage.post('/api/players', { name: 'Cyd', bonus: 5 }, payroll)
  t.is(mine.bonus, 5)
  const patched = await stage.patch(`/api/players/${mine.id}`, { bonus: 6, name: 'Cid' }, { 'if-match': '*' })
  t.is(patched.status, 200)
  t.like(await readStoredRow(Player, mine.id), { bonus: 5, name: 'Cid' })
  await stage.patch(`/api/players/${mine.id}`, { bonus: null }, { 'if-match': '*' })
  t.is((await readStoredRow(Player, mine.id))?.bonus, 5)
  await stage.patch(`/api/players/${mine.id}`, { bonus: null }, { 'if-match': '*', ...withRole('payroll') })
  t.is((await readStoredRow(Player, mine.id))?.bonus, null)
  // A body of keys has nothing to ignore.
  const keys = bulk.body.map(({ id }: { id: number }) => id)
  t.deepEqual((await stage.post('/api/players/bulk-delete', keys)).body, { deleted: 2 })
})

test('a required property that the caller may not write cannot be given by him, sent or not', async (t) => {
  const sent = await stage.post('/api/employees', { name: 'Jan', grade: 5 })
  const absent = await stage.post('/api/employees', { name: 'Jan' })
  t.is(sent.status, 400)
  t.deepEqual(sent.body.errors, { grade: ['is required.'] })
  t.is(sent.text, absent.text)
  t.is((await stage.post('/api/employees', { name: 'Jan', grade: 'x' })).text, absent.text)
  t.is((await stage.post('/api/employees/bulk', [{ name: 'Jan', grade: 5 }])).status, 400)
  const { status, body: made } = await stage.post('/api/employees', { name: 'Jan', grade: 5 }, payroll)
  t.is(status, 201)
  const patched = await stage.patch(`/api/employees/${made.id}`, { grade: 99 })
  t.is(patched.status, 200)
  t.is(patched.body.grade, 0)
  t.is((await stage.get(`/api/employees/${made.id}`, payroll)).body.grade, 5)
})

test('masks go by attributes, whatever their names are in JSON', async (t) => {
  const made = await stage.post('/api/employees', { name: 'Eva', grade: 1, basePay: 10 }, payroll)
  t.is(made.body.basePay, 10)
  const patched = await stage.patch(`/api/employees/${made.body.id}`, { basePay: 99 })
  t.is(patched.status, 200)
  t.is(patched.body.basePay, null)
  for (const name of ['basePay', 'BASEPAY', 'base_pay']) {
    t.is((await stage.get(`/api/employees?filter=${name}=10`)).status, 400, name)
  }
  t.is((await stage.get('/api/employees?filter=basePay=10', payroll)).body.totalCount, 1)
})

test('one version tag serves masked and unmasked bodies, and answers no caller with what another was shown', async (t) => {
  const own = await Player.create({ name: 'Tagged', salary: 8000, teamId: 2 })
  const path = `/api/players/${own.get('id')}`
  const list = '/api/players?filter=Name=Tagged'
  // Nothing is masked for this caller, not even of the flattened team.
  const everything = bearer({ sub: 'cfo', permissions: ['payroll', 'finance'] })
  const finance = withPermission('finance')
  const [full, masked] = [await stage.get(path, everything), await stage.get(path, finance)]
  t.deepEqual([full.body.salary, masked.body.salary], [8000, null])
  const tag = full.headers.get('etag') ?? ''
  t.regex(tag, /^W\/"\d+"$/)
  for (const { headers } of [full, masked]) {
    t.is(headers.get('etag'), tag)
    t.is(headers.get('vary'), 'Authorization')
    t.is(headers.get('cache-control'), 'private')
  }
  // A browser keeps the response when its user changes, and asks with its tag.
  t.like(await stage.get(path, { ...finance, 'if-none-match': tag }), { status: 200, body: { salary: null } })
  t.is((await stage.send('HEAD', path, { headers: { ...finance, 'if-none-match': tag } })).status, 200)
  t.is((await stage.get(path, { ...finance, 'if-none-match': '*' })).status, 304)
  t.is((await stage.get(path, { ...everything, 'if-none-match': tag })).status, 304)
  // What the request selects counts: a field that is masked, by its name or by `*`, but no other.
  for (const [select, status] of [
    ['name', 304],
    ['name,salary', 200],
    ['*', 200],
  ] as const) {
    const answer = await stage.get(`${path}?select=${select}`, { ...finance, 'if-none-match': tag })
    t.like(answer, { status }, select)
    t.is(answer.headers.get('etag'), tag, select)
  }
  const patched = await stage.patch(path, { name: 'Tagged' }, { 'if-match': masked.headers.get('etag') ?? '' })
  t.is(patched.status, 200)
  t.is((await stage.patch(path, { name: 'Tagged' }, { 'if-match': tag })).status, 412)
  // The tag of a content that begins with the same digits is of no version.
  const version = /^W\/"(\d+)"$/.exec(patched.headers.get('etag') ?? '')?.[1]
  const content = `W/"${version}-2jmj7l5rSw0yVb/vlWAYkK/YBwk"`
  t.is((await stage.patch(path, { name: 'Tagged' }, { 'if-match': content })).status, 412)
  // The tag of a list is a tag of its content.
  const listTag = (await stage.get(list, payroll)).headers.get('etag') ?? ''
  t.is((await stage.get(list, { ...payroll, 'If-None-Match': listTag })).status, 304)
  t.is((await stage.get(list, { 'If-None-Match': listTag })).status, 200)
})

test('a tag of a version answers nobody with flattened fields that another caller was shown', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name: DataTypes.STRING, budget: DataTypes.INTEGER }, plain)
    const Land = sequelize.define('Land', { name: DataTypes.STRING }, plain)
    const Club = sequelize.define('Club', { name: DataTypes.STRING }, plain)
    app.use(crudRouter(Team, { ...common, mask: { budget: 'finance' } }))
    app.use(crudRouter(Land, { ...common, getListPolicy: ({ identity: caller }) => caller !== null }))
    app.use(crudRouter(Club, common))
    const Site = sequelize.define('Site', { name: DataTypes.STRING }, plain)
    const inScope = (caller: Identity | null) => ({ name: caller === null ? 'none' : 'of' })
    app.use(crudRouter(Site, { ...common, scope: ({ identity: caller }) => inScope(caller) }))
    const Desk = sequelize.define('Desk', { name: DataTypes.STRING }, plain)
    app.use(crudRouter(Desk, { ...common, softDelete: true }))
    const targets = { Coach: Team, Scout: Land, Fan: Club, Guard: Site, Clerk: Desk }
    for (const [name, target] of Object.entries(targets)) {
      const Person = sequelize.define(name, { name: DataTypes.STRING }, plain)
      Person.belongsTo(target, { as: 'of', foreignKey: 'ofId' })
      app.use(crudRouter(Person, { ...common, flatten: ['of'], concurrency: true }))
    }
    return { Team, Land, Club, Site, Desk }
  })
  t.teardown(() => own.close())
  for (const model of [own.Team, own.Land, own.Club, own.Site, own.Desk])
    await model.create({ name: 'of', budget: 5 } as never)
  for (const [path, status, field] of [
    ['/api/coaches', 200, 'ofBudget'],
    ['/api/scouts', 200, 'ofName'],
    ['/api/guards', 200, 'ofName'],
    // Nothing of these records depends on their caller.
    ['/api/fans', 304, null],
    ['/api/clerks', 304, null],
  ] as const) {
    t.is((await own.post(path, { name: 'x', ofId: 1 }, withPermission('finance'))).status, 201, path)
    const first = await own.get(`${path}/1`, withPermission('finance'))
    const other = await own.get(`${path}/1`, { 'If-None-Match': first.headers.get('etag') ?? '' })
    t.is(other.status, status, path)
    if (field !== null) t.notDeepEqual(other.body[field], first.body[field], path)
  }
})

interface Sent {
  readonly status: number
  readonly method: string
  readonly path: string
  readonly json?: unknown
  readonly body?: string
  readonly headers?: Record<string, string>
}

const SENT: readonly Sent[] = [
  { status: 200, method: 'GET', path: '/api/players/1' },
  { status: 200, method: 'HEAD', path: '/api/players/1' },
  { status: 200, method: 'GET', path: '/api/players?count=true' },
  { status: 201, method: 'POST', path: '/api/players', json: { name: 'New' } },
  { status: 204, method: 'OPTIONS', path: '/api/players' },
  { status: 304, method: 'GET', path: '/api/players/2', headers: { 'if-none-match': '*' } },
  { status: 400, method: 'GET', path: '/api/players?filter=nothing=1' },
  { status: 400, method: 'GET', path: '/api/players?page=0' },
  { status: 400, method: 'POST', path: '/api/players', body: '{', headers: { 'content-type': 'application/json' } },
  { status: 400, method: 'POST', path: '/api/players', json: {} },
  { status: 401, method: 'GET', path: '/api/players', headers: { authorization: 'Bearer x' } },
  { status: 404, method: 'GET', path: '/api/players/99999' },
  { status: 404, method: 'DELETE', path: '/api/players/none' },
  { status: 405, method: 'PUT', path: '/api/players/1' },
  { status: 409, method: 'POST', path: '/api/players', json: { name: 'Ann', teamId: 99999 } },
  { status: 412, method: 'PATCH', path: '/api/players/1', json: {}, headers: { 'if-match': '"999999"' } },
  { status: 413, method: 'POST', path: '/api/players', json: { name: 'x'.repeat(1_100_000) } },
  { status: 415, method: 'POST', path: '/api/players', body: 'x', headers: { 'content-type': 'text/plain' } },
  { status: 428, method: 'PATCH', path: '/api/players/1', json: {} },
]

for (const { status, method, path, ...request } of SENT) {
  const what = JSON.stringify(request).slice(0, 60)
  test(`${method} ${path} ${what} answers ${status} with Vary and Cache-Control`, async (t) => {
    const answer = await stage.send(method, path, request)
    t.is(answer.status, status, answer.text)
    t.regex(answer.headers.get('vary') ?? '', /(^|, )Authorization(,|$)/)
    t.is(answer.headers.get('cache-control'), 'private')
  })
}

test('a 500 has the headers too, and what another resource says about a masked one', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name: DataTypes.STRING, budget: DataTypes.INTEGER }, plain)
    const Player = sequelize.define('Player', { name: DataTypes.STRING }, plain)
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    app.use((_, res, next) => {
      res.setHeader('Vary', 'Accept-Language')
      next()
    })
    app.use('/kept', (_, res, next) => {
      res.setHeader('Cache-Control', 'no-store')
      next()
    })
    app.use('/opened', (_, res, next) => {
      res.setHeader('Cache-Control', 'public, max-age=60')
      next()
    })
    const broken = (): never => {
      throw new Error('broken')
    }
    app.use('/broken', crudRouter(Team, { ...common, identity: broken, mask: { budget: 'finance' } }))
    const team = crudRouter(Team, { ...common, mask: { budget: 'finance' } })
    for (const path of ['/', '/kept', '/opened']) app.use(path, team)
    app.use(crudRouter(Player, common))
  })
  try {
    const headersOf = async (path: string): Promise<unknown[]> => {
      const { status, headers } = await own.get(path)
      return [status, headers.get('vary'), headers.get('cache-control')]
    }
    t.deepEqual(await headersOf('/broken/api/teams'), [500, 'Accept-Language, Authorization', 'private'])
    t.deepEqual(await headersOf('/api/teams'), [200, 'Accept-Language, Authorization', 'private'])
    // The host's word stands where it is the stricter one.
    t.deepEqual(await headersOf('/kept/api/teams'), [200, 'Accept-Language, Authorization', 'no-store'])
    t.deepEqual(await headersOf('/opened/api/teams'), [200, 'Accept-Language, Authorization', 'private'])
    t.deepEqual(await headersOf('/api/players'), [200, 'Accept-Language', null])
    t.deepEqual(await headersOf('/api/players?select=team.name'), [200, 'Accept-Language, Authorization', 'private'])
    t.deepEqual(await headersOf('/api/players?filter=team.budget=1'), [
      400,
      'Accept-Language, Authorization',
      'private',
    ])
    t.deepEqual(await headersOf('/api/players?sort=team.name'), [200, 'Accept-Language, Authorization', 'private'])
  } finally {
    await own.close()
  }
})

test('two resources over one model mask each for itself', async (t) => {
  const seen = async (path: string, headers: Headers = {}): Promise<unknown> => (await stage.get(path, headers)).body
  t.like(await seen('/shop/api/books/1'), { price: 30, cost: null })
  t.like(await seen('/press/api/books/1'), { price: null, cost: 10 })
  t.like(await seen('/shop/api/books/1', withRole('trade')), { price: 30, cost: 10 })
  t.is((await stage.get('/shop/api/books?filter=price=30')).status, 200)
  t.is((await stage.get('/press/api/books?filter=price=30')).status, 400)
})

test('a relation path over a model mounted twice needs the permissions of both masks', async (t) => {
  const filter = (field: string): string => listPath('/api/shelves', { filter: `books.${field}>0` })
  t.is((await stage.get(filter('price'), withRole('trade'))).status, 400)
  t.is((await stage.get(filter('cost'), withRole('press'))).status, 400)
  t.is((await stage.get(filter('price'), withRole('press'))).status, 200)
  t.is((await stage.get(filter('cost'), withRole('trade'))).status, 200)
  const select = async (headers: Headers): Promise<unknown> =>
    (await stage.get(listPath('/api/shelves', { select: 'best.title,best.price,best.cost', pageSize: 1 }), headers))
      .body.items[0]
  t.deepEqual(await select({}), { best: { title: 'Dune' } })
  t.deepEqual(await select(withRole('trade')), { best: { title: 'Dune', cost: 10 } })
  t.deepEqual(await select(withRole('trade', 'press')), { best: { title: 'Dune', price: 30, cost: 10 } })
  const flat = (headers: Headers): Promise<unknown> =>
    stage.get('/api/shelves/1', headers).then((answer) => answer.body)
  t.like(await flat({}), { bestTitle: 'Dune', bestPrice: null, bestCost: null })
  t.like(await flat(withRole('press')), { bestTitle: 'Dune', bestPrice: 30, bestCost: null })
  t.like(await flat(withRole('press', 'trade')), { bestTitle: 'Dune', bestPrice: 30, bestCost: 10 })
})

test('flattened fields of a missing record are null for callers who may not read them', async (t) => {
  for (const [headers, pages] of [
    [{}, 0],
    [withRole('trade'), 400],
  ] as const) {
    t.like((await stage.get('/api/shelves/1', headers)).body, { bestTitle: 'Dune', bestPages: pages })
    t.like((await stage.get('/api/shelves/2', headers)).body, { bestTitle: null, bestPages: null })
    const list = await stage.get('/api/shelves', headers)
    t.deepEqual(
      list.body.items.map((item: Record<string, unknown>) => item.bestPages),
      [pages, null],
    )
    const made = await stage.post('/api/shelves', { label: 'new' }, headers)
    t.is(made.body.bestPages, null)
    t.is((await stage.delete(`/api/shelves/${made.body.id}`, headers)).status, 204)
  }
})

test('what is no record in the body of a bulk create is refused in the same words, whoever may write what', async (t) => {
  for (const item of [null, 5, 'x', [], ['bonus'], true]) {
    const body = [{ name: 'Jan', teamId: 1 }, item]
    const barred = await stage.post('/api/players/bulk', body)
    const free = await stage.post('/api/players/bulk', body, withPermission('payroll'))
    t.is(barred.status, 400, JSON.stringify(item))
    t.deepEqual(barred.body, free.body)
  }
})

test('wrong masks are refused while mounting', async (t) => {
  const database = await openDatabase()
  try {
    const Thing = database.sequelize.define('Thing', { name: DataTypes.STRING }, plain)
    const masks: readonly (readonly [mask: unknown, code: string, message: RegExp])[] = [
      [{ nmae: 'x' }, 'UNKNOWN_ATTRIBUTE', /Thing: mask.*"nmae".*"name"/],
      [{ toString: 'x' }, 'UNKNOWN_ATTRIBUTE', /mask/],
      [{ id: 'x' }, 'INVALID_OPTION', /key/],
      [{ name: '' }, 'INVALID_OPTION', /mask\.name/],
      [{ name: undefined }, 'INVALID_OPTION', /mask\.name/],
      [{ name: {} }, 'INVALID_OPTION', /mask\.name/],
      [{ name: { read: '' } }, 'INVALID_OPTION', /mask\.name/],
      [{ name: { read: 5 } }, 'INVALID_OPTION', /mask\.name/],
      [{ name: null }, 'INVALID_OPTION', /mask\.name/],
      [{ name: { read: 'x', wirte: 'x' } }, 'UNKNOWN_OPTION', /mask\.name.*"wirte".*"write"/],
      [{ name: { read: 'x', red: 'x' } }, 'UNKNOWN_OPTION', /mask\.name.*"red".*"read"/],
      [{ name: true }, 'INVALID_OPTION', /mask\.name/],
      ['name', 'INVALID_OPTION', /mask/],
    ]
    for (const [mask, code, message] of masks) {
      const error = t.throws(() => crudRouter(Thing, { mask: mask as Record<string, string> }), {
        instanceOf: CrudConfigError,
        message,
      })
      t.is<unknown, unknown>(error?.code, code, JSON.stringify(mask))
    }
  } finally {
    await database.close()
  }
})

test("a masked field is empty by its type, not by the model's defaultValue", async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const Offer = sequelize.define(
      'Offer',
      {
        rate: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 7 },
        isOpen: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true },
        note: { type: DataTypes.STRING, defaultValue: 'none' },
      },
      { timestamps: false },
    )
    app.use(crudRouter(Offer, { identity, mask: { rate: 'look', isOpen: 'look', note: 'look' } }))
  })
  t.teardown(() => own.close())
  t.deepEqual((await own.post('/api/offers', {})).body, { id: 1, rate: 0, isOpen: false, note: null })
  const { body } = await own.get('/api/offers/1', withPermission('look'))
  t.deepEqual(body, { id: 1, rate: 7, isOpen: true, note: 'none' })
})
