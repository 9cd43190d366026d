// Shows how lists find their rows in large tables: `node --enable-source-maps .build/bench/indexes.js [database]`. The
// database is sqlite, mysql, mariadb or postgres. The program fills its own database on that server. It sends every
// request of the tests of index use, and a few more. It runs EXPLAIN for the executed statements, prints a table and
// drops the database.
//
//   --rows <n>    players in the table [1000000]
//   --times <n>   repetitions of each request; the median is printed [5]

import { parseArgs } from 'node:util'
import type { Lookup } from '../test/support/lookups.js'
import type { Access } from '../test/support/plans.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '1000000' },
    times: { type: 'string', default: '5' },
  },
})
const rows = Number(values.rows)
const times = Number(values.times)
const [database = 'sqlite'] = positionals

// The test modules read TEST_DATABASE when they are loaded.
process.env.TEST_DATABASE = database
const { defineCrowd, fillCrowd, mountCrowd } = await import('../test/support/crowd.js')
const { readCursorAfter, lookups, ORDERS, queryText, scans } = await import('../test/support/lookups.js')
const { list } = await import('../test/support/lists.js')
const { accessesOf } = await import('../test/support/plans.js')
const { openStage } = await import('../test/support/stage.js')

const crowd = await openStage(
  ({ sequelize }, app) => {
    const models = defineCrowd(sequelize)
    mountCrowd(app, models)
    return models
  },
  { sequelize: { logQueryParameters: true } },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => crowd.close().then(() => process.exit(1)))

/** Requests that complete the table. The tests of index use do not send them. */
async function otherLookups(): Promise<readonly Lookup[]> {
  const players = (title: string, parameters: Lookup['parameters']): Lookup => ({
    title,
    path: '/api/players',
    parameters,
    served: {},
  })
  const cursor = await readCursorAfter(crowd, rows * 0.9)
  return [
    players('a keyset page at nine tenths', { cursor }),
    players('the same under a filter', { cursor, filter: 'Level>50' }),
    players('the first page', {}),
    players('a page at nine tenths', { page: Math.floor((rows * 0.9) / 20) }),
    players('the number of all', { count: true }),
    players('a filter that half of the rows meet', { filter: 'Level>50' }),
    players('a range without an end, by key', { filter: `Points>${rows - 10}` }),
    players('an order over a to-one relation', { sort: '-Team.Name' }),
    { ...players('an order under scope and soft delete', { sort: '-Level' }), path: '/api/members' },
  ]
}

/**
 * Describes how a statement accesses its tables, such as `Player: players_email`. An access can use an index for
 * lookups, an index in its order, or the whole table.
 */
function describeAccesses(accesses: readonly Access[]): string {
  const ways = accesses.map(({ table, index, seeks }) => {
    const way = index === null ? 'the table' : seeks ? index : `in the order of ${index}`
    return `${table}: ${way}`
  })
  return [...new Set(ways)].join(', ')
}

/**
 * Number of rows that the statement read, with a plus if some rows were not counted. Empty for SQLite, which counts no
 * rows.
 */
function rowsRead(accesses: readonly Access[]): string {
  if (database === 'sqlite') return ''
  const sum = accesses.reduce((total, { rows: read }) => total + (read ?? 0), 0)
  return `${sum.toLocaleString('en')}${accesses.some(({ rows: read }) => read === null) ? '+' : ''}`
}

/** Median duration of the request in milliseconds. The first run is not counted. */
async function milliseconds({ path, parameters }: Lookup): Promise<number> {
  const taken: number[] = []
  for (let time = 0; time <= times; time++) {
    const start = performance.now()
    const { status, text } = await list(crowd, path, parameters)
    if (status !== 200) throw new Error(`${status} ${text}`)
    taken.push(performance.now() - start)
  }
  return taken.slice(1).sort((a, b) => a - b)[times >> 1] ?? 0
}

try {
  await fillCrowd(crowd, rows)
  console.log(`${database}, ${rows.toLocaleString('en')} players\n`)
  console.log('| request | what it asks | ways into the tables | rows read | ms |\n|---|---|---|---:|---:|')
  for (const lookup of [...lookups(rows, crowd.name), ...ORDERS, ...(await otherLookups()), ...scans(rows)]) {
    crowd.statements.length = 0
    const taken = await milliseconds(lookup)
    const line = crowd.statements.at(-1) ?? ''
    const accesses = await accessesOf(crowd.sequelize, line, true)
    const cells = [
      lookup.title,
      `\`${lookup.path.slice('/api/'.length)}?${queryText(lookup).replaceAll('|', '\\|')}\``,
      describeAccesses(accesses),
      rowsRead(accesses),
      taken.toFixed(1),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
} finally {
  await crowd.close()
}
