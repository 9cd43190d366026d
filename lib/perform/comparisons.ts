import type { Model, ModelStatic } from 'sequelize'
import type { ComparePredicate, CountPredicate, ItemCountPredicate } from '../../types/plan.js'
import { isArray, memberIn, storedOf } from '../common/members.js'
import { isValueOperator, type ValueOperator } from '../language/operators.js'
import { type Dialect, traitsOf, valueTraitsOf } from '../sequelize/dialect/index.js'
import { encodeCompared } from './statement/encode.js'
import type { Operands } from './statement/operands.js'

/** The operator of a comparison of values other than text. */
export function ofValues({ operator }: ComparePredicate | CountPredicate | ItemCountPredicate): ValueOperator {
  if (isValueOperator(operator)) return operator
  throw new TypeError(`${operator} compares text only`)
}

/**
 * Whether text is compared with `=` and the collation that joins use. MySQL and PostgreSQL reject `=` for some texts:
 * characters of four bytes in narrow columns, and binary columns. These are compared exactly.
 */
function isJoined({ values, column, asJoined }: ComparePredicate): boolean {
  return asJoined === true && !valueTraitsOf(values).wide && column.field.valueType.binary !== true
}

/** Writes comparisons as SQL. */
export class Comparisons {
  readonly #dialect: Dialect
  readonly #operands: Operands

  constructor(dialect: Dialect, operands: Operands) {
    this.#dialect = dialect
    this.#operands = operands
  }

  /** Compares a column, or an expression of a column. The caller adds the negation. `model` has the field. */
  write(node: ComparePredicate, reference: string, model: ModelStatic<Model>): string {
    const { column, operator, values } = node
    const { sql, compared } = this.#operands
    const sqlOf = (value: unknown): string => compared?.(value, model, column.field) ?? sql(value)
    const operands = encodeCompared(this.#dialect, model, node).map(sqlOf)
    const stored = storedOf(column.field)
    if (stored.valueType.type === 'string') {
      if (isJoined(node)) return this.#dialect.values[ofValues(node)](reference, operands)
      const text = this.#dialect.text[operator](traitsOf(node, valueTraitsOf(values)))
      const compare = (sql: string): string => text.write(sql, operands)
      const member = isArray(column.field) ? memberIn(column.field) : null
      return member === null ? compare(reference) : this.#dialect.members.has(reference, member.of, compare)
    }
    const cast = operands.map((operand) => this.#dialect.operand(operand, stored))
    return this.#dialect.values[ofValues(node)](reference, cast)
  }

  /** The complement of a comparison, for a column that is not null. */
  complement(node: ComparePredicate, reference: string, model: ModelStatic<Model>): string {
    const { column, operator } = node
    if (operator !== 'eq' || column.field.valueType.type !== 'boolean')
      return `NOT (${this.write(node, reference, model)})`
    // An index serves equality with the other boolean, but not inequality.
    const [operand] = encodeCompared(this.#dialect, model, node).map(this.#operands.sql)
    return this.#dialect.values.eq(reference, [`(NOT ${operand})`])
  }
}
