import type { Call, Client } from './client.js'
import { generator, PLAYERS, playerBody } from './data.js'

/** The servers that are held against each other, two in each table. */
export type Side = 'hand' | 'router' | 'plain' | 'behaviours'

/** One of two servers, and the other. */
export type Pair = readonly [measured: Side, against: Side]

/** One row of the table. Both servers get the same work, each in the words of its own interface. */
export interface Workload {
  readonly name: string
  /** Requests in one round, the same number for both servers: a few tenths of a second. */
  readonly requests: number
  /** Only one at a time: for what SQLite cannot do side by side. */
  readonly sequential?: true
  /** Makes the requests of a side. `next` continues over all rounds, so that no two requests are the same. */
  readonly calls: (side: Side, client: Client) => Promise<(next: number) => Call> | ((next: number) => Call)
  /** Headers of every request, such as credentials. */
  readonly headers?: Readonly<Record<string, string>>
  /** What has to be equal in the answers of both; without it, everything. */
  readonly same?: (body: unknown) => unknown
}

export function get(path: string): Call {
  return { method: 'GET', path }
}

/** One fixed page for each side. */
function page(paths: Readonly<Partial<Record<Side, string>>>): Workload['calls'] {
  return (side) => () => get(paths[side] ?? '')
}

export function query(path: string, parameters: Readonly<Record<string, string>>): string {
  return `${path}?${new URLSearchParams(parameters)}`
}

/** All properties of an object but some. */
function without(...names: readonly string[]): (body: unknown) => unknown {
  const drop = (body: unknown): unknown =>
    Array.isArray(body)
      ? body.map(drop)
      : Object.fromEntries(Object.entries(Object(body)).filter(([name]) => !names.includes(name)))
  return drop
}

const exceptStamps = without('createdAt', 'updatedAt')

const DEPTH = 90_000

/** Walks to the depth in the largest steps, because a cursor is opaque and only a page before it can tell it. */
export async function cursorAt(depth: number, client: Client): Promise<string> {
  let cursor = ''
  for (let seen = 0; seen < depth; seen += 1000) {
    const { body } = await client.ask(get(query('/api/players', { cursor, pageSize: '1000' })))
    const found = typeof body === 'object' && body !== null && 'nextCursor' in body ? body.nextCursor : undefined
    if (typeof found !== 'string') throw new Error(`no cursor after ${seen + 1000} players`)
    cursor = found
  }
  return cursor
}

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'get by id',
    requests: 800,
    calls: () => (next) => get(`/api/players/${1 + generator(next)(PLAYERS)}`),
  },
  {
    name: 'first page',
    requests: 200,
    calls: page({ hand: '/api/players', router: '/api/players' }),
  },
  // By hand the last key is mostly written ascending, which makes the database sort all it found. The router lets it
  // follow the direction before it; the second row is for whoever knows to do the same.
  {
    name: 'filtered and sorted page (key up)',
    requests: 150,
    calls: page({
      hand: query('/api/players', { minLevel: '50', sort: '-level', key: 'asc' }),
      router: query('/api/players', { filter: 'level>50', sort: '-level' }),
    }),
    same: without('items'),
  },
  {
    name: 'filtered and sorted page (key down)',
    requests: 150,
    calls: page({
      hand: query('/api/players', { minLevel: '50', sort: '-level' }),
      router: query('/api/players', { filter: 'level>50', sort: '-level' }),
    }),
  },
  {
    name: 'to-one filter, sorted',
    requests: 200,
    calls: page({
      hand: query('/api/players', { team: 'Team 7', minLevel: '50', sort: '-level' }),
      router: query('/api/players', { filter: 'Team.Name=Team 7,Level>50', sort: '-Level' }),
    }),
  },
  // By hand there are two ways: SQL in a literal, which is quicker, and the one of Sequelize's manual.
  {
    name: 'to-many filter (EXISTS)',
    requests: 200,
    calls: page({
      hand: query('/api/teams', { playerLevelOver: '95', by: 'exists' }),
      router: query('/api/teams', { filter: 'Players.Level>95' }),
    }),
  },
  {
    name: 'to-many filter (include)',
    requests: 50,
    calls: page({
      hand: query('/api/teams', { playerLevelOver: '95', by: 'include' }),
      router: query('/api/teams', { filter: 'Players.Level>95' }),
    }),
  },
  {
    name: 'keyset page at 90,000',
    requests: 250,
    calls: async (side, client) => {
      const path =
        side === 'hand'
          ? query('/api/players', { after: String(DEPTH) })
          : query('/api/players', { cursor: await cursorAt(DEPTH, client) })
      return () => get(path)
    },
    same: without('nextCursor'),
  },
  {
    name: 'create',
    requests: 300,
    calls: () => (next) => ({
      method: 'POST',
      path: '/api/players',
      body: JSON.stringify(playerBody(generator(next))),
    }),
    same: exceptStamps,
  },
  {
    name: 'patch',
    requests: 300,
    calls: () => (next) => {
      const random = generator(next)
      const id = 1 + random(PLAYERS)
      const { level, email } = playerBody(random)
      return { method: 'PATCH', path: `/api/players/${id}`, body: JSON.stringify({ level, email }) }
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
    same: exceptStamps,
  },
]
