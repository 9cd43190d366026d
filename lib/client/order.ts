/** The most records whose versions are remembered; the oldest are forgotten first. */
const MOST = 10_000

/** An event is news, older than what is known of its record, or leaves open what is true of it now. */
export type Verdict = 'news' | 'old' | 'unclear'

interface Known {
  readonly version: bigint
  readonly isGone: boolean
  /** Whether a record of the same key was perhaps created anew, so that its versions began again. */
  readonly isUnclear: boolean
}

/** The order of the events of each record, by versions: processes of a cluster tell of one record in any order. */
export class EventOrder {
  readonly #known = new Map<string, Known>()

  /** Judges an event of a record that has this version after it. Without a version nothing follows for other events. */
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

  /** Judges the end of a record that had this version. */
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

/** Reads a version. null: the value is not a version. */
export function versionIn(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null
}
