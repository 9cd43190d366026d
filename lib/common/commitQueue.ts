import type { CommitPosition } from '../../types/commitPosition.js'

/**
 * The position of a write in the commit order. The position is taken while the records are locked, because results of
 * commits may arrive in another order.
 */
export class CommitQueuePosition implements CommitPosition {
  readonly #earlier = new Set<CommitQueuePosition>()
  #endCallbacks: (() => void)[] = []
  #hasFollowers = false
  #hasEnded = false
  readonly #hasRolledBack: () => boolean

  /** `gaveUp` returns whether the host has rolled the write back. */
  constructor(gaveUp: () => boolean = () => false) {
    this.#hasRolledBack = gaveUp
  }

  get isCancelled(): boolean {
    return this.#hasRolledBack()
  }

  /**
   * Orders this position after `other`. Returns false if `other` already waits for this position, because both would
   * wait forever.
   */
  orderAfter(other: CommitQueuePosition): boolean {
    if (other === this || (this.#hasFollowers && other.#isBehind(this))) return false
    if (other.#hasEnded) return true
    other.#hasFollowers = true
    this.#earlier.add(other)
    other.#endCallbacks.push(() => this.#earlier.delete(other))
    return true
  }

  /** Resolves when all earlier positions have ended; null for the first position. */
  get turn(): Promise<unknown> | null {
    return this.#earlier.size === 0 ? null : Promise.all([...this.#earlier].map((position) => position.#waitForEnd()))
  }

  /** Calls `work` when this position and all earlier positions have ended, and before later positions proceed. */
  onSent(work: () => void): void {
    if (this.#hasEnded) work()
    else this.#endCallbacks.push(work)
  }

  /** Ends this position, which has no further events. */
  end(): void {
    const { turn } = this
    if (turn === null) this.#finish()
    else void turn.then(() => this.#finish())
  }

  #finish(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    for (const work of this.#endCallbacks) work()
    this.#endCallbacks = []
  }

  #waitForEnd(): Promise<void> {
    return new Promise((resolve) => this.onSent(resolve))
  }

  #isBehind(other: CommitQueuePosition): boolean {
    const seen = new Set<CommitQueuePosition>()
    const next: CommitQueuePosition[] = [this]
    for (let position = next.pop(); position !== undefined; position = next.pop()) {
      if (position === other) return true
      if (seen.has(position)) continue
      seen.add(position)
      next.push(...position.#earlier)
    }
    return false
  }
}
