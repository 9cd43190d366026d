// Options and globals of the drivers that change values on their way: answers do not depend on them, or the connection is refused.

import { createRequire } from 'node:module'
import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Options } from 'sequelize'
import { CrudConfigError, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase } from '../../support/database.js'
import type { TestClient } from '../../support/server.js'
import { onConnect } from '../../support/session.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial
// Statements that the package sends to the driver itself, with readers of its own.
const sent = isFast ? test : test.skip
const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'

const OPERATIONS = Operations.AllWithBulk | Operations.Aggregate | Operations.Replace

interface Setup {
  readonly options?: Options
  readonly session?: string
}

/**
 * One model on each way to the database: statements, instances (find and save hooks), and statements through `sequelize.query`
 * (query hooks).
 */
async function served(t: ExecutionContext, setup: Setup = {}) {
  const errors: unknown[] = []
  const direct = await servedBy(t, setup, errors, false)
  const queried = await servedBy(t, setup, errors, true)
  const clients: readonly (readonly [string, TestClient])[] = [
    ['/api/plain', direct],
    ['/api/hooked', direct],
    ['/api/queried', queried],
  ]
  /** Has the next key of a table be one beyond those that a number can count. */
  const advance = async (route: string): Promise<void> => {
    const { sequelize } = route === '/api/queried' ? queried : direct
    const table = route === '/api/hooked' ? 'Hookeds' : 'Plains'
    await sequelize.query(`SELECT setval(pg_get_serial_sequence('"${table}"', 'id'), 9007199254740992)`)
  }
  return { clients, direct, errors, advance }
}

async function servedBy(t: ExecutionContext, { options = {}, session }: Setup, errors: unknown[], isQueried: boolean) {
  const server = await openStage(
    ({ sequelize }, app) => {
      if (session !== undefined) onConnect(sequelize, session)
      if (isQueried) sequelize.addHook('beforeQuery', () => undefined)
      const hooks = { beforeFind: () => undefined, beforeSave: () => undefined }
      const Plain = sequelize.define('Plain', attributes(), { timestamps: false })
      const Hooked = sequelize.define('Hooked', attributes(), { timestamps: false, hooks })
      const onError = (error: unknown): void => void errors.push(error)
      const mounted = { operations: OPERATIONS, onError }
      app.use(crudRouter(Plain, { ...mounted, route: isQueried ? 'api/queried' : 'api/plain' }))
      if (!isQueried) app.use(crudRouter(Hooked, { ...mounted, route: 'api/hooked' }))
      return { Plain, Hooked }
    },
    { sequelize: options },
  )
  t.teardown(() => server.close())
  return server
}

const attributes = () => ({
  id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true },
  amount: DataTypes.DECIMAL(18, 2),
  small: DataTypes.DECIMAL(8, 2),
  count: DataTypes.BIGINT,
  ratio: DataTypes.DOUBLE,
  done: DataTypes.BOOLEAN,
  at: DataTypes.DATE(3),
  day: DataTypes.DATEONLY,
  time: DataTypes.TIME,
  note: DataTypes.JSON,
})

// SQLite keeps decimals as floating point.
const [AMOUNT = '', ...AMOUNTS] = ['78', '79', '77', '80'].map((cents) =>
  databaseName === 'sqlite' ? `1234567890.${cents}` : `1234567890123456.${cents}`,
)

const RECORD = {
  amount: AMOUNT,
  small: 0.1,
  count: '9007199254740993',
  ratio: 0.30000000000000004,
  done: true,
  at: '2024-02-03T04:05:06.789Z',
  day: '2024-02-03',
  time: '04:05:06',
  note: { a: [1, 'x'] },
}

/** What is written is read again: alone, in lists, pages by position, groups and extremes; and may be written back. */
async function assertExact(t: ExecutionContext, setup: Setup): Promise<void> {
  const { clients, errors } = await served(t, setup)
  for (const [route, { get, post, send }] of clients) {
    const created = await post(route, RECORD)
    t.is(created.status, 201, created.text)
    t.like(created.body, RECORD, route)
    const bulk = await post(
      `${route}/bulk`,
      AMOUNTS.map((amount, index) => ({ ...RECORD, amount, count: `900719925474099${4 + index}` })),
    )
    t.is(bulk.status, 201, bulk.text)
    const one = `${route}/${created.body.id}`
    t.deepEqual((await get(one)).body, created.body, route)
    t.is((await send('PUT', one, { json: created.body })).status, 200)
    t.deepEqual((await get(one)).body, created.body, route)
    t.is((await get(`${route}?amount=${RECORD.amount}`)).body.items.length, 1, route)
    for (const [field, values] of [
      ['amount', [AMOUNTS[1], AMOUNT, AMOUNTS[0], AMOUNTS[2]]],
      ['count', ['9007199254740993', '9007199254740994', '9007199254740995', '9007199254740996']],
    ] as const) {
      const found: unknown[] = []
      let after = ''
      for (let pages = 0; pages < 6 && after !== 'null'; pages += 1) {
        const { body, text } = await get(`${route}?sort=${field}&after=${after}&pageSize=1`)
        if (body.items === undefined) t.fail(text)
        found.push(...body.items.map((item: Record<string, unknown>) => item[field]))
        after = String(body.nextCursor)
      }
      t.deepEqual(found, values, `${route} ${field}`)
      const { text: extremes } = await get(`${route}?aggregate=min(${field}),max(${field})`)
      t.true(extremes.includes(`"${values[0]}"`) && extremes.includes(`"${values[3]}"`), `${route} ${extremes}`)
      const { text: groups } = await get(`${route}?group=${field}&aggregate=count`)
      for (const value of values) t.true(groups.includes(`"${value}"`), `${route} ${groups}`)
    }
  }
  t.deepEqual(errors, [])
}

test('digits are exact as the driver is by default', (t) => assertExact(t, {}))

if (databaseName === 'mysql') {
  test('digits are exact where the driver makes numbers of decimals', (t) =>
    assertExact(t, { options: { dialectOptions: { decimalNumbers: true } } }))
}

if (isMysql) {
  test('digits are exact where the driver makes text of all long numbers, and of dates', (t) =>
    assertExact(t, { options: { dialectOptions: { bigNumberStrings: true, dateStrings: true, typeCast: true } } }))

  sent('statements of the package do not ask a cast of the host', async (t) => {
    const typeCast = (cell: { readonly type: string; string(): string | null }, next: () => unknown): unknown =>
      cell.type === 'DATETIME' || cell.type === 'TINY' || cell.type === 'DOUBLE' ? cell.string() && 'x' : next()
    const { direct } = await served(t, { options: { dialectOptions: { typeCast } } })
    const { get, post } = direct
    t.like((await post('/api/plain', RECORD)).body, RECORD)
    t.like((await get('/api/plain?sort=at')).body.items[0], RECORD)
  })

  for (const option of ['nestTables', 'rowsAsArray', 'metaAsArray'] as const) {
    test(`the driver's option ${option} is refused at mount`, (t) => assertRefused(t, { [option]: true }, option))
  }
  test("the driver's option supportBigNumbers must not be false", (t) =>
    assertRefused(t, { supportBigNumbers: false }, 'supportBigNumbers'))
  test("the driver's option typeCast must not be false", (t) => assertRefused(t, { typeCast: false }, 'typeCast'))
}

if (databaseName === 'postgres') {
  const { types, defaults } = createRequire(import.meta.url)('pg') as {
    readonly types: {
      getTypeParser(type: number): (text: string) => unknown
      setTypeParser(type: number, parser: (text: string) => unknown): void
    }
    readonly defaults: { parseInt8: boolean; binary: boolean }
  }

  /** Has pg parse a type in another way for the time of a test. */
  const parsing = (t: ExecutionContext, type: number, parser: (text: string) => unknown): void => {
    const usual = types.getTypeParser(type)
    types.setTypeParser(type, parser)
    t.teardown(() => types.setTypeParser(type, usual))
  }

  test('digits are exact with parseInt8, and where pg has parsers for numbers', async (t) => {
    defaults.parseInt8 = true
    t.teardown(() => {
      defaults.parseInt8 = false
    })
    parsing(t, 1700, Number)
    await assertExact(t, {})
  })

  test('keys that pg would round are told apart, and new ones with hooks are refused', async (t) => {
    parsing(t, 20, Number)
    const { clients, errors, advance } = await served(t)
    for (const [route, { get, post, send, delete: remove }] of clients) {
      // A record of the test's own keys: the sequence goes on behind them.
      const first = await post(`${route}`, { ...RECORD, note: null })
      t.is(first.status, 201)
      await advance(route)
      const created = await post(route, { ...RECORD, amount: '1' })
      // Without the optimizations, Sequelize writes all records as it writes those with hooks.
      if (route === '/api/hooked' || !isFast) {
        t.is(created.status, 500)
        t.regex(String(errors.pop()), /parseInt8/)
        continue
      }
      t.is(created.status, 201, created.text)
      t.is(created.body.id, '9007199254740993')
      t.is(created.headers.get('location'), `${route}/9007199254740993`)
      t.is((await post(route, { ...RECORD, amount: '2' })).body.id, '9007199254740994')
      t.is((await get(`${route}/9007199254740993`)).body.amount, '1.00')
      const keys: unknown[] = []
      let after = ''
      for (let pages = 0; pages < 5 && after !== 'null'; pages += 1) {
        const { body } = await get(`${route}?sort=id&after=${after}&pageSize=1`)
        keys.push(...body.items.map(({ id }: { id: unknown }) => id))
        after = String(body.nextCursor)
      }
      t.deepEqual(keys, [first.body.id, '9007199254740993', '9007199254740994'])
      t.is((await send('PATCH', `${route}/9007199254740993`, { json: { amount: '3' } })).status, 200)
      t.is((await remove(`${route}/9007199254740994`)).status, 204)
      t.is((await get(`${route}/9007199254740993`)).body.amount, '3.00')
    }
    t.deepEqual(errors, [])
  })

  sent('statements of the package do not ask the parsers of pg', async (t) => {
    for (const type of [16, 20, 701, 1082, 1083, 1184, 114, 1700]) parsing(t, type, () => 'x')
    const { direct } = await served(t)
    const { get, post } = direct
    t.like((await post('/api/plain', RECORD)).body, RECORD)
    t.like((await get('/api/plain?sort=at')).body.items[0], RECORD)
  })

  test("the driver's option binary is refused at mount", async (t) => {
    await assertRefused(t, { binary: true }, 'binary')
  })

  test('connections that pg.defaults.binary has made are refused', async (t) => {
    defaults.binary = true
    t.teardown(() => {
      defaults.binary = false
    })
    const { clients, errors } = await served(t)
    for (const [route, { get }] of clients) {
      t.is((await get(route)).status, 500, route)
      t.regex(String(errors.shift()), /pg\.defaults\.binary/)
    }
  })

  for (const [setting, value] of [
    ['DateStyle', "'SQL, DMY'"],
    ['extra_float_digits', '0'],
  ] as const) {
    test(`a session whose ${setting} changes values is refused`, async (t) => {
      const { clients, errors } = await served(t, { session: `SET ${setting} = ${value}` })
      for (const [route, { get }] of clients) {
        t.is((await get(route)).status, 500, route)
        t.regex(String(errors.shift()), new RegExp(setting))
      }
    })
  }
}

async function assertRefused(t: ExecutionContext, dialectOptions: object, name: string): Promise<void> {
  const database = await openDatabase({ dialectOptions })
  t.teardown(() => database.close())
  const Note = database.sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
  t.throws(() => crudRouter(Note), {
    instanceOf: CrudConfigError,
    code: 'UNSAFE_CONNECTION',
    message: new RegExp(`\\b${name}\\b`),
  })
}
