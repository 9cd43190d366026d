/**
 * What a failed statement means: a deadlock, that the database cannot answer now, that it took longer than the resource lets
 * it, that nobody waits for it any more, that it exceeds one of the database's limits, that there is no index of words, or what it has against the values of a write or of a condition.
 */
export type Failure = 'deadlock' | 'unavailable' | 'timeout' | 'left' | 'tooLarge' | 'unindexed' | Refusal
export type Refusal = 'unique' | 'foreign' | 'excluded' | 'raised' | 'denied' | 'check' | 'null' | 'unfit' | 'charset'

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
  /** The function of PostgreSQL's source that reports the error. */
  readonly routine?: string
  /** `FATAL` where PostgreSQL or a pooler closes the connection. */
  readonly severity?: string
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
  /** The refusal of a trigger, a view or a row policy, whose errors may have any code; null for other errors. Goes before codes. */
  readonly own: (error: DriverError) => Refusal | null
  /** By code or number. */
  readonly codes: ReadonlyMap<unknown, Failure>
  /** The SQLSTATE of an error, where it has one. */
  readonly state: (error: DriverError) => unknown
  /** By SQLSTATE, for codes that have no entry of their own. */
  readonly classes: readonly (readonly [pattern: RegExp, failure: Failure])[]
  /** The codes or numbers of errors that say that a connection leads to a server which does not do this (any more). */
  readonly misplaced: ReadonlySet<unknown>
  /** By message, for what has no code of its own. */
  readonly words: readonly (readonly [pattern: RegExp, failure: Failure])[]
  /** What Sequelize takes for a unique constraint, by the message: another one it may be. */
  readonly unique: (message: string) => Refusal
  /** The column that takes no null, where the error names it. */
  readonly nullColumn: (error: DriverError) => string | undefined
  readonly taken: (error: DriverError) => Taken
  readonly pointing: (error: DriverError) => Pointing
}
