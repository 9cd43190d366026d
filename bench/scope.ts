// `npm run bench:scope` measures the cost of scopes, compared with handwritten Sequelize. `KINDS` lists the measured
// scopes. Responses must be equal before the measurement. Prints a table and removes its files.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { parseArgs } from 'node:util'
import type { Express } from 'express'
import { isDatabaseName } from '../test/support/servers.js'
import { numberFrom, parseOrExit } from '../test/support/usage.js'
import { type Call, Client } from './client.js'
import { openEmpty } from './export/database.js'
import { byHand, KINDS, type Kind, withRouter } from './scope/applications.js'
import { defineWorld, fillWorld, USERS } from './scope/models.js'
import { get } from './workloads.js'

const USAGE = `Usage: npm run bench:scope -- [options]
  --database <name>  sqlite, mariadb, mysql (by mysql2) or postgres [sqlite]
  --rows <n>         tickets [100000]
  --rounds <n>       rounds for each request [7]`

const { database, rows, rounds } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({
    options: {
      database: { type: 'string', default: 'sqlite' },
      rows: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '7' },
    },
  })
  const { database } = values
  if (!isDatabaseName(database))
    throw new RangeError(`--database ${database} is none of sqlite, mariadb, mysql and postgres`)
  return { database, rows: numberFrom('rows', values.rows), rounds: numberFrom('rounds', values.rounds) }
})

/** Ids of the callers. Requests use the callers in turn. */
const CALLERS = Array.from({ length: 10 }, (_, index) => 1 + ((index * 487) % USERS))

/** A request for a ticket that the caller may see. */
interface TicketRequest {
  readonly name: string
  readonly call: (id: number, turn: number) => Call
}

const REQUESTS: readonly TicketRequest[] = [
  { name: 'first page, total', call: () => get('/api/tickets') },
  { name: 'count', call: () => get('/api/tickets?count=true') },
  { name: 'get by id', call: (id) => get(`/api/tickets/${id}`) },
  {
    name: 'patch',
    call: (id, turn) => ({ method: 'PATCH', path: `/api/tickets/${id}`, body: JSON.stringify({ level: turn % 10 }) }),
  },
]

interface Running {
  readonly clients: readonly Client[]
  readonly close: () => void
}

async function startServer(app: Express): Promise<Running> {
  const server: Server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    clients: CALLERS.map((user) => new Client(port, 1, { 'x-user': String(user) })),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Listed {
  readonly items: readonly { readonly id: number }[]
  readonly totalCount: number
}

/** Finds the first ticket of each caller. @throws Error if the responses of the two services differ */
async function firstTickets({ clients }: Running, hand: Running): Promise<readonly number[]> {
  return Promise.all(
    clients.map(async (client, index) => {
      const call = get('/api/tickets')
      const [own, other] = await Promise.all([client.request(call), hand.clients[index]?.request(call)])
      const [one, two]: readonly [Listed, Listed] = [JSON.parse(own.text), JSON.parse(other?.text ?? '{}')]
      const isSame = one.totalCount === two.totalCount && JSON.stringify(one.items) === JSON.stringify(two.items)
      if (!isSame) throw new Error(`the answers differ:\n${own.text}\n${other?.text}`)
      return one.items[0]?.id ?? 0
    }),
  )
}

/** Number of requests per caller in a round. */
const IN_A_ROUND = 5

/** Median duration of a request in a round, in milliseconds. */
async function round(
  { clients }: Running,
  { call }: TicketRequest,
  ids: readonly number[],
  turn: number,
): Promise<number> {
  const all: number[] = []
  for (const [index, client] of clients.entries()) {
    const calls = Array.from({ length: IN_A_ROUND }, (_, nth) => call(ids[index] ?? 0, turn + nth))
    all.push(...(await client.run(calls)).latencies)
  }
  return median(all)
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}

async function measureKind(kind: Kind): Promise<readonly string[]> {
  const [router, hand] = [await startServer(withRouter(world, kind)), await startServer(byHand(world, kind))]
  try {
    const ids = await firstTickets(router, hand)
    const lines: string[] = []
    for (const request of REQUESTS) {
      const [own, other]: [number[], number[]] = [[], []]
      // The first two rounds are not measured, because V8 compiles frequent code during them.
      for (let turn = -2; turn < rounds; turn += 1) {
        const times = [
          await round(hand, request, ids, turn + 10),
          await round(router, request, ids, turn + 10),
        ] as const
        if (turn < 0) continue
        other.push(times[0])
        own.push(times[1])
      }
      const [byRouter, bySequelize] = [median(own), median(other)]
      const cells = [bySequelize.toFixed(2), byRouter.toFixed(2), (bySequelize / byRouter).toFixed(2)]
      lines.push(`| ${kind.name} | ${request.name} | ${cells.join(' | ')} |`)
    }
    return lines
  } finally {
    router.close()
    hand.close()
  }
}

const empty = await openEmpty(database)
const world = defineWorld(empty.options)
try {
  await fillWorld(world, rows)
  console.log(`${rows.toLocaleString('en')} tickets on ${database}, milliseconds of a request, medians.\n`)
  console.log('| scope | request | Sequelize by hand | router | ratio |\n|---|---|---:|---:|---:|')
  for (const kind of KINDS) for (const line of await measureKind(kind)) console.log(line)
} finally {
  await world.sequelize.close()
  await empty.remove()
}
