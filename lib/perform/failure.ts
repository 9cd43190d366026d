import {
  ConnectionError,
  ForeignKeyConstraintError,
  TimeoutError,
  UniqueConstraintError,
  ValidationError,
  type ValidationErrorItem,
} from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import { type Problem, problem } from '../common/problem.js'
import { columnsOfIndex } from '../sequelize/model.js'

/** What drivers say of an error: PostgreSQL's has a column and a detail, MySQL's and MariaDB's its bare message and class. */
interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly message?: string
  readonly column?: string
  readonly detail?: string
  readonly table?: string
  readonly sqlMessage?: string
  readonly sqlState?: string
}

/** An error with those that Sequelize has wrapped. */
export function layersOf(error: unknown): readonly DriverError[] {
  if (!(error instanceof Error)) return []
  const { original, parent } = error as Error & { original?: DriverError; parent?: DriverError }
  return [error, original, parent].filter((layer) => layer !== undefined && layer !== null)
}

/** What the database said, in its own code. */
export function codesOf(error: unknown): readonly unknown[] {
  return layersOf(error).flatMap(({ code, errno }) => [code, errno])
}

// PostgreSQL: deadlock, serialization failure. MySQL: deadlock, conflict with another writer of the cluster. MariaDB: record
// changed since last read.
const DEADLOCKS: ReadonlySet<unknown> = new Set(['40P01', '40001', 'ER_LOCK_DEADLOCK', 1213, 3101, 1020])

const UNAVAILABLE: ReadonlySet<unknown> = new Set([
  ...DEADLOCKS,
  ...['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_MISUSE', 'SQLITE_CANTOPEN', 'SQLITE_FULL', 'SQLITE_READONLY'],
  // PostgreSQL, beside whole classes: no lock in time, ended for idling or for its length, a standby that only reads.
  ...['55P03', '25P03', '25P04', '25006'],
  // MySQL and MariaDB: too many connections, disk or table full, shutting down, a cluster's node that is not ready,
  // broken connections.
  ...[1040, 1203, 1226, 1021, 1114, 1053, 1047, 1152, 1158, 1159, 1160, 1161, 1184, 2006, 2013],
  // The same: no lock in time, query interrupted, connection killed, ended for its length, for idling, only reads.
  ...[1205, 1317, 1927, 3169, 1969, 3024, 4031, 1290, 1792, 1836],
  ...['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['PROTOCOL_CONNECTION_LOST', 'ER_SOCKET_UNEXPECTED_CLOSE', 'ER_SOCKET_TIMEOUT', 'ER_CMD_CONNECTION_CLOSED'],
  ...['ER_CMD_NOT_EXECUTED_DESTROYED', 'ER_CONNECTION_TIMEOUT', 'ER_GET_CONNECTION_TIMEOUT'],
])

// PostgreSQL's classes of connection exceptions, but for the mistake of violating the protocol, of transactions rolled
// back, of insufficient resources, and of an operator's intervention, of which a cancelled statement is one.
const UNAVAILABLE_CLASS = /^(?:08(?!P01)|40|53|57)[0-9A-Z]{3}$/

// Drivers and pools that were closed say so in words only.
const CLOSED =
  /connection manager was closed|connection (is|was) closed|closed state|connection terminated|client has encountered a connection error|database (handle )?is closed|pool is (draining|closed)|query read timeout|ResourceRequest timed out/i

export function isDeadlock(error: unknown): boolean {
  return codesOf(error).some((code) => DEADLOCKS.has(code))
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  if (codesOf(error).some((code) => UNAVAILABLE.has(code) || UNAVAILABLE_CLASS.test(String(code)))) return true
  return error instanceof Error && CLOSED.test(error.message)
}

/**
 * The Problem that a failed read or write is, or null for an error that is none of the client's business.
 * Nothing of the database's own text is in it.
 */
export function problemOf(error: unknown, resource: Resource): Problem | null {
  const refusal = refusalOf(error)
  if (refusal === 'null') return missing(error, resource)
  if (refusal === 'unique' && error instanceof UniqueConstraintError) return conflict(error, resource)
  if (refusal !== null) return REFUSALS[refusal]()
  if (error instanceof ValidationError) return problem('validation', { errors: messagesOf(error, resource, '') })
  if (isUnavailable(error)) {
    return problem('unavailable', {
      detail: 'The database cannot answer at the moment. Try again later.',
      headers: { 'Retry-After': '1' },
    })
  }
  return null
}

/** Whether a record would point at one that does not exist. */
export function isForeignKeyFailure(error: unknown): boolean {
  return refusalOf(error) === 'foreign'
}

/** What the database has against the values of a write, or of a condition. */
type Refusal = 'unique' | 'foreign' | 'excluded' | 'raised' | 'check' | 'null' | 'unfit' | 'charset'

const REFUSALS: Readonly<Record<Exclude<Refusal, 'null'>, () => Problem>> = {
  unique: () => problem('conflict', { detail: 'A record with these values exists already.' }),
  foreign: () =>
    problem('conflict', {
      detail: 'A record that this one refers to does not exist, or other records still refer to this one.',
    }),
  excluded: () => problem('conflict', { detail: 'A record that this one excludes exists already.' }),
  raised: () => problem('conflict', { detail: 'The database does not allow this change.' }),
  check: () => problem('validation', { detail: 'The record breaks a constraint of its table.' }),
  unfit: () => problem('validation', { detail: 'A value does not fit its column.' }),
  charset: () => problem('invalid-query', { detail: 'A value has characters that its column cannot hold.' }),
}

// By SQLSTATE in PostgreSQL, by number in MySQL and MariaDB.
const REFUSED: ReadonlyMap<unknown, Refusal> = new Map<unknown, Refusal>([
  ...['23503', '23001', 1216, 1217, 1451, 1452, 1761, 1762].map((code) => [code, 'foreign'] as const),
  ['23P01', 'excluded'],
  // RAISE EXCEPTION and SIGNAL: the host's own triggers.
  ...['P0001', 1644].map((code) => [code, 'raised'] as const),
  ...['23514', 3819, 4025].map((code) => [code, 'check'] as const),
  ...['23502', 1048, 1364].map((code) => [code, 'null'] as const),
  // Out of range, cut off, incorrect for the type, too long, beyond a BIGINT, no JSON.
  ...[1264, 1265, 1292, 1366, 1367, 1406, 1690, 3140, 'SQLITE_MISMATCH', 'SQLITE_TOOBIG'].map(
    (code) => [code, 'unfit'] as const,
  ),
  // Data exceptions that MySQL and MariaDB do not class as such: incorrect for a function, beyond a character set as a
  // bound value and as a computed one, cut off for an index over an expression, no JSON for a function.
  ...[1411, 3988, 1977, 3751, 4038].map((code) => [code, 'unfit'] as const),
  // A column of a narrow character set was compared with text beyond it.
  ...[1267, 1270, 1271, 3854].map((code) => [code, 'charset'] as const),
])

// The standard's class of data exceptions: a code in PostgreSQL, beside the number in MySQL and MariaDB.
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/

// SQLite has one code for that and for mistakes of the host's.
const NOT_COMPUTED = /^SQLITE_ERROR: (?:malformed JSON|integer overflow)$/

function refusalOf(error: unknown): Refusal | null {
  if (error instanceof ForeignKeyConstraintError) return 'foreign'
  if (error instanceof UniqueConstraintError) return uniqueOrNot(error.original)
  for (const code of codesOf(error)) {
    const refusal = REFUSED.get(code) ?? (DATA_EXCEPTION.test(String(code)) ? 'unfit' : null)
    if (refusal !== null) return refusal
  }
  const isUnfit = layersOf(error).some(
    ({ sqlState, message = '' }) => DATA_EXCEPTION.test(String(sqlState)) || NOT_COMPUTED.test(message),
  )
  return isUnfit ? 'unfit' : null
}

/** Sequelize takes every failed constraint of SQLite for a unique one, and what triggers raise as well. */
function uniqueOrNot({ message }: Error): Refusal {
  const [, refusal] = /^SQLITE_CONSTRAINT: (.*)/.exec(message) ?? []
  if (refusal === undefined || refusal.startsWith('UNIQUE constraint failed')) return 'unique'
  if (refusal.startsWith('CHECK constraint failed')) return 'check'
  if (refusal.startsWith('NOT NULL constraint failed')) return 'null'
  // A STRICT table.
  return /^cannot store \w+ value in /.test(refusal) ? 'unfit' : 'raised'
}

/** A null where only the table forbids it: the client's fault where it may write the column, else the host's. */
function missing(error: unknown, resource: Resource): Problem | null {
  const { message = '', column, sqlMessage = '' } = layersOf(error).at(-1) ?? {}
  const name =
    column ?? /NOT NULL constraint failed: .*?([^.]+)$/.exec(message)?.[1] ?? /'([^']+)'/.exec(sqlMessage)?.[1]
  const field = name === undefined ? undefined : fieldOf(resource, name)
  if (field === undefined || !(field.targets.has('create') || field.targets.has('update'))) return null
  return problem('validation', { errors: { [field.json]: ['cannot be null.'] } })
}

function conflict(error: UniqueConstraintError, resource: Resource): Problem {
  const names = takenBy(error, resource)
    .filter((field) => field.targets.size > 0 || field.isKey)
    .map((field) => [field.json, ['is already taken.']] as const)
  return problem('conflict', {
    detail: 'A record with these values exists already.',
    ...(names.length === 0 ? {} : { errors: Object.fromEntries(names) }),
  })
}

/**
 * The fields that are taken together. What Sequelize tells of them it reads from English words, and it cuts SQLite's
 * names at the first dot, which the name of a table in a schema has too.
 */
function takenBy(error: UniqueConstraintError, resource: Resource): readonly Field[] {
  const { message = '', detail = '', sqlMessage = '' } = layersOf(error).at(-1) ?? {}
  // SQLite and PostgreSQL name the columns.
  const listed =
    /UNIQUE constraint failed: (.+)$/.exec(message)?.[1] ?? /\((.+?)\)=\(/.exec(detail.replaceAll('"', ''))?.[1]
  if (listed !== undefined) {
    return listed.split(', ').flatMap((name) => fieldOf(resource, name.split('.').at(-1) ?? '') ?? [])
  }
  // MySQL and MariaDB name the index: the last thing in quotes, behind its table.
  const index = /'([^']*)'[^']*$/.exec(sqlMessage)?.[1]?.split('.').at(-1) ?? ''
  const columns = columnsOfIndex(resource.model, index)
  return (columns.length === 0 ? [index] : columns).flatMap((name) => fieldOf(resource, name) ?? [])
}

/** A database names columns, Sequelize names attributes. */
export function fieldOf(resource: Resource, name: string): Field | undefined {
  return resource.fields.find((field) => field.column === name) ?? resource.fields.find((field) => field.name === name)
}

/** The messages of the model's own validators, under the names that the client knows. */
export function messagesOf(error: ValidationError, resource: Resource, prefix: string): Record<string, string[]> {
  const messages = new Map<string, string[]>()
  for (const item of error.errors) {
    const { path, type } = item
    const name = prefix + (path === null ? '' : (fieldOf(resource, path)?.json ?? path))
    // Sequelize's own text for this one names the table.
    const isNull = type === 'notnull violation' || (type as string) === 'notNull Violation'
    const text = isNull ? 'cannot be null.' : messageOf(item)
    messages.set(name, [...(messages.get(name) ?? []), text])
  }
  return Object.fromEntries(messages)
}

/** E-mail formats are stricter in Sequelize than in the rules; what it says by itself is said as they say it. */
function messageOf({ path, message, validatorKey }: ValidationErrorItem): string {
  const isOwn = validatorKey === 'isEmail' && message === `Validation isEmail on ${path} failed`
  return isOwn ? 'is not a valid email address.' : message
}
