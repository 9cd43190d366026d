/**
 * The classes of failed statements. `disconnected`: the client disconnected. `tooLarge`: a database limit is exceeded.
 * `missingIndex`: a full-text index is missing. `Refusal`: an error in the values of a write or a condition.
 */
export type Failure = 'deadlock' | 'unavailable' | 'timeout' | 'disconnected' | 'tooLarge' | 'missingIndex' | Refusal
export type Refusal =
  | 'unique'
  | 'foreignKey'
  | 'exclusion'
  | 'databaseRule'
  | 'rowSecurity'
  | 'checkConstraint'
  | 'notNull'
  | 'dataException'
  | 'characterSet'

/** The error of a driver. Its members differ by driver. */
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
  /** `FATAL` if PostgreSQL or a pooler closes the connection. */
  readonly severity?: string
}

/** The violated unique constraint: the names of its columns, or the name of its index. */
export interface UniqueViolation {
  readonly columns?: readonly string[]
  readonly index?: string
}

/** The driver's details of a foreign key violation. */
export interface ForeignKeyViolation {
  /** Whether other records refer to the record. */
  readonly isReferenced: boolean
  /**
   * The table and the columns of the foreign key. A trigger or hook may have written to a table other than the model's.
   */
  readonly table?: string | undefined
  readonly columns: readonly string[]
}

/** A foreign key of a table. */
export interface ForeignKey {
  /** The key's columns and the referenced columns, in the same order. */
  readonly columns: readonly string[]
  readonly targets: readonly string[]
  /** The referenced table, quoted. */
  readonly table: string
}

export interface Failures {
  /**
   * The class of an error that its code does not tell, such as the error of a trigger, a view or a row policy; null for
   * other errors. Takes precedence over `codes`.
   */
  readonly classifyRaised: (error: DriverError) => Failure | null
  /** The class of an error by its code or number. */
  readonly codes: ReadonlyMap<unknown, Failure>
  /** The SQLSTATE of an error, if it has one. */
  readonly sqlStateOf: (error: DriverError) => unknown
  /** The class of an error by its SQLSTATE, for errors whose code has no entry in `codes`. */
  readonly sqlStateClasses: readonly (readonly [pattern: RegExp, failure: Failure])[]
  /** The codes or numbers of errors of a server that no longer accepts the statement, such as a demoted primary. */
  readonly wrongServerCodes: ReadonlySet<unknown>
  /** The class of an error by its message, for errors without a code of their own. */
  readonly messagePatterns: readonly (readonly [pattern: RegExp, failure: Failure])[]
  /**
   * Classifies an error that Sequelize reports as a unique violation, by its message. The violated constraint may be of
   * another kind.
   */
  readonly classifyUnique: (message: string) => Refusal
  /** The column that violates NOT NULL, if the error names it. */
  readonly nullColumn: (error: DriverError) => string | undefined
  readonly parseUniqueViolation: (error: DriverError) => UniqueViolation
  readonly parseForeignKeyViolation: (error: DriverError) => ForeignKeyViolation
}
