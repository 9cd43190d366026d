// What an error of Sequelize's or of a driver's means.

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

/** An error with those that Sequelize has wrapped. */
function layersOf(error: unknown): readonly DriverError[] {
  if (!(error instanceof Error)) return []
  const { original, parent } = error as Error & { original?: DriverError; parent?: DriverError }
  return [error, original, parent].filter((layer) => layer !== undefined && layer !== null)
}

// Drivers and pools that were closed say so in words only.
const CLOSED =
  /connection manager was closed|connection (is|was) closed|closed state|connection terminated|client has encountered a connection error|database (handle )?is closed|pool is (draining|closed)|query read timeout|ResourceRequest timed out/i

/**
 * Null for an error that is nobody's but the host's. Those of other databases count too: a hook may talk to one.
 */
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

/** Whether an error says that its connection leads to a server which does not do this, such as a primary of yesterday. */
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

/** The column that takes no null, where the driver names it. */
export function nullColumnIn(error: unknown, { failures }: Dialect): string | undefined {
  return failures.nullColumn(layersOf(error).at(-1) ?? {})
}

/** What is taken where something must be unique. What Sequelize tells of it, it reads from English words. */
export function takenIn(error: unknown, { failures }: Dialect): Taken {
  return failures.taken(layersOf(error).at(-1) ?? {})
}

/** What the driver tells of a broken foreign key; null for any other failure. */
export function pointingIn(error: unknown, dialect: Dialect): Pointing | null {
  return failureOf(error, dialect) === 'foreign' ? dialect.failures.pointing(layersOf(error).at(-1) ?? {}) : null
}

/** What the model's validators say; null for any other error. */
export function validationIn(error: unknown): readonly ValidationErrorItem[] | null {
  return error instanceof ValidationError ? error.errors : null
}

const OF_THE_LANGUAGE = [TypeError, RangeError, SyntaxError, ReferenceError]

/** Whether a validator broke, rather than said something: `undefined` has no members, and no date is made of it. */
export function isStumble(item: ValidationErrorItem): boolean {
  const original: unknown = Reflect.get(item, 'original')
  return OF_THE_LANGUAGE.some((kind) => original instanceof kind)
}

/** Whether Sequelize says it, of the database mostly, and not the host's or this package's own code. */
export function isOfSequelize(error: unknown): boolean {
  return error instanceof BaseError
}

/** Whether another connection has a lock, or none was to be had: an error of waiting. */
export function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError
}
