import type { Standing } from '../../types/standing.js'

/**
 * The position of a write in the commit order. It is taken while the records are locked, because results of commits may
 * arrive in another order.
 */
export class Place implements Standing {
  readonly #before = new Set<Place>()
  #over: (() => void)[] = []
  #isFollowed = false
  #isOver = false
  readonly #gaveUp: () => boolean

  /** `gaveUp` tells whether the host rolled the write back. */
  constructor(gaveUp: () => boolean = () => false) {
    this.#gaveUp = gaveUp
  }

  get isVoid(): boolean {
    return this.#gaveUp()
  }

  /**
   * Orders this position after another one. Returns false if the other one waits for this one already, which would be a
   * deadlock.
   */
  follow(other: Place): boolean {
    if (other === this || (this.#isFollowed && other.#isBehind(this))) return false
    if (other.#isOver) return true
    other.#isFollowed = true
    this.#before.add(other)
    other.#over.push(() => this.#before.delete(other))
    return true
  }

  /** Resolves when all earlier positions have ended; null for the first position. */
  get turn(): Promise<unknown> | null {
    return this.#before.size === 0 ? null : Promise.all([...this.#before].map((place) => place.#ended()))
  }

  /** Calls `work` when this position and all earlier ones have ended. Later positions wait for it as well. */
  whenOver(work: () => void): void {
    if (this.#isOver) work()
    else this.#over.push(work)
  }

  /** Ends this position: no more events follow. */
  end(): void {
    const { turn } = this
    if (turn === null) this.#leave()
    else void turn.then(() => this.#leave())
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const work of this.#over) work()
    this.#over = []
  }

  #ended(): Promise<void> {
    return new Promise((resolve) => this.whenOver(resolve))
  }

  #isBehind(other: Place): boolean {
    const seen = new Set<Place>()
    const next: Place[] = [this]
    for (let place = next.pop(); place !== undefined; place = next.pop()) {
      if (place === other) return true
      if (seen.has(place)) continue
      seen.add(place)
      next.push(...place.#before)
    }
    return false
  }
}
