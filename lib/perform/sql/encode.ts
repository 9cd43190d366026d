import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { ComparePredicate, PlainValue, Predicate } from '../../../types/plan.js'
import { formatDateTime, storedFieldOf } from '../../common/jsonMembers.js'
import { spellingsOf } from '../../common/keys.js'
import { conversionOf } from '../../sequelize/columnTypes.js'
import { comparableDate } from '../../sequelize/dates.js'
import { type Dialect, traitsOf, valueTraitsOf } from '../../sequelize/dialect/index.js'

/** Encodes the values of a comparison for the driver. `model` is the model of the field. */
export function encodeCompared(dialect: Dialect, model: ModelStatic<Model>, node: ComparePredicate): unknown[] {
  const { column, operator, values } = node
  const isText = storedFieldOf(column.field).valueType.type === 'string'
  const text = isText ? dialect.textComparisons[operator](traitsOf(node, valueTraitsOf(values))) : null
  return values.map((value) =>
    text !== null && typeof value === 'string' ? text.encode(value) : encodeValue(dialect, model, column.field, value),
  )
}

/**
 * Extends a comparison with a UUID to the upper-case and lower-case spellings, which are different texts. An index
 * serves both spellings.
 */
export function addSpellings(node: ComparePredicate): ComparePredicate {
  const { column, operator, asJoined = false } = node
  if (asJoined || column.countedJoin !== undefined || column.field.valueType.type !== 'uuid') return node
  if (operator !== 'eq' && operator !== 'in') return node
  const values = node.values.flatMap((value) => spellingsOf(column.field, value))
  return { ...node, operator: values.length === 1 ? 'eq' : 'in', values }
}

export function encodeValue(dialect: Dialect, model: ModelStatic<Model>, field: Field, value: PlainValue): unknown {
  if (typeof value === 'boolean') return dialect.boolean(value)
  const isSingle = typeof value === 'number' && field.valueType.single === true
  if (isSingle) return conversionOf(dialect, model, field) === null ? toSinglePrecision(value) : value
  if (!(value instanceof Date)) return value
  return field.stored === undefined ? comparableDate(model, field, value) : formatDateTime(value)
}

/** Values of a condition in the order of its SQL. `shape` contains everything else that determines the SQL. */
interface ComparedValues {
  readonly shape: readonly unknown[]
  readonly values: readonly unknown[]
  /** The field that each value is compared with. */
  readonly fields: readonly Field[]
}

/**
 * Splits a condition on the record's own fields into shape and values. Returns null if the condition has other parts.
 */
export function readComparedValues(
  dialect: Dialect,
  model: ModelStatic<Model>,
  node: Predicate,
): ComparedValues | null {
  if (node.kind === 'and') {
    const parts = node.nodes.map((each) => readComparedValues(dialect, model, each))
    const known = parts.filter((part) => part !== null)
    if (known.length < parts.length) return null
    return {
      shape: ['and', parts.length, ...known.flatMap(({ shape }) => shape)],
      values: known.flatMap(({ values }) => values),
      fields: known.flatMap(({ fields }) => fields),
    }
  }
  if (node.kind === 'null' && node.column.joins.length === 0) {
    return { shape: ['null', node.column.field, node.negated], values: [], fields: [] }
  }
  if (node.kind !== 'compare' || node.column.joins.length > 0 || node.column.countedJoin !== undefined) return null
  const given = addSpellings(node)
  const { column, operator, values, ignoreCase, negated, asJoined } = given
  const { hasFourByteCharacters, isLong } = valueTraitsOf(values)
  return {
    shape: [
      'compare',
      column.field,
      column.nullable,
      operator,
      values.length,
      ignoreCase,
      negated,
      asJoined,
      hasFourByteCharacters,
      isLong,
    ],
    values: encodeCompared(dialect, model, given),
    fields: values.map(() => column.field),
  }
}

/** Rounds a number to four bytes, like a FLOAT column, whose stored 0.3 differs from the double 0.3. */
function toSinglePrecision(value: number): number {
  const single = Math.fround(value)
  return Number.isFinite(single) ? single : value
}
