// Sends requests, some at a time, and holds every reply, every push and every row against what may be.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Trouble } from './application.js'
import { canariesIn } from './canaries.js'
import { changeFaults } from './changes.js'
import type { Random } from './choose.js'
import { Exchange, type RawReply } from './exchange.js'
import { type Held, invariants } from './invariants.js'
import { leaksIn } from './leaks.js'
import { type Listeners, listen } from './listeners.js'
import { isReading, reachedBy, restoredBy } from './place.js'
import { faultsOf } from './replies.js'
import type { FuzzRequest } from './request.js'
import { socketSession } from './sockets.js'
import { TABLES, type TableName } from './tables.js'
import { type Finding, shellOf } from './tell.js'
import { Truth } from './truth.js'
import type { World } from './world.js'

/** So many requests whose senders did not wait for the end may still be at work: what they write is seen later. */
const LINGERING = 60
const EVERYTHING = TABLES.map(({ name }) => name)
const NOTHING: ReadonlySet<string> = new Set()

/** A request and what came back, if anything did. */
export interface Sent {
  readonly request: FuzzRequest
  readonly reply: RawReply | null
  readonly failure: string | null
  /** What of the rows' marks stands in the body of the reply. */
  readonly met: ReadonlySet<string>
  readonly milliseconds: number
}

export interface Judged {
  readonly findings: readonly Finding[]
  readonly sent: readonly Sent[]
}

export class Judge {
  readonly truth: Truth
  readonly #world: World
  readonly #exchange: Exchange
  readonly #listeners: Listeners
  #lingering: readonly FuzzRequest[] = []

  constructor(world: World, listeners: Listeners) {
    this.#world = world
    this.#listeners = listeners
    this.#exchange = new Exchange(world.port)
    this.truth = new Truth(world.models)
  }

  static async over(world: World): Promise<Judge> {
    const judge = new Judge(world, await listen(world))
    await judge.truth.read(EVERYTHING)
    return judge
  }

  /** How many packets of sockets were looked at. */
  get heard(): number {
    return this.#listeners.heard
  }

  /** Holds what is there once nobody writes, and puts the rows back. */
  async startOver(index: number): Promise<{ readonly findings: readonly Finding[]; readonly held: number }> {
    // What is still on its way belongs to the rows that are there now.
    for (let heard = -1; heard !== this.#listeners.heard; ) {
      heard = this.#listeners.heard
      await sleep(this.#lingering.length > 0 ? 200 : 40)
    }
    const told = this.#hear(index)
    await this.truth.read(EVERYTHING)
    const { held, faults }: Held = invariants(this.truth)
    await this.#world.reset()
    this.truth.forget()
    this.#lingering = []
    this.#world.objections.splice(0)
    await this.truth.read(EVERYTHING)
    await this.truth.read([])
    const findings = faults.map((what): Finding => ({ index, what, request: 'up to this one', reply: '' }))
    return { findings: [...told, ...findings], held }
  }

  /** A connection that says at random what no client would; what it hears is held as well. */
  async chatter(random: Random, index: number): Promise<readonly Finding[]> {
    this.#listeners.chatter(random)
    const leaks = await socketSession(this.#world, this.truth, random)
    this.#listeners.heard += leaks.heard
    return leaks.findings.map((what) => ({ index, what, request: 'a session over a socket', reply: '' }))
  }

  /** Sends these at once. */
  async batch(requests: readonly FuzzRequest[]): Promise<Judged> {
    const index = requests[0]?.index ?? 0
    const sent = await Promise.all(requests.map((request) => this.#answered(request)))
    const changed = changedBy(sent)
    if (changed.size > 0) await this.truth.read(changed)
    const restored = [...this.#lingering, ...requests].map(restoredBy)
    this.truth.restored(restored.filter((row) => row !== null))
    const findings = [...this.#hear(index, requests), ...this.#findings(sent)]
    const writes = [...this.#lingering, ...requests.filter((request) => !isReading(request))]
    for (const table of TABLES.filter(({ name }) => changed.has(name))) {
      const faults = changeFaults(table, this.truth.rowsBefore(table.name), this.truth.rows(table.name), writes)
      // Only for what is found: these are long.
      if (faults.length === 0) continue
      const request = writes.map(shellOf).join('\n  ')
      findings.push({ index, what: faults.join('; '), request, reply: '', of: writes })
    }
    const left = sent.filter(({ request, reply }) => request.broken || reply === null).map(({ request }) => request)
    this.#lingering = [...this.#lingering, ...left].slice(-LINGERING)
    return { findings, sent }
  }

  close(): void {
    this.#listeners.close()
    this.#exchange.close()
  }

  async #answered(request: FuzzRequest): Promise<Sent> {
    const { bytes, method, broken } = request
    const start = performance.now()
    const over = (): number => performance.now() - start
    try {
      const reply = await (broken ? this.#exchange.sendBroken(bytes) : this.#exchange.send(bytes, method))
      const milliseconds = broken ? 0 : over()
      const met = reply === null ? NOTHING : canariesIn(reply.body.toString('latin1'))
      return { request, reply, failure: null, met, milliseconds }
    } catch (error) {
      return { request, reply: null, failure: String(error), met: NOTHING, milliseconds: over() }
    }
  }

  #hear(index: number, requests: readonly FuzzRequest[] = []): Finding[] {
    const isOverwritten = (canary: string, name: TableName): boolean => overwrites(requests, canary, name)
    return this.#listeners
      .leaks(this.truth, isOverwritten)
      .map((what) => ({ index, what, request: 'up to this one', reply: '' }))
  }

  #findings(sent: readonly Sent[]): Finding[] {
    const company = [...this.#lingering, ...sent.map(({ request }) => request)]
    const said = new Set(company.flatMap(({ canaries }) => [...canaries]))
    const objections = this.#world.objections.splice(0)
    const found = sent.flatMap((each): Finding[] => {
      const { request, reply, failure, met } = each
      if (failure !== null) return [tell(each, [failure])]
      if (reply === null) return []
      const mine = request.broken
        ? []
        : taken(objections, `${request.method} ${request.target} answers ${reply.status} `)
      const faults = [
        ...faultsOf(request, reply),
        ...leaksIn(this.truth, request, reply, { met, canaries: said }),
        ...mine,
      ]
      return faults.length === 0 ? [] : [tell(each, faults)]
    })
    const index = sent[0]?.request.index ?? 0
    const requests = sent.map(({ request }) => request)
    const others = objections.map((what): Finding => ({ index, what, request: '', reply: '', of: requests }))
    return [...found, ...others, ...this.#troubles(sent)]
  }

  #troubles(sent: readonly Sent[]): Finding[] {
    const troubles = this.#world.errors.splice(0)
    if (sent.some(({ reply }) => reply?.status === 503)) return []
    const of = sent.map(({ request }) => request)
    return troubles.map(({ where, error, request }: Trouble): Finding => {
      const stack = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error)
      return { index: of[0]?.index ?? 0, what: `reached ${where}`, request, reply: stack, of }
    })
  }
}

/** Takes those out that begin so. */
function taken(texts: string[], beginning: string): string[] {
  const mine = texts.filter((text) => text.startsWith(beginning))
  texts.splice(0, texts.length, ...texts.filter((text) => !text.startsWith(beginning)))
  return mine
}

function tell({ request, reply }: Sent, what: readonly string[]): Finding {
  return {
    index: request.index,
    what: `${what.join('; ')}, as ${request.caller.name}`,
    request: shellOf(request),
    reply: reply === null ? '' : `${reply.head}\n${reply.body.toString('latin1')}`,
    of: [request],
  }
}

/** Whether requests at once may have written a value in a table and another one over it, which nobody then finds there. */
function overwrites(requests: readonly FuzzRequest[], canary: string, name: TableName): boolean {
  const writes = requests.filter((request) => !isReading(request) && reachedBy(request).includes(name))
  return writes.length > 1 && writes.some(({ canaries }) => canaries.has(canary))
}

/** The tables whose rows may be others now. */
function changedBy(sent: readonly Sent[]): ReadonlySet<TableName> {
  const wrote = sent.filter(
    ({ request, reply }) => request.broken || reply === null || reply.status < 300 || reply.status >= 500,
  )
  return new Set(wrote.flatMap(({ request }) => reachedBy(request)))
}
