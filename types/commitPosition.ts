/** A position in the commit order of writes to the same records. */
export interface CommitPosition {
  /**
   * True after a rollback of the host's transaction. The position sends no events, although its write has not ended.
   */
  readonly isCancelled: boolean
  /** Orders this position after `other`. Returns false if `other` is already ordered after this position. */
  orderAfter(other: CommitPosition): boolean
  /** Calls `work` after the events of this position and of all earlier positions are sent. */
  onSent(work: () => void): void
}
