// `npm run bench:growth` measures how the cost of reads grows with the size of a SQLite table. The reads are a record
// by key, a keyset page in the middle, and an equality filter. The tables have 10,000 rows, and 10, 100 and 1,000 times
// as many. Each read needs only an index, so the cost should be constant. Prints a table and removes its database.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Options } from 'sequelize'
import { numberFrom, parseOrExit } from '../test/support/usage.js'
import { Client } from './client.js'
import { generator } from './data.js'
import { connect } from './models.js'
import { cpuOf } from './processes.js'
import { get, query } from './workloads.js'

const USAGE = `Usage: npm run bench:growth -- [options]
  --rows <n>    the largest table, from 10000 [10000000]
  --rounds <n>  rounds for each request [9]`

const { most, rounds } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '10000000' }, rounds: { type: 'string', default: '9' } },
  })
  return { most: numberFrom('rows', values.rows, 10_000), rounds: numberFrom('rounds', values.rounds) }
})
const sizes = [10_000, 100_000, 1_000_000, 10_000_000].filter((rows) => rows <= most)
const REQUESTS = 1000
const CONNECTIONS = 8

/** Fills the table up to a number of rows. SQL is used, because there are millions of rows. */
async function fill(options: Options, rows: number): Promise<void> {
  const sequelize = connect(options)
  await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync()
  await sequelize.query('CREATE INDEX IF NOT EXISTS players_email ON players (email)')
  await sequelize.query(
    `INSERT INTO players (id, name, level, email, teamId, createdAt, updatedAt)
     WITH RECURSIVE counted (n) AS (
       SELECT (SELECT COALESCE(MAX(id), 0) + 1 FROM players) UNION ALL SELECT n + 1 FROM counted WHERE n < ${rows}
     )
     SELECT n, 'Player ' || n, 1 + n * 37 % 100, 'player' || n || '@example.com', NULL,
            '2026-01-01 00:00:00.000 +00:00', '2026-01-01 00:00:00.000 +00:00'
     FROM counted`,
  )
  await sequelize.query('ANALYZE')
  await sequelize.close()
}

interface Kind {
  readonly name: string
  /** Returns the path of the next request. `number` is between 1 and the number of rows. */
  readonly path: (number: number) => string
}

/** Cursor of a page in the middle of the table. */
async function readMiddleCursor(client: Client, rows: number): Promise<string> {
  const before = query('/api/players', { keys: `${rows / 2},${rows / 2 + 1}`, cursor: '', pageSize: '1' })
  const { text } = await client.request(get(before))
  return String(Object(JSON.parse(text)).nextCursor)
}

async function kindsOf(client: Client, rows: number): Promise<readonly Kind[]> {
  const cursor = await readMiddleCursor(client, rows)
  return [
    { name: 'get by id', path: (number) => `/api/players/${number}` },
    { name: 'keyset page halfway', path: () => query('/api/players', { cursor }) },
    {
      name: 'equality, one match, total',
      path: (number) => query('/api/players', { filter: `Email=player${number}@example.com` }),
    },
  ]
}

/**
 * Processor time of the server per request in microseconds: the median over the rounds. Null if the system does not
 * provide it.
 */
async function costOf(kind: Kind, server: { readonly client: Client; readonly pid: number }, rows: number) {
  const random = generator(rows)
  const costs: number[] = []
  // The first three rounds are not measured, because V8 compiles frequent code during them.
  for (let round = -3; round < rounds; round += 1) {
    const calls = Array.from({ length: REQUESTS }, () => get(kind.path(1 + random(rows))))
    const before = cpuOf(server.pid)
    await server.client.run(calls)
    const after = cpuOf(server.pid)
    if (before === null || after === null) return null
    if (round >= 0) costs.push((after.all - before.all) / REQUESTS)
  }
  return costs.toSorted((left, right) => left - right)[costs.length >> 1] ?? null
}

const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-growth-'))
const tidy = (): Promise<void> => rm(folder, { recursive: true, force: true })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => tidy().finally(() => process.exit(1)))
const storage = join(folder, 'growth.sqlite')
const options: Options = { dialect: 'sqlite', storage }

try {
  const costs = new Map<string, (number | null)[]>()
  for (const rows of sizes) {
    await fill(options, rows)
    const megabytes = (await stat(storage)).size / 2 ** 20
    console.error(`${rows.toLocaleString('en')} rows, ${megabytes.toFixed(0)} MB`)
    const child = fork(fileURLToPath(new URL('./servers/router.js', import.meta.url)), [JSON.stringify(options)], {
      env: { ...process.env, NODE_ENV: 'production' },
    })
    const gone = once(child, 'exit')
    const [{ port }] = await once(child, 'message')
    const client = new Client(port, CONNECTIONS, {})
    for (const kind of await kindsOf(client, rows)) {
      const known = costs.get(kind.name) ?? []
      costs.set(kind.name, [...known, await costOf(kind, { client, pid: child.pid ?? 0 }, rows)])
    }
    child.kill()
    await gone
  }
  console.log('Microseconds of the processor time of the server process for a request, medians.\n')
  console.log(`| request | ${sizes.map((rows) => `${rows.toLocaleString('en')} rows`).join(' | ')} |`)
  console.log(`|---|${sizes.map(() => '---:|').join('')}`)
  for (const [name, all] of costs)
    console.log(`| ${name} | ${all.map((cost) => cost?.toFixed(0) ?? '-').join(' | ')} |`)
} finally {
  await tidy()
}
