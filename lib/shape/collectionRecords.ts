import type { Row } from '../../types/outcome.js'
import type { Projection } from '../../types/plan.js'
import { EmbeddedRows } from '../common/embedded.js'
import { yieldToEventLoop } from '../common/eventLoop.js'
import { toJsonRecord } from './record.js'

/** Maximum number of records that are built without yielding to the event loop. */
const RECORDS_BEFORE_YIELD = 2000

/** Builds the JSON records of collections, the innermost collections first. Yields to the event loop at intervals. */
export class CollectionBuilder {
  #count = 0

  async build({ embeds = [] }: Projection, rows: readonly Row[]): Promise<void> {
    for (const [index, { projection }] of embeds.entries()) {
      for (const row of rows) {
        const embedded = row[row.length - embeds.length + index]
        if (!(embedded instanceof EmbeddedRows) || embedded.rows.length === 0) continue
        if (projection.embeds !== undefined) await this.build(projection, embedded.rows)
        embedded.records = embedded.rows.map((each) => toJsonRecord(projection, each))
        this.#count += embedded.rows.length
        if (this.#count < RECORDS_BEFORE_YIELD) continue
        this.#count = 0
        await yieldToEventLoop()
      }
    }
  }
}
