import type { Row } from '../../../types/outcome.js'
import type { RawRow } from '../../sequelize/run.js'

const ALIASES: readonly string[] = Array.from({ length: 64 }, (_, index) => `c${index}`)
const KEY_ALIASES: readonly string[] = Array.from({ length: 16 }, (_, index) => `_k${index}`)

/** The alias of the n-th column that a statement reads. */
export function aliasOf(index: number): string {
  return ALIASES[index] ?? `c${index}`
}

/** The alias of the n-th key of the order. */
export function keyAliasOf(index: number): string {
  return KEY_ALIASES[index] ?? `_k${index}`
}

/** The same with the values of the order's keys behind them. */
export function withKeys(row: RawRow, columns: readonly unknown[], order: readonly unknown[]): Row {
  const { length } = columns
  const values = new Array<unknown>(length + order.length)
  for (let index = 0; index < length; index++) values[index] = row[aliasOf(index)]
  for (let index = 0; index < order.length; index++) values[length + index] = row[keyAliasOf(index)]
  return values
}

/** A driver's row as the values of the columns, in their order. */
export function valuesOf(row: RawRow, { length }: readonly unknown[]): Row {
  const values = new Array<unknown>(length)
  for (let index = 0; index < length; index++) values[index] = row[aliasOf(index)]
  return values
}
