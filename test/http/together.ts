// Writes that wait for their turn at the same time: on SQLite those of a kind are one statement. What each is answered, and what is
// stored, is as if each had been alone.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import express, { type Express } from 'express'
import {
  DataTypes,
  literal,
  type Model,
  type ModelOptions,
  type ModelStatic,
  QueryTypes,
  type Sequelize,
  Transaction,
} from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../lib/index.js'
import { databaseName, openAgain, openDatabase } from '../support/database.js'
import { type Answer, clientOf, closed, serve, type TestServer } from '../support/server.js'
import { as, identityFromHeader } from '../support/stage.js'

const isSqlite = databaseName === 'sqlite'
const onSqlite = isSqlite ? test : test.skip
// Who listens hears of all that the process does.
const onSqliteAlone = isSqlite ? test.serial : test.skip

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  readonly Thing: ModelStatic<Model>
  /** Sends all of these while a write holds the line, and gives their answers and the writes that the database was given. */
  readonly behind: (send: () => readonly Promise<Answer>[]) => Promise<{ answers: Answer[]; written: string[] }>
  readonly rows: () => Promise<readonly Record<string, unknown>[]>
  /** Keeps the line standing still until it is told to go on. */
  readonly hold: () => Promise<() => Promise<void>>
}

interface Options {
  readonly logging?: boolean
  readonly options?: CrudOptions
  readonly attributes?: Parameters<Sequelize['define']>[1]
  readonly defaultScope?: ModelOptions['defaultScope']
  readonly set?: (sequelize: Sequelize) => Promise<unknown>
  /** Whether the table is not what the model says, so that answers are not as documented. */
  readonly isOdd?: boolean
}

async function bench(t: ExecutionContext, given: Options = {}): Promise<Bench> {
  const { options = {}, attributes = {}, defaultScope = {}, set } = given
  const database = await openDatabase(given.logging === true ? {} : { logging: false })
  const { sequelize } = database
  const Thing = sequelize.define(
    'thing',
    {
      name: { type: DataTypes.STRING, unique: 'name' },
      level: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      tenant: DataTypes.INTEGER,
      ...attributes,
    },
    { timestamps: false, defaultScope },
  )
  const Gate = sequelize.define('gate', { name: DataTypes.STRING }, { timestamps: false })
  const gate: { open: () => void; isReached: boolean } = { open: () => undefined, isReached: false }
  const app = express()
  app.use(crudRouter(Thing, { operations: Operations.AllWithBulk, identity: identityFromHeader, ...options }))
  app.use(
    crudRouter(Gate, {
      operations: Operations.AllWithBulk,
      hooks: {
        beforeCreate: () =>
          new Promise<void>((resolve) => {
            gate.open = resolve
            gate.isReached = true
          }),
      },
    }),
  )
  await sequelize.sync()
  await set?.(sequelize)
  const server = given.isOdd === true ? await undocumented(app) : await serve(app)
  t.teardown(async () => {
    await server.close()
    await database.close()
  })
  const arrived: unknown[] = []
  server.server.on('request', () => arrived.push(null))
  const written = isSqlite ? await tracing(sequelize) : []
  const hold = async (): Promise<() => Promise<void>> => {
    gate.isReached = false
    const held = server.post('/api/gates', { name: 'held' })
    while (!gate.isReached) await wait(2)
    written.length = 0
    return async () => {
      gate.open()
      await held
    }
  }
  return {
    ...server,
    sequelize,
    Thing,
    hold,
    behind: async (send) => {
      const goOn = await hold()
      arrived.length = 0
      const sent = send()
      while (arrived.length < sent.length) await wait(5)
      await wait(100)
      await goOn()
      return { answers: await Promise.all(sent), written: [...written] }
    },
    rows: async () =>
      sequelize.query<Record<string, unknown>>('SELECT * FROM things ORDER BY id', { type: QueryTypes.SELECT }),
  }
}

async function undocumented(app: Express): Promise<TestServer> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { ...clientOf(`http://127.0.0.1:${port}`), server, close: () => closed(server) }
}

/** The INSERTs and UPDATEs that SQLite itself says it runs on the handle of single statements. */
async function tracing(sequelize: Sequelize): Promise<string[]> {
  const written: string[] = []
  const { connectionManager } = sequelize as unknown as {
    connectionManager: { getConnection: (options: object) => Promise<NodeJS.EventEmitter> }
  }
  const handle = await connectionManager.getConnection({})
  handle.on('trace', (sql: string) => {
    if (/^(INSERT|UPDATE)/.test(sql)) written.push(sql)
  })
  return written
}

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8]

const statuses = (answers: readonly Answer[]): readonly number[] => answers.map(({ status }) => status)

test('creates that wait at the same time are one statement on SQLite, and each is answered with its own record', async (t) => {
  const server = await bench(t)
  const { answers, written } = await server.behind(() =>
    EIGHT.map((level) => server.post('/api/things', { name: `n${level}`, level })),
  )
  t.deepEqual(
    statuses(answers),
    EIGHT.map(() => 201),
  )
  for (const [index, { body, headers }] of answers.entries()) {
    t.like(body, { name: `n${index + 1}`, level: index + 1 })
    t.is(headers.get('location'), `/api/things/${body.id}`)
    t.deepEqual((await server.get(`/api/things/${body.id}`)).body, body)
  }
  t.is(new Set(answers.map(({ body }) => body.id)).size, 8)
  t.is((await server.rows()).length, 8)
  if (isSqlite) t.is(written.length, 1)
})

test('patches of several records that wait at the same time are one statement on SQLite, and each changes its own', async (t) => {
  const server = await bench(t)
  const { Thing } = server
  await Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
  const { answers, written } = await server.behind(() =>
    EIGHT.map((id) => server.patch(`/api/things/${id}`, { level: 10 * id })),
  )
  t.deepEqual(
    statuses(answers),
    EIGHT.map(() => 200),
  )
  for (const [index, { body }] of answers.entries()) {
    t.like(body, { id: index + 1, name: `n${index + 1}`, level: 10 * (index + 1) })
  }
  t.deepEqual(
    (await server.rows()).map(({ level }) => level),
    EIGHT.map((id) => 10 * id),
  )
  if (isSqlite) t.is(written.length, 1)
})

onSqlite('no more than eight are one statement, and none of another kind or out of its turn', async (t) => {
  const server = await bench(t)
  const { written } = await server.behind(() =>
    Array.from({ length: 20 }, (_, index) => server.post('/api/things', { name: `n${index}`, level: index })),
  )
  t.deepEqual(
    written.map((sql) => sql.split('), (').length),
    [8, 8, 4],
  )
  const mixed = await server.behind(() => [
    server.patch('/api/things/1', { level: 100 }),
    server.patch('/api/things/2', { level: 100 }),
  ])
  t.is(mixed.written.length, 1)
  const goOn = await server.hold()
  const sent: Promise<Answer>[] = []
  for (const send of [
    () => server.patch('/api/things/1', { level: 101 }),
    () => server.patch('/api/things/2', { level: 101 }),
    () => server.patch('/api/things/3', { name: 'other' }),
    () => server.patch('/api/things/4', { level: 101 }),
    () => server.patch('/api/things/4', { level: 102 }),
  ]) {
    sent.push(send())
    await wait(50)
  }
  await goOn()
  t.deepEqual(statuses(await Promise.all(sent)), [200, 200, 200, 200, 200])
  t.is((await server.get('/api/things/4')).body.level, 102)
})

test('what the database has against one of them is told to that one alone', async (t) => {
  const server = await bench(t)
  t.is((await server.post('/api/things', { name: 'taken' })).status, 201)
  const { answers } = await server.behind(() => [
    server.post('/api/things', { name: 'a' }),
    server.post('/api/things', { name: 'taken' }),
    server.post('/api/things', { name: 'b' }),
    server.post('/api/things', { name: 'b' }),
    server.post('/api/things', { name: 'c' }),
  ])
  t.deepEqual(statuses(answers).toSorted(), [201, 201, 201, 409, 409])
  t.is(answers[0]?.status, 201)
  t.is(answers[1]?.status, 409)
  t.is(answers[4]?.status, 201)
  t.deepEqual((await server.rows()).map(({ name }) => name).toSorted(), ['a', 'b', 'c', 'taken'])
})

test('a patch that breaks a constraint of the table leaves those beside it as they are', async (t) => {
  const server = await bench(t, {
    set: async (sequelize) => {
      if (!isSqlite) await sequelize.query('ALTER TABLE things ADD CONSTRAINT low CHECK (level < 50)')
      else {
        await sequelize.query('DROP TABLE things')
        await sequelize.query(
          'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE, level INTEGER NOT NULL CHECK (level < 50), tenant INTEGER)',
        )
      }
    },
  })
  await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
  const { answers } = await server.behind(() =>
    EIGHT.map((id) => server.patch(`/api/things/${id}`, { level: id === 3 ? 60 : 20 + id })),
  )
  t.deepEqual(statuses(answers), [200, 200, 400, 200, 200, 200, 200, 200])
  t.deepEqual(
    (await server.rows()).map(({ level }) => level),
    [21, 22, 3, 24, 25, 26, 27, 28],
  )
})

test('callers of several tenants meet their own records only, whoever waits beside them', async (t) => {
  const server = await bench(t, {
    options: {
      scope: ({ identity }) => ({ tenant: Number(identity?.name ?? 0) }),
      concurrency: true,
      audit: true,
      mask: { level: 'see' },
    },
  })
  const created = await server.behind(() =>
    EIGHT.map((level) => server.post('/api/things', { name: `n${level}`, level }, as(String(1 + (level % 2))))),
  )
  t.deepEqual(
    statuses(created.answers),
    EIGHT.map(() => 201),
  )
  for (const [index, { body }] of created.answers.entries()) t.is(body.name, `n${index + 1}`)
  const idOf = (level: number): number => created.answers[level - 1]?.body.id
  const etag = String(created.answers[0]?.headers.get('etag'))
  const patch = (level: number, tenant: number): Promise<Answer> =>
    server.patch(`/api/things/${idOf(level)}`, { level: 50 + level }, { ...as(String(tenant)), 'if-match': etag })
  // Some ask for records of others beside those who ask for their own.
  const { answers } = await server.behind(() =>
    EIGHT.map((level) => patch(level, level <= 4 ? 1 + (level % 2) : 2 - (level % 2))),
  )
  t.deepEqual(statuses(answers), [200, 200, 200, 200, 404, 404, 404, 404])
  const rows = await server.rows()
  for (const level of EIGHT) {
    const row = rows.find(({ id }) => id === idOf(level))
    t.is(row?.level, level <= 4 ? 50 + level : level)
    t.is(row?.tenant, 1 + (level % 2))
    t.is(row?.createdBy, String(1 + (level % 2)))
  }
})

test('each change is made under the version that it names, whatever waits beside it', async (t) => {
  const server = await bench(t, { options: { concurrency: true } })
  await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
  const etag = (await server.get('/api/things/1')).headers.get('etag') ?? ''
  const contest = await server.behind(() =>
    EIGHT.map((level) => server.patch('/api/things/1', { level: 100 + level }, { 'if-match': etag })),
  )
  t.deepEqual(statuses(contest.answers).toSorted(), [200, ...EIGHT.slice(1).map(() => 412)])
  const others = await Promise.all(EIGHT.map((id) => server.get(`/api/things/${id}`)))
  const stale = others.map(({ headers }, index) =>
    index % 2 === 0 ? etag.replace(/\d+/, '9999') : (headers.get('etag') ?? ''),
  )
  const { answers } = await server.behind(() =>
    EIGHT.map((id, index) =>
      server.patch(`/api/things/${id}`, { level: 200 + id }, { 'if-match': stale[index] ?? '' }),
    ),
  )
  t.deepEqual(statuses(answers), [412, 200, 412, 200, 412, 200, 412, 200])
})

onSqlite('without versions changes of one record are made one after the other', async (t) => {
  const server = await bench(t)
  await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
  const goOn = await server.hold()
  const sent: Promise<Answer>[] = []
  for (const level of EIGHT) {
    sent.push(server.patch(`/api/things/${level < 5 ? 1 : level}`, { level: 10 * level }))
    await wait(20)
  }
  await goOn()
  const answers = await Promise.all(sent)
  t.deepEqual(
    answers.map(({ body }) => body.level),
    EIGHT.map((level) => 10 * level),
  )
  t.deepEqual(
    (await server.rows()).map(({ level }) => level),
    [40, 2, 3, 4, 50, 60, 70, 80],
  )
})

for (const [what, sql] of [
  ['fails and leaves what was made', "SELECT RAISE(FAIL, 'no')"],
  ['leaves the record out', 'SELECT RAISE(IGNORE)'],
  ['undoes all', "SELECT RAISE(ABORT, 'no')"],
] as const) {
  onSqlite(`where a trigger ${what}, every write is one statement`, async (t) => {
    const server = await bench(t)
    await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
    // Not before there were some without it.
    const before = await server.behind(() => EIGHT.map((id) => server.patch(`/api/things/${id}`, { level: 10 * id })))
    t.is(before.written.length, 1)
    for (const moment of ['INSERT', 'UPDATE']) {
      await server.sequelize.query(
        `CREATE TRIGGER no_${moment} BEFORE ${moment} ON things WHEN NEW.level = 3 BEGIN ${sql}; END`,
      )
    }
    const { answers, written } = await server.behind(() => [
      ...[1, 2, 3, 4].map((level) => server.post('/api/things', { name: `new${level}`, level })),
      ...EIGHT.map((id) => server.patch(`/api/things/${id}`, { level: id === 5 ? 3 : 90 })),
    ])
    t.true(written.length >= 12)
    t.deepEqual(
      answers.map(({ status }) => status < 300),
      [true, true, false, true, true, true, true, true, false, true, true, true],
    )
    const rows = await server.rows()
    t.deepEqual(
      rows.map(({ name, level }) => `${name} ${level}`),
      [...EIGHT.map((id) => `n${id} ${id === 5 ? 50 : 90}`), 'new1 1', 'new2 2', 'new4 4'],
    )
  })
}

for (const clause of ['REPLACE', 'IGNORE', 'FAIL', 'ROLLBACK']) {
  onSqlite(
    `a table that answers a conflict by ${clause} keeps what was answered with success, and nothing else`,
    async (t) => {
      const server = await bench(t, {
        set: async (sequelize) => {
          await sequelize.query('DROP TABLE things')
          await sequelize.query(
            `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT ${clause}, level INTEGER, tenant INTEGER)`,
          )
        },
      })
      await server.Thing.bulkCreate([1, 2, 3].map((level) => ({ name: `n${level}`, level })))
      const { answers } = await server.behind(() =>
        ['a', 'n1', 'b', 'c'].map((name, level) => server.post('/api/things', { name, level })),
      )
      const made = answers.flatMap(({ status, body }) => (status === 201 ? [body.id] : []))
      t.true(made.length >= 3)
      t.deepEqual(
        (await server.rows()).map(({ id }) => id).filter((id) => Number(id) > 3),
        made.toSorted((one, other) => one - other),
      )
    },
  )
}

for (const clause of ['REPLACE', 'IGNORE', 'FAIL', 'ROLLBACK', 'ABORT']) {
  onSqlite(
    `patches that a table refuses by ${clause} are made once where they are made, whatever waits beside them`,
    async (t) => {
      const server = await bench(t, {
        options: { concurrency: true },
        set: async (sequelize) => {
          await sequelize.query('DROP TABLE things')
          await sequelize.query(
            `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT ${clause}, level INTEGER NOT NULL, tenant INTEGER, rowVersion BIGINT NOT NULL DEFAULT 0)`,
          )
        },
      })
      await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
      const etag = String((await server.get('/api/things/1')).headers.get('etag'))
      const { answers } = await server.behind(() =>
        [1, 2, 3, 4].map((id) =>
          server.patch(`/api/things/${id}`, { name: id === 3 ? 'n8' : `new${id}` }, { 'if-match': etag }),
        ),
      )
      const made = clause === 'REPLACE'
      t.deepEqual(
        answers.map(({ status }) => status < 300),
        [true, true, made, true],
      )
      t.deepEqual(
        (await server.rows()).slice(0, 4).map(({ name, rowVersion }) => `${name} ${rowVersion}`),
        ['new1 1', 'new2 1', made ? 'n8 1' : 'n3 0', 'new4 1'],
      )
    },
  )
}

test('a value that must be unique may be given up and taken at the same time, and is one record’s at the end', async (t) => {
  const server = await bench(t)
  await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
  const { answers } = await server.behind(() =>
    EIGHT.map((id) => server.patch(`/api/things/${id}`, { name: `n${id === 8 ? 9 : id + 1}` })),
  )
  const rows = await server.rows()
  for (const [index, { status }] of answers.entries()) {
    t.is(rows[index]?.name, `n${index + (status === 200 ? 2 : 1)}`)
    if (status !== 200) t.is(status, 409)
  }
  t.is(answers[7]?.status, 200)
})

onSqlite('a scope of the model that looks at other records is asked behind what was written before', async (t) => {
  const where = literal('(SELECT max(b.level) FROM things AS b) = 0')
  const server = await bench(t, { defaultScope: { where } })
  await server.Thing.unscoped().bulkCreate([1, 2].map((id) => ({ id, level: 0 })))
  const { answers } = await server.behind(() => [1, 2].map((id) => server.patch(`/api/things/${id}`, { level: 1 })))
  t.deepEqual(statuses(answers).toSorted(), [200, 404])
})

for (const [what, column] of [
  ['are no numbers of rows', 'id INT PRIMARY KEY'],
  ['are drawn', 'id BIGINT PRIMARY KEY DEFAULT (abs(random() % 1000000))'],
  ['are nearly used up', 'id INTEGER PRIMARY KEY'],
] as const) {
  onSqlite(`creates whose keys ${what} are one statement each`, async (t) => {
    const server = await bench(t, {
      isOdd: true,
      set: async (sequelize) => {
        await sequelize.query('DROP TABLE things')
        await sequelize.query(`CREATE TABLE things (${column}, name TEXT, level INTEGER, tenant INTEGER)`)
        if (what === 'are nearly used up') await sequelize.query('INSERT INTO things (id) VALUES (9223372036854775806)')
      },
    })
    const { answers } = await server.behind(() =>
      EIGHT.map((level) => server.post('/api/things', { name: `n${level}` })),
    )
    t.deepEqual(
      statuses(answers),
      EIGHT.map(() => 201),
    )
    for (const [index, { body }] of answers.entries()) t.is(body.name, `n${index + 1}`)
    t.is((await server.rows()).filter(({ name }) => name !== null).length, 8)
  })
}

for (const [what, key, column, texts] of [
  ['texts in a column of numbers', DataTypes.STRING, 'INTEGER', ['1', '2', '3']],
  ['numbers in a column of fractions', DataTypes.BIGINT, 'REAL', ['1', '2', '3']],
] as const) {
  onSqlite(`patches of records whose keys are ${what} are answered with what they have written`, async (t) => {
    const server = await bench(t, {
      isOdd: true,
      attributes: { id: { type: key, primaryKey: true } },
      options: { operations: Operations.AllWithBulk | Operations.BulkUpdate },
      set: async (sequelize) => {
        await sequelize.query('DROP TABLE things')
        await sequelize.query(
          `CREATE TABLE things (id ${column} PRIMARY KEY, name TEXT, level INTEGER, tenant INTEGER)`,
        )
        await sequelize.query('INSERT INTO things (id, level) VALUES (1, 0), (2, 0), (3, 0)')
      },
    })
    const { answers } = await server.behind(() => texts.map((id) => server.patch(`/api/things/${id}`, { level: 5 })))
    t.deepEqual(statuses(answers), [200, 200, 200])
    t.deepEqual(
      (await server.rows()).map(({ level }) => level),
      [5, 5, 5],
    )
  })
}

onSqlite('a trigger that comes while writes are on their way has its say from then on', async (t) => {
  for (const [what, refused] of [
    ["RAISE(FAIL, 'no')", 409],
    ['RAISE(IGNORE)', 409],
  ] as const) {
    const server = await bench(t, { options: { onError: () => undefined } })
    const other = openAgain(server.sequelize)
    t.teardown(() => other.close())
    const answers: Answer[] = []
    let isOver = false
    const callers = Array.from({ length: 24 }, async (_, caller) => {
      for (let round = 0; !isOver; round += 1) {
        answers.push(await server.post('/api/things', { name: `${caller}-${round}`, level: (caller + round) % 5 }))
      }
    })
    await wait(100)
    await other.query(`CREATE TRIGGER no BEFORE INSERT ON things WHEN NEW.level = 3 BEGIN SELECT ${what}; END`)
    await wait(100)
    isOver = true
    await Promise.all(callers)
    const made = answers.flatMap(({ status, body }) => (status === 201 ? [body.name] : []))
    t.deepEqual((await server.rows()).map(({ name }) => name).toSorted(), made.toSorted())
    t.true(answers.every(({ status }) => status === 201 || status === refused))
    t.true(answers.some(({ status }) => status === refused))
  }
})

onSqlite('a record for which there is no space is refused, and those beside it are made', async (t) => {
  const server = await bench(t, { attributes: { note: DataTypes.TEXT }, options: { onError: () => undefined } })
  const [pages] = await server.sequelize.query<{ page_count: number }>('PRAGMA page_count', { type: QueryTypes.SELECT })
  await server.sequelize.query(`PRAGMA max_page_count = ${Number(pages?.page_count) + 1}`)
  const { answers, written } = await server.behind(() =>
    EIGHT.map((level) => server.post('/api/things', { level, note: level === 5 ? 'x'.repeat(12_000) : 'x' })),
  )
  t.is(written.length, 9)
  t.deepEqual(
    statuses(answers),
    EIGHT.map((level) => (level === 5 ? 503 : 201)),
  )
  t.is((await server.rows()).length, 7)
})

onSqlite('what one of them takes too long for costs nobody else his time', async (t) => {
  const slow = "length(replace(replace(hex(zeroblob(30000000)), '0', 'ab'), 'b', 'cd')) < 0"
  const server = await bench(t, {
    options: { limits: { writeTime: 300 }, onError: () => undefined },
    set: async (sequelize) => {
      await sequelize.query('DROP TABLE things')
      await sequelize.query(
        `CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, level INTEGER CHECK (level <> 5 OR ${slow}), tenant INTEGER)`,
      )
    },
  })
  const { answers } = await server.behind(() => EIGHT.map((level) => server.post('/api/things', { level })))
  t.deepEqual(
    answers.map(({ status }) => status === 201),
    EIGHT.map((level) => level !== 5),
  )
  t.is((await server.rows()).length, 7)
})

onSqlite('large records are one statement each', async (t) => {
  const server = await bench(t, { attributes: { note: DataTypes.TEXT } })
  const { written } = await server.behind(() =>
    EIGHT.map((level) => server.post('/api/things', { name: `n${level}`, note: 'x'.repeat(20_000) })),
  )
  t.is(written.length, 8)
  const patched = await server.behind(() =>
    EIGHT.map((id) => server.patch(`/api/things/${id}`, { note: 'y'.repeat(20_000) })),
  )
  t.is(patched.written.length, 8)
})

onSqlite('a write whose client hangs up before its turn is not done, and those that wait with it are', async (t) => {
  const server = await bench(t)
  const goOn = await server.hold()
  const sent: Promise<Answer>[] = [1, 2].map((level) => server.post('/api/things', { name: `n${level}`, level }))
  await wait(100)
  const gone = request(`${server.url}/api/things`, { method: 'POST', headers: { 'content-type': 'application/json' } })
  gone.on('error', () => undefined)
  gone.end(JSON.stringify({ name: 'gone', level: 3 }))
  await once(gone, 'socket')
  await wait(100)
  sent.push(...[4, 5].map((level) => server.post('/api/things', { name: `n${level}`, level })))
  await wait(100)
  gone.destroy()
  await wait(50)
  await goOn()
  t.deepEqual(statuses(await Promise.all(sent)), [201, 201, 201, 201])
  t.deepEqual((await server.rows()).map(({ name }) => name).toSorted(), ['n1', 'n2', 'n4', 'n5'])
})

onSqlite('writes that wait together for the lock of another program are stored when it lets go', async (t) => {
  const server = await bench(t)
  await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
  await server.sequelize.query('PRAGMA busy_timeout = 20')
  const other = openAgain(server.sequelize)
  t.teardown(() => other.close())
  const goOn = await server.hold()
  const sent = [
    ...EIGHT.map((id) => server.patch(`/api/things/${id}`, { level: 10 * id })),
    ...EIGHT.map((level) => server.post('/api/things', { name: `new${level}`, level })),
  ]
  await wait(200)
  await goOn()
  const held = await other.transaction({ type: Transaction.TYPES.IMMEDIATE })
  await wait(150)
  await held.commit()
  const answers = await Promise.all(sent)
  t.true(statuses(answers).every((status) => status < 300 || status === 503))
  const seen = await other.query<Record<string, unknown>>('SELECT * FROM things', { type: QueryTypes.SELECT })
  const made = answers.flatMap(({ status, body }) => (status < 300 ? [body] : []))
  t.true(made.length > 0)
  for (const body of made)
    t.like(
      seen.find(({ id }) => id === body.id),
      { name: body.name, level: body.level },
    )
  const missing = answers.filter(({ status }) => status === 503).length
  const changed = seen.filter(({ name, level }) => String(name).startsWith('new') || Number(level) >= 10)
  t.is(changed.length, 16 - missing)
})

onSqliteAlone('where somebody is told of statements, each write has its own', async (t) => {
  const logged = await bench(t, { logging: true })
  const { answers, written } = await logged.behind(() =>
    EIGHT.map((level) => logged.post('/api/things', { name: `n${level}`, level })),
  )
  t.deepEqual(
    statuses(answers),
    EIGHT.map(() => 201),
  )
  t.is(written.length, 8)
  const watched = await bench(t)
  const listen = (): void => undefined
  const channel = 'tracing:sequelize-crud-router.statement:start'
  subscribe(channel, listen)
  t.teardown(() => unsubscribe(channel, listen))
  const told = await watched.behind(() =>
    EIGHT.map((level) => watched.post('/api/things', { name: `n${level}`, level })),
  )
  t.is(told.written.length, 8)
})

test('values of every type are stored by several as by one', async (t) => {
  const server = await bench(t, {
    attributes: {
      long: DataTypes.BIGINT,
      price: DataTypes.DECIMAL(10, 2),
      ratio: DataTypes.DOUBLE,
      flag: DataTypes.BOOLEAN,
      day: DataTypes.DATEONLY,
      at: DataTypes.DATE(3),
      time: DataTypes.TIME,
      note: DataTypes.TEXT,
      ref: DataTypes.UUID,
      kind: DataTypes.ENUM('one', 'two'),
      data: DataTypes.JSON,
    },
  })
  const bodies = [
    {
      long: 9007199254740991,
      price: 10.5,
      ratio: 0.5,
      flag: true,
      day: '2024-02-29',
      at: '2024-02-29T10:00:00.123Z',
    },
    { long: -1, price: 0.01, ratio: -1e300, flag: false, day: '1999-12-31', at: '1999-12-31T23:59:59.000Z' },
    { long: null, price: null, ratio: null, flag: null, day: null, at: null },
    { long: 7, price: 12345678.99, ratio: 3, flag: true, day: '2000-01-01', at: '2000-01-01T00:00:00.000Z' },
  ].map((body, index) => ({
    ...body,
    time: index === 2 ? null : `1${index}:00:00`,
    note: index === 2 ? null : `0${index}`,
    ref: index === 2 ? null : `00000000-0000-4000-8000-00000000000${index}`,
    kind: index === 2 ? null : index === 0 ? 'one' : 'two',
    data: index === 2 ? null : { list: [index, null, 'x'], deep: { a: `0${index}` } },
  }))
  const types = async (): Promise<unknown> =>
    isSqlite
      ? server.sequelize.query(
          `SELECT ${['long', 'price', 'ratio', 'flag', 'day', 'at', 'time', 'note', 'ref', 'kind', 'data'].map((name) => `typeof("${name}") || ':' || quote("${name}") AS "${name}"`).join(', ')} FROM things ORDER BY id`,
          { type: QueryTypes.SELECT },
        )
      : []
  const alone: unknown[] = []
  for (const body of bodies) alone.push((await server.post('/api/things', body)).body)
  const storedAlone = await types()
  await server.Thing.destroy({ where: {} })
  const { answers, written } = await server.behind(() => bodies.map((body) => server.post('/api/things', body)))
  const without = (body: unknown): object => ({ ...Object(body), id: 0 })
  t.deepEqual(
    answers.map(({ body }) => without(body)),
    alone.map(without),
  )
  t.deepEqual(await types(), storedAlone)
  const ids = answers.map(({ body }) => body.id)
  const turned = bodies.toReversed()
  const patched = await server.behind(() => ids.map((id, index) => server.patch(`/api/things/${id}`, turned[index])))
  t.deepEqual(
    patched.answers.map(({ body }) => without(body)),
    alone.toReversed().map(without),
  )
  if (isSqlite) {
    t.deepEqual(await types(), (storedAlone as unknown[]).toReversed())
    t.is(written.length, 1)
    t.is(patched.written.length, 1)
  }
})

for (const [what, key, keyOf] of [
  ['UUIDs', { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4, primaryKey: true }, null],
  ['texts that clients choose', { type: DataTypes.STRING(20), primaryKey: true }, (index: number) => `K${index}`],
] as const) {
  test(`records with keys that are ${what} are told apart`, async (t) => {
    const server = await bench(t, { attributes: { id: key } })
    const { answers, written } = await server.behind(() =>
      EIGHT.map((level) =>
        server.post('/api/things', { name: `n${level}`, level, ...(keyOf === null ? {} : { id: keyOf(level) }) }),
      ),
    )
    t.deepEqual(
      statuses(answers),
      EIGHT.map(() => 201),
    )
    if (isSqlite) t.is(written.length, keyOf === null ? 1 : 8)
    for (const [index, { body }] of answers.entries()) {
      t.is(body.level, index + 1)
      t.deepEqual((await server.get(`/api/things/${body.id}`)).body, body)
    }
    const patched = await server.behind(() =>
      answers.map(({ body }, index) => server.patch(`/api/things/${body.id}`, { level: 100 + index })),
    )
    t.deepEqual(
      patched.answers.map(({ body }) => body.level),
      EIGHT.map((level) => 99 + level),
    )
    if (isSqlite) t.is(patched.written.length, 1)
  })
}
