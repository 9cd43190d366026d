// `npm run bench:export -- --database postgres` exports a million rows as CSV and as JSON lines. The program parses the
// files with a CSV library and JSON.parse, and compares them row by row with the table. The program exits with status 1
// if a file is wrong, the heap grows or the first byte is late. The program also exits with status 1 if a slow reader
// blocks the connection, or if work continues after a disconnect.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'csv-parse'
import { isDatabaseName } from '../test/support/servers.js'
import { numberFrom, parseOrExit } from '../test/support/usage.js'
import { openEmpty } from './export/database.js'
import { type Content, contentAt, fill } from './export/rows.js'
import type { MemoryUsage } from './export/server.js'

const USAGE = `Usage: npm run bench:export -- [options]
  --database <name>  sqlite, mariadb, mysql (by mysql2) or postgres [sqlite]
  --rows <n>         how many there are [1000000]`

const { database, rows: ROWS } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({
    options: { database: { type: 'string', default: 'sqlite' }, rows: { type: 'string', default: '1000000' } },
  })
  const { database } = values
  if (!isDatabaseName(database))
    throw new RangeError(`--database ${database} is none of sqlite, mariadb, mysql and postgres`)
  return { database, rows: numberFrom('rows', values.rows) }
})

/** Maximum growth of the heap during an export, in bytes. */
const GROWTH = 8 * 2 ** 20
/**
 * Maximum milliseconds by which the first byte may be later than a page with as many records as an export reads at
 * once.
 */
const LATE = 100

/** Minimum number of rows. A shorter file would fit into socket buffers. */
const LONG = 500_000

const failures: string[] = []
function assert(isSo: boolean, message: string): void {
  if (!isSo) failures.push(message)
}

class Server {
  readonly #child: ChildProcess
  readonly url: string

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `http://127.0.0.1:${port}/api/records`
  }

  static async start(options: object): Promise<Server> {
    const path = fileURLToPath(new URL('./export/server.js', import.meta.url))
    const child = fork(path, [JSON.stringify(options)], {
      execArgv: ['--expose-gc'],
      env: { ...process.env, NODE_ENV: 'production' },
    })
    const [{ port }] = await once(child, 'message')
    return new Server(child, port)
  }

  async measureMemory(): Promise<MemoryUsage> {
    this.#child.send('held')
    const [usage] = await once(this.#child, 'message')
    return usage
  }

  async end(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.disconnect()
    await gone
  }
}

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, resolve).on('error', reject)
  })
}

async function firstByte(url: string): Promise<number> {
  const start = performance.now()
  const reply = await open(url)
  await once(reply, 'readable')
  const time = performance.now() - start
  reply.destroy()
  return time
}

async function wholeReply(url: string): Promise<number> {
  const start = performance.now()
  const reply = await open(url)
  for await (const _ of reply);
  return performance.now() - start
}

async function median(measure: () => Promise<number>): Promise<number> {
  const times: number[] = []
  await measure()
  for (let round = 0; round < 7; round += 1) times.push(await measure())
  return times.toSorted((a, b) => a - b)[3] ?? Number.NaN
}

/** Parses the rows of an exported file. Nulls and empty texts stay distinct. */
type Rows = (reply: IncomingMessage) => AsyncIterable<Record<string, unknown>>

async function* fromCsv(reply: IncomingMessage): AsyncIterable<Record<string, unknown>> {
  const parser = reply.pipe(
    parse({
      columns: true,
      bom: false,
      // An unquoted empty cell is null, and a quoted empty cell is an empty text. Texts that look like formulas start
      // with an apostrophe.
      cast: (text, { header, quoting }) => {
        if (header) return text
        if (text === '' && !quoting) return null
        return /^'[=+\-@\t\r]/.test(text) ? text.slice(1) : text
      },
    }),
  )
  for await (const { id, level, active, ...row } of parser) {
    yield { ...row, id: Number(id), level: level === null ? null : Number(level), active: active === 'true' }
  }
}

async function* fromLines(reply: IncomingMessage): AsyncIterable<Record<string, unknown>> {
  for await (const line of createInterface({ input: reply, crlfDelay: Number.POSITIVE_INFINITY })) {
    const row: Record<string, unknown> = JSON.parse(line)
    yield row
  }
}

const FORMATS: readonly (readonly [format: string, rows: Rows])[] = [
  ['csv', fromCsv],
  ['jsonl', fromLines],
]
const NAMES: readonly (keyof Content)[] = ['name', 'level', 'price', 'active', 'at']

interface Report {
  readonly format: string
  readonly rate: number
  readonly heap: readonly [first: number, highest: number]
}

async function measureExport(server: Server, format: string, rows: Rows): Promise<Report> {
  const start = performance.now()
  const reply = await open(`${server.url}?format=${format}`)
  let place = 0
  let last = 0
  let wrong = 0
  let bytes = 0
  reply.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  const heaps: number[] = []
  let sampling = true
  const sampled = (async () => {
    while (sampling) {
      heaps.push((await server.measureMemory()).heap)
      await sleep(Math.max(50, Math.min(1000, ROWS / 1000)))
    }
  })()
  for await (const row of rows(reply)) {
    const expected = contentAt(place)
    const isSame = NAMES.every((name) => row[name] === expected[name])
    if (!isSame || Number(row.id) <= last) {
      wrong += 1
      if (wrong === 1)
        failures.push(`${format}: row ${place} is ${JSON.stringify(row)}, not ${JSON.stringify(expected)}`)
    }
    last = Number(row.id)
    place += 1
  }
  const seconds = (performance.now() - start) / 1000
  sampling = false
  await sampled
  assert(place === ROWS, `${format}: there are ${place} rows, not ${ROWS}`)
  assert(wrong === 0, `${format}: ${wrong} rows are not those of the table`)
  const [first = 0] = heaps
  const highest = Math.max(...heaps)
  assert(highest - first < GROWTH, `${format}: the heap has grown from ${first} to ${highest} bytes`)
  const rate = ROWS / seconds
  console.log(
    `${format}: ${seconds.toFixed(1)} s, ${Math.round(rate).toLocaleString('en')} rows/s, ${(bytes / 2 ** 20).toFixed(1)} MiB; heap ${mib(first)} at first, ${mib(highest)} at most, of ${heaps.length} samples`,
  )
  return { format, rate, heap: [first, highest] }
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

/** Waits until the server reads no more pages. Returns the number of executed statements. */
async function waitUntilSettled(server: Server): Promise<number> {
  for (let last = -1; ; ) {
    const { statements } = await server.measureMemory()
    if (statements === last) return statements
    last = statements
    await sleep(ROWS < LONG ? 100 : 500)
  }
}

/** Checks that a stalled reader does not block other requests, and that a disconnect ends the work. */
async function watchReaders(server: Server, format: string): Promise<void> {
  const whole = ROWS / 500
  const start = await waitUntilSettled(server)
  const slow = await open(`${server.url}?format=${format}`)
  await once(slow, 'readable')
  const usage = (await waitUntilSettled(server)) - start
  assert(ROWS < LONG || usage < whole / 2, `${format}: ${usage} pages were read for a reader that takes none`)
  const answered = await Promise.race([wholeReply(`${server.url}?pageSize=1`), sleep(5000, null)])
  assert(answered !== null, `${format}: a slow reader holds the only connection`)
  slow.destroy()
  const before = await waitUntilSettled(server)
  const left = await open(`${server.url}?format=${format}`)
  await once(left, 'readable')
  left.destroy()
  const done = (await waitUntilSettled(server)) - before
  assert(ROWS < LONG || done < 20, `${format}: ${done} pages were read for a reader that is gone`)
  console.log(
    `${format}: ${usage} of ${whole} pages are read for a reader that takes nothing, who holds no connection; ${done} for one who leaves`,
  )
}

const empty = await openEmpty(database)
let server: Server | null = null
try {
  const start = performance.now()
  await fill(empty.options, ROWS)
  console.log(
    `${ROWS.toLocaleString('en')} rows on ${database}, filled in ${((performance.now() - start) / 1000).toFixed(1)} s`,
  )
  server = await Server.start(empty.options)
  const { url } = server
  const page = await median(() => wholeReply(`${url}?pageSize=500&count=none`))
  for (const [format] of FORMATS) {
    const first = await median(() => firstByte(`${url}?format=${format}`))
    console.log(`${format}: first byte after ${first.toFixed(1)} ms; a page of 500 takes ${page.toFixed(1)} ms`)
    assert(
      ROWS < LONG || first - page < LATE,
      `${format}: the first byte comes ${(first - page).toFixed(0)} ms after a page would have come`,
    )
  }
  for (const [format, rows] of FORMATS) await measureExport(server, format, rows)
  for (const [format] of FORMATS) await watchReaders(server, format)
} finally {
  await server?.end()
  await empty.remove()
}
for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1
