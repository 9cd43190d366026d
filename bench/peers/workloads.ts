// The workloads of the first table as requests of the peers. Each peer has its own query language. A workload that a
// peer's documented options cannot express is missing in its table.

import type { Call } from '../client.js'
import { get, query, type Side, sortedWithin, WORKLOADS, type Workload } from '../workloads.js'
import { isPeer, PEERS, type Peer } from './packages.js'

/** Converts a request for handwritten SQL into a request for a peer. */
type Change = (call: Call) => Call
type Changes = Readonly<Record<string, Change>>

const asByHand: Change = (call) => call
const to =
  (path: string): Change =>
  () =>
    get(path)
const players = (parameters: Readonly<Record<string, string>>): Change => to(query('/api/players', parameters))

const MIXED = 'mixed, 80% reads'

/** Offset of the page at 90,000 in handwritten SQL. */
const OFFSET = 90_000 - 20

/** Converts the requests of the mixed workload, each by its kind. */
function mixed(changes: { readonly page: Change; readonly toOne: Change; readonly patch: Change }): Change {
  return (call) => {
    if (call.method === 'PATCH') return changes.patch(call)
    if (call.path.includes('?')) return changes.toOne(call)
    return call.path === '/api/players' && call.method === 'GET' ? changes.page(call) : call
  }
}

function ecr(): Changes {
  const list = (range: readonly [number, number], more: Readonly<Record<string, string>> = {}): Change =>
    players({ range: JSON.stringify(range), ...more })
  const sort = JSON.stringify(['level', 'DESC'])
  const page = list([0, 19])
  const toOne = list([0, 19], { filter: JSON.stringify({ team: 'Team 7', minLevel: 50 }), sort })
  const patch: Change = (call) => ({ ...call, method: 'PUT' })
  return {
    'get by id': asByHand,
    'first page, total': page,
    'filtered, sorted, total': list([0, 19], { filter: JSON.stringify({ minLevel: 50 }), sort }),
    'to-one filter, sorted, total': toOne,
    'offset page at 90,000, total': list([OFFSET, OFFSET + 19]),
    create: asByHand,
    patch,
    [MIXED]: mixed({ page, toOne, patch }),
  }
}

function feathers(): Changes {
  const sorted = { 'level[$gt]': '50', '$sort[level]': '-1', '$sort[id]': '-1' }
  const uncounted = (more: Readonly<Record<string, string>>): Change =>
    to(query('/api/uncounted', { $limit: '20', '$sort[id]': '1', ...more }))
  const page = players({ '$sort[id]': '1' })
  const toOne = to(query('/api/members', { '$team.name$': 'Team 7', ...sorted }))
  return {
    'get by id': asByHand,
    'first page, total': page,
    'filtered, sorted, total': players(sorted),
    'to-one filter, sorted, total': toOne,
    'keyset page after 1,000': uncounted({ 'id[$gt]': '1000' }),
    'keyset page after 90,000': uncounted({ 'id[$gt]': '90000' }),
    'offset page at 90,000, total': players({ $skip: String(OFFSET), '$sort[id]': '1' }),
    'first page, count=none': uncounted({}),
    'page at 90,000, count=none': uncounted({ $skip: String(OFFSET) }),
    create: asByHand,
    patch: asByHand,
    'create a team with 20 players': asByHand,
    [MIXED]: mixed({ page, toOne, patch: asByHand }),
    'bulk create of 1,000': (call) => ({ ...call, path: '/api/players' }),
  }
}

function finale(): Changes {
  const page = players({ count: '20', sort: 'id' })
  const sorted = { minLevel: '50', count: '20', sort: '-level,-id' }
  const toOne = to(query('/api/members', { team: 'Team 7', ...sorted }))
  return {
    'get by id': asByHand,
    'first page, total': page,
    'filtered, sorted, total': players(sorted),
    'to-one filter, sorted, total': toOne,
    'offset page at 90,000, total': players({ count: '20', sort: 'id', offset: String(OFFSET) }),
    create: asByHand,
    patch: asByHand,
    'create a team with 20 players': asByHand,
    [MIXED]: mixed({ page, toOne, patch: asByHand }),
  }
}

function dataui(): Changes {
  // Only a numbered page has a total.
  const sorted = (search: unknown, more: Readonly<Record<string, string>> = {}): Change =>
    to(`${query('/api/players', { page: '1', s: JSON.stringify(search), ...more, sort: 'level,DESC' })}&sort=id,DESC`)
  const page = players({ page: '1', sort: 'id,ASC' })
  const toOne = sorted({ level: { $gt: 50 }, 'team.name': 'Team 7' }, { join: 'team' })
  const after = (id: string): Change => players({ filter: `id||$gt||${id}`, limit: '20', sort: 'id,ASC' })
  return {
    'get by id': asByHand,
    'first page, total': page,
    'filtered, sorted, total': sorted({ level: { $gt: 50 } }),
    'to-one filter, sorted, total': toOne,
    'to-many filter, total': to(
      query('/api/teams', { page: '1', join: 'players', filter: 'players.level||$gt||95', sort: 'id,ASC' }),
    ),
    'keyset page after 1,000': after('1000'),
    'keyset page after 90,000': after('90000'),
    'offset page at 90,000, total': players({ page: '4500', sort: 'id,ASC' }),
    'first page, count=none': players({ limit: '20', sort: 'id,ASC' }),
    create: asByHand,
    patch: asByHand,
    'create a team with 20 players': (call) => ({ ...call, path: '/api/families' }),
    [MIXED]: mixed({ page, toOne, patch: asByHand }),
    'bulk create of 1,000': (call) => ({ ...call, body: `{"bulk":${call.body}}` }),
  }
}

/** Requests of each peer, by the name of the workload. */
export const ABILITIES: Readonly<Record<Peer, Changes>> = {
  'express-crud-router': ecr(),
  'feathers-sequelize': feathers(),
  'finale-rest': finale(),
  'dataui-crud': dataui(),
}

export function canDo(side: Side, { name }: Workload): boolean {
  return !isPeer(side) || ABILITIES[side][name] !== undefined
}

/**
 * Normalizes a response, so that servers with different formats can be compared: records and totals stay. Times of
 * writes are excluded.
 */
function content(text: string, head: string): string {
  const body: unknown = JSON.parse(text)
  const { items, data, dataValues, totalCount, total } = Object(body)
  const records = items ?? data ?? (dataValues === undefined ? body : dataValues)
  const range = /\r\ncontent-range: [^\r]*\/(\d+)/i.exec(head)?.[1]
  const count: unknown = Array.isArray(records) ? (totalCount ?? total ?? range ?? null) : null
  // The order of players within a team is undefined, so they are sorted.
  const members: unknown = Object(records).players
  if (Array.isArray(members)) members.sort((one, other) => one.id - other.id)
  return JSON.stringify([sortedWithin(records), count === null ? null : Number(count)])
}

/**
 * Order of workloads: reads before writes. Concurrent writes give new records different keys on each server, which
 * later pages would show.
 */
function rank({ name }: Workload): number {
  if (name === MIXED) return 1
  return name === 'patch' || name.includes('create') ? 2 : 0
}

export const PEER_WORKLOADS: readonly Workload[] = WORKLOADS.filter((workload) =>
  PEERS.some((peer) => canDo(peer, workload)),
)
  .toSorted((one, other) => rank(one) - rank(other))
  .map((workload) => ({
    ...workload,
    calls: async (side, client) => {
      if (!isPeer(side)) return workload.calls(side, client)
      const byHand = await workload.calls('sql', client)
      const change = ABILITIES[side][workload.name] ?? asByHand
      return (next) => change(byHand(next))
    },
    // Six responses include each kind of request in the mixed workload.
    compared: 6,
    same: content,
  }))
