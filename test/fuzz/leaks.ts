// What a reply tells its caller that is not theirs to know.

import { canariesIn, writerOf } from './canaries.js'
import type { RawReply } from './exchange.js'
import { isRecord, parsed } from './parsed.js'
import { deletedOf, placeOf } from './place.js'
import type { FuzzRequest } from './request.js'
import type { Table } from './tables.js'
import type { Truth } from './truth.js'

/** What stands in a reply, and what else was under way when it was made. */
export interface Company {
  /** What of the rows' marks is in its body. */
  readonly met: ReadonlySet<string>
  /** What the requests beside it have said. */
  readonly canaries: ReadonlySet<string>
}

export function leaksIn(truth: Truth, request: FuzzRequest, reply: RawReply, company: Company): string[] {
  // A reply that is given again is the first one, whatever was deleted since.
  const deleted = reply.headers.has('idempotency-replayed') ? 'all' : deletedOf(request)
  const found = new Set([...canariesIn(`${reply.head}\n${reply.surplus}`), ...company.met])
  const leaks: string[] = []
  const averages = averagesIn(reply)
  for (const canary of found) {
    if (request.canaries.has(canary) || isAverage(averages, canary, reply)) continue
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

/**
 * The whole parts of averages over several records, one text for each. Numbers that are all of one step have averages
 * that are, by chance, the number of another record.
 */
function averagesIn({ status, body }: RawReply): readonly string[] {
  if (status !== 200 || !body.includes('"avg":')) return []
  const answer = parsed(body.toString('utf8'))
  const items = isRecord(answer) && Array.isArray(answer.items) ? answer.items : []
  return items.flatMap((item) => {
    if (!isRecord(item) || !isMeasured(item) || !isRecord(item.avg) || item.count === 1) return []
    return leavesOf(item.avg).map((value) => String(value).replace(/\..*$/, ''))
  })
}

/** Averages over relations stand below the names of these. */
function leavesOf(averages: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.values(averages).flatMap((value) => (isRecord(value) ? leavesOf(value) : [value]))
}

/** Whether it stands nowhere else in a reply. */
function isAverage(averages: readonly string[], canary: string, { body }: RawReply): boolean {
  if (!averages.includes(canary)) return false
  return body.toString('latin1').split(canary).length - 1 === averages.filter((each) => each === canary).length
}

/** More records than there are for this caller. */
function excess(
  truth: Truth,
  request: FuzzRequest,
  { status, body, headers }: RawReply,
  deletedToo: boolean,
): string[] {
  const table = placeOf(request)?.table ?? null
  if (status !== 200 || table === null || request.broken) return []
  if ((headers.get('content-type') ?? '').startsWith('application/jsonl')) {
    return tooMany(truth, request, table, deletedToo, [body.toString('utf8').split('\n').length - 1])
  }
  const answer = parsed(body.toString('utf8'))
  if (!isRecord(answer)) return []
  const { items, totalCount, count, deleted } = answer
  const all = Array.isArray(items) ? items : []
  const told = [all.length, totalCount, count, deleted, Number(headers.get('x-total-count') ?? 0)]
  // No records at all are one group. It is empty if its only names were unknown ones, which some resources ignore.
  const first: unknown = all[0]
  if (isRecord(first) && (isMeasured(first) || (isEmpty(first) && AGGREGATES.test(request.target)))) {
    const counts = all.map((item) => (isRecord(item) ? item.count : 0))
    return tooMany(truth, request, table, deletedToo, first.group === undefined ? counts : [...counts, all.length])
  }
  return tooMany(truth, request, table, deletedToo, told)
}

const MEASURES = ['group', 'count', 'counts', 'distinct', 'sum', 'avg', 'min', 'max'] as const

const AGGREGATES = /[?&](aggregate|group)=/

function isEmpty(item: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(item).length === 0
}

function isMeasured(item: Readonly<Record<string, unknown>>): boolean {
  return item.id === undefined && item.name === undefined && MEASURES.some((name) => item[name] !== undefined)
}

function tooMany(
  truth: Truth,
  request: FuzzRequest,
  table: Table,
  deletedToo: boolean,
  told: readonly unknown[],
): string[] {
  const most = Math.max(...request.taken.map((caller) => truth.visible(table, caller, deletedToo)))
  return told
    .filter((number) => typeof number === 'number' && number > most)
    .map((number) => `${number} records where ${request.caller.name} has ${most}`)
}
