import type { Row } from '../../../types/outcome.js'
import type { Column } from '../../../types/plan.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { RawRow } from '../../sequelize/run.js'
import type { StatementRequestOf } from './request.js'

const ALIASES: readonly string[] = Array.from({ length: 64 }, (_, index) => `c${index}`)
const KEY_ALIASES: readonly string[] = Array.from({ length: 16 }, (_, index) => `_k${index}`)

export function columnAlias(index: number): string {
  return ALIASES[index] ?? `c${index}`
}

export function keyAlias(index: number): string {
  return KEY_ALIASES[index] ?? `_k${index}`
}

/** Returns the positions of the sort keys' values among the columns, or -1 for keys that are read separately. */
export function keyPositions(
  { orderKeys: { isExact } }: Dialect,
  { keys, columns, order }: Pick<StatementRequestOf<'select'>, 'keys' | 'columns' | 'order'>,
): readonly number[] {
  return order.map(({ column }) =>
    keys === 'shared' && isOwnColumn(column) && isExact(column.field)
      ? columns.findIndex((each) => isOwnColumn(each) && each.field === column.field)
      : -1,
  )
}

function isOwnColumn({ joins, countedJoin }: Column): boolean {
  return joins.length === 0 && countedJoin === undefined
}

/** Returns the values of the columns, followed by the values of the sort keys. */
export function appendKeys(row: RawRow, { length }: readonly unknown[], positions: readonly number[]): Row {
  const values = new Array<unknown>(length + positions.length)
  for (let index = 0; index < length; index++) values[index] = row[columnAlias(index)]
  for (let index = 0; index < positions.length; index++) {
    const position = positions[index] ?? -1
    values[length + index] = position < 0 ? row[keyAlias(index)] : values[position]
  }
  return values
}

/** Converts a row to an array of values in the order of the columns. */
export function columnValues(row: RawRow, { length }: readonly unknown[]): Row {
  const values = new Array<unknown>(length)
  for (let index = 0; index < length; index++) values[index] = row[columnAlias(index)]
  return values
}

/** Aliases of the parent's key and of the number within the parent, in rows of a collection. */
export const PARENT_ALIAS = '_o'
export const POSITION_ALIAS = '_n'

/** Alias of the total number of records. */
export const TOTAL_ALIAS = '_total'

/** Alias of a placeholder column, if no column is read. */
export const EMPTY_ALIAS = '_'
