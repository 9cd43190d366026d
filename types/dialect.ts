import type { Model, ModelStatic, Sequelize, Transaction } from 'sequelize'
import type { DateUnit } from '../lib/language/measures.js'
import type { PositiveOperator, ValueOperator } from '../lib/language/operators.js'
import type { ColumnTypes } from './columnTypes.js'
import type { Failures, ForeignKey } from './failures.js'
import type { Field, FieldType, ItemOf, MemberOf, ValueType } from './field.js'
import type { CursorValue } from './plan.js'
import type { Direction } from './query.js'
import type { TableCatalogue } from './table.js'
import type { ValuesTable } from './valuesTable.js'

/** How one operator compares text in SQL. */
export interface TextComparison {
  /** Prepares the client's text for binding: unchanged, or as a pattern with its wildcards escaped. */
  readonly encode: (text: string) => string
  /** The condition for a column and the placeholders of its operands. Only `in` has several. */
  readonly write: (column: string, operands: readonly string[]) => string
}

/** The condition for a column and the placeholders of its operands. */
export type ComparisonSql = (column: string, operands: readonly string[]) => string

/** Comparisons by operator. Every operator has an entry, so the compiler reports dialects without one. */
export type Comparisons = Readonly<Record<ValueOperator, ComparisonSql>>
export type TextComparisons = Readonly<Record<PositiveOperator, (how: TextTraits) => TextComparison>>

/** The SQL that groups by a column. */
export interface Grouping {
  readonly by: string
  /** The expression that reads the group's value. */
  readonly read: string
  /** The ORDER BY expressions: the order of lists, then a tie-breaker for values that compare as equal. */
  readonly order: readonly string[]
}

export interface SumExpressions {
  readonly value: string
  /** The expression that reads the sum without loss. */
  readonly read: string
  /** The sum as an integer, in units of the column's last decimal place. */
  readonly units: string
}

/** Search by the database's full-text index. */
export interface FullText {
  /** Writes all words as one full-text query without operators; null if no word is left. */
  readonly encode: (words: readonly string[]) => string | null
  /** The condition for the columns and the placeholder of the query. */
  readonly write: (columns: readonly string[], operand: string) => string
}

/** The SQL that reads members of JSON documents. */
export interface JsonMembers {
  /** The value of a member; null if it is missing or has another type. */
  readonly value: (column: string, member: MemberOf) => string
  /** The condition that at least one text of the array meets `condition`. */
  readonly hasItem: (array: string, of: Field, condition: (element: string) => string) => string
  /** The items of an array as rows of FROM. A null array has no rows. */
  readonly items: (array: string, item: ItemOf) => string
  /** The value of an item in a row of `items`; null if the item has another type. */
  readonly item: (item: ItemOf) => string
  /** The number of items; null for a null array. */
  readonly length: (array: string, item: ItemOf) => string
  /**
   * An index condition for arrays that contain one of the values. It may match more rows, never fewer. `sql` writes an
   * operand. Null if the database has no index for arrays, or if the index would miss records.
   */
  readonly contains: (
    column: string,
    item: ItemOf,
    values: readonly unknown[],
    sql: (value: unknown) => string,
  ) => string | null
}

/** The capabilities and the SQL of one database. Frozen. */
export interface Dialect {
  readonly name: string

  /** An error message for Sequelize options that make results wrong or statements unsafe; null for safe options. */
  readonly checkOptions: (driver: DriverOptions) => string | null

  /**
   * Returns the type of a declared type's column in this database. PostgreSQL has no UNSIGNED: comparisons with values
   * beyond the range of its integers would fail. SQLite stores the upper half of an unsigned BIGINT as floating point.
   */
  readonly columnType: (declared: ValueType) => ValueType

  /**
   * How prepared statements are kept: outside transactions on the one `connection` of SQLite, or by `name` on each
   * PostgreSQL connection. Preparing a statement anew costs as much as running it. Null: Sequelize escapes values into
   * the SQL text. Prepared statements of MySQL compare numbers as floating point, refuse bound LIMITs and are limited
   * on the server.
   */
  readonly preparesBy: 'connection' | 'name' | null

  /** The most bound values of one statement. Larger bulk creates are split into several statements. */
  readonly maxValues: number

  /** Whether INSERT and UPDATE can return the stored row. If not, a write is read back in its transaction. */
  readonly returnsInserted: boolean
  readonly returnsUpdated: boolean

  /**
   * The table of values in an UPDATE of several rows. Null if its column types are unknown, or if an UPDATE returns no
   * rows. Without a table the rows are updated one by one.
   */
  readonly valuesTable: ValuesTable | null

  /**
   * Rows of SQL expressions as a subquery for FROM, with these column names and without an alias. The first row
   * determines the column types.
   */
  readonly rowsSubquery: (names: readonly string[], rows: readonly (readonly string[])[]) => string

  /** The catalogue query for properties of tables. */
  readonly tableCatalogue: TableCatalogue

  /** The keyword of an INSERT that returns rows. */
  readonly insertKeyword: string

  /**
   * Selects the first key of the connection's last INSERT and the distance to the next key, as `first` and `step`. Null
   * if Sequelize returns the keys of several rows correctly. On MySQL Sequelize assumes consecutive keys, which is
   * wrong in a cluster of several writers. Sequelize also reads large keys as inexact numbers.
   */
  readonly insertedKeys: string | null

  /**
   * Whether writes of one Sequelize instance run one at a time. SQLite has one writer; without the write queue its busy
   * waits fill the thread pool and end in SQLITE_BUSY.
   */
  readonly queuesWrites: boolean

  /** Whether a transaction reads from the snapshot of its first read, except for rows that it locks. */
  readonly readsSnapshots: boolean

  /**
   * Locks numbers in the given order, until the transaction ends. `space` separates the numbers of different tables. Null
   * if the database detects deadlocks at once. PostgreSQL detects a deadlock only after a second.
   */
  readonly lockNumbers: ((space: number, numbers: readonly number[]) => string) | null

  /** Fixes Sequelize's connection handling before the first connection; null if nothing needs a fix. */
  readonly fixConnections: ((sequelize: Sequelize) => void) | null

  /**
   * How another connection cancels a waiting statement; null for a database without a server. Otherwise an aborted
   * write would hold its locks while it waits for another lock.
   */
  readonly interrupt: Interrupt | null

  /**
   * The most significant bytes of a table alias. PostgreSQL truncates longer aliases, so two tables could get the same
   * name.
   */
  readonly maxAliasBytes: number

  /**
   * Whether the driver returns a JSON column as text. Decoders must know, to tell a JSON document from a JSON string.
   */
  readonly jsonAsText: boolean

  /** Whether the driver rejects rows with two columns of one name. */
  readonly rejectsRepeatedNames: boolean

  /** The expression that reads a column without loss. */
  readonly readExpression: (column: string, field: Field) => string

  /**
   * The expression by which Sequelize's instances read the field, if the plain column would lose data or make
   * Sequelize's parser throw. Null for the plain column.
   */
  readonly instanceExpression: (column: string, field: Field) => string | null

  /** A placeholder for a value of a field's type, with a cast where the database would compare it as another type. */
  readonly operand: (placeholder: string, field: Field) => string

  /** A literal with the type of its column, for a SELECT without a table. */
  readonly literal: (sql: string, type: FieldType) => string

  /** A boolean as the database stores it. */
  readonly boolean: (value: boolean) => unknown

  /** The right side of `(a, b) IN`, for rows of operands. */
  readonly tuples: (rows: readonly (readonly string[])[]) => string
  /**
   * Membership in a list of values that is bound as one value. The SQL text does not depend on the list's length.
   * Databases limit the number of bound values to some ten thousand.
   */
  readonly inList: {
    readonly encode: (values: readonly unknown[], field: Field) => unknown
    readonly write: (expression: string, placeholder: string) => string
  }
  /** How the first records of each of several parents are found before their other columns are read. */
  readonly firstPerParent: {
    /**
     * Writes a lateral join that runs the SELECT `of` once per parent, and returns the selected `key`s. Null if the
     * database has no lateral joins. A lateral join is fast only with an index on the foreign key.
     */
    readonly each: ((parents: ParentKeys, of: (parent: string) => string) => string) | null
    /** Whether a window function over the keys alone is worthwhile if no index on the foreign key is known. */
    readonly numbersKeys: boolean
  }

  /** The expression that tests whether a SELECT returns rows. */
  readonly exists: (rows: string) => string

  /**
   * Whether the database executes an EXISTS by the keys of its rows. Otherwise it evaluates the EXISTS for each row of
   * the table, and an IN of the keys is written instead.
   */
  readonly hasIndexedExists: boolean

  /** The placeholder of a row count in LIMIT. */
  readonly limit: (placeholder: string) => string

  /** How the keys of an order are compared with the keys of one record, for seeking. */
  readonly orderKeys: OrderKeys

  /** One term of ORDER BY: nulls first ascending and last descending, enumerations by their text. */
  readonly orderTerm: (column: string, direction: Direction, how: { nullable: boolean; enumeration: boolean }) => string

  /**
   * Whether a plain index cannot serve an order with NULLS FIRST or LAST. If so, the list is read in its null
   * partitions, each by the index.
   */
  readonly needsNullPartitions: boolean

  /** Comparisons of values that are not text. */
  readonly valueComparisons: Comparisons

  /**
   * Comparisons of text: exact and case-sensitive under every collation, or case-insensitive. Wildcards in values are
   * literal. If the collation is less strict, its own comparison comes first so that the index is used.
   */
  readonly textComparisons: TextComparisons

  /** The grouping by a column. Text is grouped by its exact characters, not by its collation. */
  readonly grouping: (column: string, field: Field) => Grouping

  /** The sum of a numeric column. Integers and decimals are exact if they are stored exactly. */
  readonly sum: (column: string, field: Field) => SumExpressions

  /** A number as a double. */
  readonly double: (number: string) => string

  /** The concatenation of texts and numbers. */
  readonly concat: (parts: readonly string[]) => string

  /** The operand of MIN and MAX for a column. */
  readonly minMaxOperand: (column: string, field: Field) => string

  /** A date-time as an instant in the package's text format; null if the column does not hold one. */
  readonly instant: (column: string, field: Field) => string

  /** A part of a date in UTC, as text. `timezone` is Sequelize's option of that name. */
  readonly datePart: (column: string, field: Field, unit: DateUnit, timezone: string) => string

  readonly jsonMembers: JsonMembers

  /** Whether columns may hold arrays. */
  readonly hasArrays: boolean

  /** How the full-text index is queried; null if some builds of the database have no full-text search. */
  readonly fullText: FullText | null

  /**
   * The column types in the catalogue, and the conversions of types that differ from the model. Null: all columns are
   * assumed to have the declared types. A wrong assumption makes comparisons fail or pages lose records.
   */
  readonly columnTypes: ColumnTypes | null

  /**
   * The foreign keys of a table, for errors that do not name the key. Default: the foreign keys that the model
   * declares.
   */
  readonly foreignKeys: (
    model: ModelStatic<Model>,
    transaction: Transaction | undefined,
  ) => Promise<readonly ForeignKey[]>

  /** The classification of driver errors. An error without an entry is a 500. */
  readonly failures: Failures
}

/**
 * The conversions between ORDER BY and cursor tokens. Both must compare the same term without lost digits, or pages
 * lose or repeat records.
 */
export interface OrderKeys {
  /** The term that ORDER BY compares: the column, or the text of an enumeration. */
  readonly term: (column: string, enumeration: boolean) => string
  /**
   * The expression that reads a term without loss. JavaScript's dates have milliseconds; databases have more digits.
   */
  readonly read: (term: string, field: Field) => string
  /** Whether the plain column is exact enough for a cursor token, provided that it holds a safe integer. */
  readonly isExact: (field: Field) => boolean
  /** The driver's value in the form of a cursor token; undefined if a token cannot hold it. */
  readonly toCursorValue: (raw: unknown, field: Field) => CursorValue | undefined
  /** Whether a value of a token can be compared with the column. Clients can forge tokens. */
  readonly isComparable: (value: string | number, field: Field) => boolean
  /** A placeholder for a value to compare with a term. */
  readonly operand: (placeholder: string, field: Field) => string
  /** Whether `(a, b) > (1, 2)` uses an index. If not, `a > 1 OR (a = 1 AND b > 2)` is written. */
  readonly hasIndexedRowValues: boolean
}

export interface Interrupt {
  /**
   * The statements that end a connection and that cancel its running statement, by the driver's connection id. Null:
   * the protocol has a cancel request, which cannot affect another connection.
   */
  readonly kill: null | {
    readonly connection: (connection: object) => string
    readonly statement: (connection: object) => string
  }
}

/** Properties of the values that affect how a comparison of text is written. */
export interface ValueTraits {
  /** A value has four-byte characters. MySQL refuses to compare it with a column whose charset lacks them. */
  readonly hasFourByteCharacters: boolean
  /** A value is so long that PostgreSQL's LIKE could take seconds to search a hostile text for it. */
  readonly isLong: boolean
}

/** Properties of the column and the values that affect how a comparison of text is written. */
export interface TextTraits extends ValueTraits {
  readonly ignoreCase: boolean
  /** The column is a STRING.BINARY, which PostgreSQL keeps as bytes. */
  readonly binary: boolean
  /** The column is a CHAR. PostgreSQL strips trailing blanks from the other operand. */
  readonly padded: boolean
}

/** Sequelize's driver options, as far as dialects read them. */
export interface DriverOptions {
  readonly charset?: unknown
  readonly collation?: unknown
  readonly standardConformingStrings?: unknown
  /** Driver options that change rows or values. */
  readonly nestTables?: unknown
  readonly rowsAsArray?: unknown
  readonly metaAsArray?: unknown
  readonly supportBigNumbers?: unknown
  readonly typeCast?: unknown
  readonly binary?: unknown
}

/**
 * The parents whose children a statement reads: one bound value with all parent keys, and the name of the `key` that
 * `of` selects.
 */
export interface ParentKeys {
  readonly placeholder: string
  readonly field: Field
  readonly key: string
}
