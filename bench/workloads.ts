import type { Call, Client } from './client.js'
import { generator, PLAYERS, playerBody } from './data.js'
import type { Peer } from './peers/packages.js'
import { placeOf } from './servers/sql/service.js'

/** Servers that are compared. */
export type Side = 'bare' | 'sql' | 'hand' | 'router' | 'beside' | 'plain' | 'behaviours' | Peer

/** A workload of the table. All servers do equal work, each in its own interface. */
export interface Workload {
  readonly name: string
  /** Number of requests per round, equal for all servers. A round takes some tenths of a second. */
  readonly requests: number
  /** Sends one request at a time. Needed for work that SQLite cannot do concurrently. */
  readonly sequential?: true
  /**
   * Returns a function that creates the requests of a server. `next` counts over all rounds, so that requests differ.
   */
  readonly calls: (side: Side, client: Client) => Promise<(next: number) => Call> | ((next: number) => Call)
  /** Headers of every request, such as credentials. */
  readonly headers?: Readonly<Record<string, string>>
  /** Number of first requests whose responses are compared. Default: 1. */
  readonly compared?: number
  /** Part of the response that must be equal on all servers. Default: the whole body. */
  readonly same?: (text: string, head: string) => string
}

export function get(path: string): Call {
  return { method: 'GET', path }
}

/** Whether a server is this package, which receives requests in its query language. */
function isOwn(side: Side): boolean {
  return side === 'router' || side === 'beside'
}

/** Creates requests for one fixed page. `own` is the path for this package, and `byHand` for other servers. */
function page(byHand: string, own: string): Workload['calls'] {
  return (side) => () => get(isOwn(side) ? own : byHand)
}

export function query(path: string, parameters: Readonly<Record<string, string>>): string {
  return `${path}?${new URLSearchParams(parameters)}`
}

/** Creates a function that changes a JSON body before bodies are compared. */
export function json(change: (body: unknown) => unknown): (text: string) => string {
  return (text) => JSON.stringify(change(JSON.parse(text)))
}

/** Removes time stamps, which differ between servers. */
function exceptStamps(text: string): string {
  return text.replace(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":""')
}

/** Sorts members. Sequelize returns the members of a new record in the order of assignment. */
const exceptOrder = json((body) => {
  const sorted = (record: object): object =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
  const { createdAt, updatedAt, ...rest } = Object(body)
  return Array.isArray(body) ? body.map(({ createdAt, updatedAt, ...each }) => sorted(each)) : sorted(rest)
})

/** Sorts members of nested records. Removes the members `@more`, which handwritten servers lack. */
const exceptOrderWithin = json((body) => sortedWithin(body))

export function sortedWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedWithin)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => !/^(?:createdAt|updatedAt)$|@more$/.test(name))
  return Object.fromEntries(
    members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, sortedWithin(each)]),
  )
}

/** Keeps only the levels of a page, because the order of records with equal levels is undefined. */
const levelsAlone = json((body) => {
  const { items, ...page } = Object(body) as { readonly items: readonly { readonly level: number }[] }
  return { ...page, items: items.map(({ level }) => level) }
})

/** Removes the cursor, which is a token in some servers and a key in others. */
function exceptCursor(text: string): string {
  return text.replace(/"nextCursor":(?:"[^"]*"|\d+)/, '"nextCursor":0')
}

const DEPTH = 90_000

/**
 * Cursor after `depth` records. Only the previous page contains an opaque cursor, so pages of the maximum size are read
 * up to that depth.
 */
export async function cursorAt(depth: number, client: Client): Promise<string> {
  let cursor = ''
  for (let seen = 0; seen < depth; seen += 1000) {
    const { text } = await client.request(get(query('/api/players', { cursor, pageSize: '1000' })))
    const found: unknown = Object(JSON.parse(text)).nextCursor
    if (typeof found !== 'string') throw new Error(`no cursor after ${seen + 1000} players`)
    cursor = found
  }
  return cursor
}

function keyset(depth: number): Workload {
  return {
    name: `keyset page after ${depth.toLocaleString('en')}`,
    requests: 1000,
    calls: async (side, client) => {
      const after = isOwn(side) ? { cursor: await cursorAt(depth, client) } : { after: String(depth) }
      return () => get(query('/api/players', after))
    },
    same: exceptCursor,
  }
}

/** Removes cursors, which are tokens in some servers and keys in others. */
function exceptCursors(text: string): string {
  return text.replace(/"(next|previous)Cursor":(?:"[^"]*"|\d+)/g, '"$1Cursor":0')
}

/** Keyset page in the order of levels. Many records have equal levels. */
function keysetByLevel(depth: number): Workload {
  const path = '/api/players'
  const own = async (client: Client): Promise<string> => {
    let after = ''
    for (let seen = 0; seen < depth; ) {
      const size = Math.min(1000, depth - seen)
      const { text } = await client.request(get(query(path, { after, sort: '-level', pageSize: String(size) })))
      after = Object(JSON.parse(text)).nextCursor
      seen += size
    }
    return query(path, { after, sort: '-level' })
  }
  const byHand = async (client: Client): Promise<string> => {
    const { text } = await client.request(get(query(path, { sort: '-level', page: String(depth), pageSize: '1' })))
    const [{ level, id }] = Object(JSON.parse(text)).items
    return query(path, { afterLevel: placeOf({ level, id }) ?? '' })
  }
  return {
    name: `keyset page by -level after ${depth.toLocaleString('en')}`,
    requests: 500,
    calls: async (side, client) => {
      const target = await (isOwn(side) ? own(client) : byHand(client))
      return () => get(target)
    },
    same: exceptCursors,
  }
}

/** Distinct keys. `count` is their number. */
function keysOf(random: (limit: number) => number, count: number): number[] {
  const keys = new Set<number>()
  while (keys.size < count) keys.add(1 + random(PLAYERS))
  return [...keys]
}

const getById = (next: number): Call => get(`/api/players/${1 + generator(next)(PLAYERS)}`)

const create = (next: number): Call => ({
  method: 'POST',
  path: '/api/players',
  body: JSON.stringify(playerBody(generator(next))),
})

const patch = (next: number): Call => {
  const random = generator(next)
  const id = 1 + random(PLAYERS)
  const { level, email } = playerBody(random)
  return { method: 'PATCH', path: `/api/players/${id}`, body: JSON.stringify({ level, email }) }
}

const createTeam = (next: number): Call => {
  const random = generator(next)
  const players = Array.from({ length: 20 }, () => {
    const { name, level, email } = playerBody(random)
    return { name, level, email }
  })
  const body = { name: `Team ${1000 + next}`, description: null, maxMembers: 20, players }
  return { method: 'POST', path: '/api/teams', body: JSON.stringify(body) }
}

const WITH_PLAYERS = [
  query('/api/teams', { players: '5' }),
  query('/api/teams', { select: '*,Players(*)', 'players.limit': '5' }),
] as const

const SORTED = [
  query('/api/players', { minLevel: '50', sort: '-level' }),
  query('/api/players', { filter: 'level>50', sort: '-level' }),
] as const

/** Paths of one page in the order of levels. Handwritten servers sort equal levels by ascending keys. */
const SORTED_FREELY = [query('/api/players', { minLevel: '50', sort: '-level,id' }), SORTED[1]] as const

const TO_ONE = [
  query('/api/players', { team: 'Team 7', minLevel: '50', sort: '-level' }),
  query('/api/players', { filter: 'Team.Name=Team 7,Level>50', sort: '-Level' }),
] as const

const DEEP = query('/api/players', { page: String(DEPTH / 20), count: 'none' })
const UNCOUNTED = [DEEP, DEEP] as const

export const WORKLOADS: readonly Workload[] = [
  { name: 'get by id', requests: 2000, calls: () => getById },
  { name: 'first page, total', requests: 500, calls: page('/api/players', '/api/players') },
  { name: 'filtered, sorted, total', requests: 200, calls: page(...SORTED) },
  {
    name: 'filtered, sorted, total, ties as by hand',
    requests: 200,
    calls: page(...SORTED_FREELY),
    same: levelsAlone,
  },
  { name: 'to-one filter, sorted, total', requests: 500, calls: page(...TO_ONE) },
  {
    name: 'to-many filter, total',
    requests: 500,
    calls: page(query('/api/teams', { playerLevelOver: '95' }), query('/api/teams', { filter: 'Players.Level>95' })),
  },
  { name: '20 teams, 5 players each, total', requests: 100, calls: page(...WITH_PLAYERS), same: exceptOrderWithin },
  keyset(1000),
  keyset(DEPTH),
  {
    name: `offset page at ${DEPTH.toLocaleString('en')}, total`,
    requests: 100,
    calls: page(
      query('/api/players', { page: String(DEPTH / 20) }),
      query('/api/players', { page: String(DEPTH / 20) }),
    ),
  },
  keysetByLevel(10),
  keysetByLevel(DEPTH),
  {
    name: 'first page, count=none',
    requests: 500,
    calls: page(query('/api/players', { count: 'none' }), query('/api/players', { count: 'none' })),
  },
  {
    name: `page at ${DEPTH.toLocaleString('en')}, count=none`,
    requests: 100,
    calls: page(...UNCOUNTED),
  },
  {
    name: 'export of 8,000 rows as JSON lines',
    requests: 3,
    sequential: true,
    calls: page(
      query('/api/players', { format: 'jsonl', minLevel: '90' }),
      query('/api/players', { format: 'jsonl', filter: 'level>90' }),
    ),
  },
  {
    name: 'bulk update of 100',
    requests: 20,
    sequential: true,
    calls: () => (next) => {
      const random = generator(next)
      const body = JSON.stringify(
        keysOf(random, 100).map((id) => ({ id, level: 1 + random(100), email: `p${next}@example.com` })),
      )
      return { method: 'PATCH', path: '/api/players/bulk', body }
    },
    same: exceptStamps,
  },
  { name: 'create', requests: 800, calls: () => create, same: exceptOrder },
  { name: 'patch', requests: 800, calls: () => patch, same: exceptStamps },
  {
    name: 'create a team with 20 players',
    requests: 100,
    sequential: true,
    calls: () => createTeam,
    same: exceptOrderWithin,
  },
  {
    name: 'mixed, 80% reads',
    requests: 500,
    calls: (side) => (next) => {
      const own = isOwn(side) ? 1 : 0
      const work = [
        getById,
        getById,
        () => get('/api/players'),
        () => get(TO_ONE[own]),
        next % 2 === 0 ? create : patch,
      ]
      return (work[next % work.length] ?? getById)(next)
    },
    same: exceptStamps,
  },
  {
    name: 'bulk create of 1,000',
    requests: 5,
    sequential: true,
    calls: () => (next) => {
      const random = generator(next)
      const body = JSON.stringify(Array.from({ length: 1000 }, () => playerBody(random)))
      return { method: 'POST', path: '/api/players/bulk', body }
    },
    same: exceptOrder,
  },
]
