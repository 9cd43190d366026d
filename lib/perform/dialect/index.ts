import type { Dialect } from './dialect.js'
import { mysql } from './mysql.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'

export { type Dialect, isWide, type TextComparison } from './dialect.js'

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['sqlite', sqlite],
  ['mysql', mysql],
  ['mariadb', mysql],
  ['postgres', postgres],
])

/** The dialect of a Sequelize instance by Sequelize's name for it, or undefined where this package has none. */
export function dialectNamed(name: string): Dialect | undefined {
  return dialects.get(name)
}

/** The names of the dialects that this package has. */
export const DIALECTS: readonly string[] = [...dialects.keys()]
