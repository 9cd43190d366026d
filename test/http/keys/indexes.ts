// Index use: equality and beginnings of text lead into an index, whatever the collation. It is what EXPLAIN says of the
// statements that lists run. The planner is told the size of the tables first, and every filter finds few enough of the rows that only one plan is sensible.

import test from 'ava'
import { defineCrowd, fillCrowd, mountCrowd } from '../../support/crowd.js'
import { databaseName } from '../../support/database.js'
import { list } from '../../support/lists.js'
import {
  type Lookup,
  lookups,
  ORDERS,
  queryText,
  readCursorAfter,
  readTokenAfter,
  scans,
} from '../../support/lookups.js'
import { type Access, accessesOf, PRIMARY } from '../../support/plans.js'
import { openStage } from '../../support/stage.js'

/** The planners of servers read a small table as a whole. That of SQLite uses an index for any size. */
const PLAYERS = databaseName === 'sqlite' ? 4000 : 20_000

const crowd = await openStage(
  ({ sequelize }, app) => {
    const models = defineCrowd(sequelize)
    mountCrowd(app, models)
    return models
  },
  { sequelize: { logQueryParameters: true } },
)
await fillCrowd(crowd, PLAYERS)
const { sequelize, name: database, statements } = crowd
test.after.always(() => crowd.close())

const LOOKUPS = lookups(PLAYERS, database)

/** SQLite tells of a plan, and not of the rows that it read. */
const countsRows = database !== 'sqlite'

/** How a list request got at its tables: by one statement, or by a page's and the one that counts behind it. */
async function accesses({ path, parameters }: Lookup, more: Lookup['parameters'] = {}): Promise<readonly Access[]> {
  statements.length = 0
  const { status, text } = await list(crowd, path, { ...parameters, ...more })
  if (status !== 200) throw new Error(`${status} ${text}`)
  const [first, second, ...others] = statements
  if (first === undefined || others.length > 0) throw new Error(`${statements.length} statements`)
  if (second !== undefined && !/: SELECT COUNT\(\*\)/.test(second)) throw new Error(`not one that counts: ${second}`)
  const page = await accessesOf(sequelize, first, countsRows)
  return second === undefined ? page : [...page, ...(await accessesOf(sequelize, second, countsRows))]
}

function rowsRead(of: readonly Access[]): number {
  return of.reduce((sum, { rows }) => sum + (rows ?? 0), 0)
}

for (const lookup of LOOKUPS) {
  test.serial(`${lookup.title}, ${queryText(lookup)}, uses the index for the page and for the total`, async (t) => {
    for (const more of [{}, { count: true }]) {
      const found = await accesses(lookup, more)
      for (const [alias, indexes] of Object.entries(lookup.served)) {
        const own = found.filter(({ table }) => table === alias)
        t.true(own.length > 0, `${alias} is not in the plan`)
        for (const { index, seeks } of own) {
          t.true(seeks && index?.split(' + ').every((name) => indexes.includes(name)), `${alias} by ${index}`)
        }
      }
    }
  })
}

for (const lookup of [...LOOKUPS, ...scans(PLAYERS)]) {
  test.serial(
    `${lookup.title}, ${queryText(lookup)}, has each table once in what counts and in what lists`,
    async (t) => {
      const counted = await accesses(lookup, { count: true })
      const tables = counted.map(({ table }) => table)
      t.deepEqual(tables, [...new Set(tables)])
      const listed = await accesses(lookup, { cursor: '' })
      t.deepEqual(listed.map(({ table }) => table).sort(), tables.sort())
      // A page by number is the same, and both where it is full.
      const paged = (await accesses(lookup)).length
      t.true(paged === tables.length || paged === 2 * tables.length, `${paged} and ${tables.length}`)
    },
  )
}

if (countsRows) {
  test.serial('a page that is not full tells the total itself: no table is read a second time', async (t) => {
    for (const lookup of LOOKUPS) {
      const once = rowsRead(await accesses(lookup, { cursor: '', pageSize: 1000 }))
      t.true(rowsRead(await accesses(lookup, { pageSize: 1000 })) <= once, queryText(lookup))
    }
  })
}

test.serial('a keyset page deep in the table goes straight to its first row', async (t) => {
  const cursor = await readCursorAfter(crowd, PLAYERS * 0.75)
  for (const parameters of [{ cursor }, { cursor, filter: 'Level>50' }, { cursor, filter: 'Note=*1' }]) {
    const found = await accesses({ title: '', path: '/api/players', parameters, served: {} })
    t.is(found.length, 1)
    t.like(found[0], { table: 'Player', index: PRIMARY, seeks: true })
    t.true(rowsRead(found) < 100)
  }
})

for (const lookup of ORDERS) {
  test.serial(
    `${lookup.title} goes straight to the first row of a page deep in it, and of the one before`,
    async (t) => {
      const token = await readTokenAfter(crowd, lookup, PLAYERS * 0.6)
      const indexes = lookup.served.Player ?? []
      for (const parameter of ['after', 'before']) {
        const found = await accesses(lookup, { [parameter]: token })
        const read = found.filter(({ table }) => table === 'Player')
        t.true(
          read.some(({ index, seeks, rows }) => indexes.includes(index ?? '') && seeks && (rows ?? 0) < 100),
          `${parameter}: ${JSON.stringify(found)}`,
        )
      }
    },
  )
}

for (const lookup of ORDERS) {
  test.serial(`${lookup.title} reads one page of it`, async (t) => {
    const indexes = lookup.served.Player ?? []
    const found = await accesses(lookup)
    const own = found.find(
      ({ table, index, rows }) => table === 'Player' && indexes.includes(index ?? '') && (rows ?? 0) < 100,
    )
    t.not(own, undefined, JSON.stringify(found))
  })
}

for (const sort of ['Points', '-Points']) {
  test.serial(`sort=${sort} reads the records with null and those without by the index`, async (t) => {
    for (const parameters of [
      { sort, after: '' },
      { sort, count: 'none' },
      { sort, filter: 'Points=null', after: '' },
    ]) {
      const found = await accesses({ title: '', path: '/api/players', parameters, served: {} })
      const plan = JSON.stringify(found)
      t.true(
        found.every(({ index, rows }) => index === 'players_points' && (rows ?? 0) < 100),
        plan,
      )
      // PostgreSQL puts null at the other end than the API does, so that an index has the order of each part alone.
      const parts = database === 'postgres' && parameters.filter === undefined ? 2 : 1
      t.is(found.length, parts, plan)
    }
  })
}

test.serial(
  'collections of a page are read by the index of their foreign key, whatever is asked of them',
  async (t) => {
    for (const [selected, more] of [
      ['Players(Name)', {}],
      ['Players(Name)', { 'Players.sort': '-Level', 'Players.limit': 3 }],
      ['Players(Name)', { 'Players.filter': 'Level>50' }],
    ] as const) {
      statements.length = 0
      const parameters = { select: `Name,${selected}`, pageSize: 5, count: 'none', ...more }
      const { status, text, body } = await list(crowd, '/api/teams', parameters)
      t.is(status, 200, text)
      t.is(body.items.length, 5)
      t.is(statements.length, 2)
      const found = await accessesOf(sequelize, statements[1] ?? '', countsRows)
      const players = found.filter(({ table }) => table === 'Player')
      const plan = JSON.stringify(found)
      t.true(
        players.some(({ index }) => index === 'players_team'),
        plan,
      )
      // Those of five teams, and of no other.
      t.true(
        players.every(({ index, seeks }) => seeks && (index === 'players_team' || index === PRIMARY)),
        plan,
      )
      t.true(rowsRead(players) < PLAYERS / 20, plan)
    }
  },
)
