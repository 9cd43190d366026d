import {
  ConnectionError,
  DatabaseError,
  ForeignKeyConstraintError,
  TimeoutError,
  UniqueConstraintError,
  ValidationError,
  type ValidationErrorItem,
} from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import { type Problem, problem } from '../problem.js'
import { columnsOfIndex } from './sequelize.js'

/** What the database said, in its own code. */
function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return []
  const { code, errno, original, parent } = error as Error & {
    code?: unknown
    errno?: unknown
    original?: { code?: unknown; errno?: unknown }
    parent?: { code?: unknown; errno?: unknown }
  }
  return [code, errno, original?.code, original?.errno, parent?.code, parent?.errno]
}

// PostgreSQL: deadlock, serialization failure. MySQL: deadlock. MariaDB: record changed since last read.
const DEADLOCKS: ReadonlySet<unknown> = new Set(['40P01', '40001', 'ER_LOCK_DEADLOCK', 1213, 1020])

// Lock wait time-outs, servers that shut down, start up or are full, and connections that broke in mid-query.
const UNAVAILABLE: ReadonlySet<unknown> = new Set([
  ...DEADLOCKS,
  ...['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_MISUSE', 'SQLITE_CANTOPEN'],
  ...['ER_LOCK_WAIT_TIMEOUT', 1205, 'ER_CON_COUNT_ERROR', 1040, 'ER_SERVER_SHUTDOWN', 1053, 1927],
  ...['55P03', '57P01', '57P02', '57P03', '53300', '08000', '08003', '08006', '08001', '08004'],
  ...['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'PROTOCOL_CONNECTION_LOST', 'ER_SOCKET_UNEXPECTED_CLOSE'],
  ...['ER_CMD_CONNECTION_CLOSED', 'ER_CONNECTION_TIMEOUT', 'ER_GET_CONNECTION_TIMEOUT', 'ER_CONNECTION_KILLED'],
])

// Drivers and pools that were closed say so in words only.
const CLOSED =
  /connection manager was closed|connection (is|was) closed|closed state|connection terminated|client has encountered a connection error|database (handle )?is closed|pool is (draining|closed)|ResourceRequest timed out/i

export function isDeadlock(error: unknown): boolean {
  return codesOf(error).some((code) => DEADLOCKS.has(code))
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  if (codesOf(error).some((code) => UNAVAILABLE.has(code))) return true
  return error instanceof Error && CLOSED.test(error.message)
}

/**
 * The Problem that a failed read or write is, or null for an error that is none of the client's business.
 * Nothing of the database's own text is in it.
 */
export function problemOf(error: unknown, resource: Resource): Problem | null {
  if (isCheckViolation(error)) return problem('validation', { detail: 'The record breaks a constraint of its table.' })
  if (isNotNullViolation(error)) return null
  if (isForeignText(error)) {
    return problem('invalid-query', { detail: 'A value has characters that its column cannot hold.' })
  }
  if (isUnfit(error)) return problem('validation', { detail: 'A value does not fit its column.' })
  if (error instanceof UniqueConstraintError) return conflict(error, resource)
  if (error instanceof ForeignKeyConstraintError || isForeignKeyViolation(error)) {
    return problem('conflict', {
      detail: 'A record that this one refers to does not exist, or other records still refer to this one.',
    })
  }
  if (error instanceof ValidationError) return problem('validation', { errors: messagesOf(error, resource, '') })
  if (isUnavailable(error)) {
    return problem('unavailable', {
      detail: 'The database cannot answer at the moment. Try again later.',
      headers: { 'Retry-After': '1' },
    })
  }
  return null
}

// PostgreSQL's class of data exceptions. MySQL: out of range, too long, incorrect value.
function isUnfit(error: unknown): boolean {
  const isData = (code: unknown): boolean => typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code)
  return codesOf(error).some((code) => isData(code) || code === 1264 || code === 1406 || code === 1366)
}

// MySQL: a column of a narrow character set was compared with text beyond it.
function isForeignText(error: unknown): boolean {
  return codesOf(error).some((code) => code === 1267 || code === 1270 || code === 1271)
}

// Sequelize takes every failed constraint of SQLite for a unique one.
function isCheckViolation(error: unknown): boolean {
  return (
    codesOf(error).some((code) => code === '23514' || code === 3819 || code === 4025) ||
    says(error, /^SQLITE_CONSTRAINT: CHECK/)
  )
}

function isNotNullViolation(error: unknown): boolean {
  return says(error, /^SQLITE_CONSTRAINT: NOT NULL/)
}

function says(error: unknown, pattern: RegExp): boolean {
  return error instanceof UniqueConstraintError && pattern.test(error.original.message)
}

function isForeignKeyViolation(error: unknown): boolean {
  return (
    error instanceof DatabaseError && codesOf(error).some((code) => code === '23503' || code === 1451 || code === 1452)
  )
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

/** The fields that are taken together. SQLite and PostgreSQL name the columns, MySQL the index. */
function takenBy(error: UniqueConstraintError, resource: Resource): readonly Field[] {
  // Sequelize cuts SQLite's names at the first dot, which the name of a table in a schema has too.
  const listed = /UNIQUE constraint failed: (.+)$/.exec(error.parent.message)?.[1]?.split(', ')
  const given = Array.isArray(error.fields) ? error.fields : Object.keys(error.fields)
  const names = (listed ?? given).map((name) => String(name).split('.').at(-1) ?? '')
  return names.flatMap((name) => {
    const field = fieldOf(resource, name)
    if (field !== undefined) return [field]
    return columnsOfIndex(resource.model, name).flatMap((column) => fieldOf(resource, column) ?? [])
  })
}

/** A database names columns, Sequelize names attributes. */
function fieldOf(resource: Resource, name: string): Field | undefined {
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
