/**
 * What became of a request: done, refused as it had to be, 503 as a 503 has to be, done while the oracle could not know
 * the answer, told to wait for its twin, a wrong answer, or something that must not be at all.
 */
export type Verdict = 'done' | 'refused' | 'unavailable' | 'unverified' | 'waits' | 'wrong' | 'other'

const VERDICTS: readonly Verdict[] = ['done', 'refused', 'unverified', 'unavailable', 'waits', 'wrong', 'other']

/** One restart of the database, in milliseconds of `performance.now()`. */
export interface Outage {
  readonly ending: string
  readonly stopping: number
  /** When the server's process was gone, was started again, and answered. */
  gone: number
  starting: number
  ready: number
  /** When the first request that was sent after the process was gone was done. */
  firstDone: number
  lastUnavailable: number
  unavailable: number
}

const SHOWN = 10

/** Counts of bounded size, however long the run. */
export class Tally {
  readonly #kinds = new Map<string, Map<Verdict, number>>()
  readonly #statuses = new Map<number | string, number>()
  readonly done = new Latencies()
  readonly unavailable = new Latencies()
  readonly outages: Outage[] = []
  /** The first of what fails the run, in words. */
  readonly failures: string[] = []
  /** Writes after which two states were possible, and how many of them had happened. */
  doubts = 0
  happened = 0
  /** What was sent under an Idempotency-Key. */
  readonly once = {
    /** Writes, and those of them that had no answer at first and were sent again until they had one. */
    writes: 0,
    again: 0,
    /** Connections that the client has cut while such a write was under way. */
    cut: 0,
    /** Of the answers to those that were sent again, the first reply, and the write itself done then. */
    replayed: 0,
    doneThen: 0,
    /** Answered writes that were sent once more, and answers that a twin was still running. */
    repeated: 0,
    inProgress: 0,
  }
  /** Events of the hub that were waited for, and that came. */
  readonly events = { expected: 0, heard: 0, missed: 0, breaks: 0 }

  record(kind: string, verdict: Verdict, status: number | string, sent: number): void {
    const now = performance.now()
    const counts = this.#kinds.get(kind) ?? new Map<Verdict, number>()
    this.#kinds.set(kind, counts.set(verdict, (counts.get(verdict) ?? 0) + 1))
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    if (verdict === 'unavailable') this.unavailable.add(now - sent)
    else this.done.add(now - sent)
    const outage = this.outages.at(-1)
    if (outage === undefined) return
    if (verdict === 'unavailable') {
      outage.lastUnavailable = now
      outage.unavailable += 1
    } else if (verdict === 'done' && outage.firstDone === 0 && outage.gone !== 0 && sent >= outage.gone)
      outage.firstDone = now
  }

  fail(text: string): void {
    if (this.failures.length === SHOWN) return
    this.failures.push(text)
    // At once: nobody has to wait for the end to learn what it was.
    console.log(`FAILURE ${text}`)
  }

  count(verdict?: Verdict): number {
    let sum = 0
    for (const counts of this.#kinds.values()) {
      for (const [each, count] of counts) if (verdict === undefined || each === verdict) sum += count
    }
    return sum
  }

  /** A table by kind of request. */
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

/** How long replies took, to the millisecond. */
export class Latencies {
  readonly #counts = new Uint32Array(LONGEST + 1)
  #all = 0

  add(milliseconds: number): void {
    const index = Math.min(LONGEST, Math.round(milliseconds))
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#all += 1
  }

  /** The milliseconds that a share of the replies did not exceed. */
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
