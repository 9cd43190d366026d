// Checks session settings of a database that make statements unsafe or change values before they are read.

import type { Sequelize, Transaction } from 'sequelize'
import { type Connection, connectionsFor } from './connections.js'
import { readOptionOf } from './primary.js'
import { formatError } from './run.js'
import { sendText } from './send.js'
import { SERVER_EXPRESSION, type ServerSide, storeServerSide } from './serverSides.js'
import { limitAnswer } from './statementTimeout.js'

/** Error for a database session with unsafe settings. */
export class UnsafeSession extends Error {
  constructor(reason: string) {
    super(`The database session is not safe to use: ${reason}`)
    this.name = 'UnsafeSession'
  }
}

interface SessionCheck {
  /** SQL that reads the settings as one row. */
  readonly sql: string
  /** Returns the first reason against the settings, in column order, or null. */
  readonly findProblem: (settings: readonly string[], connection: Connection) => string | null
  /** Returns the server side of the connection, from the settings. */
  readonly readServerSide: (settings: readonly string[], connection: Connection) => ServerSide
}

const MYSQL: SessionCheck = {
  sql: `SELECT @@sql_mode AS mode, CONNECTION_ID() AS number, ${SERVER_EXPRESSION} AS server, @@autocommit AS autocommit`,
  readServerSide: ([, number, server = ''], connection) => ({
    isDirect: Number(number) === Reflect.get(connection, 'threadId'),
    server,
  }),
  findProblem: ([mode = '', , , autocommit]) => {
    const modes = mode.split(',')
    if (modes.includes('NO_BACKSLASH_ESCAPES'))
      return 'its sql_mode contains NO_BACKSLASH_ESCAPES, with which the escaping of Sequelize allows SQL injection. Remove the mode.'
    if (modes.includes('PAD_CHAR_TO_FULL_LENGTH'))
      return 'its sql_mode contains PAD_CHAR_TO_FULL_LENGTH, with which values of CHAR columns equal no value. Remove the mode.'
    return autocommit === '0' ? 'its autocommit is 0, so that writes would be lost. Set it to 1.' : null
  },
}

const POSTGRES: SessionCheck = {
  sql: `SELECT current_setting('standard_conforming_strings') AS strings, current_setting('DateStyle') AS dates,
    current_setting('extra_float_digits') AS digits, current_setting('client_encoding') AS encoding, pg_backend_pid() AS number`,
  readServerSide: ([, , , , number], connection) => ({
    isDirect: Number(number) === Reflect.get(connection, 'processID'),
    server: null,
  }),
  findProblem: ([strings, dates = '', digits, encoding], connection) => {
    if (Reflect.get(connection, 'binary') === true)
      return 'pg.defaults.binary is set, but Sequelize reads values as text. Remove the setting.'
    if (strings !== 'on')
      return 'standard_conforming_strings is off, with which the escaping of Sequelize allows SQL injection. Set it to on.'
    if (!dates.startsWith('ISO'))
      return `its DateStyle is ${dates}, with which date-times cannot be read. Set it to ISO.`
    if (Number(digits) < 1)
      return `its extra_float_digits is ${digits}, which rounds floating point numbers. Set it to 1.`
    return encoding === 'UTF8' ? null : `its client_encoding is ${encoding}. Set it to UTF8.`
  },
}

/** Checks by Sequelize's dialect name. SQLite has no settings that need a check. */
const CHECKS: Readonly<Record<string, SessionCheck>> = { mysql: MYSQL, mariadb: MYSQL, postgres: POSTGRES }

const checkedConnections = new WeakSet<Connection>()

/**
 * Checks the session of a connection once. Returns null if the session was checked before, or if there is nothing to
 * check. Rejects with `UnsafeSession`.
 */
export function checkSession(sequelize: Sequelize, connection: Connection): Promise<void> | null {
  if (checkedConnections.has(connection)) return null
  const name = sequelize.getDialect()
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined
  return check === undefined ? null : inspectSession(sequelize, connection, check)
}

async function inspectSession(
  sequelize: Sequelize,
  connection: Connection,
  { sql, findProblem, readServerSide }: SessionCheck,
): Promise<void> {
  const answer = await limitAnswer(connection, sendText(sequelize, connection, sql)).catch((error: unknown) => {
    throw error instanceof Error ? formatError(sequelize, connection, sql, error) : error
  })
  const settings = settingsInAnswer(answer)
  const reason = findProblem(settings, connection)
  if (reason !== null) throw new UnsafeSession(reason)
  storeServerSide(sequelize, connection, readServerSide(settings, connection))
  checkedConnections.add(connection)
}

/** Returns the values of the single row in a driver's result. */
function settingsInAnswer(answer: unknown): readonly string[] {
  const rows: unknown = Array.isArray(answer) ? answer : Object(answer).rows
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  return Object.values(Object(row)).map(String)
}

const checkedInstances = new WeakSet<Sequelize>()

/**
 * Checks one connection of the pool, before the first statement for which Sequelize itself chooses a connection. Within
 * a transaction, checks the transaction's connection.
 */
export function checkSequelize(sequelize: Sequelize, transaction: Transaction | undefined): Promise<void> | null {
  if (transaction !== undefined) return checkTransaction(sequelize, transaction)
  if (checkedInstances.has(sequelize) || !Object.hasOwn(CHECKS, sequelize.getDialect())) return null
  return inspectOneConnection(sequelize)
}

/** Checks the connection of a transaction. Returns null for a finished transaction, which has no connection. */
export function checkTransaction(sequelize: Sequelize, transaction: Transaction): Promise<void> | null {
  const { connection } = transaction as { readonly connection?: Connection }
  return connection === undefined ? null : checkSession(sequelize, connection)
}

async function inspectOneConnection(sequelize: Sequelize): Promise<void> {
  const connections = connectionsFor(sequelize)
  const connection = await connections.getConnection({ type: 'SELECT', ...readOptionOf() })
  try {
    await checkSession(sequelize, connection)
    checkedInstances.add(sequelize)
  } finally {
    connections.releaseConnection(connection)
  }
}
