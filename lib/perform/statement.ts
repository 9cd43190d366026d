import type { Model, ModelStatic } from 'sequelize'
import type { Predicate } from '../../types/plan.js'
import type { Description } from './describe.js'
import type { Dialect } from './dialect/index.js'
import { escapeValue, literal } from './sequelize.js'
import type { Operands } from './where.js'

// Private-use characters around a slot's number: nothing that Sequelize writes by itself has them.
const OPEN = '\uE000'
const CLOSE = '\uE001'
const TOKEN = /\uE000(\d+)\uE001/

/** The place of a value in the text of a statement that is being written. */
export function placeholder(slot: number): string {
  return `${OPEN}${slot}${CLOSE}`
}

/** Operands that are placeholders, for a statement whose text is kept. */
export function placeholders(dialect: Dialect, { slots }: Description): Operands {
  const at = (node: Predicate, index: number): string => {
    const slot = slots.get(node)
    if (slot === undefined) throw new TypeError('a predicate was written that was not described')
    return placeholder(slot + index)
  }
  return {
    sql: at,
    member: (node, index) => literal(dialect.operand(at(node, index), node.column.field)),
  }
}

/** SQL text with a place for each value: written once, run with other values each time. */
export class Statement {
  readonly #pieces: readonly string[]
  readonly #slots: readonly number[]
  /** The whole text, for databases that take values beside it. */
  readonly #text: string
  /** The same with the placeholders of SQLite itself. */
  readonly numbered: string

  constructor(written: string) {
    const parts = written.split(TOKEN)
    this.#pieces = parts.filter((_, index) => index % 2 === 0)
    this.#slots = parts.filter((_, index) => index % 2 === 1).map(Number)
    // Sequelize reads `$word` after a non-word character as a bind parameter, and `$$` as a dollar sign.
    const escaped = this.#pieces.map((piece) => piece.replace(/\B\$(?=\$|\w)/g, '$$$$'))
    this.#text = this.#joined(escaped, '$')
    this.numbered = this.#joined(this.#pieces, '?')
  }

  #joined(pieces: readonly string[], mark: string): string {
    return pieces
      .map((piece, index) => (index === 0 ? '' : mark + ((this.#slots[index - 1] ?? 0) + 1)) + piece)
      .join('')
  }

  /** The text and the values beside it, as `sequelize.query` takes them. */
  bind(dialect: Dialect, model: ModelStatic<Model>, values: readonly unknown[]): Bound {
    if (dialect.binds) return { sql: this.#text, bind: values.length === 0 ? null : values }
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

const CAPACITY = 500

/** The statements of one resource by shape: bounded, the least recently used goes first. */
export class StatementCache {
  readonly #statements = new Map<string, Statement>()

  /** The statement for a shape, written by `write` when it is not there. */
  get(key: string, write: () => string): Statement {
    const known = this.#statements.get(key)
    if (known !== undefined) {
      this.#statements.delete(key)
      this.#statements.set(key, known)
      return known
    }
    const statement = new Statement(write())
    if (this.#statements.size >= CAPACITY) {
      const oldest = this.#statements.keys().next()
      if (!oldest.done) this.#statements.delete(oldest.value)
    }
    this.#statements.set(key, statement)
    return statement
  }
}
