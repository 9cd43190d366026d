// Sends endless distinct request shapes. Caches must stay bounded in the process, in SQLite and on PostgreSQL
// connections.

import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Options } from 'sequelize'
import { onServer, serverOptions } from '../../test/support/servers.js'
import { Client } from '../client.js'
import type { Database } from '../databases.js'
import { get, query } from '../workloads.js'
import { type Sample, size, slope } from './report.js'
import type { ShapesAnswers } from './shapesApplication.js'

export interface Shapes {
  readonly database: Database
  /** Number of shapes. Each shape is sent once, and every tenth shape is sent six times. */
  readonly count: number
  readonly minutes: number
}

type Named = Sample & { readonly names: number }

const SAMPLES = 20
/** Maximum factor by which the heap may grow in the second half of a run. */
const FLAT = 1.05
/** Maximum factor by which the resident memory may grow. Resident memory fluctuates by a tenth. */
const FLAT_RSS = 1.15
/** Maximum number of prepared statements on a connection. Some of them are no longer used, but not deallocated yet. */
const NAMES = 250

const COMPARISONS = ['level', 'teamId', 'name', 'email'].flatMap((field) =>
  ['=', '!=', '>', '>=', '<', '<='].map((operator) => `${field}${operator}${field === 'name' ? 'x' : '50'}`),
)
const SORTS = ['level', '-level', 'name', '-name', 'email', '-email', 'level,-name', '-teamId']
const COUNTS = ['none', 'exact']
// The stride is prime, so that consecutive requests have nothing in common.
const STRIDE = 7919

/** Writes the n-th request. Each request has a unique shape. */
export function createRequest(index: number): string {
  let remaining = (index * STRIDE) % (COMPARISONS.length ** 3 * SORTS.length * COUNTS.length)
  const pick = (of: readonly string[]): string => {
    const at = remaining % of.length
    remaining = Math.floor(remaining / of.length)
    return of[at] ?? ''
  }
  const [one, two, three] = [pick(COMPARISONS), pick(COMPARISONS), pick(COMPARISONS)]
  const sort = pick(SORTS)
  return query('/api/players', { filter: `${one}|(${two},${three})`, sort, count: pick(COUNTS), pageSize: '3' })
}

async function openDatabase(database: Database): Promise<{ options: Options; remove: () => Promise<void> }> {
  if (database === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-shapes-'))
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
    return { options: { dialect: 'sqlite', storage: join(folder, 'shapes.sqlite') }, remove }
  }
  const name = `crud_shapes_${randomBytes(6).toString('hex')}`
  await onServer(database, `CREATE DATABASE ${name}`)
  const remove = (): Promise<void> => onServer(database, `DROP DATABASE ${name}`)
  return { options: { ...serverOptions(database), database: name, pool: { max: 4 } }, remove }
}

async function requestSample(child: ChildProcess): Promise<Named> {
  child.send('sample')
  const { sample } = await nextMessage(child)
  if (sample === undefined) throw new Error('the application gave no sample')
  return { ...sample, minute: 0 }
}

async function nextMessage(child: ChildProcess): Promise<ShapesAnswers> {
  const [answers]: ShapesAnswers[] = await once(child, 'message')
  return answers ?? {}
}

/** Runs the test. Returns whether memory was flat. */
export async function soakShapes({ database, count, minutes }: Shapes): Promise<boolean> {
  const { options, remove } = await openDatabase(database)
  const script = fileURLToPath(new URL('./shapesApplication.js', import.meta.url))
  const child = fork(script, [JSON.stringify(options)], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  try {
    const { port = 0 } = await nextMessage(child)
    const client = new Client(port, 4, {})
    console.log(`${database}: ${count.toLocaleString('en')} shapes in ${minutes} minutes`)
    const start = performance.now()
    const samples: Named[] = []
    for (let step = 0; step < SAMPLES; step += 1) {
      const from = Math.floor((count * step) / SAMPLES)
      const to = Math.floor((count * (step + 1)) / SAMPLES)
      for (let first = from; first < to; first += 500) {
        const paths = Array.from({ length: Math.min(500, to - first) }, (_, at) => {
          const path = createRequest(first + at)
          return (first + at) % 10 === 0 ? Array<string>(6).fill(path) : [path]
        }).flat()
        await client.run(paths.map(get))
      }
      // The number of names is read at once, because the pool closes idle connections. A closed connection has no
      // names.
      const { names } = await requestSample(child)
      const due = start + (minutes * 60_000 * (step + 1)) / SAMPLES
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      const sample = { ...(await requestSample(child)), names, minute: (performance.now() - start) / 60_000 }
      samples.push(sample)
      console.log(`${sample.minute.toFixed(1)} min, ${to} shapes: ${size(sample)}, ${sample.names} names`)
    }
    return isFlat(samples)
  } finally {
    child.kill()
    await remove()
  }
}

function isFlat(samples: readonly Named[]): boolean {
  const steady = samples.slice(SAMPLES / 2)
  const [first] = steady
  const last = steady.at(-1)
  if (first === undefined || last === undefined) return false
  const minutes = last.minute - first.minute
  const grown = (of: (sample: Sample) => number): number => 1 + (slope(steady, of) * minutes) / of(first)
  const [heap, rss] = [grown(({ heap }) => heap), grown(({ rss }) => rss)]
  const names = Math.max(...samples.map((sample) => sample.names))
  console.log(`second half: heap × ${heap.toFixed(3)}, rss × ${rss.toFixed(3)}; at most ${names} names a connection`)
  const isClean = heap < FLAT && rss < FLAT_RSS && names <= NAMES
  console.log(isClean ? 'flat' : 'NOT flat')
  return isClean
}
