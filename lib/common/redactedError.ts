// Texts of errors without the values that drivers and Sequelize include in their messages.

import { redactSql } from './sqlText.js'

/** Returns the statement of an error, with placeholders for all values; null if its dialect is unknown. */
export function redactedStatementOf(error: object): string | null {
  const sql: unknown = Reflect.get(error, 'sql')
  if (typeof sql !== 'string') return null
  const dialect = dialectOf(error) ?? dialectOf(Object(Reflect.get(error, 'original')))
  return dialect === null ? null : redactSql(sql, dialect)
}

/**
 * Recognizes the dialect of an error by the members that its driver sets. An error of the statement timeout names its
 * dialect.
 */
function dialectOf(error: object): string | null {
  if (Reflect.get(error, 'name') === 'StatementTimeout') return String(Reflect.get(error, 'dialect'))
  if ('severity' in error && 'routine' in error) return 'postgres'
  if ('sqlState' in error || 'sqlMessage' in error) return 'mysql'
  return String(Reflect.get(error, 'code')).startsWith('SQLITE_') ? 'sqlite' : null
}

/** Returns the message of an error without quoted values. Messages of host code are unchanged. */
export function redactedMessageOf(error: Error): string {
  if (error.name === 'SequelizeValidationError') return 'Validation error'
  // The messages of JSON.parse and BigInt quote the invalid text.
  if (error instanceof SyntaxError) return ''
  if (isDatabaseError(error))
    return isRaisedByHost(error) ? '...' : cutAtQuote(error.message, redactedStatementOf(error) ?? '')
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_')
    ? error.message.replace(/Received[\s\S]*/, '...')
    : error.message
}

function isDatabaseError(error: Error): boolean {
  return error.name.startsWith('Sequelize') || 'sql' in error || dialectOf(error) !== null
}

/**
 * Whether the message comes from a trigger or function of the host in the database. Such a message may contain any
 * value.
 */
function isRaisedByHost(error: Error): boolean {
  const { routine, errno, sqlState, message } = {
    ...Object(Reflect.get(error, 'original')),
    ...error,
    message: error.message,
  }
  if (routine === 'exec_stmt_raise' || errno === 1644 || /^(?:45|[5689I-WYZ]|7(?!0100))/.test(String(sqlState)))
    return true
  return message.startsWith('SQLITE_CONSTRAINT') && !/^SQLITE_CONSTRAINT: [A-Z ]+ constraint failed/.test(message)
}

/**
 * Cuts a message at its first quotation mark, because the quoted text may be a value. The message stays whole if the
 * quoted text is a name in the statement.
 */
function cutAtQuote(whole: string, statement: string): string {
  // MariaDB's driver appends the statement and its parameters.
  const [message = ''] = whole.split(/\r?\nsql: /, 1)
  const first = message.search(/['"`]/)
  if (first < 0) return cutAtColon(message, statement)
  const [, mark = '', name = ''] =
    /^[^'"`]*(['"`])([\w$.]+)\1(?: in '[a-z]+ (?:clause|list)')?[^'"`]*$/.exec(message) ?? []
  const isName = name !== '' && name.split('.').every((part) => namesInStatement(statement).has(part))
  return isName ? message : `${message.slice(0, first)}${mark || message[first]}...`
}

/**
 * Cuts a SQLite message at a missing table or column, which SQLite names without quotation marks. A name in the
 * statement is kept.
 */
function cutAtColon(message: string, statement: string): string {
  const [, head, name = ''] = /^(.*no such \w+: )(.*)$/s.exec(message) ?? []
  return head === undefined || name.split('.').every((part) => namesInStatement(statement).has(part))
    ? message
    : `${head}...`
}

function namesInStatement(statement: string): ReadonlySet<string> {
  return new Set(statement.match(/[\w$]+/g) ?? [])
}
