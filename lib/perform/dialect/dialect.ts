import type { Field } from '../../../types/field.js'
import type { PositiveOperator } from '../../../types/plan.js'
import type { Direction } from '../../../types/query.js'

/** How one comparison of text is written. */
export interface TextComparison {
  /** What the client's text becomes before it is bound: itself, or a pattern with its wildcards escaped. */
  readonly encode: (text: string) => string
  /** The condition, from the column and the placeholders of its operands (one, but for `in`). */
  readonly write: (column: string, operands: readonly string[]) => string
}

/** What a database can do and how it is told to. Frozen; each entry says what breaks without it. */
export interface Dialect {
  readonly name: string

  /**
   * Whether values travel beside the SQL text. Without it they are written into the text, escaped by Sequelize:
   * on MySQL prepared statements compare numbers as floating point, refuse bound LIMITs and are a scarce resource of
   * the server.
   */
  readonly binds: boolean

  /**
   * Whether statements outside transactions are prepared once on Sequelize's connection. Others either prepare by
   * themselves or gain nothing by it: SQLite compiles in the process, at the price of running the statement.
   */
  readonly prepares: boolean

  /** Whether INSERT and UPDATE can return the row as stored. Without it a write is read back in its transaction. */
  readonly returnsInserted: boolean
  readonly returnsUpdated: boolean

  /** What an INSERT that returns rows starts with. */
  readonly insert: string

  /**
   * Whether writes of one Sequelize instance must wait for each other. SQLite has one writer; without the queue its
   * busy waits fill the thread pool and end in SQLITE_BUSY.
   */
  readonly queuesWrites: boolean

  /** Whether a raw JSON column arrives as text; a JSON column that holds a string could not be told from it. */
  readonly jsonAsText: boolean

  /** The expression that reads a column without loss. */
  readonly read: (column: string, field: Field) => string

  /** A placeholder for a value of a field's type, with a cast where the database would compare it as another type. */
  readonly operand: (placeholder: string, field: Field) => string

  /** A number as it is compared with a FLOAT column: as the column would hold it, or 0.3 would equal no stored 0.3. */
  readonly shortFloat: (value: number) => number

  /** A boolean as the database stores it. */
  readonly boolean: (value: boolean) => unknown

  /** One term of ORDER BY: nulls first ascending and last descending, enumerations by their text. */
  readonly order: (column: string, direction: Direction, how: { nullable: boolean; enumeration: boolean }) => string

  /**
   * Comparisons of text: exact and case-sensitive under every collation, or folded. Wildcards in values are text.
   * `wide` says that a value has characters of four bytes, which MySQL refuses to compare with a column that has no
   * place for them.
   */
  readonly text: (operator: PositiveOperator, ignoreCase: boolean, wide: boolean) => TextComparison
}

/** Whether any of the values is text with characters beyond the basic multilingual plane. */
export function isWide(values: readonly unknown[]): boolean {
  return values.some((value) => typeof value === 'string' && /[\u{10000}-\u{10ffff}]/u.test(value))
}

/** Writes `%`, `_` and the escape character itself as text for LIKE ... ESCAPE '|'. */
export function escapeLike(text: string): string {
  return text.replace(/[%_|]/g, '|$&')
}

/** The text itself. */
export function plain(text: string): string {
  return text
}

/** The symbols of the comparisons that every database writes alike. */
export const SYMBOLS: Readonly<Partial<Record<PositiveOperator, string>>> = Object.freeze({
  eq: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
})

/** `column op operand`, or `column IN (operands)`. */
export function compareBy(operator: PositiveOperator, column: string, operands: readonly string[]): string {
  return operator === 'in' ? `${column} IN (${operands.join(', ')})` : `${column} ${SYMBOLS[operator]} ${operands[0]}`
}
