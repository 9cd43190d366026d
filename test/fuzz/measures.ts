// What a run has seen: replies by kind of request and status, times, memory.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AGENTS } from './agents.js'
import type { Sent } from './judge.js'
import { isRecord, parsed } from './parsed.js'
import { toldIn } from './replies.js'
import { shellOf } from './tell.js'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

const BUCKETS = 20_000

export class Measures {
  /** Replies by kind of request, and in it by status. */
  readonly kinds = new Map<string, Map<number, number>>()
  /** Replies by tenths of a millisecond, the last those beyond. */
  readonly #times = new Uint32Array(BUCKETS + 1)
  /** Mebibytes of the heap after a collection, from time to time. */
  readonly heap: number[] = []
  slowest: { readonly milliseconds: number; readonly request: string } = { milliseconds: 0, request: '' }
  requests = 0
  /** Replies that took longer than they may. */
  late = 0
  /** Bytes of replies that were searched, and the canaries in them. */
  bytes = 0
  met = 0
  /** Canaries that stood in the rows, summed over the times that these were put back. */
  canaries = 0
  /** Things that were held of rows once nobody wrote. */
  held = 0
  /** Packets of sockets that were searched. */
  heard = 0

  note({ request, reply, met, milliseconds }: Sent): void {
    this.requests += 1
    const status = statusOf(request.target, reply)
    const statuses = this.kinds.get(request.kind) ?? new Map<number, number>()
    this.kinds.set(request.kind, statuses)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const bucket = Math.min(BUCKETS, Math.floor(milliseconds * 10))
    this.#times[bucket] = (this.#times[bucket] ?? 0) + 1
    if (milliseconds > this.slowest.milliseconds)
      this.slowest = { milliseconds, request: shellOf(request).slice(0, 1500) }
    if (reply === null) return
    this.bytes += reply.body.length + reply.head.length
    this.met += met.size
  }

  weigh(): void {
    if (typeof collect === 'function') collect()
    this.heap.push(process.memoryUsage().heapUsed / 2 ** 20)
  }

  /** Milliseconds that this share of the replies took at most. */
  quantile(share: number): number {
    let left = this.requests * share
    for (const [bucket, count] of this.#times.entries()) {
      left -= count
      if (left <= 0) return (bucket + 1) / 10
    }
    return this.slowest.milliseconds
  }

  /** The mean heap of the second quarter of the run, and of the last: what is cached is full by the second. */
  heaps(): readonly [early: number, late: number] {
    const quarter = Math.max(1, Math.floor(this.heap.length / 4))
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
    return [mean(this.heap.slice(quarter, quarter * 2)), mean(this.heap.slice(-quarter))]
  }
}

/** A problem that a tool tells counts as one. */
function statusOf(target: string, reply: Sent['reply']): number {
  if (reply === null || !target.startsWith(AGENTS)) return reply?.status ?? 0
  const told = toldIn(parsed(reply.body.toString('utf8')))
  return isRecord(told) && typeof told.status === 'number' ? told.status : reply.status
}
