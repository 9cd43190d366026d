/**
 * The in-flight requests of all resources between two calls of `close`. A request may use other resources by relations.
 */
export class Epoch {
  #underWay = 0
  #ended: (() => void) | null = null

  begin(): void {
    this.#underWay += 1
  }

  end(): void {
    this.#underWay -= 1
    if (this.#underWay === 0) this.#ended?.()
  }

  /** Resolves when all these requests have ended. */
  ended(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const before = this.#ended
      this.#ended = () => {
        before?.()
        resolve()
      }
    })
  }
}

let present = new Epoch()
const past = new Set<Epoch>()

/** A streamed response, which may take as long as the client reads. */
export interface Cuttable {
  readonly cut: () => void
  readonly whenClosed: (tell: () => void) => void
}

/** Graceful shutdown of one resource: whether it accepts requests, and its streams. */
export class Serving {
  readonly #files = new Set<Cuttable>()
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Counts a new request. The caller must call `end` on the result. */
  begin(): Epoch {
    present.begin()
    return present
  }

  /** Registers a streamed response, so that `close` can end it. */
  streams(file: Cuttable): void {
    this.#files.add(file)
    file.whenClosed(() => this.#files.delete(file))
  }

  /**
   * Rejects new requests. Resolves when all earlier requests of any resource have ended, at the latest after `within`
   * milliseconds. Then open streams are cut.
   */
  async close(within: number): Promise<void> {
    this.#isClosed = true
    const epoch = present
    present = new Epoch()
    past.add(epoch)
    void epoch.ended().then(() => past.delete(epoch))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, within)
    })
    await Promise.race([Promise.all([...past].map((each) => each.ended())), late])
    clearTimeout(timer)
    for (const file of this.#files) file.cut()
  }
}

const known = new WeakMap<object, Serving>()

/** The shutdown state of a resource. */
export function servingOf(resource: object): Serving {
  const serving = known.get(resource)
  if (serving !== undefined) return serving
  const made = new Serving()
  known.set(resource, made)
  return made
}
