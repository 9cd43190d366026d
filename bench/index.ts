// `npm run bench`: this router beside handlers written by hand, and beside itself with every behaviour on, each in a
// server process of its own over its own copy of one SQLite file. Prints two tables and leaves nothing behind.
//
//   --quick            fewer and shorter rounds: a look, not a measurement
//   --only <text>      only the workloads with this in their name; may be repeated
//   --connections <n>  requests on their way at the same time [8]
//   --rounds <n>       rounds for each server [9]

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BEHAVIOUR_WORKLOADS } from './behaviours.js'
import { PLAYERS, seed } from './data.js'
import { measure, type Plan } from './measure.js'
import { heading, row } from './table.js'
import { type Pair, type Side, WORKLOADS, type Workload } from './workloads.js'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    connections: { type: 'string', default: '8' },
    rounds: { type: 'string' },
  },
})

const plan: Plan = {
  rounds: Number(values.rounds ?? (values.quick ? 3 : 9)),
  connections: Number(values.connections),
  scale: values.quick ? 0.5 : 1,
}
const TABLES: readonly { readonly pair: Pair; readonly workloads: readonly Workload[] }[] = [
  { pair: ['router', 'hand'], workloads: WORKLOADS },
  { pair: ['behaviours', 'plain'], workloads: BEHAVIOUR_WORKLOADS },
]

function isChosen({ name }: Workload): boolean {
  return values.only.length === 0 || values.only.some((text) => name.includes(text))
}

const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-bench-'))
const children: ChildProcess[] = []

/** A server process over a copy of the database, once it listens. */
async function start(side: Side, original: string): Promise<number> {
  const storage = join(folder, `${side}.sqlite`)
  await copyFile(original, storage)
  const script = fileURLToPath(new URL(`./servers/${side}.js`, import.meta.url))
  const child = fork(script, [storage], { env: { ...process.env, NODE_ENV: 'production' } })
  children.push(child)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the ${side} server ended with status ${code}`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message.port
}

/** Ends the servers, then removes their files. */
async function tidy(): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill()
      await gone
    }),
  )
  await rm(folder, { recursive: true, force: true })
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => tidy().finally(() => process.exit(1)))

try {
  const original = join(folder, 'original.sqlite')
  await seed(original)
  for (const { pair, workloads } of TABLES) {
    const chosen = workloads.filter(isChosen)
    if (chosen.length === 0) continue
    const ports = new Map<Side, number>()
    for (const side of pair) ports.set(side, await start(side, original))
    console.log(heading(PLAYERS, plan, pair))
    for (const workload of chosen) console.log(row(workload, await measure(workload, pair, ports, plan)))
    console.log()
  }
} finally {
  await tidy()
}
