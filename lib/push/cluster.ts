import type { Namespace } from '../../types/push.js'
import { readSubscription, type Subscription } from './subscription.js'

const JOINED = 'sequelize-crud-router:joined'
const LIST = 'sequelize-crud-router:list'

/** Milliseconds that a question to the other servers may take. */
const PATIENCE = 5000

/**
 * The classes of subscribers of a hub, on this server and on the others that its Socket.IO adapter connects: a change
 * is made known to all of them wherever it was made. A server tells the others of a class before its first subscriber
 * is connected, and asks them before its own first event.
 */
export class Cluster {
  readonly #namespace: Namespace
  readonly #report: (error: unknown) => void
  readonly #known = new Map<string, Subscription>()
  readonly #told = new Map<string, Promise<void>>()
  #asked: Promise<void> | null = null

  constructor(namespace: Namespace, report: (error: unknown) => void) {
    this.#namespace = namespace
    this.#report = report
    namespace.on(
      JOINED as never,
      ((text: unknown, done: unknown) => {
        this.#learn(text)
        if (typeof done === 'function') done(null)
      }) as never,
    )
    namespace.on(
      LIST as never,
      ((done: unknown) => {
        if (typeof done === 'function') done([...this.#known.keys()])
      }) as never,
    )
  }

  /** All that are known, by their texts. */
  get subscriptions(): ReadonlyMap<string, Subscription> {
    return this.#known
  }

  /** Adds a class. Resolves when the others know of it, or could not be told in time. */
  join(text: string, subscription: Subscription): Promise<void> {
    this.#known.set(text, subscription)
    const told = this.#told.get(text) ?? this.#tell(text)
    this.#told.set(text, told)
    return told
  }

  /** Resolves when the others have told what they know, or could not be asked in time. */
  ready(): Promise<void> {
    this.#asked ??= this.#ask(LIST).then(
      (answers) => {
        for (const texts of answers) if (Array.isArray(texts)) for (const text of texts) this.#learn(text)
      },
      (error: unknown) => {
        this.#report(error)
        // Not at once: every event would wait as long again.
        setTimeout(() => {
          this.#asked = null
        }, PATIENCE).unref()
      },
    )
    return this.#asked
  }

  #tell(text: string): Promise<void> {
    return this.#ask(JOINED, text).then(
      () => undefined,
      (error: unknown) => {
        this.#report(error)
        // Until they know, their changes miss these subscribers.
        setTimeout(() => this.#told.set(text, this.#tell(text)), PATIENCE).unref()
      },
    )
  }

  #learn(text: unknown): void {
    const subscription = readSubscription(text)
    if (subscription !== null && typeof text === 'string') this.#known.set(text, subscription)
  }

  /** The answers of the other servers; none where there is no other. */
  async #ask(...question: readonly unknown[]): Promise<readonly unknown[]> {
    const { adapter } = this.#namespace
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the other Socket.IO servers did not answer in time')), PATIENCE)
      timer.unref()
    })
    try {
      // A server by itself has an adapter that cannot ask, and says so on the console.
      if ((await Promise.race([adapter.serverCount(), late])) <= 1) return []
      const answers = new Promise<readonly unknown[]>((resolve, reject) => {
        const done = (error: unknown, given: readonly unknown[]): void => (error ? reject(error) : resolve(given))
        // Not by `namespace.serverSideEmit`, which drops the promise of an adapter whose connection is gone.
        Promise.resolve(adapter.serverSideEmit([...question, done])).catch(reject)
      })
      return await Promise.race([answers, late])
    } finally {
      clearTimeout(timer)
      late.catch(() => undefined)
    }
  }
}
