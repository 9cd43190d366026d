// A bulk update whose items differ in their values alone is one statement where the database has a table of values.

import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic, Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { isFast } from '../../support/speed.js'
import { asUser, identityFromHeader, openStage, readStoredRow, timeOf } from '../../support/stage.js'

const test = ava.serial

const isAtOnce = databaseName === 'sqlite' || databaseName === 'postgres'
const plain: ModelOptions = { timestamps: false }
/** One more than fit into a statement of SQLite. */
const MANY = Math.floor(32_766 / 4) + 1

const stage = await openStage(({ sequelize }, app) => {
  const mount = (name: string, attributes: ModelAttributes, options: CrudOptions = {}, model = plain): void => {
    app.use(
      crudRouter(sequelize.define(name, attributes, { ...model, name: { singular: name, plural: name } }), {
        operations: Operations.AllWithBulk | Operations.BulkUpdate,
        ...options,
      }),
    )
  }
  mount('kind', {
    text: DataTypes.STRING,
    integer: DataTypes.INTEGER,
    big: DataTypes.BIGINT,
    decimal: DataTypes.DECIMAL(12, 3),
    double: DataTypes.DOUBLE,
    boolean: DataTypes.BOOLEAN,
    at: DataTypes.DATE,
    day: DataTypes.DATEONLY,
    json: DataTypes.JSON,
    uuid: DataTypes.UUID,
    size: DataTypes.ENUM('small', 'large'),
  })
  mount('named', { name: { type: DataTypes.STRING(40), primaryKey: true }, level: DataTypes.INTEGER })
  mount(
    'seat',
    {
      row: { type: DataTypes.STRING(20), primaryKey: true },
      number: { type: DataTypes.INTEGER, primaryKey: true },
      taken: DataTypes.BOOLEAN,
    },
    { keyProperty: ['row', 'number'] },
  )
  mount(
    'task',
    { title: DataTypes.STRING(40), tenant: DataTypes.STRING(10) },
    {
      identity: identityFromHeader,
      scope: ({ identity }) => ({ tenant: identity?.name ?? 'nobody' }),
      concurrency: true,
      audit: true,
    },
    {},
  )
  const byTenant: CrudOptions = {
    identity: identityFromHeader,
    scope: ({ identity }) => ({ tenant: identity?.name ?? 'nobody' }),
  }
  const Team = sequelize.define('group', { tenant: DataTypes.STRING(10) }, plain)
  const Member = sequelize.define('member', { tenant: DataTypes.STRING(10), level: DataTypes.INTEGER }, plain)
  Team.hasMany(Member, { as: 'members', foreignKey: 'groupId' })
  Member.belongsTo(Team, { as: 'group', foreignKey: 'groupId' })
  app.use(crudRouter(Team, byTenant))
  app.use(crudRouter(Member, { ...byTenant, operations: Operations.AllWithBulk | Operations.BulkUpdate }))
  mount('stamped', { level: DataTypes.INTEGER }, {}, {})
  mount('odd', { column1: DataTypes.INTEGER, column2: { type: DataTypes.INTEGER, field: '_items' } })
  mount('unique', { code: { type: DataTypes.STRING(10), unique: true }, level: DataTypes.INTEGER })
  const owned = [{ name: 'one_main', unique: true, fields: ['owner'], where: { main: true } }]
  const parted = databaseName === 'sqlite' || databaseName === 'postgres' ? owned : []
  mount('owned', { owner: DataTypes.INTEGER, main: DataTypes.BOOLEAN }, {}, { ...plain, indexes: parted })
  mount('summed', { level: DataTypes.INTEGER, parent: DataTypes.INTEGER }, { concurrency: true })
  mount('few', { level: DataTypes.INTEGER }, {}, {
    ...plain,
    defaultScope: { where: Sequelize.literal('(SELECT COUNT(*) FROM fews AS other WHERE other.level = 7) < 2') },
  } as ModelOptions)
  mount('guarded', { level: DataTypes.INTEGER, code: DataTypes.STRING(10) })
  const three = { level: DataTypes.INTEGER, rank: DataTypes.INTEGER, place: DataTypes.INTEGER }
  mount('many', three, { limits: { bulkItems: MANY, bodySize: 5_000_000 } })
})
test.after.always(() => stage.close())

const modelOf = (name: string): ModelStatic<Model> => stage.sequelize.model(name)

/** What a request made of a table, and how many statements wrote to it. */
async function updating<T>(work: () => Promise<T>): Promise<{ readonly answer: T; readonly updates: number }> {
  const from = stage.statements.length
  const answer = await work()
  return { answer, updates: stage.statements.slice(from).filter((sql) => /: UPDATE /.test(sql)).length }
}

const KINDS: readonly Readonly<Record<string, unknown>>[] = [
  {
    text: "it's 'quoted' ? $1 :x \\ \n ü 🎲",
    integer: -7,
    big: '9007199254740993',
    decimal: 123456789.125,
    double: 0.1,
    boolean: true,
    at: '2026-02-03T04:05:06.789Z',
    day: '2024-02-29',
    json: { a: [1, null, 'x'], b: { c: 'ü' } },
    uuid: '0b8f7f4e-6f0f-4f0a-9d5a-0d1d2c3b4a59',
    size: 'large',
  },
  {
    text: '',
    integer: 0,
    big: '-9223372036854775807',
    decimal: 0.001,
    double: 1e-300,
    boolean: false,
    at: '1969-12-31T23:59:59.999Z',
    day: '0999-12-31',
    json: 'a text',
    uuid: null,
    size: 'small',
  },
  {
    text: null,
    integer: null,
    big: null,
    decimal: null,
    double: null,
    boolean: null,
    at: null,
    day: null,
    json: null,
    uuid: null,
    size: null,
  },
]

test('values of every type are, written at once, what they are when each is written by itself', async (t) => {
  const made = await stage.post(
    '/api/kind/bulk',
    Array.from({ length: 2 * KINDS.length }, () => ({ text: 'before' })),
  )
  const ids: number[] = made.body.map(({ id }: { id: number }) => id)
  const [first, second] = [ids.slice(0, KINDS.length), ids.slice(KINDS.length)]
  const { answer, updates } = await updating(() =>
    stage.patch(
      '/api/kind/bulk',
      KINDS.map((kind, index) => ({ ...kind, id: first[index] })),
    ),
  )
  t.is(answer.status, 200, answer.text)
  if (isFast) t.is(updates, isAtOnce ? 1 : KINDS.length)
  for (const [index, kind] of KINDS.entries()) {
    const alone = await stage.patch(`/api/kind/${second[index]}`, kind)
    t.is(alone.status, 200, alone.text)
    t.deepEqual(answer.body[index], { ...alone.body, id: first[index] })
    t.deepEqual((await stage.get(`/api/kind/${first[index]}`)).body, answer.body[index])
  }
})

test('what the items have in common is written to each of them, and to no other record', async (t) => {
  await modelOf('named').bulkCreate(["o'x", 'O"X', '7', 'seven', 'other'].map((name) => ({ name, level: 1 })))
  const items = ['seven', '7', 'O"X', "o'x"].map((name) => ({ name, level: 5 }))
  const { answer, updates } = await updating(() => stage.patch('/api/named/bulk', items))
  if (isFast) t.is(updates, isAtOnce ? 1 : items.length)
  t.deepEqual(answer.body, items)
  t.like((await stage.get('/api/named/other')).body, { level: 1 })
})

test('records with a key of several parts are told apart by all of them', async (t) => {
  const seats = ['A', 'B'].flatMap((row) => [1, 2, 12].map((number) => ({ row, number, taken: false })))
  await modelOf('seat').bulkCreate(seats)
  const items = [
    { row: 'B', number: 12, taken: true },
    { row: 'A', number: 2, taken: null },
    { row: 'B', number: 1, taken: true },
  ]
  const { answer, updates } = await updating(() => stage.patch('/api/seat/bulk', items))
  if (isFast) t.is(updates, isAtOnce ? 1 : items.length)
  t.deepEqual(answer.body, items)
  const { body } = await stage.get('/api/seat?sort=row,number')
  const named = (seat: (typeof items)[number]): string => `${seat.row}${seat.number} ${seat.taken}`
  t.deepEqual(body.items.map(named), ['A1 false', 'A2 null', 'A12 false', 'B1 true', 'B2 false', 'B12 true'])
})

test('each record has its own version and the time and name of who changed it, within the scope of the caller alone', async (t) => {
  const create = async (user: string): Promise<number[]> =>
    (await stage.post('/api/task/bulk', [{ title: 'a' }, { title: 'b' }, { title: 'c' }], asUser(user))).body.map(
      ({ id }: { id: number }) => id,
    )
  const [mine, others] = [await create('one'), await create('two')]
  await stage.patch(`/api/task/${mine[1]}`, { title: 'b2' }, { ...asUser('one'), 'If-Match': 'W/"0"' })
  const items = [2, 1, 0].map((index) => ({ id: mine[index], title: `new ${index}`, rowVersion: index === 1 ? 1 : 0 }))
  const { answer, updates } = await updating(() => stage.patch('/api/task/bulk', items, asUser('one')))
  t.is(answer.status, 200, answer.text)
  if (isFast) t.is(updates, isAtOnce ? 1 : items.length)
  t.deepEqual(
    answer.body.map(({ id, title }: Record<string, unknown>) => [id, title]),
    items.map(({ id, title }) => [id, title]),
  )
  const rows = await Promise.all(mine.map((id) => readStoredRow(modelOf('task'), id)))
  t.deepEqual(
    rows.map((row) => [Number(row?.rowVersion), row?.updatedBy]),
    [1, 2, 1].map((version) => [version, 'one']),
  )
  t.is(new Set(rows.map((row) => timeOf(row?.updatedAt))).size, 1)
  const foreign = await stage.patch(
    '/api/task/bulk',
    [mine[0], others[0]].map((id) => ({ id, title: 'stolen', rowVersion: id === mine[0] ? 1 : 0 })),
    asUser('one'),
  )
  t.is(foreign.status, 404)
  t.deepEqual(foreign.body.errors, { '[1]': ['does not exist.'] })
  const stale = await stage.patch(
    '/api/task/bulk',
    [mine[0], mine[1]].map((id) => ({ id, title: 'stale', rowVersion: 1 })),
    asUser('one'),
  )
  t.is(stale.status, 412)
  const titles = async (ids: readonly number[], user: string): Promise<unknown[]> =>
    Promise.all(ids.map(async (id) => (await stage.get(`/api/task/${id}`, asUser(user))).body.title))
  t.deepEqual(await titles(mine, 'one'), ['new 0', 'new 1', 'new 2'])
  t.deepEqual(await titles(others, 'two'), ['a', 'b', 'c'])
})

test('no record is made to point at one of another tenant, and those that point nowhere new are written at once', async (t) => {
  const groups = await modelOf('group').bulkCreate([{ tenant: 'one' }, { tenant: 'one' }, { tenant: 'two' }])
  const [own, other, foreign] = groups.map((group) => group.get('id'))
  const members = await modelOf('member').bulkCreate([1, 2].map((level) => ({ tenant: 'one', level, groupId: own })))
  const ids = members.map((member) => member.get('id'))
  const moved = (groupId: unknown) =>
    stage.patch(
      '/api/members/bulk',
      ids.map((id) => ({ id, groupId })),
      asUser('one'),
    )
  const groupsOf = async (): Promise<unknown[]> =>
    Promise.all(ids.map(async (id) => (await readStoredRow(modelOf('member'), id))?.groupId))
  const refused = await moved(foreign)
  const alone = await stage.patch(`/api/members/${ids[0]}`, { groupId: foreign }, asUser('one'))
  t.true(refused.status >= 400 && refused.status < 500, refused.text)
  t.is(refused.status, alone.status)
  t.deepEqual(await groupsOf(), [own, own])
  t.is((await moved(other)).status, 200)
  t.deepEqual(await groupsOf(), [other, other])
  const { answer, updates } = await updating(() =>
    stage.patch(
      '/api/members/bulk',
      ids.map((id, index) => ({ id, level: 10 + index })),
      asUser('one'),
    ),
  )
  t.is(answer.status, 200, answer.text)
  if (isFast) t.is(updates, isAtOnce ? 1 : 2)
})

test('items that say nothing leave their records as they are', async (t) => {
  const { body: made } = await stage.post('/api/stamped/bulk', [{ level: 1 }, { level: 2 }])
  const { answer, updates } = await updating(() =>
    stage.patch(
      '/api/stamped/bulk',
      made.map(({ id }: { id: number }) => ({ id })),
    ),
  )
  t.is(answer.status, 200, answer.text)
  t.deepEqual(answer.body, made)
  t.is(updates, 0)
})

test('columns may have the names that a table of values has', async (t) => {
  const made = await stage.post('/api/odd/bulk', [{ column1: 1 }, { column1: 2 }])
  const [a, b] = made.body.map(({ id }: { id: number }) => id)
  const items = [
    { id: b, column1: 20, column2: 21 },
    { id: a, column1: 10, column2: 11 },
  ]
  const answer = await stage.patch('/api/odd/bulk', items)
  t.is(answer.status, 200, answer.text)
  t.deepEqual(answer.body, items)
})

test('what is unique is written one by one, in the order of the items', async (t) => {
  const made = await stage.post('/api/unique/bulk', [{ code: 'a' }, { code: 'b' }, { code: 'c' }])
  const [a, b, c] = made.body.map(({ id }: { id: number }) => id)
  const moved = [
    { id: c, code: 'd' },
    { id: b, code: 'c' },
    { id: a, code: 'b' },
  ]
  const { answer, updates } = await updating(() => stage.patch('/api/unique/bulk', moved))
  t.is(answer.status, 200, answer.text)
  t.is(updates, 3)
  const back = await stage.patch(
    '/api/unique/bulk',
    moved.toReversed().map(({ id }, index) => ({ id, code: 'bcd'[index + 1] ?? 'x' })),
  )
  t.is(back.status, 409)
  t.deepEqual(back.body.errors, { code: ['is already taken.'] })
  t.deepEqual((await stage.get('/api/unique?sort=id&select=code')).body.items, [
    { code: 'b' },
    { code: 'c' },
    { code: 'd' },
  ])
})

test('what the database has against one of the records undoes all, and is told as of one by itself', async (t) => {
  const { sequelize } = stage
  const quoted = (name: string): string => sequelize.getQueryInterface().quoteIdentifier(name)
  // Known to the table alone.
  await sequelize.query(
    `CREATE UNIQUE INDEX ${quoted('guarded_level')} ON ${quoted(String(modelOf('guarded').getTableName()))} (${quoted('level')})`,
  )
  const made = await stage.post('/api/guarded/bulk', [{ level: 1 }, { level: 2 }, { level: 3 }])
  const [a, b, c] = made.body.map(({ id }: { id: number }) => id)
  const items = [
    { id: a, level: 10 },
    { id: b, level: 3 },
    { id: c, level: 30 },
  ]
  const refused = await stage.patch('/api/guarded/bulk', items)
  const alone = await stage.patch(`/api/guarded/${b}`, { level: 3 })
  t.is(refused.status, 409)
  t.deepEqual(refused.body, alone.body)
  const levels = async (): Promise<unknown> =>
    (await stage.get('/api/guarded?sort=id')).body.items.map(({ level }: { level: number }) => level)
  t.deepEqual(await levels(), [1, 2, 3])
  const swapped = await stage.patch('/api/guarded/bulk', [
    { id: c, level: 4 },
    { id: b, level: 3 },
    { id: a, level: 2 },
  ])
  t.is(swapped.status, 200, swapped.text)
  t.deepEqual(await levels(), [2, 3, 4])
})

if (databaseName === 'sqlite' || databaseName === 'postgres') {
  test('what is unique among some of the records is written one by one, in the order of the items', async (t) => {
    const made = await stage.post('/api/owned/bulk', [
      { owner: 1, main: true },
      { owner: 1, main: false },
      { owner: 1, main: false },
    ])
    const [a, b] = made.body.map(({ id }: { id: number }) => id)
    const early = await stage.patch('/api/owned/bulk', [
      { id: b, main: true },
      { id: a, main: false },
    ])
    t.is(early.status, 409, early.text)
    for (const [from, to] of [
      [a, b],
      [b, a],
    ]) {
      const moved = await stage.patch('/api/owned/bulk', [
        { id: from, main: false },
        { id: to, main: true },
      ])
      t.is(moved.status, 200, moved.text)
    }
  })
}

if (databaseName === 'sqlite') {
  test('where a trigger changes other records of the same request, what it changed is met by the next of them', async (t) => {
    const made = await stage.post('/api/summed/bulk', [{ level: 1 }, { level: 1 }])
    const [a, b] = made.body.map(({ id }: { id: number }) => id)
    await modelOf('summed').update({ parent: b }, { where: { id: a } })
    await stage.sequelize.query(
      'CREATE TRIGGER summed AFTER UPDATE OF level ON summeds BEGIN UPDATE summeds SET rowVersion = rowVersion + 1 WHERE id = NEW.parent; END',
    )
    const items = [
      { id: a, level: 5, rowVersion: 0 },
      { id: b, level: 7, rowVersion: 0 },
    ]
    const { status } = await stage.patch('/api/summed/bulk', items)
    t.is(status, 412)
    t.like(await readStoredRow(modelOf('summed'), b), { level: 1, rowVersion: 0 })
    await stage.sequelize.query('DROP TRIGGER summed')
    t.is((await stage.patch('/api/summed/bulk', items)).status, 200)
  })

  test('a default scope that looks at other records does so before each of them is written', async (t) => {
    const rows = await modelOf('few').bulkCreate([{ level: 1 }, { level: 2 }, { level: 3 }])
    const items = rows.map((row) => ({ id: row.get('id'), level: 7 }))
    t.is((await stage.patch('/api/few/bulk', items)).status, 404)
    t.deepEqual((await stage.get('/api/few?sort=id&select=level')).body.items, [
      { level: 1 },
      { level: 2 },
      { level: 3 },
    ])
  })

  test('a trigger that ends the transaction leaves nothing written', async (t) => {
    await stage.sequelize.query(
      "CREATE TRIGGER ended BEFORE UPDATE ON guardeds WHEN NEW.code = 'bad' BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
    )
    const { body } = await stage.get('/api/guarded?sort=id')
    const ids: number[] = body.items.map(({ id }: { id: number }) => id)
    const codes = ['good', 'fine', 'bad']
    const { status } = await stage.patch(
      '/api/guarded/bulk',
      ids.map((id, index) => ({ id, code: codes[index] })),
    )
    t.is(status, 409)
    t.deepEqual((await stage.get('/api/guarded?sort=id')).body, body)
    await stage.sequelize.query('DROP TRIGGER ended')
    const after = await stage.patch(
      '/api/guarded/bulk',
      ids.map((id, index) => ({ id, code: codes[index] })),
    )
    t.is(after.status, 200, after.text)
  })

  // Instances would be loaded and saved one after the other.
  const many = isFast ? test : test.skip
  many('more values than one statement takes are several, in one transaction', async (t) => {
    await modelOf('many').bulkCreate(Array.from({ length: MANY }, () => ({ level: 0 })))
    const items = Array.from({ length: MANY }, (_, index) => ({
      id: MANY - index,
      level: index,
      rank: index + 1,
      place: index + 2,
    }))
    const { answer, updates } = await updating(() => stage.patch('/api/many/bulk', items))
    t.is(answer.status, 200, answer.text.slice(0, 300))
    t.is(updates, 2)
    t.deepEqual(answer.body, items)
  })
}

test('where UPDATE returns no records, one SELECT reads all of them, in the order of the request', async (t) => {
  const items = await modelOf('seat').bulkCreate(
    Array.from({ length: 30 }, (_, index) => ({ row: `r${index % 3}`, number: 100 + index, taken: index % 2 === 0 })),
  )
  const body = items.map((item) => ({ row: item.get('row'), number: item.get('number'), taken: true })).reverse()
  const from = stage.statements.length
  const answer = await stage.patch('/api/seat/bulk', body)
  t.is(answer.status, 200)
  t.deepEqual(
    answer.body.map(({ row, number, taken }: Record<string, unknown>) => ({ row, number, taken })),
    body,
  )
  const selects = stage.statements.slice(from).filter((sql) => /: SELECT .*taken/.test(sql))
  const isReadTogether = isFast && (databaseName === 'mysql' || databaseName === 'mariadb')
  if (isReadTogether) t.true(selects.length <= 2, selects.join('\n'))
})
