// What an error says, without the values that are in it: drivers and Sequelize put into their messages what was sent and stored.

import { withoutValues } from './sqlText.js'

/** A statement within an error, with placeholders; null where it cannot be told whose language it is in. */
export function statementIn(error: object): string | null {
  const sql: unknown = Reflect.get(error, 'sql')
  if (typeof sql !== 'string') return null
  const dialect = dialectOf(error) ?? dialectOf(Object(Reflect.get(error, 'original')))
  return dialect === null ? null : withoutValues(sql, dialect)
}

/** By what each driver tells of errors; a statement that was ended for its time says it itself. */
function dialectOf(error: object): string | null {
  if (Reflect.get(error, 'name') === 'StatementTimeout') return String(Reflect.get(error, 'dialect'))
  if ('severity' in error && 'routine' in error) return 'postgres'
  if ('sqlState' in error || 'sqlMessage' in error) return 'mysql'
  return String(Reflect.get(error, 'code')).startsWith('SQLITE_') ? 'sqlite' : null
}

/** The message of an error. What the host's own code has written stays as it is. */
export function messageIn(error: Error): string {
  if (error.name === 'SequelizeValidationError') return 'Validation error'
  // What JSON.parse and BigInt could not read is in what they say.
  if (error instanceof SyntaxError) return ''
  if (isOfDatabase(error)) return isRaised(error) ? '...' : unquoted(error.message, statementIn(error) ?? '')
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_')
    ? error.message.replace(/Received[\s\S]*/, '...')
    : error.message
}

function isOfDatabase(error: Error): boolean {
  return error.name.startsWith('Sequelize') || 'sql' in error || dialectOf(error) !== null
}

/** Whether the words are those of a trigger or function of the host's in the database, which may say anything. */
function isRaised(error: Error): boolean {
  const { routine, errno, sqlState, message } = {
    ...Object(Reflect.get(error, 'original')),
    ...error,
    message: error.message,
  }
  if (routine === 'exec_stmt_raise' || errno === 1644 || /^(?:45|[5689I-WYZ]|7(?!0100))/.test(String(sqlState)))
    return true
  return message.startsWith('SQLITE_CONSTRAINT') && !/^SQLITE_CONSTRAINT: [A-Z ]+ constraint failed/.test(message)
}

/** A message up to its first quotation mark, which a value stands behind; whole where what is quoted is a name of the statement. */
function unquoted(whole: string, statement: string): string {
  // MariaDB's driver has the statement and its parameters behind its message.
  const [message = ''] = whole.split(/\r?\nsql: /, 1)
  const first = message.search(/['"`]/)
  if (first < 0) return behindColon(message, statement)
  const [, mark = '', name = ''] =
    /^[^'"`]*(['"`])([\w$.]+)\1(?: in '[a-z]+ (?:clause|list)')?[^'"`]*$/.exec(message) ?? []
  const isName = name !== '' && name.split('.').every((part) => namesIn(statement).has(part))
  return isName ? message : `${message.slice(0, first)}${mark || message[first]}...`
}

/** SQLite quotes nothing where it misses something. */
function behindColon(message: string, statement: string): string {
  const [, head, name = ''] = /^(.*no such \w+: )(.*)$/s.exec(message) ?? []
  return head === undefined || name.split('.').every((part) => namesIn(statement).has(part)) ? message : `${head}...`
}

function namesIn(statement: string): ReadonlySet<string> {
  return new Set(statement.match(/[\w$]+/g) ?? [])
}
