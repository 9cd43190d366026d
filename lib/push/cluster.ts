import { randomUUID } from 'node:crypto'
import type { Namespace } from '../../types/push.js'
import { problem } from '../common/problem.js'
import { type Claim, Registry, readClaim } from './registry.js'
import { readSubscription, type Subscription } from './subscription.js'

const JOINED = 'sequelize-crud-router:joined'
const LEFT = 'sequelize-crud-router:left'
const HELD = 'sequelize-crud-router:held'
const LIST = 'sequelize-crud-router:list'

/** Milliseconds to wait for answers of the other servers. */
export const PATIENCE = 5000

/** Milliseconds between two messages that repeat a server's subscriptions. */
const PULSE = 60_000

/** Milliseconds without a message after which a server counts as dead. No connection of a dead server lives longer. */
const LEASE = 3 * PULSE

/** One subscriber's hold on a subscription. The cluster knows a subscription as long as it has a hold. */
export interface Hold {
  /** Resolves when the other servers know the subscription, or when PATIENCE has passed. */
  readonly told: Promise<void>
  /** Releases the hold. Further calls have no effect. */
  readonly release: () => void
}

interface Own {
  holds: number
  told: Promise<void>
  readonly isByCondition: boolean
}

export interface ClusterSettings {
  readonly isAttribute: (name: string) => boolean
  /** Called with subscriptions that are new on this server, before their clients are connected. */
  readonly learned: (subscriptions: readonly Subscription[]) => Promise<void>
  readonly report: (error: unknown) => void
  /**
   * Called when clients of this server may have missed events because other servers did not know their subscriptions.
   */
  readonly missed: () => void
  /**
   * Called when clients of other servers may have missed events because this server did not know their subscriptions.
   */
  readonly untold: () => void
  /** Milliseconds during which a disconnected client may recover its session, on any server. */
  readonly recovery: number
  /** Maximum number of rooms by condition on this server. */
  readonly mostRooms: number
}

/**
 * The subscriptions of a hub on all servers that its Socket.IO adapter connects, so that a change on any server reaches
 * all subscribers.
 * A server announces a subscription before its first client is connected and after its last client is gone. Before its
 * own first event it asks the other servers for theirs. Every server repeats its subscriptions regularly, and those of
 * a dead server expire.
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

  /** All known subscriptions with their texts. */
  subscriptions(): Iterable<readonly [text: string, subscription: Subscription]> {
    this.#registry.expire(Date.now() - Math.max(LEASE, this.#settings.recovery))
    return this.#registry.subscriptions()
  }

  /** @throws Problem 503 if the server already has the maximum number of rooms by condition */
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

  /** Resolves when the other servers have answered, or when PATIENCE has passed. */
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
        // The retry is delayed: otherwise every event would wait for PATIENCE again.
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
    // Subscriptions of this server do not expire.
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
      detail: `Too many clients have a condition as scope: the limit is ${mostRooms}. Try again later.`,
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
    // Many clients can disconnect at once. Their subscriptions are announced in one message.
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
        // Until the other servers know the subscription, their events do not reach these subscribers.
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

  /** Sends a message to the other servers without waiting for an answer. */
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

  /** Answers of the other servers, or an empty array if there are none. */
  async #ask(...question: readonly unknown[]): Promise<readonly unknown[]> {
    const answers = await this.#withOthers(
      () =>
        new Promise<readonly unknown[]>((resolve, reject) => {
          const done = (error: unknown, given: readonly unknown[]): void => (error ? reject(error) : resolve(given))
          // `namespace.serverSideEmit` would drop the rejected promise of an adapter without a connection.
          Promise.resolve(this.#namespace.adapter.serverSideEmit([...question, done])).catch(reject)
        }),
    )
    return answers ?? []
  }

  /** Runs work that concerns other servers, for at most PATIENCE. Returns null if there are no other servers. */
  async #withOthers<T>(work: () => Promise<T>): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE / 1000} seconds`)), PATIENCE)
      timer.unref()
    })
    try {
      // A single server's adapter cannot ask others and would write a warning to the console.
      if ((await Promise.race([this.#namespace.adapter.serverCount(), late])) <= 1) return null
      return await Promise.race([work(), late])
    } finally {
      clearTimeout(timer)
      late.catch(() => undefined)
    }
  }
}
