import type { Caller } from '../../types/plan.js'

interface CachedValue<V> {
  readonly caller: Caller
  readonly value: V
}

/**
 * Caches a value for each caller, in the caller's object. A WeakMap with an entry per request would cost more than most
 * cached values. A copy of a caller has no cached values.
 */
export class CallerCache<V> {
  readonly #key = Symbol('remembered')

  get(caller: Caller): V | undefined {
    // No other code writes under the symbol, so the type is certain.
    const note = caller[this.#key] as CachedValue<V> | undefined
    return note?.caller === caller ? note.value : undefined
  }

  set(caller: Caller, value: V): void {
    const note: CachedValue<V> = { caller, value }
    caller[this.#key] = note
  }
}
