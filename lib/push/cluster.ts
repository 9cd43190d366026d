import { randomUUID } from 'node:crypto'
import type { Namespace } from '../../types/push.js'
import { problem } from '../common/problem.js'
import { type Claim, Registry, readClaim } from './registry.js'
import { readSubscription, type Subscription } from './subscription.js'

const JOINED = 'sequelize-crud-router:joined'
const LEFT = 'sequelize-crud-router:left'
const HELD = 'sequelize-crud-router:held'
const LIST = 'sequelize-crud-router:list'

/** Milliseconds that a question to the other servers may take. */
export const PATIENCE = 5000

/** Milliseconds after which a server says again what it has. */
const PULSE = 60_000

/** Milliseconds after which a server that has said nothing counts as dead: no connection of one outlives them. */
const LEASE = 3 * PULSE

/** One subscriber's part in its class: the class is known as long as somebody has one. */
export interface Hold {
  /** Resolves when the other servers know of the class, or could not be told in time. */
  readonly told: Promise<void>
  /** Whoever calls it again changes nothing. */
  readonly release: () => void
}

interface Own {
  holds: number
  told: Promise<void>
  readonly isByCondition: boolean
}

export interface ClusterSettings {
  readonly isAttribute: (name: string) => boolean
  /** Told of classes that are new here, before anybody may count on hearing of changes. */
  readonly learned: (subscriptions: readonly Subscription[]) => Promise<void>
  readonly report: (error: unknown) => void
  /** Called where clients of this server have perhaps missed events, since the other servers did not know their classes. */
  readonly missed: () => void
  /** Called where clients of other servers have perhaps missed events of this one, which did not know their classes. */
  readonly untold: () => void
  /** Milliseconds for which a connection that was cut may come back, to whatever server. */
  readonly recovery: number
  /** The most rooms by condition of this server. */
  readonly mostRooms: number
}

/**
 * The classes of subscribers of a hub, on this server and on the others that its Socket.IO adapter connects: a change
 * is made known to all of them wherever it was made. A server tells the others of a class before its first subscriber
 * is connected and when its last one is gone, and asks them before its own first event. What one that died had is
 * forgotten after a while, since those who live say again what they have.
 */
export class Cluster {
  readonly #namespace: Namespace
  readonly #settings: ClusterSettings
  readonly #server = randomUUID()
  readonly #registry: Registry
  readonly #own = new Map<string, Own>()
  readonly #left = new Set<string>()
  #version = 0
  #asked: Promise<void> | null = null
  #isBlind = false
  #pulse: NodeJS.Timeout | null = null

  constructor(namespace: Namespace, settings: ClusterSettings) {
    this.#namespace = namespace
    this.#settings = settings
    this.#registry = new Registry(settings.isAttribute)
    this.#hear(JOINED, (claim) => this.#registry.add(claim, Date.now()))
    this.#hear(HELD, (claim) => this.#registry.replace(claim, Date.now()))
    this.#hear(LEFT, (claim) => {
      this.#registry.remove(claim, Date.now())
      return []
    })
    namespace.on(
      LIST as never,
      ((done: unknown) => {
        if (typeof done === 'function') done(this.#claim(this.#own.keys()))
      }) as never,
    )
  }

  /** All that are known, by their texts. */
  subscriptions(): Iterable<readonly [text: string, subscription: Subscription]> {
    this.#registry.expire(Date.now() - Math.max(LEASE, this.#settings.recovery))
    return this.#registry.subscriptions()
  }

  /** @throws Problem 503 for one more room by condition than there may be */
  hold(text: string): Hold {
    const own = this.#own.get(text) ?? this.#begin(text)
    own.holds += 1
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      own.holds -= 1
      if (own.holds === 0) this.#end(text)
    }
    return { told: own.told, release }
  }

  /** Resolves when the others have told what they know, or could not be asked in time. */
  ready(): Promise<void> {
    this.#asked ??= this.#ask(LIST).then(
      (answers) => {
        for (const answer of answers) {
          const claim = readClaim(answer)
          if (claim !== null) this.#registry.replace(claim, Date.now())
        }
        if (this.#isBlind) this.#settings.untold()
        this.#isBlind = false
      },
      (error: unknown) => {
        this.#isBlind = true
        this.#settings.report(this.#unasked(error))
        // Not at once: every event would wait as long again.
        setTimeout(() => {
          this.#asked = null
        }, PATIENCE).unref()
      },
    )
    return this.#asked
  }

  #begin(text: string): Own {
    const isByCondition = (readSubscription(text)?.condition.length ?? 0) > 0
    if (isByCondition) this.#assertRoom()
    this.#version += 1
    // What this server has does not run out.
    const added = this.#registry.add(this.#claim([text]), Number.POSITIVE_INFINITY)
    const own: Own = { holds: 0, told: Promise.resolve(), isByCondition }
    this.#own.set(text, own)
    own.told = Promise.all([this.#settings.learned(added), this.#tell(text, own)]).then(() => undefined)
    this.#pulse ??= setInterval(() => this.#say(HELD, this.#own.keys()), PULSE).unref()
    return own
  }

  /** @throws Problem 503 */
  #assertRoom(): void {
    const { mostRooms, report } = this.#settings
    let count = 0
    for (const { isByCondition } of this.#own.values()) if (isByCondition) count += 1
    if (count < mostRooms) return
    const refusal = problem('unavailable', {
      detail: `There is no room for another client whose scope is a condition: the limit is ${mostRooms}. Try again later.`,
    })
    report(new Error(`push: a client of ${this.#namespace.name} was refused by limits.pushRooms`, { cause: refusal }))
    throw refusal
  }

  #end(text: string): void {
    this.#own.delete(text)
    this.#version += 1
    this.#registry.remove(this.#claim([text]), Number.POSITIVE_INFINITY)
    if (this.#own.size === 0 && this.#pulse !== null) {
      clearInterval(this.#pulse)
      this.#pulse = null
    }
    // Crowds leave together, and are told of together.
    if (this.#left.size === 0) setImmediate(() => this.#sayLeft())
    this.#left.add(text)
  }

  #sayLeft(): void {
    const gone = [...this.#left].filter((text) => !this.#own.has(text))
    this.#left.clear()
    if (gone.length > 0) this.#say(LEFT, gone)
  }

  #claim(texts: Iterable<string>): Claim {
    return { server: this.#server, version: this.#version, texts: [...texts] }
  }

  #tell(text: string, own: Own, isAgain = false): Promise<void> {
    return this.#ask(JOINED, this.#claim([text])).then(
      () => {
        if (isAgain) this.#settings.missed()
      },
      (error: unknown) => {
        this.#settings.report(this.#unasked(error))
        // Until they know, their changes miss these subscribers.
        setTimeout(() => {
          if (this.#own.get(text) === own) own.told = this.#tell(text, own, true)
        }, PATIENCE).unref()
      },
    )
  }

  #hear(event: string, take: (claim: Claim) => readonly Subscription[]): void {
    const listener = (message: unknown, done: unknown): void => {
      const claim = readClaim(message)
      const added = claim === null || claim.server === this.#server ? [] : take(claim)
      this.#settings.learned(added).then(() => {
        if (typeof done === 'function') done(null)
      }, this.#settings.report)
    }
    this.#namespace.on(event as never, listener as never)
  }

  /** Tells the other servers, of whom no answer is awaited. */
  #say(event: string, texts: Iterable<string>): void {
    const claim = this.#claim(texts)
    this.#withOthers(async () => {
      await this.#namespace.adapter.serverSideEmit([event, claim])
    }).catch((error: unknown) => this.#settings.report(this.#unasked(error)))
  }

  #unasked(cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `push: the other Socket.IO servers could not be asked about the clients of ${this.#namespace.name}: ${reason}`
    return new Error(message, { cause })
  }

  /** The answers of the other servers; none where there is no other. */
  async #ask(...question: readonly unknown[]): Promise<readonly unknown[]> {
    const answers = await this.#withOthers(
      () =>
        new Promise<readonly unknown[]>((resolve, reject) => {
          const done = (error: unknown, given: readonly unknown[]): void => (error ? reject(error) : resolve(given))
          // Not by `namespace.serverSideEmit`, which drops the promise of an adapter whose connection is gone.
          Promise.resolve(this.#namespace.adapter.serverSideEmit([...question, done])).catch(reject)
        }),
    )
    return answers ?? []
  }

  /** Does something that concerns other servers, where there are any, and waits for it no longer than they may take. */
  async #withOthers<T>(work: () => Promise<T>): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE / 1000} seconds`)), PATIENCE)
      timer.unref()
    })
    try {
      // A server by itself has an adapter that cannot ask, and says so on the console.
      if ((await Promise.race([this.#namespace.adapter.serverCount(), late])) <= 1) return null
      return await Promise.race([work(), late])
    } finally {
      clearTimeout(timer)
      late.catch(() => undefined)
    }
  }
}
