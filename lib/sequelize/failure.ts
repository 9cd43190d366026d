// Classification of errors from Sequelize and drivers.

import {
  BaseError,
  ConnectionError,
  ForeignKeyConstraintError,
  TimeoutError,
  UniqueConstraintError,
  ValidationError,
  type ValidationErrorItem,
} from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { DriverError, Failure, Failures, ForeignKeyViolation, UniqueViolation } from '../../types/failures.js'
import { DIALECTS } from './dialect/index.js'
import { StatementAborted, StatementTimeout } from './statementTimeout.js'

export type { ValidationErrorItem }

/** Returns an error and the errors that Sequelize has wrapped in it. */
function layersOf(error: unknown): readonly DriverError[] {
  if (!(error instanceof Error)) return []
  const { original, parent } = error as Error & { original?: DriverError; parent?: DriverError }
  return [error, original, parent].filter((layer) => layer !== undefined && layer !== null)
}

// Messages of closed drivers and pools, which have no code.
const CLOSED =
  /connection manager was closed|connection (is|was) closed|closed state|connection terminated|client has encountered a connection error|database (handle )?is closed|pool is (draining|closed)|query read timeout|ResourceRequest timed out/i

/**
 * Returns the kind of a failure, or null for errors of the host. Errors of other databases count too, because a hook
 * may use another database.
 */
export function classifyFailure(error: unknown, { failures }: Dialect): Failure | null {
  const layers = layersOf(error)
  if (layers.some((layer) => layer instanceof StatementTimeout)) return 'timeout'
  if (layers.some((layer) => layer instanceof StatementAborted)) return 'disconnected'
  const own = findFirst(layers, failures.classifyRaised)
  if (own !== null) return own
  if (error instanceof ForeignKeyConstraintError) return 'foreignKey'
  if (error instanceof UniqueConstraintError) return failures.classifyUnique(error.original.message)
  const known = findFailure(failures, layers) ?? findFirst(ALL, (others) => findFailure(others, layers))
  if (known !== null) return known
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'unavailable'
  return error instanceof Error && CLOSED.test(error.message) ? 'unavailable' : null
}

const TRANSIENT_FAILURES: ReadonlySet<Failure | null> = new Set<Failure>([
  'deadlock',
  'unavailable',
  'timeout',
  'disconnected',
])

/** Whether an error is temporary, such as a deadlock, rather than caused by the statement or its values. */
export function isTransient(error: unknown, dialect: Dialect): boolean {
  return TRANSIENT_FAILURES.has(classifyFailure(error, dialect))
}

/** Whether the server of the connection cannot perform the statement, for example a former primary. */
export function isWrongServer(error: unknown, { failures: { wrongServerCodes } }: Dialect): boolean {
  return layersOf(error).some(({ code, errno }) => wrongServerCodes.has(code) || wrongServerCodes.has(errno))
}

const ALL: readonly Failures[] = Object.values(DIALECTS).map((dialect) => dialect(undefined).failures)

function findFailure(
  { classifyRaised, codes, sqlStateOf, sqlStateClasses, messagePatterns }: Failures,
  layers: readonly DriverError[],
): Failure | null {
  return (
    findFirst(layers, classifyRaised) ??
    findFirst(layers, ({ code, errno }) => codes.get(code) ?? codes.get(errno) ?? null) ??
    findFirst(layers, (layer) => matchPattern(sqlStateClasses, sqlStateOf(layer))) ??
    findFirst(layers, ({ message }) => matchPattern(messagePatterns, message))
  )
}

function matchPattern(patterns: readonly (readonly [RegExp, Failure])[], text: unknown): Failure | null {
  if (text === undefined) return null
  return patterns.find(([pattern]) => pattern.test(String(text)))?.[1] ?? null
}

function findFirst<T>(given: readonly T[], look: (one: T) => Failure | null): Failure | null {
  for (const one of given) {
    const found = look(one)
    if (found !== null) return found
  }
  return null
}

/** Returns the column that does not accept null, if the driver names the column. */
export function findNullColumn(error: unknown, { failures }: Dialect): string | undefined {
  return failures.nullColumn(layersOf(error).at(-1) ?? {})
}

/**
 * Returns the violated unique constraint from the driver's error. Sequelize's own details depend on English messages.
 */
export function findUniqueViolation(error: unknown, { failures }: Dialect): UniqueViolation {
  return failures.parseUniqueViolation(layersOf(error).at(-1) ?? {})
}

/** Returns the details of a violated foreign key, or null for other failures. */
export function findForeignKeyViolation(error: unknown, dialect: Dialect): ForeignKeyViolation | null {
  return classifyFailure(error, dialect) === 'foreignKey'
    ? dialect.failures.parseForeignKeyViolation(layersOf(error).at(-1) ?? {})
    : null
}

/** Returns the errors of the model's validators, or null for other errors. */
export function findValidationErrors(error: unknown): readonly ValidationErrorItem[] | null {
  return error instanceof ValidationError ? error.errors : null
}

const LANGUAGE_ERRORS = [TypeError, RangeError, SyntaxError, ReferenceError]

/** Whether a validator threw an exception instead of rejecting the value, for example for `undefined`. */
export function isValidatorException(item: ValidationErrorItem): boolean {
  const original: unknown = Reflect.get(item, 'original')
  return LANGUAGE_ERRORS.some((kind) => original instanceof kind)
}

/** Whether an error comes from Sequelize, usually about the database, and not from code of the host or this package. */
export function isSequelizeError(error: unknown): boolean {
  return error instanceof BaseError
}

/** Whether a wait for a lock or for a connection has timed out. */
export function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError
}
