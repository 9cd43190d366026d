import { randomBytes } from 'node:crypto'
import type { Model, ModelStatic } from 'sequelize'
import { bytesOf } from '../../common/cache.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { escapeValue } from '../../sequelize/sql.js'

// Around a slot's number, while a text is being written. Random, so that nothing else in the text can be one: a default
// scope may hold values that came from clients.
const MARK = randomBytes(12).toString('hex')
const TOKEN = new RegExp(`${MARK}:(\\d+);`)

/** The place of a value in the text of a statement that is being written. */
export function placeholder(slot: number): string {
  return `${MARK}:${slot};`
}

/** SQL text with a place for each value: written once, run with other values each time. */
export class Statement {
  readonly #pieces: readonly string[]
  readonly #slots: readonly number[]
  readonly #dialect: Dialect
  /** As it is run most: prepared by SQLite, or given to `sequelize.query` with the values beside it; else nothing. */
  readonly #text: string
  /** What it keeps in memory, roughly. */
  readonly bytes: number

  constructor(dialect: Dialect, written: string) {
    const { binds, prepares } = dialect
    this.#dialect = dialect
    const parts = written.split(TOKEN)
    this.#pieces = parts.filter((_, index) => index % 2 === 0)
    this.#slots = parts.filter((_, index) => index % 2 === 1).map(Number)
    this.#text = prepares ? this.#joined('?') : binds ? this.#escaped() : ''
    this.bytes = bytesOf(written) + bytesOf(this.#text) + 64 * this.#pieces.length
  }

  /** The text with the placeholders of SQLite itself. */
  get numbered(): string {
    return this.#text
  }

  #joined(mark: string, pieces = this.#pieces): string {
    return pieces
      .map((piece, index) => (index === 0 ? '' : mark + ((this.#slots[index - 1] ?? 0) + 1)) + piece)
      .join('')
  }

  /** Sequelize reads `$word` after a non-word character as a bind parameter, and `$$` as a dollar sign. */
  #escaped(): string {
    return this.#joined(
      '$',
      this.#pieces.map((piece) => piece.replace(/\B\$(?=\$|\w)/g, '$$$$')),
    )
  }

  /** The text and the values beside it, as `sequelize.query` takes them. */
  bind(model: ModelStatic<Model>, values: readonly unknown[]): Bound {
    const { binds, prepares } = this.#dialect
    if (binds) return { sql: prepares ? this.#escaped() : this.#text, bind: values.length === 0 ? null : values }
    const sql = this.#pieces.reduce((text, piece, index) => {
      const slot = this.#slots[index - 1] ?? -1
      return text + escapeValue(model, values[slot]) + piece
    })
    return { sql, bind: null }
  }
}

export interface Bound {
  readonly sql: string
  readonly bind: readonly unknown[] | null
}
