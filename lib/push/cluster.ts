import { randomUUID } from 'node:crypto'
import type { Namespace } from '../../types/push.js'
import { problem } from '../common/problem.js'
import { type Claim, readClaim, SubscriptionRegistry } from './registry.js'
import { readSubscription, type Subscription } from './subscription.js'

const SUBSCRIPTION_ADDED = 'sequelize-crud-router:joined'
const SUBSCRIPTIONS_REMOVED = 'sequelize-crud-router:left'
const SUBSCRIPTIONS_RENEWED = 'sequelize-crud-router:held'
const LIST_SUBSCRIPTIONS = 'sequelize-crud-router:list'

/** Milliseconds to wait for answers of the other servers. */
export const CLUSTER_TIMEOUT = 5000

/** Milliseconds between two messages that repeat a server's subscriptions. */
const RENEWAL_INTERVAL = 60_000

/**
 * Milliseconds without a message after which a server counts as dead. A dead server's clients have been disconnected by
 * that time.
 */
const LEASE_DURATION = 3 * RENEWAL_INTERVAL

/** A reference of one connection to a subscription. The cluster keeps a subscription as long as it has references. */
export interface SubscriptionReference {
  /** Resolves when the other servers know the subscription, or after CLUSTER_TIMEOUT. */
  readonly published: Promise<void>
  /** Releases the reference. Further calls have no effect. */
  readonly release: () => void
}

interface LocalSubscription {
  references: number
  published: Promise<void>
  readonly isByCondition: boolean
}

export interface ClusterSettings {
  readonly isAttribute: (name: string) => boolean
  /** Called with subscriptions that are new on this server, before their clients are connected. */
  readonly onSubscriptionsAdded: (subscriptions: readonly Subscription[]) => Promise<void>
  readonly report: (error: unknown) => void
  /**
   * Called when clients of this server may have missed events because other servers did not know their subscriptions.
   */
  readonly onMissed: () => void
  /**
   * Called when clients of other servers may have missed events because this server did not know their subscriptions.
   */
  readonly onUnsent: () => void
  /** Milliseconds during which a disconnected client may recover its session, on any server. */
  readonly recoveryDuration: number
  /** Maximum number of rooms on this server that a scope's condition defines. */
  readonly maxConditionRooms: number
}

/**
 * The subscriptions of a hub on all servers that its Socket.IO adapter connects. A change on any server can therefore
 * reach all subscribers.
 * A server announces a subscription before its first client is connected, and again after its last client has left.
 * Before its own first event, a server requests the subscriptions of the other servers. Every server repeats its
 * subscriptions regularly. The subscriptions of a dead server expire.
 */
export class ClusterSubscriptions {
  readonly #namespace: Namespace
  readonly #settings: ClusterSettings
  readonly #server = randomUUID()
  readonly #registry: SubscriptionRegistry
  readonly #local = new Map<string, LocalSubscription>()
  readonly #removed = new Set<string>()
  #version = 0
  #synchronized: Promise<void> | null = null
  /** Whether this server knows the subscriptions of the others: not asked yet, asked in vain, or answered. */
  #synchronization: 'none' | 'failed' | 'complete' = 'none'
  #renewalTimer: NodeJS.Timeout | null = null

  constructor(namespace: Namespace, settings: ClusterSettings) {
    this.#namespace = namespace
    this.#settings = settings
    this.#registry = new SubscriptionRegistry(settings.isAttribute)
    this.#receiveClaims(SUBSCRIPTION_ADDED, (claim) => this.#registry.add(claim, Date.now()))
    this.#receiveClaims(SUBSCRIPTIONS_RENEWED, (claim) => {
      const added = this.#registry.replace(claim, Date.now())
      // This server has sent events without knowing these subscriptions.
      if (added.length > 0 && this.#synchronization === 'complete') this.#settings.onUnsent()
      return added
    })
    this.#receiveClaims(SUBSCRIPTIONS_REMOVED, (claim) => {
      this.#registry.remove(claim, Date.now())
      return []
    })
    namespace.on(
      LIST_SUBSCRIPTIONS as never,
      ((done: unknown) => {
        if (typeof done === 'function') done(this.#createClaim(this.#local.keys()))
      }) as never,
    )
  }

  /** All known subscriptions with their texts. */
  subscriptions(): Iterable<readonly [text: string, subscription: Subscription]> {
    this.#registry.expire(Date.now() - Math.max(LEASE_DURATION, this.#settings.recoveryDuration))
    return this.#registry.subscriptions()
  }

  /**
   * Adds a reference to a subscription.
   * @throws Problem 503 if the server already has the maximum number of rooms that conditions define
   */
  acquire(text: string): SubscriptionReference {
    const own = this.#local.get(text) ?? this.#addLocal(text)
    own.references += 1
    let isReferenced = true
    const release = (): void => {
      if (!isReferenced) return
      isReferenced = false
      own.references -= 1
      if (own.references === 0) this.#removeLocal(text)
    }
    return { published: own.published, release }
  }

  /** Resolves when the other servers have answered, or after CLUSTER_TIMEOUT. */
  synchronize(): Promise<void> {
    this.#synchronized ??= this.#requestPeers(LIST_SUBSCRIPTIONS).then(
      (answers) => {
        for (const answer of answers) {
          const claim = readClaim(answer)
          if (claim !== null) this.#registry.replace(claim, Date.now())
        }
        if (this.#synchronization === 'failed') this.#settings.onUnsent()
        this.#synchronization = 'complete'
      },
      (error: unknown) => {
        this.#synchronization = 'failed'
        this.#settings.report(this.#createClusterError(error))
        // The retry is delayed: otherwise every event would wait for CLUSTER_TIMEOUT again.
        setTimeout(() => {
          this.#synchronized = null
        }, CLUSTER_TIMEOUT).unref()
      },
    )
    return this.#synchronized
  }

  /** Repeats this server's subscriptions, for a server that may not know them. */
  announce(): void {
    // Without asking for the number of servers: some adapters count a server only after its first heartbeat.
    if (this.#local.size > 0) this.#reportFailure(this.#emitClaim(SUBSCRIPTIONS_RENEWED, this.#local.keys()))
  }

  #addLocal(text: string): LocalSubscription {
    const isByCondition = (readSubscription(text)?.condition.length ?? 0) > 0
    if (isByCondition) this.#assertRoomLimit()
    this.#version += 1
    // Subscriptions of this server do not expire.
    const added = this.#registry.add(this.#createClaim([text]), Number.POSITIVE_INFINITY)
    const own: LocalSubscription = { references: 0, published: Promise.resolve(), isByCondition }
    this.#local.set(text, own)
    own.published = Promise.all([this.#settings.onSubscriptionsAdded(added), this.#publishAdded(text, own)]).then(
      () => undefined,
    )
    this.#renewalTimer ??= setInterval(
      () => this.#publishClaim(SUBSCRIPTIONS_RENEWED, this.#local.keys()),
      RENEWAL_INTERVAL,
    ).unref()
    return own
  }

  /**
   * Limits the rooms of this server. @throws Problem 503 if the server already has the maximum number of rooms that
   * conditions define
   */
  #assertRoomLimit(): void {
    const { maxConditionRooms, report } = this.#settings
    let count = 0
    for (const { isByCondition } of this.#local.values()) if (isByCondition) count += 1
    if (count < maxConditionRooms) return
    const refusal = problem('unavailable', {
      detail: `Too many clients with different access rights are connected. The limit is ${maxConditionRooms} (pushRooms). Try again later.`,
    })
    report(
      new Error(
        `push: a client of ${this.#namespace.name} was refused, because it would need more rooms than limits.pushRooms allows`,
        { cause: refusal },
      ),
    )
    throw refusal
  }

  #removeLocal(text: string): void {
    this.#local.delete(text)
    this.#version += 1
    this.#registry.remove(this.#createClaim([text]), Number.POSITIVE_INFINITY)
    if (this.#local.size === 0 && this.#renewalTimer !== null) {
      clearInterval(this.#renewalTimer)
      this.#renewalTimer = null
    }
    // Many clients can disconnect at once. Subscriptions of these clients are announced in one message.
    if (this.#removed.size === 0) setImmediate(() => this.#publishRemoved())
    this.#removed.add(text)
  }

  #publishRemoved(): void {
    const gone = [...this.#removed].filter((text) => !this.#local.has(text))
    this.#removed.clear()
    if (gone.length > 0) this.#publishClaim(SUBSCRIPTIONS_REMOVED, gone)
  }

  #createClaim(texts: Iterable<string>): Claim {
    return { server: this.#server, version: this.#version, texts: [...texts] }
  }

  #publishAdded(text: string, own: LocalSubscription, isAgain = false): Promise<void> {
    return this.#requestPeers(SUBSCRIPTION_ADDED, this.#createClaim([text])).then(
      () => {
        if (isAgain) this.#settings.onMissed()
      },
      (error: unknown) => {
        this.#settings.report(this.#createClusterError(error))
        // Other servers that do not know the subscription yet send no events to its subscribers.
        setTimeout(() => {
          if (this.#local.get(text) === own) own.published = this.#publishAdded(text, own, true)
        }, CLUSTER_TIMEOUT).unref()
      },
    )
  }

  #receiveClaims(event: string, take: (claim: Claim) => readonly Subscription[]): void {
    const listener = (message: unknown, done: unknown): void => {
      const claim = readClaim(message)
      const added = claim === null || claim.server === this.#server ? [] : take(claim)
      this.#settings.onSubscriptionsAdded(added).then(() => {
        if (typeof done === 'function') done(null)
      }, this.#settings.report)
    }
    this.#namespace.on(event as never, listener as never)
  }

  /** Sends a message about subscriptions to the other servers, without waiting for an answer. */
  #publishClaim(event: string, texts: Iterable<string>): void {
    this.#reportFailure(this.#runWithPeers(() => this.#emitClaim(event, texts)))
  }

  async #emitClaim(event: string, texts: Iterable<string>): Promise<void> {
    await this.#namespace.adapter.serverSideEmit([event, this.#createClaim(texts)])
  }

  #reportFailure(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#settings.report(this.#createClusterError(error)))
  }

  #createClusterError(cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `push: this server could not exchange the clients of ${this.#namespace.name} with the other Socket.IO servers: ${reason}`
    return new Error(message, { cause })
  }

  /** Sends a question to the other servers. Returns their answers, or an empty array if there are no other servers. */
  async #requestPeers(...question: readonly unknown[]): Promise<readonly unknown[]> {
    const answers = await this.#runWithPeers(
      () =>
        new Promise<readonly unknown[]>((resolve, reject) => {
          const done = (error: unknown, given: readonly unknown[]): void => (error ? reject(error) : resolve(given))
          // `namespace.serverSideEmit` would drop the rejected promise of an adapter without a connection.
          Promise.resolve(this.#namespace.adapter.serverSideEmit([...question, done])).catch(reject)
        }),
    )
    return answers ?? []
  }

  /** Runs work that needs other servers, for at most CLUSTER_TIMEOUT. Returns null if there are no other servers. */
  async #runWithPeers<T>(work: () => Promise<T>): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`they did not answer within ${CLUSTER_TIMEOUT / 1000} seconds`)),
        CLUSTER_TIMEOUT,
      )
      timer.unref()
    })
    try {
      // Without other servers, the adapter would write a warning to the console.
      if ((await Promise.race([this.#namespace.adapter.serverCount(), late])) <= 1) return null
      return await Promise.race([work(), late])
    } finally {
      clearTimeout(timer)
      late.catch(() => undefined)
    }
  }
}
