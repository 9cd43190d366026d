// `npm run bench:drivers` compares the SQLite drivers: sqlite3 and the package's own driver over `node:sqlite`. Each
// driver runs in its own process, on a file of 200,000 records. Prints a table.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { numberFrom, parseOrExit } from '../test/support/usage.js'
import type { Used } from './drivers/server.js'

const USAGE = `Usage: npm run bench:drivers -- [options]
  --requests <number>  requests of each kind [400]`

const requests = parseOrExit(USAGE, () => {
  const { values } = parseArgs({ options: { requests: { type: 'string', default: '400' } } })
  return numberFrom('requests', values.requests)
})

/** Number of concurrent requests. */
const WIDTH = 4

interface Row {
  readonly name: string
  /** Factor for the number of requests. Expensive requests have a small factor. */
  readonly share: number
  readonly method?: string
  readonly path: (index: number) => string
  readonly body?: (index: number) => unknown
}

const ROWS: readonly Row[] = [
  { name: 'GET by id', share: 1, path: (index) => `/players/${1 + index}` },
  { name: 'a page of 25, with a filter', share: 1, path: (index) => `/players?filter=Level=${index % 100}&cursor=` },
  { name: 'the same with the team', share: 1, path: () => '/players?filter=Level<50&select=name,team(name)&cursor=' },
  { name: 'PATCH', share: 1, method: 'PATCH', path: (index) => `/players/${1 + index}`, body: () => ({ level: 3 }) },
  {
    name: 'POST',
    share: 1,
    method: 'POST',
    path: () => '/players',
    body: () => ({ name: 'New', level: 1, teamId: 1 }),
  },
  {
    name: 'bulk create of 100',
    share: 0.1,
    method: 'POST',
    path: () => '/players/bulk',
    body: () => Array.from({ length: 100 }, (_, row) => ({ name: `New ${row}`, level: 1, teamId: 1 })),
  },
  { name: 'a filter that reads the table', share: 0.02, path: () => '/players?filter=Name=*7777&count=true' },
]

async function measureRow(child: ChildProcess, port: number, row: Row): Promise<{ each: number; longest: number }> {
  const count = Math.max(4, Math.round(requests * row.share))
  let next = 0
  const sender = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const body = row.body === undefined ? {} : { body: JSON.stringify(row.body(index)) }
      const headers = { 'content-type': row.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
      const url = `http://127.0.0.1:${port}/api${row.path(index)}`
      const answer = await fetch(url, { method: row.method ?? 'GET', headers, ...body })
      if (!answer.ok) throw new Error(`${row.name}: ${answer.status} ${await answer.text()}`)
      await answer.arrayBuffer()
    }
  }
  child.send('begin')
  await once(child, 'message')
  await Promise.all(Array.from({ length: WIDTH }, sender))
  child.send('end')
  const [used]: Used[] = await once(child, 'message')
  return { each: (used?.microseconds ?? 0) / count, longest: used?.longest ?? 0 }
}

const path = fileURLToPath(new URL('./drivers/server.js', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'drivers-'))
const figures = new Map<string, number[]>()
try {
  for (const driver of ['sqlite3', 'node:sqlite']) {
    const env = { ...process.env, NODE_ENV: 'production' }
    const child = fork(path, [driver, join(folder, `${driver.replace(':', '-')}.sqlite`)], { env })
    try {
      const [{ port }] = await once(child, 'message')
      // The first pass is not measured, because it compiles code that later requests use.
      for (const isMeasured of [false, true]) {
        for (const row of ROWS) {
          const { each, longest } = await measureRow(child, port, row)
          if (isMeasured) figures.set(row.name, [...(figures.get(row.name) ?? []), each, longest])
        }
      }
    } finally {
      child.kill()
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

console.log('| Request | sqlite3, CPU us | loop, ms | node:sqlite, CPU us | loop, ms |\n|---|---:|---:|---:|---:|')
for (const [name, each] of figures) console.log(`| ${name} | ${each.map((figure) => Math.round(figure)).join(' | ')} |`)
