import type { Row } from '../../types/outcome.js'

/** The records of one owner's collection as they were read, in order. A row has one for each of its projection's embeds. */
export class Embedded {
  readonly rows: readonly Row[]
  /** Whether there are more than are here. */
  readonly isCut: boolean

  constructor(rows: readonly Row[], isCut: boolean) {
    this.rows = rows
    this.isCut = isCut
  }
}
