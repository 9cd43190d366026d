import { setTimeout as sleep } from 'node:timers/promises'
import { generator } from '../data.js'
import { type Call, Connection, type Reply } from './connection.js'
import { isAnswer, type Observed, Partition } from './partition.js'
import { cursorPage, type Position, positionAfter, type Random, type Read, readAll, readOf } from './reads.js'
import type { Resource } from './state.js'
import type { Tally, Verdict } from './tally.js'
import { type Write, Writer } from './writes.js'

/** How fast everybody goes; may change at any time. */
export interface Pace {
  /** Milliseconds between two requests of a connection, on average. */
  think: number
}

export interface Load {
  readonly partitions: readonly Partition[]
  /** Resolves when every connection has ended its last request, and every doubt has ended too. */
  readonly stop: () => Promise<void>
}

/** Milliseconds after which a request counts as hanging. */
const HANG = 30_000
/** Of a hundred requests, those that write; of a hundred reads, those of anybody's records. */
const WRITES = 20
const OTHERS = 30

/** Sends requests by a number of connections, each of which writes the records of its own partition and reads any. */
export async function startLoad(port: number, connections: number, pace: Pace, tally: Tally): Promise<Load> {
  const partitions = Array.from({ length: connections }, (_, owner) => new Partition(owner))
  let isOver = false
  const callers = partitions.map(
    (partition) => new Caller(new Connection(port, HANG), partition, partitions, generator(partition.owner + 1), tally),
  )
  await Promise.all(callers.map((caller) => caller.prepare()))
  const running = callers.map(async (caller) => {
    try {
      while (!isOver || !(caller.isSettled || tally.failures.length > 0)) {
        await sleep(pace.think * (0.5 + Math.random()))
        await caller.next()
      }
    } catch (error) {
      tally.fail(`the load itself: ${error instanceof Error ? error.stack : String(error)}`)
    } finally {
      caller.close()
    }
  })
  return {
    partitions,
    stop: async () => {
      isOver = true
      await Promise.all(running)
    },
  }
}

class Caller {
  readonly #connection: Connection
  readonly #own: Partition
  readonly #all: readonly Partition[]
  readonly #random: Random
  readonly #writer: Writer
  readonly #tally: Tally
  #position: (Position & { readonly owner: number }) | null = null

  constructor(connection: Connection, own: Partition, all: readonly Partition[], random: Random, tally: Tally) {
    this.#connection = connection
    this.#own = own
    this.#all = all
    this.#random = random
    this.#writer = new Writer(own, random)
    this.#tally = tally
  }

  get isSettled(): boolean {
    return this.#own.doubt === null
  }

  close(): void {
    this.#connection.close()
  }

  async prepare(): Promise<void> {
    await this.#write(this.#writer.accounts())
  }

  async next(): Promise<void> {
    const { doubt } = this.#own
    // Nothing is written on top of a write that nobody knows about, so that there are never more than two states.
    if (doubt !== null) {
      if (this.#random(2) === 0) await this.#settle(doubt)
      else await this.#readAny()
    } else if (this.#random(100) < WRITES) await this.#write(this.#writer.next())
    else if (this.#random(12) === 0) await this.#turnPage()
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

  async #turnPage(): Promise<void> {
    const partition = this.#all[this.#position?.owner ?? -1] ?? this.#anyPartition()
    const body = await this.#read(cursorPage(partition.owner, this.#position), partition)
    if (body === undefined) return
    const position = positionAfter(body)
    this.#position = position === null ? null : { ...position, owner: partition.owner }
  }

  /** The body of a reply that was right, else undefined. */
  async #read({ kind, path, expected }: Read, partition: Partition): Promise<unknown> {
    const mark = partition.mark()
    const sent = performance.now()
    const reply = await this.#send({ method: 'GET', path }, kind, sent)
    if (reply === null) return undefined
    const observed = observedIn(reply)
    const isRight = partition.isRight(mark, expected, observed)
    const verdict = isRight === null ? 'unverified' : isRight ? 'done' : 'wrong'
    if (isRight === false) this.#fail(kind, `GET ${path}`, expected(partition.state), reply)
    this.#judge(kind, isRight && reply.status >= 400 ? 'refused' : verdict, reply, sent)
    return isRight ? reply.body : undefined
  }

  async #write(write: Write): Promise<void> {
    const { kind, resource, method, path, body, headers = {}, expected, next, removes = [] } = write
    const own = this.#own
    const before = own.state
    own.begin()
    const sent = performance.now()
    const reply = await this.#send({ method, path, headers, body }, kind, sent)
    if (reply !== null && isAnswer(expected, observedIn(reply))) {
      own.acknowledge(next)
      if (next !== before && reply.body !== undefined) own.name(resource, reply.body)
      own.gone.push(...removes)
      own.gone.splice(0, own.gone.length - 20)
      this.#judge(kind, reply.status >= 400 ? 'refused' : 'done', reply, sent)
      return
    }
    own.suspect(resource, before, next)
    if (own.doubt !== null) this.#tally.doubts += 1
    if (reply === null) return
    this.#fail(kind, `${method} ${path} ${JSON.stringify(body)}`, expected, reply)
    this.#judge(kind, 'wrong', reply, sent)
  }

  /** Null for a reply that says nothing about the records: a 503, or what must not be. */
  async #send(call: Call, kind: string, sent: number): Promise<Reply | null> {
    let reply: Reply
    try {
      reply = await this.#connection.send(call)
    } catch (error) {
      this.#tally.fail(`${kind}: ${call.method} ${call.path} got no answer: ${String(error)}`)
      this.#tally.record(kind, 'other', String(error), sent)
      return null
    }
    if (reply.status === 503 && isProblem(reply) && /^\d+$/.test(reply.headers['retry-after'] ?? '')) {
      this.#judge(kind, 'unavailable', reply, sent)
      return null
    }
    if (reply.status < 300 || (reply.status < 500 && isProblem(reply))) return reply
    this.#tally.fail(`${kind}: ${call.method} ${call.path} got ${reply.status} ${reply.text.slice(0, 500)}`)
    this.#judge(kind, 'other', reply, sent)
    return null
  }

  #judge(kind: string, verdict: Verdict, { status }: Reply, sent: number): void {
    this.#tally.record(kind, verdict, status, sent)
  }

  #fail(kind: string, what: string, expected: unknown, { status, headers, text }: Reply): void {
    const wanted = JSON.stringify(expected, (_, value) => (typeof value === 'function' ? '<any>' : value))
    this.#tally.fail(`${kind}: ${what}\n  expected ${wanted}\n  got ${status} ${headers.etag ?? ''} ${text}`)
  }
}

function observedIn({ status, headers, body }: Reply): Observed {
  return { status, etag: headers.etag, body }
}

function isProblem({ status, headers, body }: Reply): boolean {
  return headers['content-type'] === 'application/problem+json' && Object(body).status === status
}
