import type { Model, ModelStatic } from 'sequelize'
import type { ItemsTable } from '../../../types/itemsTable.js'
import { bytesOf } from '../../common/cache.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { escapeValue } from '../../sequelize/sql.js'
import { type Pieces, Rows, taken } from './pieces.js'

/** What stands before the number of a place. */
const MARKS = { handle: '?', name: '$' } as const

/** Pages in a row that were full, of which it takes so many until the next one is taken for full too. */
const FULL = 3

/** Whether the last pages of a kind were full. */
class Fullness {
  #inARow = 0

  get areFull(): boolean {
    return this.#inARow >= FULL
  }

  saw(isFull: boolean): void {
    this.#inARow = isFull ? this.#inARow + 1 : 0
  }
}

/** SQL text with a place for each value: written once, run with other values each time. */
export class Statement {
  readonly #written: Pieces
  readonly #dialect: Dialect
  /** As it is run most: with the database's own placeholders where it is prepared; else nothing. */
  readonly #text: string
  /** As `sequelize.query` takes it with the values beside it. */
  #escaped: string | null = null
  /** Of a page with its total: whether those of late were full. */
  readonly pages: Fullness = new Fullness()
  /** Whether it is worth keeping where it was compiled. */
  readonly isKept: boolean

  constructor(dialect: Dialect, written: string | Pieces) {
    const { prepares } = dialect
    this.#dialect = dialect
    this.#written = typeof written === 'string' ? taken(written) : written
    this.isKept = typeof written === 'string'
    // A place that has a number costs SQLite as much again as one that has none.
    const unnumbered = prepares === 'handle' && written instanceof Rows ? written.unnumbered : null
    this.#text = prepares === null ? '' : (unnumbered ?? this.#joined(MARKS[prepares]))
  }

  /** What it keeps in memory, roughly. */
  get bytes(): number {
    // Twice: it may be escaped as well.
    return this.#written.pieces.reduce((sum, piece) => sum + bytesOf(piece) + 64, 2 * bytesOf(this.#text))
  }

  /** An INSERT of one row, made for so many: their values stand one row after another. */
  times(rows: number): Statement {
    return rows === 1 ? this : new Statement(this.#dialect, new Rows(this.#written, rows))
  }

  /**
   * An UPDATE that was written for several rows, for these: what they all have in common is bound once, and the rest stands in
   * a table of values, which the UPDATE is joined with. One table, one hand-over to the database.
   */
  among(rows: readonly (readonly unknown[])[], items: ItemsTable): Prepared {
    const [first = []] = rows
    const shared: unknown[] = []
    const own: number[] = []
    const places = first.map((value, slot) => {
      // Of one row all is common, and a table needs a column.
      const isShared = (rows.length > 1 || slot > 0) && rows.every((row) => row[slot] === value)
      return isShared ? shared.push(value) - 1 : -own.push(slot)
    })
    const values = [...shared]
    const pieces: string[] = []
    const slots: number[] = []
    const { pieces: written, slots: given } = this.#written
    let piece = written[0] ?? ''
    const place = (slot: number): void => {
      pieces.push(piece)
      slots.push(slot)
    }
    for (const [index, slot] of given.entries()) {
      const at = places[slot]
      if (at === undefined) {
        piece += ` FROM ${items.start}`
        for (const row of rows) {
          for (const [column, each] of own.entries()) {
            if (column > 0) piece = ', '
            place(values.push(row[each]) - 1)
          }
          piece = row === rows.at(-1) ? items.end : '), ('
        }
      } else if (at < 0) piece += items.column(-at - 1)
      else {
        place(at)
        piece = ''
      }
      piece += written[index + 1] ?? ''
    }
    pieces.push(piece)
    return { statement: new Statement(this.#dialect, { pieces, slots }), values }
  }

  /** The text with the placeholders of the database itself. */
  get numbered(): string {
    return this.#text
  }

  #joined(mark: string, pieces = this.#written.pieces): string {
    const { slots } = this.#written
    let text = pieces[0] ?? ''
    for (let index = 1; index < pieces.length; index++) {
      text += `${mark}${(slots[index - 1] ?? 0) + 1}${pieces[index] ?? ''}`
    }
    return text
  }

  /** Sequelize reads `$word` after a non-word character as a bind parameter, and `$$` as a dollar sign. */
  #escape(): string {
    this.#escaped ??= this.#joined(
      '$',
      this.#written.pieces.map((piece) => piece.replace(/\B\$(?=\$|\w)/g, '$$$$')),
    )
    return this.#escaped
  }

  /** The text and the values beside it, as `sequelize.query` takes them. */
  bind(model: ModelStatic<Model>, values: readonly unknown[]): Bound {
    const { binds, prepares } = this.#dialect
    // SQLite looks for the place of a value among all of those that have a name.
    if (binds && (this.isKept || prepares !== 'handle'))
      return { sql: this.#escape(), bind: values.length === 0 ? null : values }
    const { pieces, slots } = this.#written
    const sql = pieces.reduce((text, piece, index) => {
      const slot = slots[index - 1] ?? -1
      return text + escapeValue(model, values[slot]) + piece
    })
    return { sql, bind: null }
  }
}

/** A statement with the values of one request, in the order of its places. */
export interface Prepared {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

export interface Bound {
  readonly sql: string
  readonly bind: readonly unknown[] | null
}
