import type { Row } from '../../types/outcome.js'
import type { JsonRecord } from '../../types/reply.js'

/**
 * The rows of one parent's collection, in order. The parent's row has one `EmbeddedRows` for each collection that the
 * projection embeds.
 */
export class EmbeddedRows {
  readonly rows: readonly Row[]
  /** The rows as JSON records; null until they are converted. */
  records: readonly JsonRecord[] | null = null
  /** Whether the collection has more records. */
  readonly isTruncated: boolean

  constructor(rows: readonly Row[], isCut: boolean) {
    this.rows = rows
    this.isTruncated = isCut
  }
}
