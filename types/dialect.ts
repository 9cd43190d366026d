import type { Model, ModelStatic, Sequelize, Transaction } from 'sequelize'
import type { PositiveOperator, ValueOperator } from '../lib/language/operators.js'
import type { Field, ValueType } from './field.js'
import type { Direction } from './query.js'

/** How one comparison of text is written. */
export interface TextComparison {
  /** What the client's text becomes before it is bound: itself, or a pattern with its wildcards escaped. */
  readonly encode: (text: string) => string
  /** The condition, from the column and the placeholders of its operands (one, but for `in`). */
  readonly write: (column: string, operands: readonly string[]) => string
}

export type Comparison = (column: string, operands: readonly string[]) => string

/** Every operator has an entry: the compiler names the dialects that lack one. */
export type Comparisons = Readonly<Record<ValueOperator, Comparison>>
export type TextComparisons = Readonly<Record<PositiveOperator, (how: TextTraits) => TextComparison>>

/** What a database can do and how it is told to. Frozen; each entry says what breaks without it. */
export interface Dialect {
  readonly name: string

  /** What of Sequelize's options makes the database's answers wrong or its statements unsafe; null for nothing. */
  readonly refuse: (driver: DriverOptions) => string | null

  /**
   * What a column of a declared type holds here. Without it PostgreSQL fails on comparisons with what an UNSIGNED column
   * would have held, and SQLite keeps the upper half of an unsigned BIGINT as floating point.
   */
  readonly column: (declared: ValueType) => ValueType

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
   * The key of the first of the rows that the last INSERT of the connection made and the distance to the next, `first`
   * and `step`, or null where Sequelize knows the keys of several rows by itself. On MySQL it takes them for
   * consecutive, which they are not in a cluster of several writers, and for exact as floating point.
   */
  readonly insertedKeys: string | null

  /**
   * Whether writes of one Sequelize instance must wait for each other. SQLite has one writer; without the queue its
   * busy waits fill the thread pool and end in SQLITE_BUSY.
   */
  readonly queuesWrites: boolean

  /** What this package changes in Sequelize's handling of connections before it uses any; null for nothing. */
  readonly mend: ((sequelize: Sequelize) => void) | null

  /**
   * How another connection ends what this one waits for, or null where there is no server to tell. Without it a write that
   * was given up keeps its locks until it gets the one that it waits for.
   */
  readonly interrupt: Interrupt | null

  /** The bytes of a joined table's alias that count. PostgreSQL cuts what is longer, so that two tables would bear one name. */
  readonly longestAlias: number

  /** Whether a raw JSON column arrives as text; a JSON column that holds a string could not be told from it. */
  readonly jsonAsText: boolean

  /** The expression that reads a column without loss. */
  readonly read: (column: string, field: Field) => string

  /** Whether Sequelize's own instances hold less of a field than `read` gives, so that they must be read by it too. */
  readonly losesDigits: (field: Field) => boolean

  /** A placeholder for a value of a field's type, with a cast where the database would compare it as another type. */
  readonly operand: (placeholder: string, field: Field) => string

  /** A boolean as the database stores it. */
  readonly boolean: (value: boolean) => unknown

  /** Whether a SELECT has rows. */
  readonly exists: (rows: string) => string

  /** One term of ORDER BY: nulls first ascending and last descending, enumerations by their text. */
  readonly order: (column: string, direction: Direction, how: { nullable: boolean; enumeration: boolean }) => string

  /** Comparisons of what is no text, from the column and its operands. */
  readonly values: Comparisons

  /**
   * Comparisons of text: exact and case-sensitive under every collation, or folded. Wildcards in values are text.
   * Where a collation takes more texts for equal than are, its own comparison stands first, for the index.
   */
  readonly text: TextComparisons

  /** How it is asked for the foreign keys of a table whose errors tell nothing of them; null where they tell. */
  readonly foreignKeys:
    | ((model: ModelStatic<Model>, run: Transaction | undefined) => Promise<readonly ForeignKey[]>)
    | null

  /** What its errors mean. Without an entry an error is nobody's but the host's: a 500. */
  readonly failures: Failures
}

/**
 * What a failed statement means: a deadlock, that the database cannot answer now, that the statement exceeds one of its
 * limits, or what it has against the values of a write or of a condition.
 */
export type Failure = 'deadlock' | 'unavailable' | 'tooLarge' | Refusal
export type Refusal = 'unique' | 'foreign' | 'excluded' | 'raised' | 'check' | 'null' | 'unfit' | 'charset'

/** What a driver says of an error. Which members there are differs by driver. */
export interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly message?: string
  readonly column?: string
  readonly detail?: string
  readonly table?: string
  readonly sqlMessage?: string
  readonly sqlState?: string
}

/** What is taken where something must be unique: columns by name, or an index by its own. */
export interface Taken {
  readonly columns?: readonly string[]
  readonly index?: string
}

/** What a driver tells of a foreign key that is broken. */
export interface Pointing {
  /** Whether it says that others point at the record. */
  readonly isPointedAt: boolean
  /** The table whose foreign key it is, which a trigger or a hook may have written to, and the columns of the key. */
  readonly table?: string | undefined
  readonly columns: readonly string[]
}

/** A foreign key of a table. */
export interface ForeignKey {
  /** Its columns, and those that they point at, in the same order. */
  readonly columns: readonly string[]
  readonly targets: readonly string[]
  /** The table that it points into, quoted. */
  readonly table: string
}

export interface Failures {
  /** By code or number. */
  readonly codes: ReadonlyMap<unknown, Failure>
  /** The SQLSTATE of an error, where it has one. */
  readonly state: (error: DriverError) => unknown
  /** By SQLSTATE, for codes that have no entry of their own. */
  readonly classes: readonly (readonly [pattern: RegExp, failure: Failure])[]
  /** By message, for what has no code of its own. */
  readonly words: readonly (readonly [pattern: RegExp, failure: Failure])[]
  /** What Sequelize takes for a unique constraint, by the message: another one it may be. */
  readonly unique: (message: string) => Refusal
  /** The column that takes no null, where the error names it. */
  readonly nullColumn: (error: DriverError) => string | undefined
  readonly taken: (error: DriverError) => Taken
  readonly pointing: (error: DriverError) => Pointing
}

export interface Interrupt {
  /** The statement, by the name that the driver has for the other end of its connection. */
  readonly write: (connection: object) => string
  /** Whether it ends the connection, and not only its statement. */
  readonly kills: boolean
}

/** What of the values decides how a comparison of text is written. */
export interface ValueTraits {
  /** One has characters of four bytes, which MySQL refuses to compare with a column that has no place for them. */
  readonly wide: boolean
  /** One is so long that PostgreSQL's LIKE would take seconds to look for it in a text that is made for that. */
  readonly long: boolean
}

/** What decides how a comparison of text is written, beside its operator. */
export interface TextTraits extends ValueTraits {
  readonly ignoreCase: boolean
  /** The column is a STRING.BINARY, which PostgreSQL keeps as bytes. */
  readonly binary: boolean
  /** The column is a CHAR, before which PostgreSQL takes the blanks off what is compared with it. */
  readonly padded: boolean
}

/** What Sequelize hands to the database's driver, as far as dialects mind it. */
export interface DriverOptions {
  readonly charset?: unknown
  readonly collation?: unknown
}
