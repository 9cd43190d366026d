import type { Row } from '../../types/outcome.js'
import type { JsonRecord } from '../../types/reply.js'

/** The records of one owner's collection as they were read, in order. A row has one for each of its projection's embeds. */
export class Embedded {
  readonly rows: readonly Row[]
  /** The same as records, where they have been made. */
  records: readonly JsonRecord[] | null = null
  /** Whether there are more than are here. */
  readonly isCut: boolean

  constructor(rows: readonly Row[], isCut: boolean) {
    this.rows = rows
    this.isCut = isCut
  }
}
