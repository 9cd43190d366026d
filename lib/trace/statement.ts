import type { StatementMessage, WatchedError } from '../../types/trace.js'
import { commandOf, redactSql } from '../common/sqlText.js'
import { type Cause, currentCause, STATEMENTS, trace } from './channels.js'

/** The message of a statement. The SQL is private, because it may contain values. */
class TracedStatement implements StatementMessage {
  readonly kind = 'statement'
  readonly cause: Cause
  readonly dialect: string
  readonly command: string
  rows: number | null = null
  duration: number | null = null
  error: WatchedError | null = null
  readonly #sql: string
  #text: string | null = null

  constructor(cause: Cause, dialect: string, sql: string) {
    this.cause = cause
    this.dialect = dialect
    this.command = commandOf(sql)
    this.#sql = sql
  }

  get text(): string {
    this.#text ??= redactSql(this.#sql, this.dialect)
    return this.#text
  }
}

/**
 * Runs a statement, and publishes it to subscribers as a statement of the current request or push event. `rowsOf`
 * returns the number of rows in a result.
 */
export function traceStatement<T>(
  statement: { readonly dialect: string; readonly sql: string },
  run: () => Promise<T>,
  rowsOf: (outcome: T) => number | null,
): Promise<T> {
  const cause = currentCause()
  return cause === undefined ? run() : traceStatementOf(cause, statement, run, rowsOf)
}

async function traceStatementOf<T>(
  cause: Cause,
  { dialect, sql }: { readonly dialect: string; readonly sql: string },
  run: () => Promise<T>,
  rowsOf: (outcome: T) => number | null,
): Promise<T> {
  const message = new TracedStatement(cause, dialect, sql)
  cause.statements += 1
  try {
    return await trace(STATEMENTS, message, run, (outcome) => {
      message.rows = rowsOf(outcome)
    })
  } finally {
    cause.databaseTime += message.duration ?? 0
  }
}
