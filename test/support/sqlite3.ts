import { createRequire } from 'node:module'

/** The driver sqlite3. Null if it is not installed, or if its binary is missing. */
export const sqlite3: object | null = load()

export const hasSqlite3: boolean = sqlite3 !== null

function load(): object | null {
  try {
    const driver: object = createRequire(import.meta.url)('sqlite3')
    return driver
  } catch {
    return null
  }
}
