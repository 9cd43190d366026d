// `npm run bench` compares this router with other implementations of one service: bare `node:http` with prepared
// statements, handwritten SQL on Express, and idiomatic Sequelize. A second table compares this router without
// behaviours and with every behaviour. Each server is a process with its own copy of one database. Prints two tables
// and removes its files. With `--peers`, it prints one table of this router, handwritten SQL and other packages. The
// files of other packages stay in node_modules/.cache.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parseOrExit } from '../test/support/usage.js'
import { BEHAVIOUR_WORKLOADS } from './behaviours.js'
import { chart, type Group } from './chart.js'
import { PLAYERS } from './data.js'
import { type Databases, isDatabaseOrDriver, prepareDatabase } from './databases.js'
import { measure, type Plan, type Server } from './measure.js'
import { install, isPeer, PEERS } from './peers/packages.js'
import { canDo, PEER_WORKLOADS } from './peers/workloads.js'
import { bindable, bindSelf, peakMemoryOf } from './processes.js'
import { heading, matrixHeading, matrixRow, memory, NAMES, rows } from './table.js'
import { type Side, WORKLOADS, type Workload } from './workloads.js'

const USAGE = `Usage: npm run bench -- [options]
  --database <name>  sqlite, node-sqlite, mysql (by mysql2, whatever server answers) or postgres [sqlite]
  --quick            fewer and shorter rounds: a look, not a measurement
  --only <text>      only the workloads with this in their name; may be repeated
  --side <name>      only these servers of the first table, such as sql, hand, router; may be repeated
  --peers            one table, on SQLite, beside other packages, which npm installs into a cache of their own at first
  --check            compares the answers of the servers, and measures nothing
  --chart <file>     writes the first table as an SVG bar chart
  --beside <folder>  the router of another compiled checkout too, whose benchmark is this one: its .build
  --connections <n>  requests on their way at the same time [8]
  --rounds <n>       rounds for each server [9]`

const SERVERS: readonly Side[] = ['bare', 'sql', 'hand', 'router']
const WITH_PEERS: readonly Side[] = ['sql', 'hand', 'router', ...PEERS]

const { values, database, offered } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({
    options: {
      database: { type: 'string', default: 'sqlite' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      side: { type: 'string', multiple: true, default: [] },
      peers: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      chart: { type: 'string' },
      beside: { type: 'string' },
      connections: { type: 'string', default: '8' },
      rounds: { type: 'string' },
    },
  })
  const { database } = values
  if (!isDatabaseOrDriver(database))
    throw new RangeError(`--database ${database} is none of sqlite, node-sqlite, mysql and postgres`)
  if (values.peers && database !== 'sqlite') throw new RangeError(`--peers is for sqlite, not for ${database}`)
  if (values.check && values.chart !== undefined)
    throw new RangeError('--check measures nothing that --chart could draw')
  const offered = values.peers ? WITH_PEERS : SERVERS
  const names = (values.peers ? PEER_WORKLOADS : [...WORKLOADS, ...BEHAVIOUR_WORKLOADS]).map(({ name }) => name)
  for (const text of values.only) {
    if (!names.some((name) => name.includes(text)))
      throw new RangeError(`--only ${text} is in no name of a workload: ${names.join('; ')}`)
  }
  for (const side of values.side) {
    if (!offered.some((name) => name === side)) throw new RangeError(`--side ${side} is none of ${offered.join(', ')}`)
  }
  return { values, database, offered }
})

const plan: Plan = {
  rounds: values.check ? 0 : Number(values.rounds ?? (values.quick ? 3 : 9)),
  connections: Number(values.connections),
  scale: values.quick ? 0.5 : 1,
  warmUp: values.quick ? 4000 : 20_000,
}

interface Table {
  readonly sides: readonly Side[]
  readonly reference: Side
  readonly workloads: readonly Workload[]
}

const others: readonly Side[] = values.beside === undefined ? [] : ['beside']
const sides: readonly Side[] = [...offered, ...others]
const chosen = sides.filter((side) => values.side.length === 0 || side === 'beside' || values.side.includes(side))
const first: Table = {
  sides: chosen,
  reference: chosen.includes('sql') ? 'sql' : (chosen.at(-1) ?? 'router'),
  workloads: (values.peers ? PEER_WORKLOADS : WORKLOADS).filter(isChosen),
}
const second: Table = {
  sides: ['plain', 'behaviours'],
  reference: 'plain',
  workloads: BEHAVIOUR_WORKLOADS.filter(isChosen),
}
const TABLES: readonly Table[] = values.peers ? [first] : [first, second]

function isChosen({ name }: Workload): boolean {
  return values.only.length === 0 || values.only.some((text) => name.includes(text))
}

const children: ChildProcess[] = []
const LOAD_CORE = 0
const SERVER_CORE = 1
const isBound = bindable()

/** Starts a server process on a copy of the database, and waits until it listens. */
async function start(side: Side, databases: Databases): Promise<Server> {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const script =
    side === 'beside' && values.beside !== undefined
      ? join(resolve(values.beside), 'bench/servers/router.js')
      : join(here, isPeer(side) ? `peers/servers/${side}.js` : `servers/${side}.js`)
  const bound = { execPath: 'taskset', execArgv: ['-c', String(SERVER_CORE), process.execPath] }
  const child = fork(script, [JSON.stringify(await databases.copy())], {
    ...(isBound ? bound : { execArgv: [] }),
    env: { ...process.env, NODE_ENV: 'production' },
  })
  children.push(child)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the ${side} server ended with status ${code}`)
  })
  const [{ port }] = await Promise.race([once(child, 'message'), ended])
  ended.catch(() => undefined)
  return { side, port, pid: child.pid ?? 0 }
}

/** Starts the servers of a table. A peer whose installation or start fails is left out. */
async function startAll(sides: readonly Side[], databases: Databases): Promise<readonly Server[]> {
  const servers: Server[] = []
  for (const side of sides) {
    try {
      if (isPeer(side)) install(side)
      servers.push(await start(side, databases))
    } catch (error) {
      if (!isPeer(side)) throw error
      const message = error instanceof Error ? error.message : String(error)
      console.log(`${NAMES[side]} is left out: ${message.trim().replaceAll(/\s*\n\s*/g, ' ')}\n`)
    }
  }
  return servers
}

async function end(): Promise<void> {
  await Promise.all(
    children.splice(0).map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill()
      await gone
    }),
  )
}

let databases: Databases | null = null

/** Stops the servers. Removes their databases afterwards. */
async function tidy(): Promise<void> {
  await end()
  await databases?.remove()
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => tidy().finally(() => process.exit(1)))

try {
  databases = await prepareDatabase(database)
  if (isBound) bindSelf(LOAD_CORE)
  const where = isBound ? 'server and load on a core each' : 'server and load share the processor'
  const { rounds, connections } = plan
  console.log(`${PLAYERS.toLocaleString('en')} players on ${database}, Node ${process.versions.node}, ${where};`)
  if (!values.check) console.log(`${rounds} rounds for each server, ${connections} connections.\n`)
  for (const { sides, reference, workloads } of TABLES) {
    if (workloads.length === 0) continue
    const servers = await startAll(sides, databases)
    const started = servers.map(({ side }) => side)
    const groups: Group[] = []
    if (!values.check) console.log(values.peers ? matrixHeading(started, reference) : heading(reference))
    for (const workload of workloads) {
      const able = servers.filter(({ side }) => canDo(side, workload))
      const results = await measure(workload, able, reference, plan)
      groups.push({ name: workload.name, results })
      if (values.check) console.log(`${workload.name}: ${able.map(({ side }) => NAMES[side]).join(', ')}`)
      else console.log(values.peers ? matrixRow(workload.name, started, results) : rows(workload, results))
    }
    if (values.chart !== undefined && sides === chosen) await writeFile(values.chart, chart(reference, groups))
    if (!values.check)
      console.log(`\n${memory(servers.map(({ side, pid }) => ({ side, megabytes: peakMemoryOf(pid) })))}\n`)
    await end()
  }
} finally {
  await tidy()
}
