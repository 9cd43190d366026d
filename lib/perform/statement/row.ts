import type { Row } from '../../../types/outcome.js'
import type { RawRow } from '../../sequelize/run.js'

const ALIASES: readonly string[] = Array.from({ length: 64 }, (_, index) => `c${index}`)

/** The alias of the n-th column that a statement reads. */
export function aliasOf(index: number): string {
  return ALIASES[index] ?? `c${index}`
}

/** A driver's row as the values of the columns, in their order. */
export function valuesOf(row: RawRow, { length }: readonly unknown[]): Row {
  const values = new Array<unknown>(length)
  for (let index = 0; index < length; index++) values[index] = row[aliasOf(index)]
  return values
}
