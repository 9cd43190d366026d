import { readSubscription, type Subscription } from './subscription.js'

/** What a server says of classes that it has subscribers of, at a version that rises with each of its changes. */
export interface Claim {
  readonly server: string
  readonly version: number
  readonly texts: readonly string[]
}

/** The claim in a message of another server; null where there is none. */
export function readClaim(message: unknown): Claim | null {
  if (typeof message !== 'object' || message === null) return null
  const { server, version, texts }: Readonly<Record<string, unknown>> = { ...message }
  const isRead = typeof server === 'string' && Number.isSafeInteger(version) && Array.isArray(texts)
  return isRead ? { server, version: Number(version), texts: texts.filter((text) => typeof text === 'string') } : null
}

interface Known {
  readonly subscription: Subscription
  /** The servers that have subscribers of the class, with the version at which each last said so. */
  readonly servers: Map<string, number>
}

/** The classes of subscribers by their texts. One is known as long as any server claims it. */
export class Registry {
  readonly #classes = new Map<string, Known>()
  /** The servers by the time at which they were last heard of. */
  readonly #heard = new Map<string, number>()
  readonly #isAttribute: (name: string) => boolean

  /** What fixes an attribute that the resource does not have has no records here. */
  constructor(isAttribute: (name: string) => boolean) {
    this.#isAttribute = isAttribute
  }

  *subscriptions(): Iterable<readonly [text: string, subscription: Subscription]> {
    for (const [text, { subscription }] of this.#classes) yield [text, subscription]
  }

  /** A server has these too. Gives those that nobody had. */
  add({ server, version, texts }: Claim, now: number): readonly Subscription[] {
    this.#heard.set(server, now)
    const added: Subscription[] = []
    for (const text of texts) {
      const known = this.#classes.get(text)
      const subscription = known?.subscription ?? readSubscription(text)
      if (subscription === null || !subscription.within.every(this.#isAttribute)) continue
      const servers = known?.servers ?? new Map<string, number>()
      servers.set(server, Math.max(version, servers.get(server) ?? 0))
      if (known !== undefined) continue
      this.#classes.set(text, { subscription, servers })
      added.push(subscription)
    }
    return added
  }

  /** A server has these no more, unless it has said so again since: messages overtake each other. */
  remove({ server, version, texts }: Claim, now: number): void {
    this.#heard.set(server, now)
    for (const text of texts) this.#drop(text, server, version)
  }

  /** A server has these and no others. */
  replace(claim: Claim, now: number): readonly Subscription[] {
    const claimed = new Set(claim.texts)
    for (const text of this.#classes.keys()) if (!claimed.has(text)) this.#drop(text, claim.server, claim.version)
    return this.add(claim, now)
  }

  /** Forgets what servers claimed that were last heard of before. */
  expire(before: number): void {
    for (const [server, heard] of this.#heard) {
      if (heard >= before) continue
      this.#heard.delete(server)
      for (const text of this.#classes.keys()) this.#drop(text, server, Number.POSITIVE_INFINITY)
    }
  }

  #drop(text: string, server: string, version: number): void {
    const servers = this.#classes.get(text)?.servers
    if (servers === undefined || (servers.get(server) ?? Number.POSITIVE_INFINITY) > version) return
    servers.delete(server)
    if (servers.size === 0) this.#classes.delete(text)
  }
}
