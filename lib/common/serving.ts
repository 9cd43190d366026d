/** Requests that have begun between two closings, whatever resource they are for: one may follow relations into another. */
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

  /** Waits until all of them have ended; no more may begin. */
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

/** An answer that may take as long as its reader likes. */
export interface Cuttable {
  readonly cut: () => void
  readonly whenClosed: (tell: () => void) => void
}

/** Whether a resource takes requests, and what is under way. */
export class Serving {
  readonly #files = new Set<Cuttable>()
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** A request begins: whoever got this tells it of the end. */
  begin(): Epoch {
    present.begin()
    return present
  }

  /** The answer is a file, which may take as long as its reader likes. */
  streams(file: Cuttable): void {
    this.#files.add(file)
    file.whenClosed(() => this.#files.delete(file))
  }

  /**
   * Takes no more requests. Resolves when those of before have ended, of other resources as well, at the latest after so many
   * milliseconds: then files that are still being read are cut.
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

/** That of a resource. */
export function servingOf(resource: object): Serving {
  const serving = known.get(resource) ?? new Serving()
  known.set(resource, serving)
  return serving
}
