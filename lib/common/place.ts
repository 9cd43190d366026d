import type { Standing } from '../../types/standing.js'

/**
 * The place of one write among those that tell of the same records. It is taken while the records are locked, so that what
 * is told keeps the order of the commits, whoever hears first that his own has succeeded.
 */
export class Place implements Standing {
  readonly #before = new Set<Place>()
  #over: (() => void)[] = []
  #isFollowed = false
  #isOver = false
  readonly #gaveUp: () => boolean

  /** `gaveUp`: whether what was written has been rolled back by others. */
  constructor(gaveUp: () => boolean = () => false) {
    this.#gaveUp = gaveUp
  }

  get isVoid(): boolean {
    return this.#gaveUp()
  }

  /**
   * Lets this one come behind another one. False where that one is behind this already: nobody may wait for those who
   * wait for him.
   */
  follow(other: Place): boolean {
    if (other === this || (this.#isFollowed && other.#isBehind(this))) return false
    if (other.#isOver) return true
    other.#isFollowed = true
    this.#before.add(other)
    other.#over.push(() => this.#before.delete(other))
    return true
  }

  /** Resolves when those before have ended; null where there is none. */
  get turn(): Promise<unknown> | null {
    return this.#before.size === 0 ? null : Promise.all([...this.#before].map((place) => place.#ended()))
  }

  /** Does something when this one has ended, and those before it have: those behind wait for them as well. */
  whenOver(work: () => void): void {
    if (this.#isOver) work()
    else this.#over.push(work)
  }

  /** Nothing more is told from here. */
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
