// The driver over `node:sqlite` beside sqlite3: the same statements and the same calls of Sequelize have the same results and errors on both.

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ava from 'ava'
import { DataTypes, type Model, QueryTypes, Sequelize, Transaction } from 'sequelize'
import { createNodeSqlite, nodeSqlite } from '../lib/node-sqlite/index.js'
import { sqlite3 } from './support/sqlite3.js'

const isAvailable = process.getBuiltinModule?.('node:sqlite') !== undefined
const test = isAvailable ? ava : ava.skip
/** The tests that need both drivers. */
const compare = isAvailable && sqlite3 !== null ? ava : ava.skip
if (sqlite3 === null) console.warn('THE COMPARISON WITH SQLITE3 IS LEFT OUT: `npm run sqlite3` fetches or compiles it.')

/** The interface that both drivers have. */
interface Handle {
  all(sql: string, ...given: unknown[]): unknown
  get(sql: string, ...given: unknown[]): unknown
  run(sql: string, ...given: unknown[]): unknown
  exec(sql: string, done: (error: Error | null) => void): unknown
  prepare(sql: string, ...given: unknown[]): PreparedStatement
  close(done: (error: Error | null) => void): unknown
  configure(name: 'busyTimeout', value: number): unknown
  interrupt(): unknown
  loadExtension(path: string, done: (error: Error | null) => void): unknown
}

interface PreparedStatement {
  all(...given: unknown[]): unknown
  get(...given: unknown[]): unknown
  run(...given: unknown[]): unknown
  reset(done: () => void): unknown
  finalize(done?: () => void): unknown
}

interface Driver {
  readonly Database: new (path: string, ...given: never[]) => Handle
}

const DRIVERS: readonly Driver[] = [...(isDriver(sqlite3) ? [sqlite3] : []), nodeSqlite]

function isDriver(driver: object | null): driver is Driver {
  return driver !== null && 'Database' in driver
}

let files = 0

function freshPath(): string {
  files += 1
  return join(tmpdir(), `node-sqlite-${process.pid}-${files}.sqlite`)
}

async function removeFile(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(path + suffix, { force: true })
}

function opened({ Database }: Driver, path: string, ...mode: number[]): Promise<Handle> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null): void => (error === null ? resolve(handle) : reject(error))
    const handle: Handle = new Database(path, ...([...mode, done] as never[]))
  })
}

function closed(handle: Handle): Promise<Error | null> {
  return new Promise((resolve) => handle.close(resolve))
}

/** What a call says of its outcome: an error, or its rows, and of `run` the numbers of the statement. */
interface Outcome {
  readonly error?: object
  readonly rows?: unknown
  readonly lastID?: unknown
  readonly changes?: unknown
}

const METHODS = ['all', 'get', 'run'] as const

function outcome(of: Handle | PreparedStatement, method: (typeof METHODS)[number], given: unknown[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const done = function (this: { lastID?: unknown; changes?: unknown }, error: Error | null, rows: unknown): void {
      if (error !== null) resolve({ error: errorOf(error) })
      else resolve(method === 'run' ? { lastID: this.lastID, changes: this.changes } : { rows })
    }
    of[method](...(given as [string]), done)
  })
}

/** What a driver says of an error. */
function errorOf(error: Error): object {
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return { code, errno, message: error.message }
}

type Given = readonly [sql: string, ...given: unknown[]]

const VALUES: readonly unknown[] = [
  ...[0, -0, 1, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, 1.5, -1e300, Number.NaN, Number.POSITIVE_INFINITY],
  ...['', 'Łódź', "it's", 'a\nb', '😀', 'x'.repeat(5000)],
  ...[null, undefined, true, false, new Date(1_700_000_000_123)],
  ...[Buffer.from('bytes'), Buffer.alloc(0), Buffer.from([0, 255, 0])],
]

const TABLES: readonly Given[] = [
  ['PRAGMA foreign_keys'],
  ['PRAGMA foreign_keys = ON'],
  ['CREATE TABLE teams (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)'],
  [
    `CREATE TABLE players (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, level INTEGER CHECK (level < 100), score REAL, note TEXT,
      data BLOB, big BIGINT, flag TINYINT(1), at DATETIME, any, teamId INTEGER REFERENCES teams (id))`,
  ],
  ['CREATE UNIQUE INDEX players_name_level ON players (name, level)'],
  ['CREATE TABLE strict_one (id INTEGER PRIMARY KEY, level INTEGER) STRICT'],
  ['CREATE VIEW strong AS SELECT id, name FROM players WHERE level > 50'],
  [
    "CREATE TRIGGER no_zed BEFORE INSERT ON players WHEN new.name = 'zed' BEGIN SELECT RAISE(ABORT, 'no \"zed\" here'); END",
  ],
  ['CREATE TABLE teams (id)'],
  ['CREATE TABLE IF NOT EXISTS teams (id)'],
]

const WRITES: readonly Given[] = [
  ['INSERT INTO teams (name) VALUES (?), (?)', ['Reds', 'Blues']],
  ['INSERT INTO teams (name) VALUES (?)', 'Greens'],
  ['INSERT INTO teams (name) VALUES ($name)', { $name: 'Whites' }],
  ['INSERT INTO teams (name) VALUES (:name)', { ':name': 'Blacks' }],
  ['INSERT INTO teams (name) VALUES (@name)', { '@name': 'Golds' }],
  ['INSERT INTO teams (name) VALUES ($1)', { $1: 'Pinks' }],
  ['INSERT INTO teams (name) VALUES (?1)', ['Greys']],
  ['INSERT INTO teams (name) VALUES (?)', ['Reds']],
  ['INSERT INTO teams (name) VALUES (?)', [null]],
  ['INSERT INTO teams (name) VALUES (?)', []],
  ['INSERT OR IGNORE INTO teams (name) VALUES (?)', ['Reds']],
  ['INSERT OR REPLACE INTO teams (id, name) VALUES (?, ?)', 90, 'Nineties'],
  ["INSERT INTO teams (name) VALUES ('Reds') ON CONFLICT (name) DO UPDATE SET name = 'Redder' RETURNING *"],
  ['INSERT INTO players (name, level, teamId) VALUES (?, ?, ?)', 'Jan', 42, 1],
  ['INSERT INTO players (name, level, teamId) VALUES (?, ?, ?)', 'Ana', 7, 2],
  ['INSERT INTO players (name, level, teamId) VALUES (?, ?, ?)', 'Eve', 77, null],
  ['INSERT INTO players (name, level, teamId) VALUES (?, ?, ?)', 'Jan', 42, 1],
  ['INSERT INTO players (name, level, teamId) VALUES (?, ?, ?)', 'Bob', 100, 1],
  ['INSERT INTO players (name, level, teamId) VALUES (?, ?, ?)', 'Bob', 1, 999],
  ['INSERT INTO players (name) VALUES (?)', 'zed'],
  ['INSERT INTO players (id, name) VALUES (?, ?)', ['text', 'Tom']],
  ['INSERT INTO players (id, name) VALUES (1, ?)', ['Tom']],
  ['INSERT INTO strict_one (level) VALUES (?)', ['text']],
  ['INSERT INTO strong (name) VALUES (?)', ['x']],
  ['INSERT INTO missing (name) VALUES (?)', ['x']],
  ['INSERT INTO players (missing) VALUES (?)', ['x']],
  ['UPDATE players SET level = level + 1 WHERE level < ?', [50]],
  ['UPDATE players SET level = 1 WHERE id = ?', [12345]],
  ['UPDATE players SET level = 200'],
  ["UPDATE players SET name = 'Jan', level = 43"],
  ['UPDATE players SET note = name RETURNING id, note'],
  ['UPDATE players SET teamId = 999 WHERE id = 1'],
  ['DELETE FROM teams WHERE id = 1'],
  ['DELETE FROM teams WHERE name = ?', ['Golds']],
  ['DELETE FROM teams WHERE name = ? RETURNING id', ['Pinks']],
  ['BEGIN'],
  ['BEGIN'],
  ['INSERT INTO teams (name) VALUES (?)', ['Undone']],
  ['SAVEPOINT one'],
  ['DELETE FROM teams WHERE name = ?', ['Undone']],
  ['ROLLBACK TO one'],
  ['SELECT count(*) AS count FROM teams'],
  ['ROLLBACK'],
  ['COMMIT'],
  ['SELECT count(*) AS count FROM teams'],
]

const READS: readonly Given[] = [
  ['SELECT * FROM players'],
  ['SELECT * FROM players WHERE 1 = 0'],
  ['SELECT * FROM strong ORDER BY name'],
  ['SELECT p.name, t.name FROM players p LEFT JOIN teams t ON t.id = p.teamId ORDER BY p.id'],
  ['SELECT p.name AS "team.name", count(*) FROM players p GROUP BY 1 ORDER BY 1'],
  ['SELECT 1 AS a, 2 AS b, 3 AS a'],
  ['SELECT name FROM players WHERE id = ?', 2],
  ['SELECT name FROM players WHERE id = ?2 OR id = ?1', [1, 2]],
  ['SELECT name FROM players WHERE id IN ($1, $2) ORDER BY id', { $1: 1, $2: 2 }],
  ['SELECT $a AS a, :b AS b, @c AS c', { $a: 1, ':b': 'two', '@c': null }],
  ['SELECT $a AS a, $b AS b', { $a: 1 }],
  ['SELECT ? AS a, ? AS b', [1]],
  ['SELECT ? AS a', [1, 2]],
  ["SELECT $1 AS a, '$2' AS b, [c$1] AS c, $2 AS d FROM (SELECT 3 AS [c$1]) -- $3", { $1: 1, $2: 2 }],
  ['SELECT $1 AS a, $2 AS b, $1 AS c', { $1: 1, $2: 2 }],
  ['SELECT $2 AS a, $1 AS b', { $1: 1, $2: 2 }],
  ['SELECT $1 AS a, $2 AS b', { $1: 1, $3: 2 }],
  ['SELECT $1 AS a, $2 AS b', { $2: 2 }],
  ['SELECT ?1 AS a, ?2 AS b', [1]],
  ['SELECT ?1 AS a, ?2 AS b', [1, 2, 3]],
  ['SELECT ?2 AS a, ?1 AS b', [1, 2]],
  ['SELECT $a AS a', { $b: 1 }],
  ['SELECT $a AS a', { a: 1 }],
  ['SELECT 1; SELECT 2'],
  ['SELECT 1; nonsense'],
  ['SELEC 1'],
  ['SELECT missing FROM players'],
  ['SELECT * FROM missing'],
  ['SELECT nothing(1)'],
  ['SELECT "text"'],
  ["SELECT 'a' || 'b' AS joined, x'00ff' AS bytes, 1.0 AS real, NULL AS none"],
  ["SELECT json_extract('{\"a\": [1, 2]}', '$.a') AS json"],
  ["SELECT json('{')"],
  ['SELECT abs(-9223372036854775807 - 1)'],
  ['SELECT value FROM json_each(?) ORDER BY value', ['[3, 1, 2]']],
  ['SELECT name FROM players ORDER BY name LIMIT ? OFFSET ?', [1, 1]],
  ['SELECT name FROM players LIMIT ?', ['x']],
  ['WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n'],
  ['WITH named AS (SELECT name FROM players) SELECT * FROM named ORDER BY name'],
  ['EXPLAIN QUERY PLAN SELECT * FROM players WHERE id = 1'],
  ['VALUES (1, 2), (3, 4)'],
  ['PRAGMA table_info(players)'],
  ['PRAGMA index_list(players)'],
  ['PRAGMA foreign_key_list(players)'],
  ['PRAGMA busy_timeout'],
  ['PRAGMA busy_timeout = 2500'],
  ['PRAGMA busy_timeout'],
  ['PRAGMA user_version = 7'],
  ['PRAGMA user_version'],
  ['PRAGMA journal_mode'],
  ['PRAGMA nothing'],
  ["SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"],
  ["ATTACH ':memory:' AS other"],
  ['CREATE TABLE other.things (id INTEGER PRIMARY KEY)'],
  ['SELECT * FROM other.things'],
  ['ALTER TABLE teams ADD COLUMN city TEXT'],
  ['ALTER TABLE teams ADD COLUMN city TEXT'],
  ['SELECT * FROM teams ORDER BY id'],
  ['DROP TABLE teams'],
  ['DROP TABLE missing'],
  ['VACUUM'],
]

const BOUND: readonly Given[] = VALUES.flatMap((value): Given[] => [
  ['SELECT ? AS value, typeof(?) AS type', [value, value]],
  ['SELECT $value AS value, CAST($value AS TEXT) AS text', { $value: value }],
  [
    "INSERT INTO players (name, note, score, any, data) VALUES ('bound', ?1, ?1, ?1, ?1) RETURNING note, score, any, data",
    [value],
  ],
  ['SELECT id FROM players WHERE note = ?', [value]],
])

const STATEMENTS: readonly Given[] = [...TABLES, ...WRITES, ...BOUND, ...READS]

/** By `run`, sqlite3 counts the changes of these before all of their rows are read. */
const RETURNING = /\bRETURNING\b/

for (const method of METHODS) {
  compare(`${STATEMENTS.length} statements by "${method}" have the same outcome by both drivers`, async (t) => {
    const statements = STATEMENTS.filter(([sql]) => method !== 'run' || !RETURNING.test(sql))
    const [known = [], own = []] = await Promise.all(
      DRIVERS.map(async (driver) => {
        const handle = await opened(driver, ':memory:')
        const outcomes: Outcome[] = []
        for (const given of statements) outcomes.push(await outcome(handle, method, [...given]))
        t.is(await closed(handle), null)
        return outcomes
      }),
    )
    t.true(STATEMENTS.length >= 200)
    for (const [index, given] of statements.entries()) t.deepEqual(own[index], known[index], String(given[0]))
  })
}

compare('every statement through sequelize.query has the same outcome by both drivers', async (t) => {
  const outcomes = await Promise.all(
    DRIVERS.map(async (dialectModule) => {
      const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', dialectModule, logging: false })
      const told: unknown[] = []
      for (const [sql, given] of STATEMENTS.filter(([text]) => !RETURNING.test(text))) {
        const bind = Array.isArray(given) ? given : undefined
        const text = bind === undefined ? sql : sql.replaceAll(/\?(\d*)/g, (_, number) => `$${number || 1}`)
        told.push(await toldBy(() => sequelize.query(text, { raw: true, ...(bind === undefined ? {} : { bind }) })))
        told.push(
          await toldBy(() =>
            sequelize.query(text, { type: QueryTypes.SELECT, ...(bind === undefined ? {} : { bind }) }),
          ),
        )
      }
      await sequelize.close()
      return told
    }),
  )
  for (const [index, told] of (outcomes[0] ?? []).entries()) t.deepEqual(outcomes[1]?.[index], told, `outcome ${index}`)
})

/** What a promise tells, without what belongs to the driver alone. */
async function toldBy(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return plain(await work())
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { original, errors } = error as { original?: Error; errors?: readonly { message: string; path: string }[] }
    return {
      name: error.name,
      message: error.message,
      original: original instanceof Error ? errorOf(original) : null,
      errors: errors?.map(({ message, path }) => ({ message, path })),
    }
  }
}

/** A value as JSON has it; of a statement, its numbers. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each: unknown) =>
    Object(each).constructor?.name === 'Statement'
      ? { lastID: Reflect.get(Object(each), 'lastID'), changes: Reflect.get(Object(each), 'changes') }
      : each,
  )
  return text === undefined ? undefined : JSON.parse(text)
}

compare('the models of an application have the same results and errors by both drivers', async (t) => {
  const outcomes = await Promise.all(DRIVERS.map(modelsBy))
  for (const [index, told] of (outcomes[0] ?? []).entries()) t.deepEqual(outcomes[1]?.[index], told, `step ${index}`)
  t.true((outcomes[0] ?? []).length > 30)
})

async function modelsBy(dialectModule: Driver): Promise<unknown[]> {
  const storage = freshPath()
  const sequelize = new Sequelize({ dialect: 'sqlite', storage, dialectModule, logging: false })
  const Team = sequelize.define('Team', { name: { type: DataTypes.STRING, unique: true, allowNull: false } })
  const Player = sequelize.define(
    'Player',
    {
      name: { type: DataTypes.STRING, allowNull: false },
      level: { type: DataTypes.INTEGER, defaultValue: 1 },
      score: DataTypes.DOUBLE,
      price: DataTypes.DECIMAL(10, 2),
      big: DataTypes.BIGINT,
      isActive: DataTypes.BOOLEAN,
      born: DataTypes.DATEONLY,
      seen: DataTypes.DATE,
      facts: DataTypes.JSON,
      picture: DataTypes.BLOB,
      token: DataTypes.UUID,
    },
    { paranoid: true, indexes: [{ unique: true, fields: ['name', 'level'] }] },
  )
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const queries = sequelize.getQueryInterface()
  const at = new Date('2024-05-06T07:08:09.123Z')
  const full = {
    ...{ name: 'Jan', level: 3, score: 1.25, price: '12.50', big: '1234567890123', isActive: true, born: '2000-01-02' },
    ...{
      seen: at,
      facts: { a: [1, 'two'] },
      picture: Buffer.from([0, 1, 255]),
      token: 'a2b9b1de-9d9b-4b5a-8a37-3f3e7d3f8f10',
    },
  }
  const without = (model: Model): object => {
    const { createdAt: _, updatedAt: __, deletedAt: ___, ...rest } = model.get({ plain: true })
    return rest
  }
  const all = async (): Promise<object[]> => (await Player.findAll({ order: ['id'] })).map(without)
  const steps: (() => Promise<unknown>)[] = [
    () => sequelize.sync({ force: true }),
    () => queries.showAllTables(),
    () => queries.describeTable('Players'),
    () => queries.showIndex('Players'),
    () => queries.getForeignKeyReferencesForTable('Players'),
    async () => without(await Team.create({ name: 'Reds' })),
    () => Team.create({ name: 'Reds' }),
    () => Team.create({}),
    async () => without(await Player.create({ ...full, teamId: 1 })),
    () => Player.create({ ...full, teamId: 99 }),
    () => Player.create({ ...full }),
    async () => (await Player.bulkCreate([{ name: 'Ana' }, { name: 'Eve', isActive: false }])).map(without),
    () => Player.bulkCreate([{ name: 'Ana' }, { name: 'Zoe' }]),
    async () =>
      (await Player.bulkCreate([{ name: 'Ana', level: 1, score: 9 }], { updateOnDuplicate: ['score'] })).map(without),
    all,
    async () => (await Player.findAndCountAll({ where: { level: 1 }, limit: 1, order: ['id'] })).count,
    async () => without((await Player.findOne({ where: { facts: { a: [1, 'two'] } } })) ?? (await Player.build())),
    async () =>
      (await Player.findAll({ include: 'team', order: ['id'] })).map((each) =>
        Reflect.get(Object(each.get('team')), 'name'),
      ),
    async () => (await Team.findAll({ include: 'players' })).length,
    () => Player.count({ group: ['level'] }),
    () => Player.sum('level'),
    () => Player.max('seen'),
    () => Player.update({ level: 5 }, { where: { name: 'Ana' } }),
    () => Player.update({ name: 'Jan', level: 3 }, { where: { name: 'Ana' } }),
    async () => without((await Player.findByPk(1)) ?? Player.build()),
    () => Player.increment('level', { where: { id: 1 } }).then(() => all()),
    () => Player.upsert({ id: 1, name: 'Jan', level: 9 }).then(() => all()),
    () => Player.findOrCreate({ where: { name: 'New' } }).then(([, isNew]) => isNew),
    () => Player.destroy({ where: { name: 'Eve' } }),
    () => Player.count({ paranoid: false }),
    () => Player.restore({ where: { name: 'Eve' } }).then(() => Player.count()),
    () => Team.destroy({ where: { id: 1 } }).then(() => all()),
    () =>
      sequelize.transaction(async (transaction) => (await Team.create({ name: 'Kept' }, { transaction })).get('name')),
    () =>
      sequelize.transaction(async (transaction) => {
        await Team.create({ name: 'Undone' }, { transaction })
        await Team.create({ name: 'Kept' }, { transaction })
      }),
    () => Team.count(),
    () =>
      sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, async (transaction) => {
        const savepoint = await sequelize.transaction({ transaction })
        await Team.destroy({ where: {}, transaction: savepoint })
        await savepoint.rollback()
        return Team.count({ transaction })
      }),
    () => queries.addColumn('Teams', 'city', { type: DataTypes.STRING, defaultValue: 'Ulm' }),
    () => queries.renameColumn('Teams', 'city', 'town'),
    () => queries.removeColumn('Teams', 'town'),
    () => queries.describeTable('Teams'),
    () =>
      sequelize.query('SELECT name FROM Teams WHERE name = :name', {
        replacements: { name: 'Kept' },
        type: QueryTypes.SELECT,
      }),
    () => sequelize.query('SELECT $name AS name', { bind: { name: 'x', other: 1 }, type: QueryTypes.SELECT }),
    () => sequelize.query('SELECT $1 AS big', { bind: [12n], type: QueryTypes.SELECT }),
    () => queries.dropTable('Players'),
    () => sequelize.query('SELECT * FROM Players'),
  ]
  const told: unknown[] = []
  for (const step of steps) told.push(await toldBy(step))
  await sequelize.close()
  await removeFile(storage)
  return told
}

test('integers of 64 bits are exact: text where a number cannot hold them, and bound as BigInts', async (t) => {
  const handle = await opened(nodeSqlite, ':memory:')
  const big = 2n ** 63n - 1n
  await outcome(handle, 'run', ['CREATE TABLE things (id INTEGER PRIMARY KEY, big BIGINT)'])
  const made = await outcome(handle, 'run', ['INSERT INTO things (id, big) VALUES (?, ?)', [big, -big]])
  t.deepEqual(made, { lastID: String(big), changes: 1 })
  t.deepEqual(await outcome(handle, 'all', ['SELECT * FROM things WHERE id = ?', [big]]), {
    rows: [{ id: '9223372036854775807', big: '-9223372036854775807' }],
  })
  const small = await outcome(handle, 'all', ['SELECT 9007199254740991 AS safe, 9007199254740993 AS large'])
  t.deepEqual(small, { rows: [{ safe: 9007199254740991, large: '9007199254740993' }] })
  t.like(await outcome(handle, 'all', ['SELECT ?', [2n ** 63n]]), { error: { code: 'SQLITE_MISMATCH', errno: 20 } })
  await closed(handle)
})

for (const driver of DRIVERS) {
  const name = driver === nodeSqlite ? 'node:sqlite' : 'sqlite3'

  test(`${name}: a prepared statement runs with several values, and is refused once it is finalized`, async (t) => {
    const handle = await opened(driver, ':memory:')
    await outcome(handle, 'run', ['CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE)'])
    const insert = handle.prepare('INSERT INTO things (name) VALUES (?)')
    const made = ['a', 'b', 'a'].map((value) => outcome(insert, 'run', [[value]]))
    t.deepEqual((await Promise.all(made)).slice(0, 2), [
      { lastID: 1, changes: 1 },
      { lastID: 2, changes: 1 },
    ])
    t.deepEqual((await made[2])?.error, {
      code: 'SQLITE_CONSTRAINT',
      errno: 19,
      message: 'SQLITE_CONSTRAINT: UNIQUE constraint failed: things.name',
    })
    await new Promise<void>((resolve) => insert.reset(resolve))
    const select = handle.prepare('SELECT id FROM things WHERE name = ?', 'b')
    t.deepEqual(await outcome(select, 'all', []), { rows: [{ id: 2 }] })
    t.deepEqual(await outcome(select, 'get', ['a']), { rows: { id: 1 } })
    t.deepEqual(errorOf((await closed(handle)) ?? new Error('it was closed')), {
      code: 'SQLITE_BUSY',
      errno: 5,
      message: 'SQLITE_BUSY: unable to close due to unfinalized statements or unfinished backups',
    })
    await new Promise<void>((resolve) => insert.finalize(resolve))
    select.finalize()
    t.like(await outcome(select, 'all', []), {
      error: { errno: 21, message: 'SQLITE_MISUSE: Statement is already finalized' },
    })
    t.is(await closed(handle), null)
    t.like(await outcome(handle, 'all', ['SELECT 1']), { error: { message: 'SQLITE_MISUSE: Database is closed' } })
    t.throws(() => handle.interrupt(), { message: 'Database is not open' })
  })

  test(`${name}: modes decide whether a file is created and written`, async (t) => {
    const path = freshPath()
    const { OPEN_READONLY, OPEN_READWRITE, OPEN_CREATE } = nodeSqlite
    const missing = { message: 'SQLITE_CANTOPEN: unable to open database file' }
    await t.throwsAsync(opened(driver, path, OPEN_READWRITE), missing)
    await t.throwsAsync(opened(driver, path, OPEN_READONLY), missing)
    await t.throwsAsync(opened(driver, join(path, 'below', 'a.sqlite')), missing)
    const made = await opened(driver, path, OPEN_READWRITE | OPEN_CREATE)
    await outcome(made, 'run', ['CREATE TABLE things (id INTEGER PRIMARY KEY)'])
    await closed(made)
    const read = await opened(driver, path, OPEN_READONLY)
    t.deepEqual(await outcome(read, 'all', ['SELECT * FROM things']), { rows: [] })
    t.deepEqual((await outcome(read, 'run', ['INSERT INTO things DEFAULT VALUES'])).error, {
      code: 'SQLITE_READONLY',
      errno: 8,
      message: 'SQLITE_READONLY: attempt to write a readonly database',
    })
    await closed(read)
    await removeFile(path)
  })

  test(`${name}: a write waits for the transaction of another handle in the same process, and then for no longer than its timeout`, async (t) => {
    const path = freshPath()
    const [one, other] = [await opened(driver, path), await opened(driver, path)]
    other.configure('busyTimeout', 60_000)
    await outcome(one, 'run', ['CREATE TABLE things (id INTEGER PRIMARY KEY)'])
    await outcome(one, 'run', ['BEGIN IMMEDIATE'])
    await outcome(one, 'run', ['INSERT INTO things DEFAULT VALUES'])
    const order: string[] = []
    const waiting = outcome(other, 'run', ['INSERT INTO things DEFAULT VALUES']).then((told) => {
      order.push('written')
      return told
    })
    // If a second statement ends first, sqlite3 finalizes it on the main thread, which then waits for the write's mutex.
    const behind =
      driver === nodeSqlite ? outcome(other, 'all', ['SELECT count(*) AS count FROM things']) : Promise.resolve()
    await new Promise((resolve) => setTimeout(resolve, 20))
    order.push('committed')
    t.deepEqual(await outcome(one, 'run', ['COMMIT']), { lastID: 1, changes: 1 })
    t.deepEqual(await waiting, { lastID: 2, changes: 1 })
    await behind
    t.deepEqual(order, ['committed', 'written'])

    await outcome(one, 'run', ['BEGIN IMMEDIATE'])
    other.configure('busyTimeout', 10)
    const late = { code: 'SQLITE_BUSY', errno: 5, message: 'SQLITE_BUSY: database is locked' }
    t.deepEqual((await outcome(other, 'run', ['BEGIN IMMEDIATE'])).error, late)
    await outcome(one, 'run', ['ROLLBACK'])
    await closed(one)
    await closed(other)
    await removeFile(path)
  })
}

test('two transactions that both read and then write do not wait for each other', async (t) => {
  const path = freshPath()
  const [one, other] = [await opened(nodeSqlite, path), await opened(nodeSqlite, path)]
  await outcome(one, 'run', ['CREATE TABLE things (id INTEGER PRIMARY KEY)'])
  for (const handle of [one, other]) {
    handle.configure('busyTimeout', 60_000)
    await outcome(handle, 'run', ['BEGIN'])
    await outcome(handle, 'all', ['SELECT * FROM things'])
  }
  t.deepEqual(await outcome(one, 'run', ['INSERT INTO things DEFAULT VALUES']), { lastID: 1, changes: 1 })
  t.like(await outcome(other, 'run', ['INSERT INTO things DEFAULT VALUES']), { error: { code: 'SQLITE_BUSY' } })
  await outcome(other, 'run', ['ROLLBACK'])
  t.like(await outcome(one, 'run', ['COMMIT']), { changes: 1 })
  await closed(one)
  await closed(other)
  await removeFile(path)
})

test('interrupt ends a wait for a lock', async (t) => {
  const path = freshPath()
  const [one, other] = [await opened(nodeSqlite, path), await opened(nodeSqlite, path)]
  await outcome(one, 'run', ['BEGIN IMMEDIATE'])
  await outcome(other, 'run', ['PRAGMA busy_timeout = 60000'])
  const waiting = outcome(other, 'run', ['BEGIN IMMEDIATE'])
  await new Promise((resolve) => setTimeout(resolve, 5))
  other.interrupt()
  t.like(await waiting, { error: { code: 'SQLITE_INTERRUPT', errno: 9, message: 'SQLITE_INTERRUPT: interrupted' } })
  await closed(one)
  await closed(other)
  await removeFile(path)
})

test('extensions are refused, unless the driver allows them', async (t) => {
  const load = async (driver: Driver): Promise<Error | null> => {
    const handle = await opened(driver, ':memory:')
    const error = await new Promise<Error | null>((resolve) => handle.loadExtension('/missing/extension', resolve))
    await closed(handle)
    return error
  }
  t.is((await load(nodeSqlite))?.message, 'SQLITE_ERROR: not authorized')
  const allowed = await load(createNodeSqlite({ allowsExtension: true }))
  t.regex(allowed?.message ?? '', /^SQLITE_ERROR: .*\/missing\/extension/)
})

test('an unknown setting is refused by name', async (t) => {
  const handle = await opened(nodeSqlite, ':memory:')
  t.throws(() => handle.configure('busyTimeuot' as 'busyTimeout', 1), {
    message: 'busyTimeuot is not a valid configuration option',
  })
  await closed(handle)
})
