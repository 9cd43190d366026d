import type { Arguments, FoundRow, SqlValue } from './builtin.js'
import { sqliteError } from './codes.js'

/** Converts an integer to a number, or to decimal text if a number cannot hold it. */
export function toInteger(value: number | bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** Converts a row to the form of sqlite3: a plain object whose BLOBs are Buffers. */
export function toPlainRow(found: FoundRow): Record<string, unknown> {
  const row: Record<string, unknown> = { ...found }
  for (const name of Object.keys(row)) {
    const value = row[name]
    if (typeof value === 'bigint') row[name] = toInteger(value)
    else if (value instanceof Uint8Array) row[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
  return row
}

/** Converts a value as sqlite3 does when it binds values, except that a BigInt is stored as an integer. */
function toSqlValue(value: unknown): SqlValue {
  if (typeof value === 'string' || typeof value === 'bigint' || ArrayBuffer.isView(value)) return value
  // `node:sqlite` binds numbers as floating point, but sqlite3 binds 32-bit numbers as integers.
  if (typeof value === 'number') return (value | 0) === value ? BigInt(value) : value
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (value instanceof Date) return value.getTime()
  return value === null || value === undefined ? null : String(value)
}

/** Pattern of SQL tokens: texts, quoted names and comments; words and numbers; parameters. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\w\x80-\uffff][\w$\x80-\uffff]*|[?:@$](\d*)/g

/**
 * Replaces ordered parameters (`?1`, `?2` or `$1`, `$2`, each used once) by `?`. Returns null for a text without such
 * parameters. SQLite needs seconds to look up the parameter names of a thousand rows.
 */
export function findNumberedText(sql: string): string | null {
  let count = 0
  let isOrdered = /[?$]1/.test(sql)
  if (!isOrdered) return null
  const text = sql.replace(TOKEN, (token: string, number?: string) => {
    if (number === undefined) return token
    count += 1
    isOrdered &&= Number(number) === count && /^[?$]/.test(token)
    return '?'
  })
  return isOrdered && count > 0 ? text : null
}

/**
 * Converts the values of a call to arguments of a statement. Values are an array, an object by parameter name, or a
 * single value. `isNameless`: `findNumberedText` has rewritten the text.
 */
export function toArguments(given: readonly unknown[], isNameless: boolean, sql: string): Arguments {
  const [first] = given
  const isValue = typeof first !== 'object' || first === null || ArrayBuffer.isView(first) || first instanceof Date
  if (isValue || Array.isArray(first)) {
    const values = (Array.isArray(first) ? first : given).map(toSqlValue)
    if (isNameless || values.length === 0 || !/\?\d/.test(sql)) return values
    return [Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value]))]
  }
  const entries = Object.entries(first).map(([name, value]) => [name, toSqlValue(value)] as const)
  if (!isNameless) return [Object.fromEntries(entries)]
  const values: SqlValue[] = []
  for (const [name, value] of entries) {
    const index = Number(name.replace(/^[?$]/, '')) - 1
    if (!(index >= 0)) throw sqliteError('RANGE', 'column index out of range')
    values[index] = value
  }
  return Array.from(values, (value = null) => value)
}
