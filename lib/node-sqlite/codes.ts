/** Names of SQLite's result codes. The index is the number of the code. */
const NAMES: readonly string[] = [
  ...['OK', 'ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY', 'INTERRUPT', 'IOERR'],
  ...['CORRUPT', 'NOTFOUND', 'FULL', 'CANTOPEN', 'PROTOCOL', 'EMPTY', 'SCHEMA', 'TOOBIG', 'CONSTRAINT', 'MISMATCH'],
  ...['MISUSE', 'NOLFS', 'AUTH', 'FORMAT', 'RANGE', 'NOTADB'],
]

/**
 * Extended result code: the transaction has read older data than the last commit and cannot write. Waiting does not
 * help.
 */
const BUSY_SNAPSHOT = 517

/**
 * Creates an error with the members of sqlite3's errors. `code` is the name of SQLite's result code and starts the
 * message. `errno` is the number of the code.
 */
export function sqliteError(name: string, message: string): Error {
  const code = `SQLITE_${name}`
  return Object.assign(new Error(`${code}: ${message}`), { errno: NAMES.indexOf(name), code })
}

/** Messages of `node:sqlite` for errors that have an SQLite result code in sqlite3. */
const TRANSLATIONS = [
  { words: /^Unknown named parameter/, code: 'RANGE', message: 'column index out of range' },
  { words: /^extension loading is not allowed/, code: 'ERROR', message: 'not authorized' },
  { words: /^BigInt value/, code: 'MISMATCH', message: 'datatype mismatch' },
  { words: /contains no statements|^statement has been finalized/, code: 'MISUSE', message: 'not an error' },
]

/** Converts an error of `node:sqlite` to an error of sqlite3's form. */
export function translateError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const number: unknown = Reflect.get(error, 'errcode')
  // The last byte of an extended result code is the primary result code.
  if (typeof number === 'number') return sqliteError(NAMES[number & 0xff] ?? 'ERROR', error.message)
  if (!String(Reflect.get(error, 'code')).startsWith('ERR_')) return error
  const { code = 'ERROR', message = error.message } = TRANSLATIONS.find(({ words }) => words.test(error.message)) ?? {}
  return sqliteError(code, message)
}

/** Whether a statement has met a lock of another connection that SQLite's busy handler would wait for. */
export function isLocked(error: unknown): boolean {
  const number = Number(Reflect.get(Object(error), 'errcode'))
  return (number & 0xff) === NAMES.indexOf('BUSY') && number !== BUSY_SNAPSHOT
}

type Flag = 'READONLY' | 'READWRITE' | 'CREATE' | 'URI' | 'FULLMUTEX'

export type Flags = Readonly<Record<`OPEN_${Flag}`, number>>

/** Flags of `new Database`, as exported by the module sqlite3. */
export const FLAGS: Flags = {
  OPEN_READONLY: 1,
  OPEN_READWRITE: 2,
  OPEN_CREATE: 4,
  OPEN_URI: 0x40,
  OPEN_FULLMUTEX: 0x10000,
}
