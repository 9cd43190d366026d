// Rows of SQLite that come as one text.

import { isObject } from '../common/object.js'
import { sqliteText } from './dialect/sqliteText.js'
import type { RawRow } from './run.js'
import type { SqliteConnection } from './sqlite.js'

/** The rows that a text says; null where it leaves one out, and where there is none. */
export function rowsIn([first]: readonly RawRow[]): readonly RawRow[] | null {
  const found: unknown = typeof first?._rows === 'string' ? parsed(first._rows) : null
  return Array.isArray(found) && found.every(isObject) ? found : null
}

/** Whoever calls is called by the driver, where an error would end the process. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Whether a statement has failed because its text would be longer than SQLite makes any. */
export function isTooLong(error: Error): boolean {
  return Reflect.get(error, 'code') === 'SQLITE_TOOBIG'
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

/** Texts, with all that has to be escaped, made by a function of JSON, nothing at all, and what no text can say. */
const TRIED = `SELECT value AS c0, json_quote(value) AS c1,
  CASE value WHEN 2 THEN 0.1 WHEN 3 THEN x'00' WHEN 4 THEN NULL ELSE char(97, 0, 34, 9, 92, 8232) END AS c2
  FROM json_each('[2,1,4,3,9007199254740993]') ORDER BY c0`

const ESCAPED = 'a\0"\t\\\u2028'

const EXPECTED = JSON.stringify([
  { c0: 1, c1: '1', c2: ESCAPED },
  null,
  null,
  { c0: 4, c1: '4', c2: null },
  // As the driver gives it too.
  { c0: 2 ** 53, c1: '9007199254740993', c2: ESCAPED },
])

/** Null where something else than the statement is why it failed. */
function tries(connection: SqliteConnection, limit: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    connection.all(sqliteText(TRIED + limit, ['c0', 'c1', 'c2']), [], (error, rows = []) => {
      if (error !== null) resolve(Reflect.get(error, 'code') === 'SQLITE_ERROR' ? false : null)
      else resolve(typeof rows[0]?._rows === 'string' && JSON.stringify(JSON.parse(rows[0]._rows)) === EXPECTED)
    })
  })
}
