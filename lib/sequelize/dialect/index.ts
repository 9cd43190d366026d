import type { Dialect } from './dialect.js'
import { mariadb, mysql } from './mysql.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'

export { type Dialect, type TextTraits, traitsOf, type ValueTraits, valueTraitsOf } from './dialect.js'

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['sqlite', sqlite],
  ['mysql', mysql],
  ['mariadb', mariadb],
  ['postgres', postgres],
])

/**
 * The dialect of a Sequelize instance by Sequelize's name for it, or undefined where this package has none. The
 * server's version is known from the first connection on.
 */
export function dialectNamed(name: string, version?: unknown): Dialect | undefined {
  // The driver speaks to MySQL and to old servers as well.
  return name === 'mariadb' && !isFrom(version, 10, 5) ? mysql : dialects.get(name)
}

function isFrom(version: unknown, major: number, minor: number): boolean {
  const [given = 0, second = 0] = String(version).split('.').map(Number)
  return given > major || (given === major && second >= minor)
}

/** The names of the dialects that this package has. */
export const DIALECTS: readonly string[] = [...dialects.keys()]
