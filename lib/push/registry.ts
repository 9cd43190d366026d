import { readSubscription, type Subscription } from './subscription.js'

/**
 * A server's message about the subscriptions of its clients. `version` rises with each change of the server's
 * subscriptions.
 */
export interface Claim {
  readonly server: string
  readonly version: number
  readonly texts: readonly string[]
}

/** Reads the claim from another server's message. Returns null if the message is malformed. */
export function readClaim(message: unknown): Claim | null {
  if (typeof message !== 'object' || message === null) return null
  const { server, version, texts }: Readonly<Record<string, unknown>> = { ...message }
  const isRead = typeof server === 'string' && Number.isSafeInteger(version) && Array.isArray(texts)
  return isRead ? { server, version: Number(version), texts: texts.filter((text) => typeof text === 'string') } : null
}

interface RegisteredSubscription {
  readonly subscription: Subscription
  /** Servers that have clients of the subscription. The value is the version of the server's latest claim. */
  readonly servers: Map<string, number>
}

/** Known subscriptions by their texts. A subscription stays known as long as a server claims it. */
export class SubscriptionRegistry {
  readonly #registered = new Map<string, RegisteredSubscription>()
  /** Instant of the last message from each server, in milliseconds since the epoch. */
  readonly #lastSeen = new Map<string, number>()
  readonly #isAttribute: (name: string) => boolean

  /** @param isAttribute whether the resource has an attribute. Subscriptions with unknown attributes are ignored */
  constructor(isAttribute: (name: string) => boolean) {
    this.#isAttribute = isAttribute
  }

  *subscriptions(): Iterable<readonly [text: string, subscription: Subscription]> {
    for (const [text, { subscription }] of this.#registered) yield [text, subscription]
  }

  /** Adds subscriptions of a server. Returns the subscriptions that no server had before. */
  add({ server, version, texts }: Claim, now: number): readonly Subscription[] {
    this.#lastSeen.set(server, now)
    const added: Subscription[] = []
    for (const text of texts) {
      const known = this.#registered.get(text)
      const subscription = known?.subscription ?? readSubscription(text)
      if (subscription === null || !subscription.fixedAttributes.every(this.#isAttribute)) continue
      const servers = known?.servers ?? new Map<string, number>()
      servers.set(server, Math.max(version, servers.get(server) ?? 0))
      if (known !== undefined) continue
      this.#registered.set(text, { subscription, servers })
      added.push(subscription)
    }
    return added
  }

  /**
   * Removes subscriptions of a server. A subscription with a later claim stays, because messages may arrive out of
   * order.
   */
  remove({ server, version, texts }: Claim, now: number): void {
    this.#lastSeen.set(server, now)
    for (const text of texts) this.#drop(text, server, version)
  }

  /** Replaces all subscriptions of a server. Returns the subscriptions that no server had before. */
  replace(claim: Claim, now: number): readonly Subscription[] {
    const claimed = new Set(claim.texts)
    for (const text of this.#registered.keys()) if (!claimed.has(text)) this.#drop(text, claim.server, claim.version)
    return this.add(claim, now)
  }

  /** Removes the claims of servers whose last message arrived before an instant, in milliseconds since the epoch. */
  expire(before: number): void {
    for (const [server, lastSeen] of this.#lastSeen) {
      if (lastSeen >= before) continue
      this.#lastSeen.delete(server)
      for (const text of this.#registered.keys()) this.#drop(text, server, Number.POSITIVE_INFINITY)
    }
  }

  #drop(text: string, server: string, version: number): void {
    const servers = this.#registered.get(text)?.servers
    if (servers === undefined || (servers.get(server) ?? Number.POSITIVE_INFINITY) > version) return
    servers.delete(server)
    if (servers.size === 0) this.#registered.delete(text)
  }
}
