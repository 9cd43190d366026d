import { agrees, EMPTY, type Expected, type Resource, type State, withKeys } from './state.js'

/** A reply as the oracle sees it. */
export interface Observed {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** When a read began, so that it can be told whether the records changed under it. */
export type Mark = number | null

/**
 * The records of one owner. One state where everything is known; two after a write without an acknowledgement, the one
 * before it and the one after it, until a read tells which. Nothing in between is possible: a bulk write is whole or
 * not there.
 */
export class Partition {
  readonly owner: number
  /** Keys that are gone for good. */
  readonly gone: number[] = []
  #states: readonly State[] = [EMPTY]
  #doubt: Resource | null = null
  #before: State = EMPTY
  #changes = 0
  #isWriting = false

  constructor(owner: number) {
    this.owner = owner
  }

  /** What is there, or may be. */
  get state(): State {
    return this.#states[0] ?? EMPTY
  }

  /** The resource that has to be read before the next write. */
  get doubt(): Resource | null {
    return this.#doubt
  }

  /** Whether the write that nobody has acknowledged has happened; null where nobody knows. */
  hasHappened(after: State): boolean | null {
    if (this.#states.length > 1 || after === this.#before) return null
    return this.state === after
  }

  begin(): void {
    this.#isWriting = true
    this.#changes += 1
  }

  /** The end of a write that was answered; of new records without their keys those are to be read. */
  acknowledge(state: State, unnamed: Resource | null): void {
    this.#end([state])
    this.#doubt = unnamed
    this.#before = state
  }

  /** The end of a write of which nobody knows whether it happened. */
  suspect(resource: Resource, before: State, after: State): void {
    this.#end(before === after ? [before] : [before, after])
    this.#doubt = before === after ? null : resource
    this.#before = before
  }

  /** The same of one that was sent again: what had happened stays so, what had not may have happened now. */
  suspectAgain(after: State): void {
    const hadHappened = this.#states.length === 1 && this.state === after
    this.#end(hadHappened || after === this.#before ? [after] : [this.#before, after])
  }

  /**
   * The end of the doubt: all of the resource was read. Two states that this does not tell apart are one. Whether the
   * write had happened.
   */
  settle(resource: Resource, rows: unknown): boolean {
    const happened = this.state !== this.#before
    this.name(resource, rows)
    this.#doubt = null
    return happened
  }

  /** Takes the keys of new records from what was read. */
  name(resource: Resource, rows: unknown): void {
    this.#states = [withKeys(this.state, resource, rows)]
  }

  mark(): Mark {
    return this.#isWriting ? null : this.#changes
  }

  /**
   * Whether a read's reply is right, and null where a write was under way meanwhile. What is right for one of two
   * states only ends the doubt.
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
  return body === undefined || agrees(body, observed.body)
}
