// What a database refuses by rules that the model does not know of: the same status on each, the fields by their names on
// the wire, and not a word of the database's own.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { type Served, serveModels } from '../../support/models.js'
import type { Answer } from '../../support/server.js'
import { onConnect } from '../../support/session.js'

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

async function serveAccounts(options: CrudOptions = {}, session?: string): Promise<Served<Bench>> {
  const heard: unknown[] = []
  return serveModels<Bench>({
    define: (sequelize) => {
      if (session !== undefined) onConnect(sequelize, session)
      return {
        Plain: account(sequelize, 'Plain', {}),
        Hooked: account(sequelize, 'Hooked', { beforeSave: () => undefined, beforeDestroy: () => undefined }),
        heard,
      }
    },
    fill: async ({ Plain }) => {
      const { sequelize } = Plain
      if (sequelize === undefined) throw new RangeError('the model is not initialised')
      await sequelize.drop()
      for (const sql of [...TABLES, ...TRIGGERS]) await sequelize.query(sql)
    },
    mount: (app, { Plain, Hooked }) => {
      const common: CrudOptions = {
        operations: Operations.AllWithBulk,
        onError: (error) => heard.push(error),
        ...options,
      }
      app.use(crudRouter(Plain, { ...common, route: 'api/plain' }))
      app.use(crudRouter(Hooked, { ...common, route: 'api/hooked' }))
    },
  })
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
    const booking = await serveModels({
      define: (sequelize) => ({
        Booking: sequelize.define('Booking', { span: DataTypes.RANGE(DataTypes.INTEGER) }, { timestamps: false }),
      }),
      fill: async ({ Booking }) => {
        await Booking.sequelize?.query('ALTER TABLE "Bookings" ADD EXCLUDE USING gist (span WITH &&)')
      },
      mount: (app, { Booking }) => {
        app.use(crudRouter(Booking))
      },
    })
    t.teardown(() => booking.close())
    t.is((await booking.post('/api/bookings', { span: [1, 5] })).status, 201)
    assertRefused(t, await booking.post('/api/bookings', { span: [4, 9] }), 409, {
      detail: 'A record that this one excludes exists already.',
    })
    t.is((await booking.post('/api/bookings', { span: [5, 9] })).status, 201)
  })
}
