// Sends request after request, some at a time, and holds every reply, every push and every row against what may be.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Trouble } from './application.js'
import { changeFaults } from './changes.js'
import { chance, mixed, randomOf } from './choose.js'
import { Exchange, type RawReply } from './exchange.js'
import { leaksIn, tableOf } from './leaks.js'
import { listen } from './listeners.js'
import { faultsOf } from './replies.js'
import type { FuzzRequest } from './request.js'
import { type Course, KNOWN, requestAt } from './requests.js'
import type { Seeds } from './rows.js'
import { TABLES, type TableName } from './tables.js'
import { type Finding, shellOf } from './tell.js'
import { Truth } from './truth.js'
import type { World } from './world.js'

export interface Run {
  readonly seed: number
  readonly first: number
  readonly requests: number
  /** Ends the run at so many findings. */
  readonly most: number
}

export interface Report {
  readonly findings: readonly Finding[]
  /** How many replies of each status. */
  readonly statuses: ReadonlyMap<number, number>
  readonly requests: number
  readonly heard: number
  /** Milliseconds of the slowest batch, and its first request. */
  readonly slowest: readonly [milliseconds: number, index: number]
}

/** After so many requests the rows are put back, so that there are as many as in the beginning. */
const EPOCH = 1000
const TOGETHER = 6

/** So many requests whose senders did not wait for the end may still be at work: what they write is seen later. */
const LINGERING = 60

interface Sent {
  readonly request: FuzzRequest
  readonly reply: RawReply | null
  readonly failure: string | null
}

export async function run(world: World, seeds: Seeds, { seed, first, requests, most }: Run): Promise<Report> {
  const exchange = new Exchange(world.port)
  const truth = new Truth(world.models)
  const listeners = await listen(world)
  const everything = TABLES.map(({ name }) => name)
  const findings: Finding[] = []
  const statuses = new Map<number, number>()
  let slowest: Report['slowest'] = [0, first]
  const random = randomOf(seed)
  const course: Course = { seed, seeds, writes: true, callers: KNOWN }
  await truth.read(everything)
  let lingering: readonly FuzzRequest[] = []

  const hear = (index: number): void => {
    for (const what of listeners.leaks(truth)) findings.push({ index, what, request: 'up to this one', reply: '' })
  }

  async function startOver(index: number): Promise<void> {
    // What is still on its way belongs to the rows that are there now.
    for (let heard = -1; heard !== listeners.heard; ) {
      heard = listeners.heard
      await sleep(200)
    }
    hear(index)
    await world.reset()
    truth.forget()
    lingering = []
    await truth.read(everything)
    await truth.read([])
  }

  async function batch(index: number, size: number): Promise<void> {
    const batched = Array.from({ length: size }, (_, at) => requestAt(course, index + at))
    const start = performance.now()
    const sent = await Promise.all(batched.map((request) => answered(exchange, request)))
    const time = performance.now() - start
    if (time > slowest[0]) slowest = [time, index]
    for (const { reply } of sent) {
      const status = reply?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    const changed = changedBy(sent)
    await truth.read(changed)
    hear(index)
    findings.push(...findingsIn(truth, sent, lingering, world.errors.splice(0)))
    const writes = [...lingering, ...batched.filter(({ method, broken }) => method !== 'GET' || broken)]
    for (const table of TABLES.filter(({ name }) => changed.has(name))) {
      const faults = changeFaults(table, truth.rowsBefore(table.name), truth.rows(table.name), writes)
      const request = writes.map(shellOf).join('\n  ')
      if (faults.length > 0) findings.push({ index, what: faults.join('; '), request, reply: '' })
    }
    const left = sent.filter(({ request, reply }) => request.broken || reply === null).map(({ request }) => request)
    lingering = [...lingering, ...left].slice(-LINGERING)
  }

  let done = 0
  for (let epoch = 0; done < requests && findings.length < most; ) {
    if (Math.floor(done / EPOCH) > epoch) {
      epoch = Math.floor(done / EPOCH)
      await startOver(first + done)
    }
    const size = Math.min(requests - done, 1 + (mixed(seed, first + done) % TOGETHER))
    if (chance(random, 0.05)) listeners.chatter(random)
    await batch(first + done, size)
    done += size
  }
  await startOver(first + done)
  listeners.close()
  exchange.close()
  return { findings, statuses, requests: done, heard: listeners.heard, slowest }
}

async function answered(exchange: Exchange, request: FuzzRequest): Promise<Sent> {
  const { bytes, method, broken } = request
  try {
    return { request, reply: await (broken ? exchange.sendBroken(bytes) : exchange.send(bytes, method)), failure: null }
  } catch (error) {
    return { request, reply: null, failure: String(error) }
  }
}

/** The tables whose rows may be others now. */
function changedBy(sent: readonly Sent[]): ReadonlySet<TableName> {
  const all = TABLES.map(({ name }) => name)
  const wrote = sent.filter(({ request, reply }) => {
    const reads = request.method === 'GET' || request.method === 'HEAD'
    return request.broken || (!reads && (reply === null || reply.status < 300 || reply.status >= 500))
  })
  return new Set(wrote.flatMap(({ request }) => tableOf(request)?.name ?? all))
}

function findingsIn(
  truth: Truth,
  sent: readonly Sent[],
  lingering: readonly FuzzRequest[],
  troubles: readonly Trouble[],
): Finding[] {
  const company = [...lingering, ...sent.map(({ request }) => request)]
  const said = new Set(company.flatMap(({ canaries }) => [...canaries]))
  const found = sent.flatMap(({ request, reply, failure }): Finding[] => {
    const tell = (what: readonly string[]): Finding => ({
      index: request.index,
      what: `${what.join('; ')}, as ${request.caller.name}`,
      request: shellOf(request),
      reply: reply === null ? '' : `${reply.head}\n${reply.body.toString('latin1')}`,
    })
    if (failure !== null) return [tell([failure])]
    if (reply === null) return []
    const faults = [...faultsOf(request, reply), ...leaksIn(truth, request, reply, { canaries: said })]
    return faults.length === 0 ? [] : [tell(faults)]
  })
  const busy = sent.some(({ reply }) => reply?.status === 503)
  const errors = troubles.map(({ where, error, request }): Finding => {
    const stack = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error)
    return { index: sent[0]?.request.index ?? 0, what: `reached ${where}`, request, reply: stack }
  })
  return [...found, ...(busy ? [] : errors)]
}
