// What a reply tells its caller that is not theirs to know.

import { canariesIn, writerOf } from './canaries.js'
import type { RawReply } from './exchange.js'
import { isRecord, parsed } from './replies.js'
import { decoded, type FuzzRequest } from './request.js'
import { SERVED, type Table, type TableName } from './tables.js'
import type { Truth } from './truth.js'

/** What else was under way when a reply was made. */
export interface Company {
  /** What the requests beside it have said. */
  readonly canaries: ReadonlySet<string>
}

/** The table whose list or record a request is for, however it came to be: null where that is none, or is not to be told. */
export function tableOf({ target }: FuzzRequest): Table | null {
  const path = target
    .replace(/[?#].*$/s, '')
    .replace(/^https?:\/\/[^/]*/, '')
    .toLowerCase()
  return SERVED.find((table) => path === table.path || path.startsWith(`${table.path}/`)) ?? null
}

function deletedOf(request: FuzzRequest): TableName | 'all' | null {
  const table = tableOf(request)
  if (request.broken || table === null) return 'all'
  return `${decoded(request.target)}${request.body ?? ''}`.includes('includeDeleted') ? table.name : null
}

export function leaksIn(truth: Truth, request: FuzzRequest, reply: RawReply, company: Company): string[] {
  const deleted = deletedOf(request)
  const found = canariesIn(`${reply.head}\n${reply.body.toString('latin1')}\n${reply.surplus}`)
  const leaks: string[] = []
  for (const canary of found) {
    if (request.canaries.has(canary)) continue
    if (
      truth.isKnown(canary)
        ? request.taken.some((caller) => truth.isOpenTo(canary, caller, deleted))
        : isExplained(request, canary, company)
    )
      continue
    leaks.push(`a value that ${request.caller.name} may not see: ${truth.tell(canary)}`)
  }
  return [...leaks, ...excess(truth, request, reply, deleted !== null)]
}

/** It may have been written and overwritten since; numbers and UUIDs are also made by chance. */
function isExplained({ caller }: FuzzRequest, canary: string, { canaries }: Company): boolean {
  return canaries.has(canary) || writerOf(canary) === null || writerOf(canary) === caller.mark
}

/** More records than there are for this caller. */
function excess(
  truth: Truth,
  request: FuzzRequest,
  { status, body, headers }: RawReply,
  deletedToo: boolean,
): string[] {
  const table = tableOf(request)
  if (status !== 200 || table === null || request.broken) return []
  const answer = parsed(body.toString('utf8'))
  if (!isRecord(answer)) return []
  const { items, totalCount, count, deleted } = answer
  const told = [
    Array.isArray(items) ? items.length : 0,
    totalCount,
    count,
    deleted,
    Number(headers.get('x-total-count') ?? 0),
  ]
  const most = Math.max(...request.taken.map((caller) => truth.visible(table, caller, deletedToo)))
  return told
    .filter((number) => typeof number === 'number' && number > most)
    .map((number) => `${number} records where ${request.caller.name} has ${most}`)
}
