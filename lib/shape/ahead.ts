import type { Row } from '../../types/outcome.js'
import type { Projection } from '../../types/plan.js'
import { Embedded } from '../common/embedded.js'
import { nextTurn } from '../common/turns.js'
import { recordOf } from './record.js'

/** Records of collections that are made before others may run. */
const AT_ONCE = 2000

/** Makes the records of the collections in some rows, the innermost first, and lets others run meanwhile. */
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
