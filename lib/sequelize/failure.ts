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
import type { DriverError, Failure, Failures, Pointing, Taken } from '../../types/failures.js'
import { DIALECTS } from './dialect/index.js'
import { StatementLeft, StatementTimeout } from './statementTime.js'

export type { ValidationErrorItem }

/** An error with the errors that Sequelize has wrapped. */
function layersOf(error: unknown): readonly DriverError[] {
  if (!(error instanceof Error)) return []
  const { original, parent } = error as Error & { original?: DriverError; parent?: DriverError }
  return [error, original, parent].filter((layer) => layer !== undefined && layer !== null)
}

// Messages of closed drivers and pools, which have no code.
const CLOSED =
  /connection manager was closed|connection (is|was) closed|closed state|connection terminated|client has encountered a connection error|database (handle )?is closed|pool is (draining|closed)|query read timeout|ResourceRequest timed out/i

/** Kind of a failure. Null for errors of the host. Errors of other databases count too, because a hook may use one. */
export function failureOf(error: unknown, { failures }: Dialect): Failure | null {
  const layers = layersOf(error)
  if (layers.some((layer) => layer instanceof StatementTimeout)) return 'timeout'
  if (layers.some((layer) => layer instanceof StatementLeft)) return 'left'
  const own = firstOf(layers, failures.own)
  if (own !== null) return own
  if (error instanceof ForeignKeyConstraintError) return 'foreign'
  if (error instanceof UniqueConstraintError) return failures.unique(error.original.message)
  const known = meaningIn(failures, layers) ?? firstOf(ALL, (others) => meaningIn(others, layers))
  if (known !== null) return known
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'unavailable'
  return error instanceof Error && CLOSED.test(error.message) ? 'unavailable' : null
}

/** Whether the server of the connection cannot perform the statement, for example a former primary. */
export function isMisplaced(error: unknown, { failures: { misplaced } }: Dialect): boolean {
  return layersOf(error).some(({ code, errno }) => misplaced.has(code) || misplaced.has(errno))
}

const ALL: readonly Failures[] = Object.values(DIALECTS).map((dialect) => dialect(undefined).failures)

function meaningIn({ own, codes, state, classes, words }: Failures, layers: readonly DriverError[]): Failure | null {
  return (
    firstOf(layers, own) ??
    firstOf(layers, ({ code, errno }) => codes.get(code) ?? codes.get(errno) ?? null) ??
    firstOf(layers, (layer) => match(classes, state(layer))) ??
    firstOf(layers, ({ message }) => match(words, message))
  )
}

function match(patterns: readonly (readonly [RegExp, Failure])[], text: unknown): Failure | null {
  if (text === undefined) return null
  return patterns.find(([pattern]) => pattern.test(String(text)))?.[1] ?? null
}

function firstOf<T>(given: readonly T[], look: (one: T) => Failure | null): Failure | null {
  for (const one of given) {
    const found = look(one)
    if (found !== null) return found
  }
  return null
}

/** Column that does not accept null, if the driver names it. */
export function nullColumnIn(error: unknown, { failures }: Dialect): string | undefined {
  return failures.nullColumn(layersOf(error).at(-1) ?? {})
}

/** Violated unique constraint. Sequelize's own details depend on English messages. */
export function takenIn(error: unknown, { failures }: Dialect): Taken {
  return failures.taken(layersOf(error).at(-1) ?? {})
}

/** Details of a violated foreign key. Null for other failures. */
export function pointingIn(error: unknown, dialect: Dialect): Pointing | null {
  return failureOf(error, dialect) === 'foreign' ? dialect.failures.pointing(layersOf(error).at(-1) ?? {}) : null
}

/** Errors of the model's validators. Null for other errors. */
export function validationIn(error: unknown): readonly ValidationErrorItem[] | null {
  return error instanceof ValidationError ? error.errors : null
}

const OF_THE_LANGUAGE = [TypeError, RangeError, SyntaxError, ReferenceError]

/** Whether a validator threw an exception instead of rejecting the value, for example for `undefined`. */
export function isStumble(item: ValidationErrorItem): boolean {
  const original: unknown = Reflect.get(item, 'original')
  return OF_THE_LANGUAGE.some((kind) => original instanceof kind)
}

/** Whether an error comes from Sequelize, usually about the database, and not from code of the host or this package. */
export function isOfSequelize(error: unknown): boolean {
  return error instanceof BaseError
}

/** Whether the error is a wait for a lock or for a connection. */
export function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError
}
