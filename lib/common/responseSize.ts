import type { Changes } from '../../types/changes.js'
import type { Row } from '../../types/outcome.js'
import type { Projection } from '../../types/projection.js'
import { EmbeddedRows } from './embedded.js'
import { problem } from './problem.js'

/** Checks the size of a response that is built in memory. @throws Problem if the size exceeds the limit */
export function assertResponseSize(bytes: number, limit: number): void {
  if (bytes > limit) throw createSizeError(limit, 'Request fewer records or fields')
}

function createSizeError(limit: number, remedy: string): Error {
  const error = problem('invalid-query', {
    detail: `The response is larger than the limit of ${limit} bytes (responseBytes). ${remedy}.`,
  })
  sizeErrors.add(error)
  return error
}

const sizeErrors = new WeakSet<object>()

/** Whether an error reports a response that exceeds its limit. */
export function isSizeError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && sizeErrors.has(error)
}

/** Counts the bytes of a response while its rows are read, so that reading stops at the limit. */
export class ResponseSize {
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Starts a new count with the same limit. */
  startNew(): ResponseSize {
    return new ResponseSize(this.#limit)
  }

  /** Adds the sizes of rows. @throws Problem as soon as the rows exceed the limit */
  add(rows: readonly (readonly unknown[])[]): void {
    for (const row of rows) this.#bytes += sumSizes(row)
    assertResponseSize(this.#bytes, this.#limit)
  }
}

/** Counts the bytes in the response of a write. Values that the request itself sent are not counted. */
export class WrittenSize {
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Adds the sizes of written records. A projection without members adds nothing.
   * @throws Problem as soon as the records exceed the limit
   */
  add({ members }: Pick<Projection, 'members'>, rows: readonly Row[], rowChanges: readonly Changes[] = []): void {
    if (members.length === 0) return
    const own = rowChanges.reduce((sum, changes) => sum + sumSizes(changes.values()), 0)
    this.#bytes += Math.max(0, rows.reduce((sum, row) => sum + sumSizes(row), 0) - own)
    if (this.#bytes > this.#limit)
      throw createSizeError(this.#limit, 'Send fewer records, or send the header Prefer: return=minimal')
  }
}

function sumSizes(values: Iterable<unknown>): number {
  let bytes = 0
  for (const value of values) bytes += minJsonSize(value)
  return bytes
}

/** The rough size of a number, a date or null in JSON. */
const SMALL_VALUE_SIZE = 4

/** Returns the minimal size of a value in JSON, in bytes. Embedded collections were counted when they were read. */
function minJsonSize(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof EmbeddedRows)
    return SMALL_VALUE_SIZE
  return Buffer.isBuffer(value) ? Math.ceil(value.length / 3) * 4 : objectSize(value)
}

/** Returns the size of an object. An object of a getter may contain a bigint, or have a `toJSON` without a result. */
function objectSize(value: object): number {
  try {
    const json: string | undefined = JSON.stringify(value)
    return json?.length ?? SMALL_VALUE_SIZE
  } catch {
    return SMALL_VALUE_SIZE
  }
}
