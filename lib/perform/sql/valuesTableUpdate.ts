import type { ValuesTable } from '../../../types/valuesTable.js'
import { internalError } from '../../common/internalError.js'
import type { Operands } from './operands.js'
import type { StatementRequestOf } from './request.js'
import type { StatementTarget } from './statement.js'
import { StatementWriter } from './text.js'

/**
 * Values of several updates that differ only in values. Each row has the values in the order of the statement's
 * parameters.
 */
interface TableValues {
  readonly table: ValuesTable
  /** The SQL that declares the type of each value. */
  readonly casts: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/**
 * Writes several updates as one UPDATE that is joined with a table of values. A value that all rows have in common is
 * bound once, outside the table.
 * @throws TypeError if a row has too few or too many values
 */
export function writeValuesTableUpdate(
  { dialect, model }: StatementTarget,
  update: StatementRequestOf<'update'>,
  { table: items, casts, rows }: TableValues,
  operands: Operands,
): string {
  const [first = []] = rows
  const own: number[] = []
  const places = first.map((value, index) => {
    // With one row, every value is equal in all rows. The table needs at least one column nevertheless.
    const isShared = (rows.length > 1 || index > 0) && rows.every((row) => row[index] === value)
    return isShared ? operands.write(value) : items.column(own.push(index) - 1)
  })
  const table = rows
    .map((row, at) => own.map((index) => `${operands.write(row[index])}${at === 0 ? casts[index] : ''}`).join(', '))
    .join('), (')
  let next = 0
  const addOperand = (): string => {
    next += 1
    return places[next - 1] ?? ''
  }
  const placed: Operands = { write: addOperand }
  const sql = new StatementWriter(dialect, model, placed).update(
    update,
    ` FROM ${items.start}${table}${items.end(own.length)}`,
  )
  if (next !== places.length)
    throw internalError(`an UPDATE contains ${next} values, but each of its rows has ${places.length}`)
  return sql
}
