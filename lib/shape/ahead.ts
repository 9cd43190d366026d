import type { Row } from '../../types/outcome.js'
import type { Projection } from '../../types/plan.js'
import { Embedded } from '../common/embedded.js'
import { nextTurn } from '../common/turns.js'
import { recordOf } from './record.js'

/** The most records that are made without yielding to the event loop. */
const AT_ONCE = 2000

/** Makes the JSON records of collections, the innermost first, and yields to the event loop at intervals. */
export async function shapeCollections(projection: Projection, rows: readonly Row[]): Promise<void> {
  await new Shaper().collections(projection, rows)
}

class Shaper {
  #made = 0

  async collections({ embeds = [] }: Projection, rows: readonly Row[]): Promise<void> {
    for (const [index, { projection }] of embeds.entries()) {
      for (const row of rows) {
        const embedded = row[row.length - embeds.length + index]
        if (!(embedded instanceof Embedded) || embedded.rows.length === 0) continue
        if (projection.embeds !== undefined) await this.collections(projection, embedded.rows)
        embedded.records = embedded.rows.map((each) => recordOf(projection, each))
        this.#made += embedded.rows.length
        if (this.#made < AT_ONCE) continue
        this.#made = 0
        await nextTurn()
      }
    }
  }
}
