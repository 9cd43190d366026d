import { EMPTY, type Expected, isEqualBody, type Resource, type State, withKeys } from './state.js'

/** A reply, as the oracle needs it. */
export interface Observed {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** Mark of the start of a read, to detect changes of records during the read. */
export type Mark = number | null

/**
 * The records of one owner. There is one state if everything is known. After an unacknowledged write there are two, before and after the
 * write, until a read decides. A bulk write happens completely or not at all.
 */
export class Partition {
  readonly owner: number
  /** Keys of permanently deleted records. */
  readonly gone: number[] = []
  #states: readonly State[] = [EMPTY]
  #doubt: Resource | null = null
  #before: State = EMPTY
  #changes = 0
  #isWriting = false

  constructor(owner: number) {
    this.owner = owner
  }

  /** The current or assumed records. */
  get state(): State {
    return this.#states[0] ?? EMPTY
  }

  /** Resource that must be read before the next write. */
  get doubt(): Resource | null {
    return this.#doubt
  }

  /** Whether the unacknowledged write has happened. Null if unknown. */
  hasHappened(after: State): boolean | null {
    if (this.#states.length > 1 || after === this.#before) return null
    return this.state === after
  }

  begin(): void {
    this.#isWriting = true
    this.#changes += 1
  }

  /** Ends an answered write. If its new records lack their keys, the resource must be read. */
  acknowledge(state: State, unnamed: Resource | null): void {
    this.#end([state])
    this.#doubt = unnamed
    this.#before = state
  }

  /** Ends a write with an unknown outcome. */
  suspect(resource: Resource, before: State, after: State): void {
    this.#end(before === after ? [before] : [before, after])
    this.#doubt = before === after ? null : resource
    this.#before = before
  }

  /** Ends a repeated write with an unknown outcome. An earlier success stays; an earlier failure may have become a success. */
  suspectAgain(after: State): void {
    const hadHappened = this.#states.length === 1 && this.state === after
    this.#end(hadHappened || after === this.#before ? [after] : [this.#before, after])
  }

  /**
   * Resolves the uncertainty after the whole resource was read, and returns whether the write had happened. Two states with equal rows
   * count as one.
   */
  settle(resource: Resource, rows: unknown): boolean {
    const happened = this.state !== this.#before
    this.name(resource, rows)
    this.#doubt = null
    return happened
  }

  /** Adds the keys of new records from a read. */
  name(resource: Resource, rows: unknown): void {
    this.#states = [withKeys(this.state, resource, rows)]
  }

  mark(): Mark {
    return this.#isWriting ? null : this.#changes
  }

  /**
   * Whether a read's reply is correct. Null if a write was in progress meanwhile. A reply that is correct for only one of two states
   * resolves the uncertainty.
   */
  isRight(mark: Mark, expected: (state: State) => Expected, observed: Observed): boolean | null {
    if (mark === null || this.#isWriting || mark !== this.#changes) return null
    const possible = this.#states.filter((state) => isAnswer(expected(state), observed))
    if (possible.length === 0) return false
    this.#states = possible
    return true
  }

  #end(states: readonly State[]): void {
    this.#states = states
    this.#isWriting = false
    this.#changes += 1
  }
}

export function isAnswer({ status, body, headers = {} }: Expected, observed: Observed): boolean {
  if (observed.status !== status) return false
  if (Object.entries(headers).some(([name, value]) => observed.headers[name] !== value)) return false
  return body === undefined || isEqualBody(body, observed.body)
}
