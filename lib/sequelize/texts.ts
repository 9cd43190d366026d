// Rows of SQLite that come as one text.

import { sqliteText } from './dialect/sqliteText.js'
import type { RawRow } from './run.js'
import type { SqliteConnection } from './sqlite.js'

/** A row as its values, in the order of its columns. */
export type TextRow = readonly unknown[]

/** The rows that a text says; null where one of them may hold something else than that, and where there is none. */
export function rowsIn([first]: readonly RawRow[]): readonly TextRow[] | null {
  const found: unknown = typeof first?._rows === 'string' ? parsed(first._rows) : null
  return Array.isArray(found) && found.every(isExact) ? found : null
}

function isExact(row: unknown): row is TextRow {
  return Array.isArray(row) && row.every(isSaid)
}

/** SQLite writes floating point with as few as 15 digits, so that what has more may have lost some; and text that it takes for JSON as it is. */
function isSaid(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e15
  return typeof value === 'string' || value === null
}

/** Whoever calls is called by the driver, where an error would end the process. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Whether a statement has failed because of its text: that would be longer than SQLite makes any, or the rows hold bytes, of which it
 * makes none. What else is wrong with it the rows themselves will tell.
 */
export function isOfText(error: Error): boolean {
  const code: unknown = Reflect.get(error, 'code')
  return code === 'SQLITE_TOOBIG' || code === 'SQLITE_ERROR'
}

const able = new Map<object, boolean | Promise<boolean>>()

/**
 * Whether the SQLite of a driver writes texts that say the rows: builds may lack the functions, and of some versions a column that
 * a function of JSON has made would stand in it as what its text says. Each driver is asked until it has answered.
 */
export function writesTexts(connection: SqliteConnection): boolean | Promise<boolean> {
  const driver = connection.constructor
  const known = able.get(driver)
  if (known !== undefined) return known
  const asked = Promise.all(['', ' LIMIT 9'].map((limit) => tries(connection, limit))).then((tried) => {
    if (tried.includes(null)) able.delete(driver)
    else able.set(driver, !tried.includes(false))
    return tried.every((isAble) => isAble === true)
  })
  able.set(driver, asked)
  return asked
}

/** Texts, with all that has to be escaped, made by a function of JSON, and nothing at all. */
const TRIED = `SELECT value AS c0, json_quote(value) AS c1,
  CASE value WHEN 4 THEN NULL ELSE char(97, 0, 34, 9, 92, 8232) END AS c2
  FROM json_each('[2,1,4,999999999999999]') ORDER BY c0`

const ESCAPED = 'a\0"\t\\\u2028'

const EXPECTED = JSON.stringify([
  [1, '1', ESCAPED],
  [2, '2', ESCAPED],
  [4, '4', null],
  [999_999_999_999_999, '999999999999999', ESCAPED],
])

/** Null where something else than the statement is why it failed. */
function tries(connection: SqliteConnection, limit: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    connection.all(sqliteText(TRIED + limit, ['c0', 'c1', 'c2']), [], (error, rows = []) => {
      if (error !== null) resolve(Reflect.get(error, 'code') === 'SQLITE_ERROR' ? false : null)
      else resolve(JSON.stringify(rowsIn(rows)) === EXPECTED)
    })
  })
}
