/** A position in the commit order of writes to the same records. */
export interface CommitPosition {
  /**
   * Whether nothing is sent from this position although its write has not ended: the host's transaction was rolled
   * back.
   */
  readonly isCancelled: boolean
  /** Orders this position after another one. Returns false if the other one is ordered after this one already. */
  orderAfter(other: CommitPosition): boolean
  /** Calls `work` when the events of this position and of those before it are sent. */
  onSent(work: () => void): void
}
