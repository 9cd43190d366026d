import type { Model, ModelStatic, Sequelize, Transaction } from 'sequelize'
import type { DateUnit } from '../lib/language/measures.js'
import type { PositiveOperator, ValueOperator } from '../lib/language/operators.js'
import type { ColumnTypes } from './columnTypes.js'
import type { Failures, ForeignKey } from './failures.js'
import type { Field, FieldType, ItemOf, MemberOf, ValueType } from './field.js'
import type { ItemsTable } from './itemsTable.js'
import type { BookmarkValue } from './plan.js'
import type { Direction } from './query.js'
import type { TableCatalogue } from './table.js'

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

/** What a group is made by. */
export interface Grouping {
  readonly by: string
  /** What it is read as. */
  readonly read: string
  /** What it is ordered by: the order of lists, and what that leaves equal. */
  readonly order: readonly string[]
}

export interface Sum {
  readonly value: string
  /** What it is read as, without loss. */
  readonly read: string
  /** The sum as a whole number of units of the column's last place. */
  readonly units: string
}

/** Search by the database's own index of words. */
export interface FullText {
  /** All words as one text of its query language, with nothing in it that means more than a word; null for no word. */
  readonly encode: (words: readonly string[]) => string | null
  /** The condition, from the columns and the placeholder of the text. */
  readonly write: (columns: readonly string[], operand: string) => string
}

/** What is told of the members of JSON documents. */
export interface JsonMembers {
  /** The value of a member, null where there is none of its type. */
  readonly value: (column: string, member: MemberOf) => string
  /** That a list of a document has a text that meets a condition. */
  readonly has: (array: string, of: Field, condition: (element: string) => string) => string
  /** The items of an array in FROM, one a row. Null has no rows. */
  readonly items: (array: string, item: ItemOf) => string
  /** The value of an item within such rows, null where it is none of its type. */
  readonly item: (item: ItemOf) => string
  /** The number of items; null for null. */
  readonly length: (array: string, item: ItemOf) => string
  /**
   * A condition for an index over arrays, which is met at least where an item equals one of the values. `sql` writes an operand. Null
   * where there is no such index, or where it would miss records.
   */
  readonly contains: (
    column: string,
    item: ItemOf,
    values: readonly unknown[],
    sql: (value: unknown) => string,
  ) => string | null
}

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
   * How statements are prepared once and not each time: outside transactions on the one `handle` of SQLite, or by a `name` on
   * each connection of PostgreSQL. Without it preparing a statement costs as much as running it. Null: values are written into the text,
   * escaped by Sequelize. On MySQL prepared statements compare numbers as floating point, refuse bound LIMITs and are a scarce
   * resource of the server.
   */
  readonly prepares: 'handle' | 'name' | null

  /** The most values that can stand beside one statement. Bulk creates with more of them are several statements. */
  readonly mostValues: number

  /** Whether INSERT and UPDATE can return the row as stored. Without it a write is read back in its transaction. */
  readonly returnsInserted: boolean
  readonly returnsUpdated: boolean

  /**
   * A table of values in an UPDATE, each row between the parentheses of `start` and `end`; null where it is not known of which types
   * its columns would be, or where an UPDATE returns nothing. Several rows are then updated one by one.
   */
  readonly items: ItemsTable | null

  /**
   * A table of rows of SQL text in FROM, whose columns have these names, as a subquery without its alias. The first row has the types
   * of the columns.
   */
  readonly rows: (names: readonly string[], rows: readonly (readonly string[])[]) => string

  /** What the database's catalogue says of tables. */
  readonly tables: TableCatalogue

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

  /** Whether a transaction that has read something goes on reading what was there then, but for what it locks. */
  readonly readsSnapshots: boolean

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

  /**
   * The expression that Sequelize's own instances are read by, where they would hold less of a field than `read` gives or Sequelize's
   * parser would throw; null for the column itself.
   */
  readonly instance: (column: string, field: Field) => string | null

  /** A placeholder for a value of a field's type, with a cast where the database would compare it as another type. */
  readonly operand: (placeholder: string, field: Field) => string

  /** A value as SQL text that has the type of its column in a SELECT without a table. */
  readonly literal: (sql: string, type: FieldType) => string

  /** A boolean as the database stores it. */
  readonly boolean: (value: boolean) => unknown

  /** The right side of `(a, b) IN`, from the rows of operands. */
  readonly tuples: (rows: readonly (readonly string[])[]) => string
  /**
   * The condition that an expression is among many values that travel as one, so that the text of a statement does not
   * depend on how many they are: databases bind no more than some ten thousand.
   */
  readonly among: {
    readonly encode: (values: readonly unknown[], field: Field) => unknown
    readonly write: (expression: string, placeholder: string) => string
  }
  /** How the first records of each of some owners are found, before what else of them is wanted is read. */
  readonly firsts: {
    /**
     * A SELECT of the keys that `of` selects as `key` for one owner, for all the owners behind a placeholder, which are of a field;
     * null where the database cannot ask for each of them by itself. It is worth it where an index leads to an owner's records.
     */
    readonly each: ((owners: Owners, of: (owner: string) => string) => string) | null
    /** Whether it pays to number the keys by themselves, where no index is known to lead there. */
    readonly numbersKeys: boolean
  }

  /** Whether a SELECT has rows. */
  readonly exists: (rows: string) => string

  /**
   * Whether rows that an EXISTS names by their keys are sought by these keys. Where not, it is asked of each row of the table, and the
   * keys stand in an IN.
   */
  readonly seeksExists: boolean

  /** The placeholder of a number of rows, where LIMIT has it. */
  readonly limit: (placeholder: string) => string

  /** The keys of an order as they are compared with those of one record, to go on from there. */
  readonly keys: OrderKeys

  /** One term of ORDER BY: nulls first ascending and last descending, enumerations by their text. */
  readonly order: (column: string, direction: Direction, how: { nullable: boolean; enumeration: boolean }) => string

  /**
   * Whether an order that names the place of nulls is in no plain index. What has a value and what has none are then read as two
   * parts, one behind the other, each of which it serves.
   */
  readonly partsNulls: boolean

  /** Comparisons of what is no text, from the column and its operands. */
  readonly values: Comparisons

  /**
   * Comparisons of text: exact and case-sensitive under every collation, or folded. Wildcards in values are text.
   * Where a collation takes more texts for equal than are, its own comparison stands first, for the index.
   */
  readonly text: TextComparisons

  /** How groups are made of a column: text by its characters, whatever its collation takes for equal. */
  readonly group: (column: string, field: Field) => Grouping

  /** The sum of a column of numbers: whole ones and decimals exactly, as far as they are kept so. */
  readonly sum: (column: string, field: Field) => Sum

  /** A number as floating point of eight bytes. */
  readonly double: (number: string) => string

  /** Texts and numbers as one text. */
  readonly concat: (parts: readonly string[]) => string

  /** A column as MIN and MAX take it. */
  readonly comparable: (column: string, field: Field) => string

  /** A date-time as an instant in the package's own format, null where the column holds no instant. */
  readonly instant: (column: string, field: Field) => string

  /** A part of a date in UTC, as text; `timezone` is that of Sequelize's options. */
  readonly datePart: (column: string, field: Field, unit: DateUnit, timezone: string) => string

  readonly members: JsonMembers

  /** Whether columns may hold arrays. */
  readonly hasArrays: boolean

  /** How its own index of words is asked, or null where it has none that every build has. */
  readonly fullText: FullText | null

  /**
   * The types of columns in the catalogue, and what columns of other types than the model declares need. Null: all columns are
   * taken for what the model declares, and comparisons fail, or pages lose records, where they are not.
   */
  readonly columnTypes: ColumnTypes | null

  /** The foreign keys of a table, for errors that tell nothing of them: those that the model declares, unless it is asked. */
  readonly foreignKeys: (
    model: ModelStatic<Model>,
    transaction: Transaction | undefined,
  ) => Promise<readonly ForeignKey[]>

  /** What its errors mean. Without an entry an error is nobody's but the host's: a 500. */
  readonly failures: Failures
}

/**
 * What goes between ORDER BY and a bookmark. What is compared must be what is ordered, and what was read must come back as the
 * same value to the last digit, or pages lose records or repeat them.
 */
export interface OrderKeys {
  /** What ORDER BY compares of a column: itself, or the text of an enumeration. */
  readonly term: (column: string, enumeration: boolean) => string
  /** The expression that reads a term without loss. Dates of JavaScript have milliseconds, databases have more. */
  readonly read: (term: string, field: Field) => string
  /** Whether a column as it is always read says the same, as long as it holds a whole number that JavaScript counts. */
  readonly isRead: (field: Field) => boolean
  /** What the driver gave for it as a bookmark holds it; undefined for what none can hold. */
  readonly value: (raw: unknown, field: Field) => BookmarkValue | undefined
  /** Whether a value out of a token, which anybody can make, is of a kind that can be compared with the column. */
  readonly admits: (value: string | number, field: Field) => boolean
  /** A placeholder for a value to compare with a term. */
  readonly operand: (placeholder: string, field: Field) => string
  /** Whether `(a, b) > (1, 2)` leads into an index. Where it does not, `a > 1 OR (a = 1 AND b > 2)` does. */
  readonly rowValues: boolean
}

export interface Interrupt {
  /**
   * The statement that ends a connection, and the one that ends only what runs on it, both by the number that the driver has for it. Null:
   * the protocol has a request of its own for it, which cannot hit another connection.
   */
  readonly kill: null | {
    readonly connection: (connection: object) => string
    readonly statement: (connection: object) => string
  }
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
  readonly standardConformingStrings?: unknown
  /** Options of the drivers that change rows or values. */
  readonly nestTables?: unknown
  readonly rowsAsArray?: unknown
  readonly metaAsArray?: unknown
  readonly supportBigNumbers?: unknown
  readonly typeCast?: unknown
  readonly binary?: unknown
}

/** Owners whose records are wanted: all their keys in the place of one value, and the name of what `of` selects. */
export interface Owners {
  readonly placeholder: string
  readonly field: Field
  readonly key: string
}
