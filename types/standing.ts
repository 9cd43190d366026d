/** A place among those who tell of the same records. */
export interface Standing {
  /** Whether nothing is told from here though it has not ended: the transaction of the host was rolled back. */
  readonly isVoid: boolean
  /** Lets this one come behind another one. False where that one is behind this already. */
  follow(other: Standing): boolean
  /** Does something when this one has told, and those before it have. */
  whenOver(work: () => void): void
}
