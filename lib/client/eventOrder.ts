/** Maximum number of stored versions. The oldest entries are removed first. */
const MAX_VERSIONS = 10_000

/** Whether an event is newer than the known version (`newer`), older (`older`), or in unknown order (`unknown`). */
export type Verdict = 'newer' | 'older' | 'unknown'

interface KnownVersion {
  readonly version: bigint
  readonly isDeleted: boolean
  /**
   * Whether a record with the same key may have been created again. The versions of a new record would have restarted.
   */
  readonly isUnclear: boolean
  /** Whether events may have been missed since. The record may have been deleted and created again. */
  readonly isDoubtful: boolean
}

/** Orders the events of each record by version, because processes of a cluster may send them in any order. */
export class EventOrder {
  readonly #known = new Map<string, KnownVersion>()

  /**
   * Compares the version of an event with the known version. The version of a deletion is the record's last version. An
   * event without a version is `newer`.
   */
  judge(key: string, version: bigint | null, event: 'created' | 'updated' | 'deleted'): Verdict {
    if (version === null) {
      this.#known.delete(key)
      return 'newer'
    }
    const known = this.#known.get(key)
    const isOld = known !== undefined && (known.isDeleted ? version <= known.version : version < known.version)
    // A restored record is created too, but its version is higher than that of the deletion.
    const isReused = event === 'created' && known !== undefined && (isOld || !known.isDeleted)
    const isUnclear = isReused || known?.isUnclear === true
    const next = isOld
      ? { ...known, isUnclear }
      : { version, isDeleted: event === 'deleted', isUnclear, isDoubtful: false }
    this.#remember(key, next)
    if (next.isDoubtful || (next.isDeleted && isUnclear)) return 'unknown'
    return isOld ? 'older' : 'newer'
  }

  /** Notes that events may have been missed. Until a newer event of a record, old events of it are `unknown`. */
  doubt(): void {
    for (const [key, known] of this.#known) this.#known.set(key, { ...known, isDoubtful: true })
  }

  #remember(key: string, known: KnownVersion): void {
    this.#known.delete(key)
    this.#known.set(key, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_VERSIONS && oldest !== undefined) this.#known.delete(oldest)
  }
}

/** Parses a version. Returns null for invalid values. */
export function parseVersion(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null
}
