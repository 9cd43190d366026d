import type { ComparePredicate, CountPredicate } from '../../types/plan.js'
import { isArray, memberIn, storedOf } from '../common/members.js'
import { isValueOperator, type ValueOperator } from '../language/operators.js'
import { type Dialect, traitsOf } from '../sequelize/dialect/index.js'
import type { Operands } from './scope.js'
import type { Slots } from './statement/outline.js'

type Compared = ComparePredicate<Slots>
type Counted = CountPredicate<Slots>

/** An operator that compares what is no text. */
export function ofValues({ operator }: Compared | Counted): ValueOperator {
  if (isValueOperator(operator)) return operator
  throw new TypeError(`${operator} compares nothing but text`)
}

export function slotsOf({ first, count }: Slots): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

/**
 * Whether text is compared as joins compare it. What MySQL and PostgreSQL refuse to compare with text by `=` is compared exactly:
 * characters of four bytes with columns that have no place for them, and bytes.
 */
function isJoined({ values, column, asJoined }: Compared): boolean {
  return asJoined === true && !values.wide && column.field.valueType.binary !== true
}

/** Writes comparisons as SQL text. */
export class Comparisons {
  readonly #dialect: Dialect
  readonly #operands: Operands

  constructor(dialect: Dialect, operands: Operands) {
    this.#dialect = dialect
    this.#operands = operands
  }

  operands({ values }: Compared | Counted): readonly string[] {
    return slotsOf(values).map((slot) => this.#operands.sql(slot))
  }

  /** Of a column, or of what the database computes of one, whether or not the comparison is negated. */
  write(node: Compared, reference: string): string {
    const { column, operator, values } = node
    const operands = this.operands(node)
    const stored = storedOf(column.field)
    if (stored.valueType.type === 'string') {
      if (isJoined(node)) return this.#dialect.values[ofValues(node)](reference, operands)
      const text = this.#dialect.text[operator](traitsOf(node, values))
      const compare = (sql: string): string => text.write(sql, operands)
      const member = isArray(column.field) ? memberIn(column.field) : null
      return member === null ? compare(reference) : this.#dialect.members.has(reference, member.of, compare)
    }
    const cast = operands.map((operand) => this.#dialect.operand(operand, stored))
    return this.#dialect.values[ofValues(node)](reference, cast)
  }
}
