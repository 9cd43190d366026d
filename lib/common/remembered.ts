import type { Caller } from '../../types/plan.js'

interface Note<V> {
  readonly caller: Caller
  readonly value: V
}

/**
 * Something that is found out about a caller once. It is kept with the caller's own object: in a WeakMap an entry for each
 * request costs more than most of what requests find out, since the table grows until garbage is collected. A copy of a caller
 * is another one, of whom nothing is known yet.
 */
export class Remembered<V> {
  readonly #key = Symbol('remembered')

  of(caller: Caller): V | undefined {
    // Nobody else has the key.
    const note = caller[this.#key] as Note<V> | undefined
    return note?.caller === caller ? note.value : undefined
  }

  set(caller: Caller, value: V): void {
    const note: Note<V> = { caller, value }
    caller[this.#key] = note
  }
}
