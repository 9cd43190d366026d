/**
 * Result of a request.
 * - `done`, `refused`, `unavailable` (503): a correct reply
 * - `unverified`: a reply that could not be checked, because the state was unknown
 * - `waits`: a duplicate of the request is still running
 * - `wrong`: a wrong reply
 * - `other`: an invalid reply
 */
export type Verdict = 'done' | 'refused' | 'unavailable' | 'unverified' | 'waits' | 'wrong' | 'other'

const VERDICTS: readonly Verdict[] = ['done', 'refused', 'unverified', 'unavailable', 'waits', 'wrong', 'other']

/** One restart of the database. Times are milliseconds of `performance.now()`. */
export interface Outage {
  readonly ending: string
  readonly stopping: number
  /** Instants at which the server's process ended, was started, and accepted connections. */
  gone: number
  starting: number
  ready: number
  /** Instant of the first success of a request that was sent after the process had ended. */
  firstDone: number
  lastUnavailable: number
  unavailable: number
}

const SHOWN = 10

/** Counts of a run. The size of the counts is bounded, independent of the duration of the run. */
export class Tally {
  readonly #kinds = new Map<string, Map<Verdict, number>>()
  readonly #statuses = new Map<number | string, number>()
  readonly done = new Latencies()
  readonly unavailable = new Latencies()
  readonly outages: Outage[] = []
  /** First failures of the run, as text. */
  readonly failures: string[] = []
  /** Number of writes with two possible states, and number of such writes that had happened. */
  doubts = 0
  happened = 0
  /** Counts of requests with an Idempotency-Key. */
  readonly once = {
    /** Number of writes, and number of writes that were repeated until they had a reply. */
    writes: 0,
    again: 0,
    /** Number of connections that the client cut during such a write. */
    cut: 0,
    /** Replies to repeated writes: number of replays, and number of writes that happened only at the repetition. */
    replayed: 0,
    doneThen: 0,
    /** Number of answered writes that were repeated, and number of replies that a duplicate was still running. */
    repeated: 0,
    inProgress: 0,
  }
  /** Number of expected, received and missed events of the hub. `breaks`: disconnects of the client. */
  readonly events = { expected: 0, received: 0, missed: 0, breaks: 0 }

  record(kind: string, verdict: Verdict, status: number | string, sentAt: number): void {
    const now = performance.now()
    const counts = this.#kinds.get(kind) ?? new Map<Verdict, number>()
    this.#kinds.set(kind, counts.set(verdict, (counts.get(verdict) ?? 0) + 1))
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    if (verdict === 'unavailable') this.unavailable.add(now - sentAt)
    else this.done.add(now - sentAt)
    const outage = this.outages.at(-1)
    if (outage === undefined) return
    if (verdict === 'unavailable') {
      outage.lastUnavailable = now
      outage.unavailable += 1
    } else if (verdict === 'done' && outage.firstDone === 0 && outage.gone !== 0 && sentAt >= outage.gone)
      outage.firstDone = now
  }

  fail(text: string): void {
    if (this.failures.length === SHOWN) return
    this.failures.push(text)
    // Failures are printed at once, so that they are visible during the run.
    console.log(`FAILURE ${text}`)
  }

  count(verdict?: Verdict): number {
    let sum = 0
    for (const counts of this.#kinds.values()) {
      for (const [each, count] of counts) if (verdict === undefined || each === verdict) sum += count
    }
    return sum
  }

  /** Writes a table with a row per kind of request. */
  toString(): string {
    const kinds = [...this.#kinds].sort(([left], [right]) => (left < right ? -1 : 1))
    const all = new Map(VERDICTS.map((verdict) => [verdict, this.count(verdict)]))
    const rows = [...kinds, ['all', all] as const].map(([kind, counts]) => {
      const cells = VERDICTS.map((verdict) => String(counts.get(verdict) ?? 0).padStart(12))
      return kind.padEnd(24) + cells.join('')
    })
    const head = ''.padEnd(24) + VERDICTS.map((verdict) => verdict.padStart(12)).join('')
    const statuses = [...this.#statuses].map(([status, count]) => `${status}: ${count}`).sort()
    return [head, ...rows, '', `by status  ${statuses.join(', ')}`].join('\n')
  }
}

const LONGEST = 120_000

/** Counts latencies of replies in whole milliseconds. */
export class Latencies {
  readonly #counts = new Uint32Array(LONGEST + 1)
  #all = 0

  add(milliseconds: number): void {
    const index = Math.min(LONGEST, Math.round(milliseconds))
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#all += 1
  }

  /** A quantile of the latencies, in milliseconds. */
  quantile(share: number): number {
    let seen = 0
    for (const [index, count] of this.#counts.entries()) {
      seen += count
      if (count > 0 && seen >= share * this.#all) return index
    }
    return 0
  }

  toString(): string {
    return `median ${this.quantile(0.5)} ms, 99% ${this.quantile(0.99)} ms, longest ${this.quantile(1)} ms`
  }
}
