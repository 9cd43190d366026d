// Who has a SQLite handle when: prepared statements beside each other, and others in between.

import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Sequelize } from 'sequelize'
import { internalsOf } from '../../../lib/sequelize/internals.js'
import { type PreparedStatements, preparedStatementsOf } from '../../../lib/sequelize/preparedStatements.js'
import { requireSqliteConnection, type SqliteStatement } from '../../../lib/sequelize/sqlite.js'
import { StatementQueue } from '../../../lib/sequelize/statementQueue.js'
import { databaseName, isNodeSqlite, openDatabase } from '../../support/database.js'

// One after the other: beside others none of them keeps its handle busy.
const test = databaseName === 'sqlite' && !isNodeSqlite ? ava.serial : ava.serial.skip

/** More statements than come between somebody and his turn, however slow the machine. */
const ENDLESS = 5000

interface Bench {
  readonly sequelize: Sequelize
  readonly statements: PreparedStatements
}

async function bench(t: ExecutionContext): Promise<Bench> {
  const { sequelize, close } = await openDatabase()
  sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  await sequelize.sync()
  await sequelize.model('thing').bulkCreate(Array.from({ length: 20 }, (_, index) => ({ name: `thing ${index}` })))
  t.teardown(close)
  return { sequelize, statements: await preparedStatementsOf(sequelize) }
}

/** Keeps a handle busy with statements, each begun as soon as another has ended. Gives how many there were until `done`. */
async function busyUntil(statements: PreparedStatements, isBrief: boolean, done: Promise<unknown>): Promise<number> {
  let count = 0
  let isOver = false
  const one = async (): Promise<void> => {
    while (!isOver && count < ENDLESS) {
      count += 1
      await statements.readRows({ sql: 'SELECT name FROM things WHERE id = ?', values: [1 + (count % 20)], isBrief })
    }
  }
  const all = Promise.all(Array.from({ length: 12 }, one))
  await done.finally(() => {
    isOver = true
  })
  await all
  return count
}

for (const isBrief of [true, false]) {
  const which = isBrief ? 'brief statements' : 'statements'

  test(`what the host asks for is not kept waiting by ${which} that follow one another without a gap`, async (t) => {
    const { sequelize, statements } = await bench(t)
    const Thing = sequelize.model('thing')
    const handle = await requireSqliteConnection(sequelize)
    const asked = wait(20).then(async () => {
      const queries = await Promise.all([1, 2, 3].map((one) => sequelize.query(`SELECT ${one} AS one`)))
      // Sequelize asks for the columns first, and for the records when it knows them.
      const found = await Thing.findByPk(7)
      const all = await Promise.all([Thing.findAll(), Thing.findByPk(8), Thing.create({ name: 'new' }), Thing.count()])
      const raw = await new Promise((resolve) => handle.all('SELECT 4 AS one', [], (_error, rows) => resolve(rows)))
      await new Promise<void>((resolve) => handle.wait(resolve))
      const load: (name: string, done: (error: unknown) => void) => void = Reflect.get(handle, 'loadExtension')
      t.regex(
        String(await new Promise((resolve) => load.call(handle, 'none-of-this-name', resolve))),
        /none-of-this-name/,
      )
      return [...queries.map(([rows]) => rows), found?.get('name'), all.length, raw]
    })
    t.true((await busyUntil(statements, isBrief, asked)) < ENDLESS)
    t.deepEqual(await asked, [[{ one: 1 }], [{ one: 2 }], [{ one: 3 }], 'thing 6', 4, [{ one: 4 }]])
  })

  test(`texts that are new are compiled beside ${which} that follow one another, behind queries of the host too`, async (t) => {
    const { sequelize, statements } = await bench(t)
    const one = (text: string): Promise<readonly unknown[]> =>
      statements.readRows({ sql: `SELECT ${text} AS one`, values: [], isBrief })
    const asked = wait(20).then(async () => {
      await sequelize.query('SELECT 0 AS one')
      const rows = [
        await one('1'),
        await one('2'),
        await statements.readRows({ sql: 'SELECT 3 AS one', values: [], isReusable: false }),
        await one('4'),
      ]
      const host = Promise.all([5, 6].map((number) => sequelize.query(`SELECT ${number} AS one`)))
      rows.push(
        ...(await Promise.all([
          one('7'),
          one('8'),
          statements.readRows({ sql: 'SELECT 9 AS one', values: [], isReusable: false }),
        ])),
      )
      await host
      return [...rows, await one('10'), await one('11')]
    })
    t.true((await busyUntil(statements, isBrief, asked)) < ENDLESS)
    t.deepEqual(
      await asked,
      [1, 2, 3, 4, 7, 8, 9, 10, 11].map((number) => [{ one: number }]),
    )
  })
}

test('prepared statements go on while queries of the host follow one another without a gap', async (t) => {
  const { sequelize, statements } = await bench(t)
  let isOver = false
  let queries = 0
  const hosts = Array.from({ length: 6 }, async () => {
    while (!isOver && queries < ENDLESS) {
      queries += 1
      await sequelize.query('SELECT 1 AS one')
    }
  })
  const done = wait(20).then(async () => {
    for (let count = 0; count < 50; count += 1)
      await statements.readRows({ sql: 'SELECT name FROM things', values: [] })
    await Promise.all(
      Array.from({ length: 50 }, () =>
        statements.readRows({ sql: 'SELECT id FROM things', values: [], isBrief: true }),
      ),
    )
  })
  await done
  isOver = true
  await Promise.all(hosts)
  t.true(queries < ENDLESS)
})

test('what fails does not hold up those behind it', async (t) => {
  const { statements } = await bench(t)
  const asked = Array.from({ length: 60 }, (_, index) =>
    index % 3 === 0
      ? statements.readRows({ sql: 'SELECT name FROM nothing', values: [], isBrief: true })
      : statements.readRows({
          sql: 'SELECT abs(?) AS it',
          values: [index % 3 === 1 ? -index : Number.NaN],
          isBrief: true,
        }),
  )
  const told = await Promise.allSettled(asked)
  t.deepEqual(
    told.map(({ status }) => status),
    Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
  )
  t.deepEqual(await statements.readRows({ sql: 'SELECT 1 AS one', values: [], isBrief: true }), [{ one: 1 }])
})

test('each of many that run the same text at once has the rows of its own values', async (t) => {
  const { sequelize, statements } = await bench(t)
  for (const round of [1, 2, 3]) {
    const asked = Array.from({ length: 100 }, (_, index) =>
      statements.readRows({
        sql: 'SELECT name, ? AS own FROM things WHERE id = ?',
        values: [index * round, 1 + (index % 20)],
        isBrief: true,
      }),
    )
    const rows = await Promise.all(asked)
    t.deepEqual(
      rows,
      rows.map((_, index) => [{ name: `thing ${index % 20}`, own: index * round }]),
    )
  }
  const counted = await Promise.all(
    Array.from({ length: 100 }, (_, index) => {
      return statements.runWrite({ sql: 'UPDATE things SET name = name WHERE id <= ?', values: [index % 21] })
    }),
  )
  t.deepEqual(
    counted,
    counted.map((_, index) => index % 21),
  )
  await sequelize.query('ALTER TABLE things ADD COLUMN level INTEGER DEFAULT 7')
  const widened = await Promise.all(
    Array.from({ length: 20 }, () =>
      statements.readRows({ sql: 'SELECT * FROM things WHERE id = ?', values: [1], isBrief: true }),
    ),
  )
  t.true(widened.every(([row]) => row?.level === 7))
})

test('a handle whose texts were compiled several times closes, and so does one that is compiling', async (t) => {
  const { sequelize, statements } = await bench(t)
  const handle = await requireSqliteConnection(sequelize)
  const ask = (index: number): Promise<unknown> =>
    statements.readRows({ sql: `SELECT ${index % 250} AS number WHERE 1 = ?`, values: [1], isBrief: true }).then(
      () => null,
      (error: unknown) => error,
    )
  const asked = Array.from({ length: 2000 }, (_, index) => ask(index))
  await asked[1000]
  const closing = new Promise((resolve) => handle.close(resolve))
  asked.push(ask(0))
  t.is(await closing, null)
  // What came too late is told so.
  const told = (await Promise.all(asked)).filter((error) => error !== null)
  t.true(told.length > 0)
  for (const error of told) t.regex(String(error), /SQLITE_MISUSE/)
  Reflect.deleteProperty(Object(internalsOf(sequelize).connectionManager.connections), 'default')
})

test('a handle that refuses to close, since the host has a statement on it, is used as before', async (t) => {
  const { sequelize, statements } = await bench(t)
  const handle = await requireSqliteConnection(sequelize)
  const own = await new Promise<SqliteStatement>((resolve) => {
    const statement = handle.prepare('SELECT * FROM things', () => resolve(statement))
  })
  const refused = await new Promise((resolve) => handle.close(resolve))
  t.regex(String(refused), /SQLITE_BUSY/)
  t.deepEqual(await statements.readRows({ sql: 'SELECT name FROM things WHERE id = ?', values: [3], isBrief: true }), [
    { name: 'thing 2' },
  ])
  own.finalize()
})

interface Started {
  readonly line: StatementQueue
  readonly began: string[]
  readonly enter: (name: string, isBrief: boolean) => void
}

async function started(t: ExecutionContext, mode: string): Promise<Started> {
  const { sequelize } = await bench(t)
  await sequelize.query(`PRAGMA journal_mode = ${mode}`)
  const handle = await requireSqliteConnection(sequelize)
  const line = new StatementQueue(handle, true)
  // By then it knows whether readers may have to wait for a lock.
  await new Promise<void>((resolve) => handle.wait(resolve))
  const began: string[] = []
  return { line, began, enter: (name, isBrief) => line.add(isBrief, () => began.push(name)) }
}

test('eight brief statements begin together when the one before them has ended, and two of which one may take long', async (t) => {
  const { line, began, enter } = await started(t, 'WAL')
  enter('first', true)
  for (let index = 1; index <= 9; index += 1) enter(`brief ${index}`, true)
  t.deepEqual(began, ['first'])
  line.finish()
  t.is(began.length, 9)
  enter('long 1', false)
  enter('brief 10', true)
  for (let left = 0; left < 7; left += 1) line.finish()
  t.is(began.length, 9)
  line.finish()
  t.deepEqual(began.slice(9), ['brief 9', 'long 1'])
  line.finish()
  t.is(began.length, 11)
  line.finish()
  t.deepEqual(began.slice(11), ['brief 10'])
})

test('where a reader may have to wait for a lock, two statements begin together, and the other threads stay free', async (t) => {
  for (const mode of ['DELETE', 'TRUNCATE', 'MEMORY']) {
    const { line, began, enter } = await started(t, mode)
    for (let index = 1; index <= 8; index += 1) enter(`brief ${index}`, true)
    t.is(began.length, 1)
    line.finish()
    t.is(began.length, 3)
  }
})

test('statements do not begin while somebody else has the handle', async (t) => {
  const { sequelize } = await bench(t)
  const handle = await requireSqliteConnection(sequelize)
  const line = new StatementQueue(handle, true)
  const order: string[] = []
  const asked = new Promise<void>((resolve) => {
    handle.run("UPDATE things SET name = 'other' WHERE id = 1", [], function () {
      order.push(`${this.changes} changed`)
      resolve()
    })
  })
  line.add(false, () => order.push('began'))
  t.deepEqual(order, [])
  await asked
  await new Promise<void>((resolve) => handle.wait(resolve))
  t.deepEqual(order, ['1 changed', 'began'])
})
