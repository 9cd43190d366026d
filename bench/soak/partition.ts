import { EMPTY, type Expected, isEqualBody, type Resource, type State, withKeys } from './state.js'

/** The parts of a reply that the oracle checks. */
export interface Observed {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/**
 * Number of the partition's changes at the start of a read. A larger number after the read means that the read may be
 * outdated.
 */
export type Mark = number | null

/**
 * The records of one owner, as the oracle expects them in the database. A partition usually has one state. After an
 * unacknowledged write, it has two: before and after the write. A later read decides between them. A bulk write happens
 * completely or not at all.
 */
export class Partition {
  readonly owner: number
  /** Keys of records that are permanently deleted. */
  readonly gone: number[] = []
  #states: readonly State[] = [EMPTY]
  #doubt: Resource | null = null
  #before: State = EMPTY
  #changes = 0
  #isWriting = false

  constructor(owner: number) {
    this.owner = owner
  }

  /** The current records. With two states, it is the state before the write. */
  get state(): State {
    return this.#states[0] ?? EMPTY
  }

  /** Resource that must be read before the next write, or null. */
  get doubt(): Resource | null {
    return this.#doubt
  }

  /** Whether the unacknowledged write has happened. Null if the outcome is unknown. */
  hasHappened(after: State): boolean | null {
    if (this.#states.length > 1 || after === this.#before) return null
    return this.state === after
  }

  begin(): void {
    this.#isWriting = true
    this.#changes += 1
  }

  /** Ends an answered write. If its new records lack keys, the resource `unnamed` must be read. */
  acknowledge(state: State, unnamed: Resource | null): void {
    this.#end([state])
    this.#doubt = unnamed
    this.#before = state
  }

  /** Ends a write whose outcome is unknown. */
  suspect(resource: Resource, before: State, after: State): void {
    this.#end(before === after ? [before] : [before, after])
    this.#doubt = before === after ? null : resource
    this.#before = before
  }

  /**
   * Ends a repeated write whose outcome is unknown. If the write had already happened, it stays. If it had not
   * happened, it may have happened now.
   */
  suspectAgain(after: State): void {
    const hadHappened = this.#states.length === 1 && this.state === after
    this.#end(hadHappened || after === this.#before ? [after] : [this.#before, after])
  }

  /**
   * Decides between two states after the whole resource was read. Returns whether the write had happened. Two states
   * with equal rows count as one.
   */
  settle(resource: Resource, rows: unknown): boolean {
    const happened = this.state !== this.#before
    this.name(resource, rows)
    this.#doubt = null
    return happened
  }

  /** Adds the keys of new records from the rows of a read. */
  name(resource: Resource, rows: unknown): void {
    this.#states = [withKeys(this.state, resource, rows)]
  }

  mark(): Mark {
    return this.#isWriting ? null : this.#changes
  }

  /**
   * Whether a read's reply is correct. Null if a write was in progress during the read. A reply that is correct for
   * only one of two states decides between the states.
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
