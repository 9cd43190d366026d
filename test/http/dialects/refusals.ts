// What a database refuses by rules that the model does not know of: the same status on each, the fields by their names on
// the wire, and not a word of the database's own.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, QueryTypes, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openAgain } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { onConnect } from '../../support/session.js'
import { openStage, type Stage } from '../../support/stage.js'

const test = ava.serial

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'

interface Bench {
  readonly Plain: ModelStatic<Model>
  readonly Hooked: ModelStatic<Model>
  readonly heard: unknown[]
}

const KEY = isMysql
  ? 'INT PRIMARY KEY AUTO_INCREMENT'
  : databaseName === 'postgres'
    ? 'SERIAL PRIMARY KEY'
    : 'INTEGER PRIMARY KEY'

const TABLES = [
  `CREATE TABLE branches (code VARCHAR(10) PRIMARY KEY)`,
  `INSERT INTO branches (code) VALUES ('north')`,
  `CREATE TABLE accounts (
    id ${KEY},
    name VARCHAR(5) NOT NULL,
    balance SMALLINT DEFAULT 0 CHECK (balance >= 0),
    user_email VARCHAR(100),
    hall VARCHAR(20),
    seat_no INT,
    branch_code VARCHAR(10),
    CONSTRAINT one_email UNIQUE (user_email),
    CONSTRAINT one_seat UNIQUE (hall, seat_no),
    CONSTRAINT at_a_branch FOREIGN KEY (branch_code) REFERENCES branches (code)
  )`,
]

const TRIGGERS = {
  sqlite: [
    `CREATE TRIGGER closed BEFORE INSERT ON accounts WHEN NEW.name = 'stop'
      BEGIN SELECT RAISE(ABORT, 'the period is closed'); END`,
    `CREATE TRIGGER kept BEFORE DELETE ON accounts WHEN OLD.name = 'keep'
      BEGIN SELECT RAISE(ABORT, 'the account is kept'); END`,
  ],
  mysql: [
    `CREATE TRIGGER closed BEFORE INSERT ON accounts FOR EACH ROW
      IF NEW.name = 'stop' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the period is closed'; END IF`,
    `CREATE TRIGGER kept BEFORE DELETE ON accounts FOR EACH ROW
      IF OLD.name = 'keep' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the account is kept'; END IF`,
  ],
  postgres: [
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION USING MESSAGE = TG_ARGV[0]; END'`,
    `CREATE TRIGGER closed BEFORE INSERT ON accounts FOR EACH ROW WHEN (NEW.name = 'stop')
      EXECUTE FUNCTION refuse('the period is closed')`,
    `CREATE TRIGGER kept BEFORE DELETE ON accounts FOR EACH ROW WHEN (OLD.name = 'keep')
      EXECUTE FUNCTION refuse('the account is kept')`,
  ],
}[databaseName === 'mariadb' ? 'mysql' : databaseName]

async function serveAccounts(options: CrudOptions = {}, session?: string): Promise<Stage<Bench>> {
  const heard: unknown[] = []
  const stage = await openStage<Bench>(({ sequelize }, app) => {
    if (session !== undefined) onConnect(sequelize, session)
    const Plain = account(sequelize, 'Plain', {})
    const Hooked = account(sequelize, 'Hooked', { beforeSave: () => undefined, beforeDestroy: () => undefined })
    const common: CrudOptions = {
      operations: Operations.AllWithBulk,
      onError: (error) => heard.push(error),
      ...options,
    }
    app.use(crudRouter(Plain, { ...common, route: 'api/plain' }))
    app.use(crudRouter(Hooked, { ...common, route: 'api/hooked' }))
    return { Plain, Hooked, heard }
  })
  const { Plain } = stage
  const { sequelize } = Plain
  if (sequelize === undefined) throw new RangeError('the model is not initialised')
  await sequelize.drop()
  for (const sql of [...TABLES, ...TRIGGERS]) await sequelize.query(sql)
  return stage
}

/** The model knows neither that a name is needed and short nor that a balance is small and positive. */
function account(sequelize: Sequelize, name: string, hooks: object): ModelStatic<Model> {
  return sequelize.define(
    name,
    {
      name: DataTypes.STRING,
      balance: DataTypes.INTEGER,
      email: { type: DataTypes.STRING, field: 'user_email' },
      hall: DataTypes.STRING,
      seatNumber: { type: DataTypes.INTEGER, field: 'seat_no' },
      branch: { type: DataTypes.STRING, field: 'branch_code' },
    },
    {
      tableName: 'accounts',
      timestamps: false,
      hooks,
      indexes: [
        { unique: true, name: 'one_email', fields: ['user_email'] },
        { unique: true, name: 'one_seat', fields: ['hall', 'seat_no'] },
      ],
    },
  )
}

const served = await serveAccounts()
const closed = await serveAccounts({ fields: { name: { exclude: ['create', 'update'] } } })
// SQLite and PostgreSQL speak English here.
const german = isMysql ? await serveAccounts({}, "SET lc_messages = 'de_DE'") : null
test.after.always(async () => {
  for (const server of [served, closed, german]) await server?.close()
})

const PATHS = ['/api/plain', '/api/hooked'] as const
const WORDS =
  /one_|accounts|user_email|seat_no|branch_code|SQLITE|violat|constraint "|trigger|the period|is kept|Duplicate|Column|value too|range/

function assertRefused(t: ExecutionContext, answer: Answer, status: number, body: object): void {
  t.is(answer.status, status, answer.text)
  t.is(answer.headers.get('content-type'), 'application/problem+json')
  t.like(answer.body, body)
  if (!('errors' in body)) t.is(answer.body.errors, undefined)
  t.notRegex(answer.text, WORDS)
}

interface Refusal {
  readonly title: string
  readonly values: object
  readonly status: number
  readonly body: object
  /** SQLite minds neither lengths nor sizes. */
  readonly lax?: boolean
  /** Triggers of inserts. */
  readonly createOnly?: boolean
}

const TAKEN = 'A record with these values exists already.'
const UNFIT = 'A value does not fit its column.'

const REFUSALS: readonly Refusal[] = [
  {
    title: 'a unique column of another name than its attribute',
    values: { email: 'first@test.pl' },
    status: 409,
    body: { detail: TAKEN, errors: { email: ['is already taken.'] } },
  },
  {
    title: 'unique columns together',
    values: { hall: 'east', seatNumber: 1 },
    status: 409,
    body: { detail: TAKEN, errors: { hall: ['is already taken.'], seatNumber: ['is already taken.'] } },
  },
  {
    title: 'a foreign key that points nowhere',
    values: { branch: 'moon' },
    status: 409,
    body: {
      detail: 'A record that this one refers to does not exist.',
      errors: { branch: ['does not exist.'] },
    },
  },
  {
    title: 'a CHECK',
    values: { balance: -1 },
    status: 400,
    body: { detail: 'The record breaks a constraint of its table.' },
  },
  {
    title: 'a null that only the table forbids',
    values: { name: null },
    status: 400,
    body: { errors: { name: ['cannot be null.'] } },
  },
  {
    title: 'a text that is too long for the table',
    values: { name: 'longer' },
    status: 400,
    body: { detail: UNFIT },
    lax: true,
  },
  {
    title: 'a number that is too large for the table',
    values: { balance: 40_000 },
    status: 400,
    body: { detail: UNFIT },
    lax: true,
  },
  {
    title: 'a trigger',
    values: { name: 'stop' },
    status: 409,
    body: { detail: 'The database does not allow this change.' },
    createOnly: true,
  },
]

const FIRST = { name: 'first', email: 'first@test.pl', hall: 'east', seatNumber: 1, branch: 'north' }

for (const { title, values, status, body, lax = false, createOnly = false } of REFUSALS) {
  if (lax && databaseName === 'sqlite') continue
  test(`${title} refuses: ${status} on every way to write, and nothing is written`, async (t) => {
    await served.Plain.destroy({ where: { hall: ['east', 'west'] }, hooks: false })
    t.is((await served.post('/api/plain', FIRST)).status, 201)
    const { body: second } = await served.post('/api/plain', { name: 'other', hall: 'west', seatNumber: 2 })
    for (const path of PATHS) {
      const before = await served.Plain.findAll({ raw: true, order: ['id'] })
      const fresh = { name: 'third', ...values }
      assertRefused(t, await served.post(path, fresh), status, body)
      assertRefused(t, await served.post(`${path}/bulk`, [{ name: 'ok' }, fresh]), status, body)
      if (!createOnly) assertRefused(t, await served.patch(`${path}/${second.id}`, values), status, body)
      t.deepEqual(await served.Plain.findAll({ raw: true, order: ['id'] }), before)
    }
    t.deepEqual(served.heard, [])
  })
}

test('a name that is absent and that only the table asks for is 400', async (t) => {
  for (const path of PATHS) {
    assertRefused(t, await served.post(path, { balance: 1 }), 400, { errors: { name: ['cannot be null.'] } })
  }
})

test('a trigger that keeps a record refuses its deletion: 409, alone and in bulk', async (t) => {
  const { body: kept } = await served.post('/api/plain', { name: 'keep' })
  const { body: other } = await served.post('/api/plain', { name: 'loose' })
  for (const path of PATHS) {
    const detail = 'The database does not allow this change.'
    assertRefused(t, await served.delete(`${path}/${kept.id}`), 409, { detail })
    assertRefused(t, await served.post(`${path}/bulk-delete`, [other.id, kept.id]), 409, { detail })
    t.is((await served.get(`${path}/${other.id}`)).status, 200)
  }
})

test('a null that the table forbids in a column that nobody may write is 500: it is not for the client to mend', async (t) => {
  for (const path of PATHS) {
    closed.heard.length = 0
    const { status, text } = await closed.post(path, { balance: 1 })
    t.is(status, 500)
    t.notRegex(text, WORDS)
    t.is(closed.heard.length, 1)
  }
})

if (german !== null) {
  test('the fields of a conflict and of a null are named whatever language the server speaks', async (t) => {
    await german.post('/api/plain', FIRST)
    for (const path of PATHS) {
      const seat = await german.post(path, { name: 'x', hall: 'east', seatNumber: 1 })
      assertRefused(t, seat, 409, { errors: { hall: ['is already taken.'], seatNumber: ['is already taken.'] } })
      assertRefused(t, await german.post(path, { ...FIRST, hall: null }), 409, {
        errors: { email: ['is already taken.'] },
      })
      assertRefused(t, await german.post(path, { name: null }), 400, { errors: { name: ['cannot be null.'] } })
    }
  })
}

if (databaseName === 'postgres') {
  test('an exclusion constraint refuses what overlaps: 409', async (t) => {
    const booking = await openStage(({ sequelize }, app) => {
      const Booking = sequelize.define('Booking', { span: DataTypes.RANGE(DataTypes.INTEGER) }, { timestamps: false })
      app.use(crudRouter(Booking))
      return { Booking }
    })
    const { Booking } = booking
    await Booking.sequelize?.query('ALTER TABLE "Bookings" ADD EXCLUDE USING gist (span WITH &&)')
    t.teardown(() => booking.close())
    t.is((await booking.post('/api/bookings', { span: [1, 5] })).status, 201)
    assertRefused(t, await booking.post('/api/bookings', { span: [4, 9] }), 409, {
      detail: 'A record that conflicts with this one exists already.',
    })
    t.is((await booking.post('/api/bookings', { span: [5, 9] })).status, 201)
  })
}

interface Own {
  readonly title: string
  readonly sql: readonly string[]
  readonly status: number
  readonly body: object
  /** Rows of the table that the caller has written to; a view has those of its table. */
  readonly table?: string
}

const NOT_ALLOWED = { code: 'conflict', detail: 'The database does not allow this change.' }

const TAKEN_SOMEWHERE = { code: 'conflict', detail: TAKEN }

/** A trigger on `owns` that raises an error with a SQLSTATE, or runs any other statement. */
function raises(state: string): readonly string[] {
  return [
    `CREATE FUNCTION raises() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN RAISE EXCEPTION 'the period of accounts' USING ERRCODE = '${state}'; END$$`,
    'CREATE TRIGGER raises BEFORE INSERT OR UPDATE ON owns FOR EACH ROW EXECUTE FUNCTION raises()',
  ]
}

function signals(state: string, errno: number): readonly string[] {
  return ['INSERT', 'UPDATE'].map(
    (event) => `CREATE TRIGGER raises_${event} BEFORE ${event} ON owns FOR EACH ROW
      SIGNAL SQLSTATE '${state}' SET MESSAGE_TEXT = 'the period of accounts', MYSQL_ERRNO = ${errno}`,
  )
}

const OWN: readonly Own[] =
  databaseName === 'sqlite'
    ? []
    : isMysql
      ? [
          ...[
            ['45000', 5001],
            ['45001', 1317],
            ['77777', 5002],
            ['IB123', 5003],
            ['45000', 1048],
            ['45000', 1062],
            ['45000', 1452],
            ['23000', 1048],
          ].map(([state, errno]) => ({
            title: `SIGNAL of SQLSTATE ${state} with MYSQL_ERRNO ${errno}`,
            sql: signals(String(state), Number(errno)),
            status: 409,
            body: NOT_ALLOWED,
          })),
          {
            title: 'SIGNAL of SQLSTATE 23000 with MYSQL_ERRNO 1062',
            sql: signals('23000', 1062),
            status: 409,
            body: TAKEN_SOMEWHERE,
          },
          {
            title: 'WITH CHECK OPTION',
            sql: ['CREATE VIEW shown AS SELECT id, name FROM owns WHERE name < "m" WITH CHECK OPTION'],
            table: 'shown',
            status: 409,
            body: NOT_ALLOWED,
          },
        ]
      : [
          ...['45000', '77777', 'IB123', 'P0002', '55000', '42501', 'XX001', '23502'].map((state) => ({
            title: `RAISE of SQLSTATE ${state}`,
            sql: raises(state),
            status: 409,
            body: NOT_ALLOWED,
          })),
          { title: 'RAISE of SQLSTATE 23505', sql: raises('23505'), status: 409, body: TAKEN_SOMEWHERE },
          {
            title: 'WITH CHECK OPTION',
            sql: ["CREATE VIEW shown AS SELECT id, name FROM owns WHERE name < 'm' WITH CHECK OPTION"],
            table: 'shown',
            status: 409,
            body: NOT_ALLOWED,
          },
          {
            title: 'NOT NULL of a domain',
            sql: ['CREATE DOMAIN filled AS TEXT NOT NULL', "ALTER TABLE owns ADD COLUMN other filled DEFAULT 'x'"],
            status: 409,
            body: NOT_ALLOWED,
          },
          {
            title: 'a policy on rows',
            sql: [
              'ALTER TABLE owns ENABLE ROW LEVEL SECURITY',
              'ALTER TABLE owns FORCE ROW LEVEL SECURITY',
              'CREATE POLICY seen ON owns FOR SELECT USING (true)',
              "CREATE POLICY written ON owns FOR INSERT WITH CHECK (name < 'm')",
              "CREATE POLICY changed ON owns FOR UPDATE USING (true) WITH CHECK (name < 'm')",
            ],
            status: 403,
            body: { code: 'forbidden' },
          },
        ]

for (const { title, sql, status, body, table = 'owns' } of OWN) {
  test(`${title} refuses: ${status} on every way to write, and nothing is written`, async (t) => {
    const server = await openStage()
    const { app, sequelize } = server
    const heard: unknown[] = []
    const admin = openAgain(sequelize)
    const grants = ['TABLES', 'SEQUENCES'].map((what) => `GRANT ALL ON ALL ${what} IN SCHEMA public TO pg_monitor`)
    for (const each of [
      `CREATE TABLE owns (id ${KEY}, name VARCHAR(20))`,
      "INSERT INTO owns (name) VALUES ('a')",
      ...sql,
      ...(isMysql ? [] : grants),
    ]) {
      await admin.query(each)
    }
    await admin.close()
    // Policies on rows do not hold for a superuser.
    if (!isMysql) onConnect(sequelize, 'SET ROLE pg_monitor')
    for (const [name, hooks] of [
      ['plain', {}],
      ['hooked', { beforeSave: () => undefined }],
    ] as const) {
      const columns = /domain/.test(title) ? { other: DataTypes.STRING } : {}
      const Own = sequelize.define(
        name,
        { name: DataTypes.STRING, ...columns },
        { tableName: table, timestamps: false, hooks },
      )
      app.use(
        crudRouter(Own, {
          operations: Operations.AllWithBulk,
          route: `api/${name}`,
          onError: (error) => heard.push(error),
        }),
      )
    }
    t.teardown(server.close)
    const values = { name: 'z', ...(/domain/.test(title) ? { other: null } : {}) }
    for (const path of PATHS) {
      for (const answer of [
        await server.post(path, values),
        await server.post(`${path}/bulk`, [values, values]),
        await server.patch(`${path}/1`, values),
      ]) {
        t.is(answer.status, status, answer.text)
        t.like(answer.body, body)
        t.is(answer.body.errors, undefined)
        t.notRegex(answer.text, /owns|period|SQL|policy|domain|shown|raises/)
      }
    }
    const rows = await sequelize.query('SELECT name FROM owns', { type: QueryTypes.SELECT })
    t.deepEqual(rows, [{ name: 'a' }])
    t.deepEqual(heard, [])
  })
}

if (isMysql) {
  test('collations that do not mix are a matter of the host: 500 without a value of the client, told to onError', async (t) => {
    const heard: unknown[] = []
    const mixed = await openStage(({ sequelize }, app) => {
      const Parent = sequelize.define('Parent', {
        code: { type: DataTypes.STRING(20), primaryKey: true },
        name: DataTypes.STRING,
      })
      const Child = sequelize.define('Child', { name: DataTypes.STRING, parentCode: DataTypes.STRING(20) })
      Child.belongsTo(Parent, { foreignKey: 'parentCode', as: 'par', constraints: false })
      app.use(crudRouter(Parent), crudRouter(Child, { onError: (error) => heard.push(error) }))
      return { Parent, Child }
    })
    const { Parent } = mixed
    await Parent.sequelize?.query('ALTER TABLE `Parents` MODIFY code VARCHAR(20) COLLATE utf8mb4_general_ci NOT NULL')
    await Parent.sequelize?.query('ALTER TABLE `Children` MODIFY parentCode VARCHAR(20) COLLATE utf8mb4_unicode_ci')
    t.teardown(() => mixed.close())
    const { status, text } = await mixed.get('/api/Children?sort=Par.Name')
    t.is(status, 500, text)
    t.is(heard.length, 1)
  })
}

test('a value for a column that the table computes is refused', async (t) => {
  const server = await openStage()
  const { app, sequelize } = server
  for (const [route, hooks] of [
    ['plain', {}],
    ['hooked', { beforeSave: () => undefined, beforeFind: () => undefined }],
  ] as const) {
    const attributes = { amount: DataTypes.INTEGER, twice: DataTypes.INTEGER }
    const Sum = sequelize.define(route, attributes, { tableName: 'sums', timestamps: false, hooks })
    const operations = Operations.AllWithBulk + Operations.BulkUpdate + Operations.Replace
    app.use(crudRouter(Sum, { operations, route }))
  }
  await sequelize.query(`CREATE TABLE sums (id ${KEY}, amount INT, twice INT GENERATED ALWAYS AS (amount * 2) STORED)`)
  t.teardown(server.close)
  for (const route of ['/plain', '/hooked']) {
    const { status, body } = await server.post(route, { amount: 2 })
    t.is(status, 201)
    t.is((await server.get(`${route}/${body.id}`)).body.twice, 4)
    const requests = [
      ['POST', route, { amount: 3, twice: 5 }],
      ['POST', `${route}/bulk`, [{ amount: 3 }, { amount: 3, twice: 5 }]],
      ['PATCH', `${route}/${body.id}`, { amount: 3, twice: 5 }],
      ['PATCH', `${route}/bulk`, [{ id: body.id, twice: 5 }]],
      ['PUT', `${route}/${body.id}`, { amount: 3, twice: 5 }],
    ] as const
    for (const [method, path, json] of requests) {
      const refused = await server.send(method, path, { json })
      assertRefused(t, refused, 409, { detail: 'The database does not allow this change.' })
    }
    t.like((await server.get(`${route}/${body.id}`)).body, { amount: 2, twice: 4 })
    t.is((await server.send('PATCH', `${route}/${body.id}`, { json: { amount: 6 } })).status, 200)
  }
  t.is((await server.get('/plain?count=true')).body.count, 2)
})
