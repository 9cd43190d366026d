import { randomUUID } from 'node:crypto'
import type { Call, Reply } from './connection.js'
import type { Random } from './read.js'
import type { Tally } from './tally.js'
import type { Write } from './writes.js'

const KEY = 'idempotency-key'

/** Headers that a replay and its first reply have in common. */
export const ANSWERED = ['content-type', 'etag', 'location', 'preference-applied'] as const

/**
 * Percentage of writes with an idempotency key. `CUT`: one in `times` of such writes is cut, after at most `latest`
 * milliseconds.
 */
const KEYED = 50
const CUT = { times: 10, latest: 20 }
/**
 * Maximum number of answered writes that may be repeated, and their maximum age in milliseconds. The age is limited,
 * because idempotency records expire.
 */
const RECENT = { most: 8, age: 120_000 }

interface Answered {
  readonly call: Call
  readonly reply: Reply
  readonly at: number
}

/** The writes of one connection that have idempotency keys. */
export class IdempotencyKeys {
  readonly #random: Random
  readonly #tally: Tally
  readonly #answered: Answered[] = []

  constructor(random: Random, totals: Tally) {
    this.#random = random
    this.#tally = totals
  }

  /** Adds an idempotency key to some writes. A DELETE never has an idempotency key. */
  addKey(write: Write): Write {
    if (write.method === 'DELETE' || !(write.once === true || this.#random(100) < KEYED)) return write
    this.#tally.once.writes += 1
    return { ...write, headers: { ...write.headers, [KEY]: `"${randomUUID()}"` } }
  }

  isKeyed({ headers = {} }: Write): boolean {
    return headers[KEY] !== undefined
  }

  /** Milliseconds until the client cuts the connection. Null if the client waits for the reply. */
  cutDelay(write: Write): number | null {
    return this.isKeyed(write) && this.#random(CUT.times) === 0 ? this.#random(CUT.latest) : null
  }

  /**
   * Records the reply to a write. Returns the reply's error, or null if the reply is correct.
   *
   * @param happened whether the write had happened before this request; null if unknown
   */
  recordAnswer(write: Write, call: Call, reply: Reply, happened: boolean | null, isAgain: boolean): string | null {
    const replayedHeader = reply.headers['idempotency-replayed']
    const isReplay = replayedHeader !== undefined
    if (isReplay && (replayedHeader !== 'true' || !this.isKeyed(write))) return 'a replay of nothing'
    if (isReplay && reply.status >= 300) return 'a refusal that was kept'
    if (isReplay && happened === false) return 'replayed, although it had not happened'
    if (!isReplay && happened === true) return 'done again, although it had happened'
    if (isAgain) {
      this.#tally.once.again += 1
      this.#tally.once[isReplay ? 'replayed' : 'doneThen'] += 1
    }
    if (this.isKeyed(write) && reply.status < 300) {
      this.#answered.push({ call, reply, at: Date.now() })
      this.#answered.splice(0, this.#answered.length - RECENT.most)
    }
    return null
  }

  /** Chooses an answered write that may be repeated, or null. */
  pickRecent(): Answered | null {
    const young = this.#answered.filter(({ at }) => Date.now() - at < RECENT.age)
    return young[this.#random(young.length || 1)] ?? null
  }
}
