/** Maximum number of remembered versions. The oldest are removed first. */
const MOST = 10_000

/** Result of judging an event: newer than the known version, older, or unclear. */
export type Verdict = 'news' | 'old' | 'unclear'

interface Known {
  readonly version: bigint
  readonly isGone: boolean
  /** Whether a record with the same key may have been created again, so that its versions restarted. */
  readonly isUnclear: boolean
}

/** Orders the events of each record by version. Processes of a cluster send events of one record in any order. */
export class EventOrder {
  readonly #known = new Map<string, Known>()

  /** Judges the event of a record with its new version. An event without a version gives no order. */
  wrote(key: string, version: bigint | null, isCreated: boolean): Verdict {
    if (version === null) return this.#forget(key)
    const known = this.#known.get(key)
    const isOld = known !== undefined && (known.isGone ? version <= known.version : version < known.version)
    if (!isOld) {
      this.#note(key, { version, isGone: false, isUnclear: known?.isUnclear === true })
      return 'news'
    }
    const isUnclear = known.isUnclear || isCreated
    this.#note(key, { ...known, isUnclear })
    return known.isGone && isUnclear ? 'unclear' : 'old'
  }

  /** Judges the deletion of a record with its last version. */
  deleted(key: string, version: bigint | null): Verdict {
    if (version === null) return this.#forget(key)
    const known = this.#known.get(key)
    if (known !== undefined && (known.isGone ? version <= known.version : version < known.version)) return 'old'
    this.#note(key, { version, isGone: true, isUnclear: known?.isUnclear === true })
    return known?.isUnclear === true ? 'unclear' : 'news'
  }

  #forget(key: string): Verdict {
    this.#known.delete(key)
    return 'news'
  }

  #note(key: string, known: Known): void {
    this.#known.delete(key)
    this.#known.set(key, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest)
  }
}

/** Parses a version. Returns null for invalid values. */
export function versionIn(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null
}
