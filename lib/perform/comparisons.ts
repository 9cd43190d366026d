import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { ComparePredicate, CountPredicate, ItemCountPredicate } from '../../types/plan.js'
import { internalError } from '../common/internalError.js'
import { isArrayField, jsonMemberOf, storedFieldOf } from '../common/jsonMembers.js'
import { type Problem, problem } from '../common/problem.js'
import { isValueOperator, type ValueOperator } from '../language/operators.js'
import { type Dialect, traitsOf, valueTraitsOf } from '../sequelize/dialect/index.js'
import { encodeCompared } from './sql/encode.js'
import type { Operands } from './sql/operands.js'

/**
 * Returns the operator of a comparison of values other than text.
 * @throws TypeError for operators that compare only text
 */
export function toValueOperator({ operator }: ComparePredicate | CountPredicate | ItemCountPredicate): ValueOperator {
  if (isValueOperator(operator)) return operator
  throw internalError(`the text operator "${operator}" was applied to a value that is not text`)
}

/**
 * Whether text is compared with a plain `=` under the collation that joins use. MySQL and PostgreSQL reject a plain `=`
 * for four-byte characters in narrow columns, and for binary columns.
 */
function isJoinComparison({ values, column, asJoined }: ComparePredicate): boolean {
  return asJoined === true && !valueTraitsOf(values).hasFourByteCharacters && column.field.valueType.binary !== true
}

export class ComparisonWriter {
  readonly #dialect: Dialect
  readonly #operands: Operands

  constructor(dialect: Dialect, operands: Operands) {
    this.#dialect = dialect
    this.#operands = operands
  }

  /**
   * Compares a column or expression (`reference`) with the values of `node`, without the negation. `model` is the model
   * of the column.
   */
  write(node: ComparePredicate, reference: string, model: ModelStatic<Model>): string {
    const { column, operator, values } = node
    const { write, writeCompared } = this.#operands
    const sqlOf = (value: unknown): string => writeCompared?.(value, model, column.field) ?? write(value)
    const operands = encodeCompared(this.#dialect, model, node).map(sqlOf)
    const stored = storedFieldOf(column.field)
    if (stored.valueType.type === 'string') {
      if (isJoinComparison(node)) return this.#dialect.valueComparisons[toValueOperator(node)](reference, operands)
      const text = this.#dialect.textComparisons[operator](traitsOf(node, valueTraitsOf(values)))
      const compare = (sql: string): string => text.write(sql, operands)
      const member = isArrayField(column.field) ? jsonMemberOf(column.field) : null
      return member === null ? compare(reference) : this.#dialect.jsonMembers.hasItem(reference, member.source, compare)
    }
    const cast = operands.map((operand) => this.#dialect.operand(operand, stored))
    return this.#dialect.valueComparisons[toValueOperator(node)](reference, cast)
  }

  /** Writes the negation of a comparison, for a column that is never null. */
  writeComplement(node: ComparePredicate, reference: string, model: ModelStatic<Model>): string {
    const { column, operator } = node
    if (operator !== 'eq' || column.field.valueType.type !== 'boolean')
      return `NOT (${this.write(node, reference, model)})`
    // The database can use an index for `= NOT value`, but not for `<> value`.
    const [operand] = encodeCompared(this.#dialect, model, node).map(this.#operands.write)
    return this.#dialect.valueComparisons.eq(reference, [`(NOT ${operand})`])
  }
}

/** Returns the Problem for a comparison with a column whose type differs from the model's declaration. */
export function incomparableProblem({ json }: Field): Problem {
  return problem('invalid-query', {
    detail: `"${json}" cannot be filtered, sorted or aggregated: the type of its column differs from the model.`,
  })
}
