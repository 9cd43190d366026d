import type { Column, TuplesPredicate } from '../../types/plan.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import { slotsOf } from './comparisons.js'
import type { Operands } from './scope.js'
import type { Slots } from './statement/outline.js'

/** A column as the record itself has it, at the end of its path. */
export function atElement(column: Column<Slots>): Column<Slots> {
  return { ...column, hops: [] }
}

/** That columns have, together, one of several rows of values. */
export function amongRows(
  dialect: Dialect,
  { sql }: Operands,
  { fields, values }: Pick<TuplesPredicate<Slots>, 'fields' | 'values'>,
  columns: readonly string[],
): string {
  const operands = slotsOf(values).map((slot, index) => {
    const field = fields[index % fields.length]
    return field === undefined ? sql(slot) : dialect.operand(sql(slot), field)
  })
  const rows = Array.from({ length: operands.length / fields.length }, (_, row) =>
    operands.slice(row * fields.length, (row + 1) * fields.length),
  )
  return `(${columns.join(', ')}) IN ${dialect.tuples(rows)}`
}

/** That columns have every word of a text between them. @throws TypeError where the database looks for none */
export function matching({ fullText, name }: Dialect, columns: readonly string[], text: string): string {
  if (fullText === null) throw new TypeError(`there is no full-text search on ${name} here`)
  return fullText.write(columns, text)
}
