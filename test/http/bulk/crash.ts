// Bulk writes are all or nothing: a process that is killed in the middle of bulk creates leaves each of them whole or not
// at all.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { likeThis } from '../../support/program.js'

const PROGRAM = fileURLToPath(new URL('../../support/bulkServer.js', import.meta.url))
const BATCHES = 80
const SIZE = 100
const ENOUGH = 20

interface Server {
  readonly url: string
  readonly child: ChildProcess
}

async function start(storage: string, ...more: readonly string[]): Promise<Server> {
  const child = spawn(process.execPath, [...likeThis, PROGRAM, storage, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const url of createInterface({ input: child.stdout })) return { url, child }
  throw new Error('the server ended before it listened')
}

async function ended({ child }: Server): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function kill(server: Server): Promise<void> {
  server.child.kill('SIGKILL')
  await ended(server)
}

/** Creates the rows of a batch; true when the server said that they are there. */
async function createBatch(url: string, batch: number): Promise<boolean> {
  const rows = Array.from({ length: SIZE }, (_, place) => ({ batch, place }))
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/api/rows/bulk`, { method: 'POST', headers, body: JSON.stringify(rows) })
    await response.text()
    return response.status === 201
  } catch {
    return false
  }
}

async function countOf(url: string, parameters: string): Promise<number> {
  const response = await fetch(`${url}/api/rows?count=true${parameters}`)
  const { count } = (await response.json()) as { count: number }
  return count
}

const WAYS: readonly (readonly [title: string, ...more: readonly string[]])[] = [
  ['in one statement'],
  ['row by row, with hooks', String(ENOUGH)],
]

for (const [title, ...more] of WAYS) {
  test(`of ${BATCHES} bulk creates of ${SIZE} rows ${title}, each is there whole or not at all after SIGKILL`, async (t) => {
    const storage = join(tmpdir(), `crash_${process.pid}_${randomBytes(4).toString('hex')}.sqlite`)
    const started: Server[] = []
    try {
      const first = await start(storage, ...more)
      started.push(first)
      const told = new Set<number>()
      const batches = Array.from({ length: BATCHES }, async (_, batch) => {
        if (!(await createBatch(first.url, batch))) return
        told.add(batch)
        // With hooks the server kills itself, half-way through a batch.
        if (more.length === 0 && told.size === ENOUGH) await kill(first)
      })
      await Promise.all(batches)
      await ended(first)
      t.is(first.child.signalCode, 'SIGKILL')
      t.true(told.size > 0 && told.size < BATCHES, `${told.size} batches were answered`)

      const second = await start(storage)
      started.push(second)
      let total = 0
      for (let batch = 0; batch < BATCHES; batch++) {
        const count = await countOf(second.url, `&batch=${batch}`)
        t.true(count === SIZE || count === 0, `batch ${batch} has ${count} rows`)
        if (told.has(batch)) t.is(count, SIZE, `batch ${batch} was answered with 201`)
        total += count
      }
      t.is(await countOf(second.url, ''), total)
      t.true(await createBatch(second.url, BATCHES))
      t.is(await countOf(second.url, ''), total + SIZE)
    } finally {
      for (const server of started) await kill(server)
      for (const suffix of ['', '-wal', '-shm']) await rm(storage + suffix, { force: true })
    }
  })
}
