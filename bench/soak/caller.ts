import { setTimeout as sleep } from 'node:timers/promises'
import { headersOf } from './callers.js'
import { type Call, type Connection, Cut, type Reply } from './connection.js'
import type { Listener } from './listener.js'
import { ANSWERED, IdempotencyKeys } from './once.js'
import { isAnswer, type Observed, type Partition } from './partition.js'
import { pick, type Random, type Read } from './read.js'
import { type Step, WALKS, type Walk } from './reads/walks.js'
import { readAll, readOf } from './reads.js'
import type { Resource } from './state.js'
import type { Tally, Verdict } from './tally.js'
import { Writer } from './writer.js'
import type { Write } from './writes.js'

/** Percentage of requests that write, and percentage of reads that read any owner's records. */
const WRITES = 20
const OTHERS = 30
/** Number of requests in a thousand that repeat a write that was already answered. */
const REPEATS = 15
/** Maximum milliseconds before the client repeats a write whose connection it has cut. */
const SOON = 100

/** Position of a connection in a walk through pages. */
interface Place {
  readonly owner: number
  readonly step: Step
}

/**
 * One connection of the load. The connection writes the records of its own partition, and reads records of any
 * partition.
 */
export class Caller {
  readonly #connection: Connection
  readonly #own: Partition
  readonly #all: readonly Partition[]
  readonly #random: Random
  readonly #writer: Writer
  readonly #tally: Tally
  readonly #listener: Listener
  readonly #once: IdempotencyKeys
  readonly #walks = new Map<Walk, Place>()
  /** A write with an idempotency key whose reply is missing. */
  #pending: Write | null = null

  constructor(
    connection: Connection,
    own: Partition,
    all: readonly Partition[],
    random: Random,
    totals: Tally,
    listener: Listener,
  ) {
    this.#connection = connection
    this.#own = own
    this.#all = all
    this.#random = random
    this.#writer = new Writer(own, random)
    this.#tally = totals
    this.#listener = listener
    this.#once = new IdempotencyKeys(random, totals)
  }

  get isSettled(): boolean {
    return this.#own.doubt === null && this.#pending === null
  }

  close(): void {
    this.#connection.close()
  }

  async prepare(): Promise<void> {
    for (const write of this.#writer.first()) await this.#write(write())
  }

  async next(): Promise<void> {
    const { doubt } = this.#own
    // After a write with an unknown outcome, no further write starts, so there are at most two possible states.
    if (this.#pending !== null) {
      if (this.#random(2) === 0) await this.#write(this.#pending)
      else await this.#readAny()
    } else if (doubt !== null) {
      if (this.#random(2) === 0) await this.#settle(doubt)
      else await this.#readAny()
    } else if (this.#random(1000) < REPEATS) await this.#repeat()
    else if (this.#random(100) < WRITES) await this.#write(this.#once.addKey(this.#writer.next()))
    else if (this.#random(10) === 0) await this.#turnPage(pick(this.#random, WALKS))
    else await this.#readAny()
  }

  async #settle(doubt: Resource): Promise<void> {
    const body = await this.#read(readAll(doubt, this.#own.owner), this.#own)
    if (body !== undefined && this.#own.settle(doubt, Object(body).items)) this.#tally.happened += 1
  }

  async #readAny(): Promise<void> {
    const partition = this.#anyPartition()
    await this.#read(readOf(partition, this.#random), partition)
  }

  #anyPartition(): Partition {
    return (this.#random(100) < OTHERS ? this.#all[this.#random(this.#all.length)] : undefined) ?? this.#own
  }

  async #turnPage(walk: Walk): Promise<void> {
    const place = this.#walks.get(walk) ?? null
    const partition = this.#all[place?.owner ?? -1] ?? this.#anyPartition()
    const { owner } = partition
    const body = await this.#read(walk.read(owner, place?.step ?? null), partition)
    if (body === undefined) return
    const step = walk.next(body, this.#random(4) === 0)
    // The page may end with a new record whose key the oracle does not know yet. The oracle would then expect the
    // record again on the next page.
    if (step === null || partition.doubt !== null) this.#walks.delete(walk)
    else this.#walks.set(walk, { owner, step })
  }

  /** Returns the body of a correct reply, otherwise undefined. */
  async #read({ kind, path, query, headers, also = {}, expected }: Read, partition: Partition): Promise<unknown> {
    const mark = partition.mark()
    const sentAt = performance.now()
    const by = headers ?? headersOf({ owner: this.#own.owner, name: 'reader', money: true })
    const call = { method: query === undefined ? 'GET' : 'QUERY', path, headers: { ...by, ...also }, body: query }
    const reply = await this.#send(call, kind, sentAt)
    if (reply === null) return undefined
    const observed = toObserved(reply)
    const isRight = partition.isRight(mark, expected, observed)
    const verdict = isRight === null ? 'unverified' : isRight ? 'done' : 'wrong'
    if (isRight === false) this.#fail(kind, call, expected(partition.state), reply)
    this.#judge(kind, isRight && reply.status >= 400 ? 'refused' : verdict, reply, sentAt)
    return isRight ? reply.body : undefined
  }

  async #write(write: Write): Promise<void> {
    const { kind, resource, expected, next } = write
    const own = this.#own
    const before = own.state
    const isAgain = write === this.#pending
    // A read may have shown whether the write happened. The reply must match: a replay if it happened, otherwise a
    // first reply.
    const happened = isAgain ? own.hasHappened(next) : false
    own.begin()
    const sentAt = performance.now()
    const call = callOf(write)
    const { reply, isCut } = await this.#sendCut(call, kind, sentAt, isAgain ? null : this.#once.cutDelay(write))
    const isAnswered = reply !== null && isAnswer(expected, toObserved(reply))
    const wrong = isAnswered
      ? this.#once.recordAnswer(write, call, reply, isCut ? null : happened, isAgain || isCut)
      : null
    if (isAnswered && wrong === null) {
      this.#pending = null
      // After a repeat, no event is expected. If the database connection broke during the commit, the application may
      // not have sent the event.
      if (reply.headers['idempotency-replayed'] === undefined && !isAgain) this.#listener.expect(before, next)
      this.#acknowledge(write, reply)
      this.#judge(kind, reply.status >= 400 ? 'refused' : 'done', reply, sentAt)
      return
    }
    if (!isAgain) own.suspect(resource, before, next)
    else own.suspectAgain(next)
    if (own.doubt !== null && !isAgain) this.#tally.doubts += 1
    if (reply === null) {
      this.#pending = this.#once.isKeyed(write) ? write : null
      return
    }
    this.#pending = null
    this.#fail(wrong === null ? kind : `${kind}, ${wrong}`, call, expected, reply)
    this.#judge(kind, 'wrong', reply, sentAt)
  }

  #acknowledge({ resource, next, removes = [], unnamed, withItems }: Write, reply: Reply): void {
    const own = this.#own
    const isChanged = next !== own.state && reply.status < 300
    own.acknowledge(next, unnamed === true ? resource : null)
    if (isChanged && unnamed !== true && reply.body !== undefined) {
      own.name(withItems === true ? 'accounts' : resource, reply.body)
      if (withItems === true) own.name('items', Object(reply.body).items)
    }
    own.gone.push(...removes)
    own.gone.splice(0, own.gone.length - 20)
  }

  /** Repeats an answered write. The reply must be equal, and the write must have no effect. */
  async #repeat(): Promise<void> {
    const chosen = this.#once.pickRecent()
    if (chosen === null) return this.#readAny()
    const sentAt = performance.now()
    const kind = 'repeated write'
    const reply = await this.#send(chosen.call, kind, sentAt)
    if (reply === null) return
    const isSame = ANSWERED.every((name) => reply.headers[name] === chosen.reply.headers[name])
    const isReplayed = reply.headers['idempotency-replayed'] === 'true'
    const isRight = isReplayed && isSame && reply.status === chosen.reply.status && reply.text === chosen.reply.text
    if (isRight) this.#tally.once.repeated += 1
    else this.#fail(kind, chosen.call, chosen.reply, reply)
    this.#judge(kind, isRight ? 'done' : 'wrong', reply, sentAt)
  }

  /**
   * Sends a write. With `cutAfter`, the client cuts the connection after this many milliseconds unless the reply has
   * arrived. A cut write is repeated until it has a reply, because the application may execute it at any time.
   */
  async #sendCut(
    call: Call,
    kind: string,
    sentAt: number,
    cutAfter: number | null,
  ): Promise<{ readonly reply: Reply | null; readonly isCut: boolean }> {
    if (cutAfter === null) return { reply: await this.#send(call, kind, sentAt), isCut: false }
    try {
      const reply = await this.#connection.send(call, cutAfter)
      return { reply: this.#checkReply(reply, call, kind, sentAt), isCut: false }
    } catch (error) {
      if (!(error instanceof Cut)) {
        this.#lost(call, kind, sentAt, error)
        return { reply: null, isCut: false }
      }
    }
    this.#tally.once.cut += 1
    for (;;) {
      await sleep(this.#random(SOON))
      const reply = await this.#send(call, kind, performance.now())
      if (reply !== null || this.#tally.failures.length > 0) return { reply, isCut: true }
    }
  }

  /** Sends a request. Returns null for a 503 or an invalid reply, which tell nothing about records. */
  async #send(call: Call, kind: string, sentAt: number): Promise<Reply | null> {
    try {
      return this.#checkReply(await this.#connection.send(call), call, kind, sentAt)
    } catch (error) {
      this.#lost(call, kind, sentAt, error)
      return null
    }
  }

  #lost({ method, path }: Call, kind: string, sentAt: number, error: unknown): void {
    this.#tally.fail(`${kind}: ${method} ${path} got no answer: ${String(error)}`)
    this.#tally.record(kind, 'other', String(error), sentAt)
  }

  #checkReply(reply: Reply, { method, path, headers = {} }: Call, kind: string, sentAt: number): Reply | null {
    const hasRetryAfter = isProblem(reply) && /^\d+$/.test(reply.headers['retry-after'] ?? '')
    if (reply.status === 503 && hasRetryAfter) {
      this.#judge(kind, 'unavailable', reply, sentAt)
      return null
    }
    if (
      headers['idempotency-key'] !== undefined &&
      hasRetryAfter &&
      Object(reply.body).code === 'idempotency-in-progress'
    ) {
      this.#tally.once.inProgress += 1
      this.#judge(kind, 'waits', reply, sentAt)
      return null
    }
    if (reply.status < 300 || reply.status === 304 || (reply.status < 500 && isProblem(reply))) return reply
    this.#tally.fail(`${kind}: ${method} ${path} got ${reply.status} ${reply.text.slice(0, 500)}`)
    this.#judge(kind, 'other', reply, sentAt)
    return null
  }

  #judge(kind: string, verdict: Verdict, { status }: Reply, sentAt: number): void {
    this.#tally.record(kind, verdict, status, sentAt)
  }

  #fail(kind: string, { method, path, headers, body }: Call, expected: unknown, got: Reply): void {
    const expectedText = JSON.stringify(expected, (_, value) => (typeof value === 'function' ? '<any>' : value))
    const request = `${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body) ?? ''}`
    const reply = `${got.status} ${JSON.stringify(got.headers)} ${got.text}`
    this.#tally.fail(`${kind}: ${request}\n  expected ${expectedText}\n  got ${reply}`)
  }
}

function callOf({ method, path, headers = {}, body }: Write): Call {
  return { method, path, headers, body }
}

function toObserved({ status, headers, body }: Reply): Observed {
  return { status, headers, body }
}

function isProblem({ status, headers, body }: Reply): boolean {
  return headers['content-type'] === 'application/problem+json' && Object(body).status === status
}
