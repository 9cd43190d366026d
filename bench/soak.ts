// `npm run bench:soak -- mariadb|postgres` sends a mixed load to routers with every behaviour, while their database is
// killed twice and restarted. An oracle computes the expected replies and checks each reply. The database server
// belongs to this program. The application is a separate process, which is never restarted. The program exits with
// status 1 after a wrong response, a lost write, an invalid reply, or growing memory.
//
// `npm run bench:soak -- shapes` sends endless distinct request shapes. At the end, the memory of the application must
// equal its memory halfway. PostgreSQL connections must hold no more names of prepared statements than allowed.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { numberFrom, parseOrExit } from '../test/support/usage.js'
import { type Database, isDatabase } from './databases.js'
import type { Answers, Question } from './soak/application.js'
import { type Ending, install, type ServerName } from './soak/instance.js'
import { type Pace, startLoad } from './soak/load.js'
import type { DialectName } from './soak/models.js'
import { describe, report, type Sample, size } from './soak/report.js'
import { soakShapes } from './soak/shapes.js'
import { type Outage, Tally } from './soak/tally.js'
import { differences } from './soak/verify.js'

const USAGE = `Usage: npm run bench:soak -- mariadb|postgres [options]
  --minutes <n>      how long [30]
  --connections <n>  keep-alive connections, each with one request on its way [32]
  --dialect <name>   for MariaDB: mysql (the mysql2 driver) or mariadb [mysql]
  --think <ms>       between two requests of a connection; around a restart there is none [250]
  --down <seconds>   how long the database is away [5]
  --restarts <n>     spread evenly [2]
  --kills <n>        how many of them, the first ones, are crashes by SIGKILL; the others are orderly [all]
Usage: npm run bench:soak -- shapes [options]
  --database <name>  sqlite, mysql (by mysql2, whatever server answers) or postgres [sqlite]
  --shapes <n>       how many, each once and every tenth six times [100000]
  --minutes <n>      spread over as long at least [10]`

const given = parseOrExit(USAGE, () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: 'string' },
      database: { type: 'string', default: 'sqlite' },
      shapes: { type: 'string', default: '100000' },
      connections: { type: 'string', default: '32' },
      dialect: { type: 'string' },
      think: { type: 'string', default: '250' },
      down: { type: 'string', default: '5' },
      restarts: { type: 'string', default: '2' },
      kills: { type: 'string' },
    },
  })
  const [name, further] = positionals
  if (further !== undefined) throw new RangeError(`one of mariadb, postgres and shapes, not ${positionals.join(' ')}`)
  const isShapes = name === 'shapes'
  const minutes = numberFrom('minutes', values.minutes ?? (isShapes ? '10' : '30'), 0)
  if (isShapes) {
    return { shapes: { database: databaseNamed(values.database), count: numberFrom('shapes', values.shapes), minutes } }
  }
  const server = serverNamed(name)
  const restarts = numberFrom('restarts', values.restarts, 0)
  return {
    shapes: null,
    minutes,
    server,
    dialect: dialectFor(server, values.dialect),
    connections: numberFrom('connections', values.connections),
    think: numberFrom('think', values.think, 0),
    down: numberFrom('down', values.down, 0),
    restarts,
    kills: values.kills === undefined ? restarts : numberFrom('kills', values.kills, 0),
  }
})

function databaseNamed(name: string): Database {
  if (isDatabase(name)) return name
  throw new RangeError(`--database ${name} is none of sqlite, mysql and postgres`)
}

function serverNamed(name: string | undefined): ServerName {
  if (name === 'mariadb' || name === 'postgres') return name
  throw new RangeError(`which server? mariadb or postgres, not ${name}`)
}

function dialectFor(name: ServerName, given: string | undefined): DialectName {
  if (name === 'postgres') return 'postgres'
  if (given === undefined || given === 'mysql') return 'mysql'
  if (given === 'mariadb') return given
  throw new RangeError(`--dialect ${given} is neither mysql nor mariadb`)
}

if (given.shapes !== null) process.exit((await soakShapes(given.shapes)) ? 0 : 1)

const { minutes, server, dialect, connections, think, down, restarts, kills } = given
const duration = minutes * 60_000
/** Instants and kinds of the database's restarts. */
const RESTARTS = Array.from({ length: restarts }, (_, index): { readonly at: number; readonly ending: Ending } => {
  return { at: (duration * (index + 0.5)) / restarts, ending: index < kills ? 'crash' : 'orderly' }
})
const SAMPLES = 60_000

const instance = await install(server, dialect)
let application: ChildProcess | null = null

async function tidy(): Promise<void> {
  application?.kill('SIGKILL')
  await instance.remove()
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => tidy().finally(() => process.exit(1)))

/** Waits for the application's next message. Empty if the application has ended. */
async function nextMessage(child: ChildProcess): Promise<Answers> {
  const over = new AbortController()
  try {
    const [message]: Answers[] = await Promise.race(['message', 'exit'].map((event) => once(child, event, over)))
    return Object(message)
  } finally {
    over.abort()
  }
}

async function requestAnswer(child: ChildProcess, question: Question): Promise<Answers> {
  if (isEnded(child)) return {}
  child.send(question)
  return nextMessage(child)
}

async function restart(ending: Ending, pace: Pace, totals: Tally): Promise<void> {
  pace.think = 0
  await sleep(1000)
  const times = { gone: 0, starting: 0, ready: 0, firstDone: 0, lastUnavailable: 0, unavailable: 0 }
  const outage: Outage = { ending, stopping: performance.now(), ...times }
  totals.outages.push(outage)
  await instance.stop(ending)
  outage.gone = performance.now()
  await sleep(down * 1000)
  outage.starting = performance.now()
  await instance.start()
  outage.ready = performance.now()
  await sleep(5000)
  pace.think = think
  console.log(describe(outage))
}

/** Takes samples of memory until the time is over or the application ends. */
async function takeSamples(child: ChildProcess, start: number, totals: Tally): Promise<Sample[]> {
  const every = Math.min(SAMPLES, duration / 12)
  const samples: Sample[] = []
  for (let due = start; due <= start + duration; due += every) {
    await sleep(Math.max(0, due - performance.now()))
    const { memory } = await requestAnswer(child, 'memory')
    if (memory === undefined) break
    const sample = { ...memory, minute: (performance.now() - start) / 60_000 }
    samples.push(sample)
    const counts = `${totals.count()} requests, ${totals.count('unavailable')} of them 503, ${totals.failures.length} failures`
    console.log(`${sample.minute.toFixed(1)} min: ${size(sample)}; ${counts}`)
  }
  return samples
}

async function disturb(start: number, pace: Pace, totals: Tally): Promise<void> {
  for (const { at, ending } of RESTARTS) {
    await sleep(Math.max(0, start + at - performance.now()))
    await restart(ending, pace, totals)
  }
}

function isEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

try {
  await instance.start()
  const script = fileURLToPath(new URL('./soak/application.js', import.meta.url))
  const child = fork(script, [JSON.stringify(instance.target)], {
    // Source maps are off. Node.js loads a source map at the first error of a file, which would look like a leak.
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  application = child
  const { port } = await nextMessage(child)
  if (port === undefined) throw new Error('the application ended before it listened')
  const totals = new Tally()
  const pace: Pace = { think }
  const what = `${connections} connections for ${minutes} minutes, dialect ${dialect}`
  console.log(`${server}: ${what}`)
  const load = await startLoad(port, connections, pace, totals)
  const start = performance.now()
  const [samples] = await Promise.all([takeSamples(child, start, totals), disturb(start, pace, totals)])
  await load.stop()
  const lost = await differences(instance.target, load.partitions)
  const { causes } = await requestAnswer(child, 'causes')
  if (!report({ totals, samples, lost, causes: causes ?? null, minutes })) process.exitCode = 1
} finally {
  await tidy()
}
