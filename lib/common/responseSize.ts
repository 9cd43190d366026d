import { Embedded } from './embedded.js'
import { problem } from './problem.js'

/** @throws Problem where an answer that is built as a whole would be larger than the limit */
export function assertResponseSize(bytes: number, limit: number): void {
  if (bytes <= limit) return
  const error = problem('invalid-query', {
    detail: `The answer is larger than the limit of ${limit} bytes (responseBytes): ask for fewer records or fields.`,
  })
  tooLarge.add(error)
  throw error
}

const tooLarge = new WeakSet<object>()

/** Whether an error is that of an answer larger than its limit. */
export function isTooLarge(error: unknown): boolean {
  return typeof error === 'object' && error !== null && tooLarge.has(error)
}

/** Counts the values of an answer while its rows are read, so that the rest of them is not. */
export class ResponseSize {
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Nothing counted yet, under the same limit. */
  another(): ResponseSize {
    return new ResponseSize(this.#limit)
  }

  /** @throws Problem as soon as the rows so far are too much */
  add(rows: readonly (readonly unknown[])[]): void {
    for (const row of rows) for (const value of row) this.#bytes += sizeOf(value)
    assertResponseSize(this.#bytes, this.#limit)
  }
}

/** What a number, a date or nothing takes in JSON, roughly. */
const SMALL = 4

/** Bytes of a value in JSON, at least. Collections in a row have been counted when they were read. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Embedded) return SMALL
  return Buffer.isBuffer(value) ? Math.ceil(value.length / 3) * 4 : JSON.stringify(value).length
}
