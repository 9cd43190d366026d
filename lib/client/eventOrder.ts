/** Maximum number of stored versions. The oldest entries are removed first. */
const MAX_VERSIONS = 10_000

/** Whether an event is newer than the known version (`news`), older (`old`), or in unknown order (`unclear`). */
export type Verdict = 'news' | 'old' | 'unclear'

interface KnownVersion {
  readonly version: bigint
  readonly isDeleted: boolean
  /**
   * Whether a record with the same key may have been created again. The versions of a new record would have restarted.
   */
  readonly isUnclear: boolean
}

/** Orders the events of each record by version, because processes of a cluster may send them in any order. */
export class EventOrder {
  readonly #known = new Map<string, KnownVersion>()

  /**
   * Compares the version of a created or updated record with the known version. An event without a version is `news`.
   */
  judgeWrite(key: string, version: bigint | null, isCreated: boolean): Verdict {
    if (version === null) return this.#clear(key)
    const known = this.#known.get(key)
    const isOld = known !== undefined && (known.isDeleted ? version <= known.version : version < known.version)
    if (!isOld) {
      this.#remember(key, { version, isDeleted: false, isUnclear: known?.isUnclear === true })
      return 'news'
    }
    const isUnclear = known.isUnclear || isCreated
    this.#remember(key, { ...known, isUnclear })
    return known.isDeleted && isUnclear ? 'unclear' : 'old'
  }

  /** Compares the last version of a deleted record with the known version. A deletion without a version is `news`. */
  judgeDeletion(key: string, version: bigint | null): Verdict {
    if (version === null) return this.#clear(key)
    const known = this.#known.get(key)
    if (known !== undefined && (known.isDeleted ? version <= known.version : version < known.version)) return 'old'
    this.#remember(key, { version, isDeleted: true, isUnclear: known?.isUnclear === true })
    return known?.isUnclear === true ? 'unclear' : 'news'
  }

  #clear(key: string): Verdict {
    this.#known.delete(key)
    return 'news'
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
