// What a request is for, read from its target, however it came to be.

import { AGENTS } from './agents.js'
import { isRecord, parsed } from './parsed.js'
import { decoded, type FuzzRequest, wordsOf } from './request.js'
import { type Relation, SERVED, type Table, type TableName, tableNamed } from './tables.js'

export interface Place {
  /** The table whose route it is. */
  readonly owner: Table
  /** The relation that it goes on over; null for none. */
  readonly relation: Relation | null
  /** The table whose records it is about. */
  readonly table: Table
}

/** Null where it is for no table, or that is not to be told. */
export function placeOf(request: FuzzRequest): Place | null {
  const path = pathOf(request)
  const owner = path === AGENTS ? tableOfAgent(request) : tableAt(path)
  if (owner === null) return null
  const [, name] = path.slice((owner.path ?? '').length + 1).split('/')
  const relation = owner.relations.find((each) => each.name === name) ?? null
  return { owner, relation, table: relation === null ? owner : tableNamed(relation.to) }
}

export function pathOf({ target }: FuzzRequest): string {
  return target
    .replace(/[?#].*$/s, '')
    .replace(/^https?:\/\/[^/]*/, '')
    .toLowerCase()
}

function tableAt(path: string): Table | null {
  return SERVED.find((table) => path === table.path || path.startsWith(`${table.path}/`)) ?? null
}

function tableOfAgent({ body }: FuzzRequest): Table | null {
  const message = parsed(body?.toString('utf8') ?? '')
  const params = isRecord(message) ? message.params : null
  const given = isRecord(params) ? params.arguments : null
  return isRecord(given) ? tableAt(`/api/${given.resource}`) : null
}

/** Whether a call of a tool changes nothing, if it is one. */
function isReadByAgent(request: FuzzRequest): boolean {
  return pathOf(request) === AGENTS && !/(?:create|update|delete)_record/.test(request.body?.toString('utf8') ?? '')
}

const ALL: readonly TableName[] = SERVED.map(({ name }) => name)

/** The tables whose rows a write through a table may change, bodies within bodies and rows between included. */
const REACHED: Readonly<Record<TableName, readonly TableName[]>> = {
  Ledger: [],
  Club: ['Club', 'Team', 'Player', 'Badge', 'Training', 'Comment', 'Event'],
  Team: ['Team', 'Player', 'Badge', 'Training', 'Comment'],
  Player: ['Player', 'Badge', 'Training', 'Comment'],
  Badge: ['Badge'],
  Skill: ['Skill', 'Training', 'Comment'],
  Training: ['Training'],
  Tag: ['Tag'],
  Region: ['Region', 'Notice'],
  Notice: ['Notice'],
  Comment: ['Comment'],
  Event: ['Event'],
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE', 'PROPFIND', 'SEARCH'])

export function isReading(request: FuzzRequest): boolean {
  return !request.broken && (READS.has(request.method) || isReadByAgent(request))
}

/** The tables whose rows may be others after a request that was, or may have been, done. */
export function reachedBy(request: FuzzRequest): readonly TableName[] {
  if (request.broken) return ALL
  if (isReading(request)) return []
  const place = placeOf(request)
  if (place === null) return ALL
  return [...REACHED[place.owner.name], ...REACHED[place.table.name]]
}

/** The row that may be there for a while because of a request, deleted before and after: `Skill 2`. Null for none. */
export function restoredBy(request: FuzzRequest): string | null {
  const place = placeOf(request)
  const path = pathOf(request)
  if (place === null || place.owner.path === null || !path.endsWith(RESTORE)) return null
  return rowName(place.owner.name, decoded(path.slice(place.owner.path.length + 1, -RESTORE.length)))
}

const RESTORE = '/restore'

/** Keys are compared as paths are. */
export function rowName(table: TableName, key: unknown): string {
  return `${table} ${String(key).toLowerCase()}`
}

/** The table whose deleted records are asked for; all of them where nobody knows. */
export function deletedOf(request: FuzzRequest): TableName | 'all' | null {
  if (request.broken) return 'all'
  const place = placeOf(request)
  if (place === null) return pathOf(request) === AGENTS ? null : 'all'
  return wordsOf(request).includes('includeDeleted') ? place.table.name : null
}
