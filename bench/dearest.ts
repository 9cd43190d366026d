// `npm run bench:dearest` measures the most expensive requests within the default limits, on tables with a million
// rows. Requests run one at a time. Prints a table and removes its database.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import express, { type Express } from 'express'
import type { Options } from 'sequelize'
import { crudRouter, Operations } from '../lib/index.js'
import { onServer, serverOptions } from '../test/support/servers.js'
import { parseOrExit } from '../test/support/usage.js'
import { type Database, isDatabase } from './databases.js'
import { type Crowd, defineCrowd, fillCrowd } from './dearest/models.js'

const USAGE = `npm run bench:dearest -- [options]
  --database <name>  sqlite, mysql (by mysql2, whatever server answers) or postgres [sqlite]
  --rows <n>         people, and awards [1000000]
  --seconds <n>      what takes longer is ended [20]
  --times <n>        how often each is sent; the best is printed [2]`

const { database, rows, seconds, times } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({
    options: {
      database: { type: 'string', default: 'sqlite' },
      rows: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '20' },
      times: { type: 'string', default: '2' },
    },
  })
  if (!isDatabase(values.database))
    throw new RangeError(`--database ${values.database} is none of sqlite, mysql and postgres`)
  const numbers = { rows: Number(values.rows), seconds: Number(values.seconds), times: Number(values.times) }
  for (const [name, value] of Object.entries(numbers)) {
    if (!(Number.isSafeInteger(value) && value > 0)) throw new RangeError(`--${name} must be a whole number from 1`)
  }
  return { database: values.database, ...numbers }
})

type Parameters = Readonly<Record<string, string>>

function repeated(count: number, clause: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => clause(index)).join('|')
}

const REQUESTS: readonly (readonly [name: string, parameters: Parameters, path?: string])[] = [
  ['a page and its total', {}],
  ['a page at the end', { page: String(Math.ceil(rows / 20)) }],
  ['`sort=Bio`, without an index', { sort: 'Bio' }],
  ['`sort=Club.Country.Name`', { sort: 'Club.Country.Name' }],
  ['`sort=-Awards.Count`', { sort: '-Awards.Count' }],
  ['`Bio=*zzz`', { filter: 'Bio=*zzz' }],
  ['`Bio=*zzz/i`', { filter: 'Bio=*zzz/i' }],
  ['ten `Bio=*`, by `\\|`', { filter: repeated(10, (index) => `Bio=*zz${index}`) }],
  ['fifty `Bio=*`, by `\\|`', { filter: repeated(50, (index) => `Bio=*zz${index}`) }],
  ['a hundred `Points=`, without an index, by `\\|`', { filter: repeated(100, (index) => `Points=${index * 977}`) }],
  ['a search of one word in five fields', { search: 'zzz' }],
  ['`Awards.Points>5000`', { filter: 'Awards.Points>5000' }],
  ['`Awards.Count>20`', { filter: 'Awards.Count>20' }],
  ['`Pupils.Count(Awards.Count>20)>20`', { filter: 'Pupils.Count(Awards.Count>20)>20' }],
  ['ten quantifiers with a `=*` each, by `\\|`', { filter: repeated(10, (index) => `Awards.Any(Name=*zz${index})`) }],
  ['`Clubs.Any(People.Any(Bio=*zzz))` on countries', { filter: 'Clubs.Any(People.Any(Bio=*zzz))' }, 'countries'],
  [
    'five `Pupils.Any(Awards.Count(Name=*)>3)`, by `\\|`',
    { filter: repeated(5, (index) => `Pupils.Any(Awards.Count(Name=*zz${index})>3)`) },
  ],
  ['groups by a field of many values', { group: 'name', aggregate: 'count' }],
  ['`select` of 100 × 100 records', { select: 'name,People(name)', pageSize: '100', 'people.limit': '100' }, 'clubs'],
  [
    'countries, clubs, people and awards in one `select`',
    { select: 'name,Clubs(name,People(name,Awards(name)))' },
    'countries',
  ],
]

/** Creates an empty database for this program. */
async function openEmptyDatabase(
  name: Database,
): Promise<{ readonly options: Options; readonly remove: () => Promise<void> }> {
  if (name === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-dearest-'))
    return {
      options: { dialect: 'sqlite', storage: join(folder, 'dearest.sqlite') },
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  }
  const own = `crud_dearest_${randomBytes(6).toString('hex')}`
  await onServer(name, `CREATE DATABASE ${own}${name === 'mysql' ? ' CHARACTER SET utf8mb4' : ''}`)
  return {
    options: { ...serverOptions(name), database: own },
    remove: () => onServer(name, `DROP DATABASE IF EXISTS ${own}`),
  }
}

/** Creates an application with the default limits and a statement timeout. */
function applicationOf({ Country, Club, Person, Award }: Crowd): Express {
  const limits = { statementTime: seconds * 1000 }
  const shared = { limits, operations: Operations.All | Operations.Aggregate, onError: () => undefined }
  const app = express()
  app.use(crudRouter(Country, { ...shared, route: '/countries' }))
  app.use(crudRouter(Club, { ...shared, route: '/clubs' }))
  app.use(crudRouter(Award, { ...shared, route: '/awards' }))
  const search = ['name', 'bio', 'city', 'street', 'club.name']
  app.use(crudRouter(Person, { ...shared, route: '/people', query: { search } }))
  return app
}

interface Measured {
  readonly seconds: number
  readonly status: number
}

async function measureRequest(url: string): Promise<Measured> {
  const start = performance.now()
  const response = await fetch(url)
  const text = await response.text()
  if (response.status !== 200 && Object(JSON.parse(text)).code !== 'timeout') throw new Error(`${url}\n${text}`)
  return { seconds: (performance.now() - start) / 1000, status: response.status }
}

const { options, remove } = await openEmptyDatabase(database)
const crowd = defineCrowd(options)
const tidy = async (): Promise<void> => {
  await crowd.sequelize.close().catch(() => undefined)
  await remove()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => tidy().finally(() => process.exit(1)))

try {
  if (database === 'sqlite') await crowd.sequelize.query('PRAGMA journal_mode = WAL')
  await fillCrowd(crowd, rows)
  const server = createServer(applicationOf(crowd)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  console.log(`${rows.toLocaleString('en')} people and awards on ${database}, seconds, the best of ${times}.\n`)
  console.log('| Request | Seconds |\n|---|---:|')
  for (const [name, parameters, path = 'people'] of REQUESTS) {
    const url = `${origin}/${path}?${new URLSearchParams(parameters)}`
    let best: Measured = await measureRequest(url)
    for (let time = 1; time < times && best.status === 200; time += 1) {
      const next = await measureRequest(url)
      if (next.status === 200 && next.seconds < best.seconds) best = next
    }
    console.log(`| ${name} | ${best.status === 200 ? best.seconds.toFixed(1) : `> ${seconds}`} |`)
  }
  server.closeAllConnections()
  server.close()
} finally {
  await tidy()
}
