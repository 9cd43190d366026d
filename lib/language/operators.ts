// The table of filter operators, for the grammar, the filter builder, fields, plans, statements and documents.

import type { FieldType } from '../../types/fieldType.js'
import { getOrCreate } from '../common/getOrCreate.js'

/** A row of the table of operators. */
interface OperatorRow {
  readonly token: string
  /** Field types that have the operator: comparable types, ordered types, or text only. */
  readonly fields: 'equatable' | 'ordered' | 'text'
  /** Whether the operator has a list of values, separated by `;`. */
  readonly list: boolean
  /** Whether the word `null` tests for null. */
  readonly nulls: boolean
  /** The operator that this operator negates, or null. A negation matches null as well. */
  readonly complementOf: string | null
}

const ORDERED_TYPES: readonly FieldType[] = [
  'string',
  'integer',
  'bigint',
  'decimal',
  'float',
  'datetime',
  'date',
  'time',
]

const TYPES_BY_GROUP: Readonly<Record<OperatorRow['fields'], readonly FieldType[]>> = {
  equatable: [...ORDERED_TYPES, 'boolean', 'enum', 'uuid'],
  ordered: ORDERED_TYPES,
  text: ['string'],
}

/**
 * Operators by name, in the order of the documents. The comments of the rows appear in the types of the filter builder.
 */
export const OPERATOR_ROWS = {
  /** Equal. `null` tests for null. */
  eq: { token: '=', fields: 'equatable', list: false, nulls: true, complementOf: null },
  /** Not equal, including null. `null` tests for every value except null. */
  ne: { token: '!=', fields: 'equatable', list: false, nulls: true, complementOf: 'eq' },
  gt: { token: '>', fields: 'ordered', list: false, nulls: false, complementOf: null },
  gte: { token: '>=', fields: 'ordered', list: false, nulls: false, complementOf: null },
  lt: { token: '<', fields: 'ordered', list: false, nulls: false, complementOf: null },
  lte: { token: '<=', fields: 'ordered', list: false, nulls: false, complementOf: null },
  /** The text contains the value. Like all text operators, it rejects an empty value. */
  contains: { token: '=*', fields: 'text', list: false, nulls: false, complementOf: null },
  notContains: { token: '!*', fields: 'text', list: false, nulls: false, complementOf: 'contains' },
  startsWith: { token: '^', fields: 'text', list: false, nulls: false, complementOf: null },
  notStartsWith: { token: '!^', fields: 'text', list: false, nulls: false, complementOf: 'startsWith' },
  endsWith: { token: '$', fields: 'text', list: false, nulls: false, complementOf: null },
  notEndsWith: { token: '!$', fields: 'text', list: false, nulls: false, complementOf: 'endsWith' },
  /**
   * Equal to one of the values. `null` tests for null. Empty texts are not allowed. Only scopes allow an empty list,
   * which matches nothing.
   */
  in: { token: '=in=', fields: 'equatable', list: true, nulls: true, complementOf: null },
  /** Equal to none of the values. Only scopes allow an empty list, which matches everything. */
  notIn: { token: '=out=', fields: 'equatable', list: true, nulls: true, complementOf: 'in' },
} as const

type OperatorRows = typeof OPERATOR_ROWS

export type OperatorName = keyof OperatorRows

/** Names of the operators whose rows have the given members. */
export type OperatorWith<Traits extends Partial<OperatorRow>> = {
  [name in OperatorName]: OperatorRows[name] extends Traits ? name : never
}[OperatorName]

/** Operators that do not negate another operator. Code with a separate flag for negation needs only these operators. */
export type PositiveOperator = OperatorWith<{ readonly complementOf: null }>

/** Operators without negations that types other than text support. */
export type ValueOperator = Exclude<PositiveOperator, OperatorWith<{ readonly fields: 'text' }>>

/** An operator's row, with members that are derived from it. */
export interface OperatorInfo extends OperatorRow {
  readonly name: OperatorName
  readonly complementOf: PositiveOperator | null
  /** The operator itself, or the operator that it negates. */
  readonly positive: PositiveOperator
  readonly negated: boolean
  /** Whether the operator compares parts of text. If so, only text fields have it, and an empty value is an error. */
  readonly text: boolean
  /** Field types that have the operator. */
  readonly types: readonly FieldType[]
}

/** The rows. The compiler rejects a row that negates a negation. */
const OPERATOR_TABLE: Readonly<Record<OperatorName, OperatorRow & Pick<OperatorInfo, 'complementOf'>>> = OPERATOR_ROWS

function createInfo(name: OperatorName): OperatorInfo {
  const row = OPERATOR_TABLE[name]
  const { complementOf, fields } = row
  // An operator without `complementOf` is positive, by the definition of the type.
  const positive = complementOf ?? (name as PositiveOperator)
  const derived = { name, positive, negated: complementOf !== null, text: fields === 'text' }
  return Object.freeze({ ...row, ...derived, types: TYPES_BY_GROUP[fields] })
}

/** All operators, in the order of the documents. */
export const OPERATORS: readonly OperatorInfo[] = Object.freeze(
  (Object.keys(OPERATOR_TABLE) as OperatorName[]).map(createInfo),
)

const byName: ReadonlyMap<OperatorName, OperatorInfo> = new Map(OPERATORS.map((info) => [info.name, info]))

/** Returns the row of an operator. @throws TypeError for an unknown operator */
export function operatorInfoOf(name: OperatorName): OperatorInfo {
  const info = byName.get(name)
  if (info === undefined) throw new TypeError(`unknown operator ${name}`)
  return info
}

/** Whether types other than text have the operator. */
export function isValueOperator(name: PositiveOperator): name is ValueOperator {
  return !operatorInfoOf(name).text
}

const byType = new Map<FieldType, ReadonlySet<OperatorName>>()

/** Operators of a field type. All fields of a type share one set. */
export function operatorsForType(type: FieldType): ReadonlySet<OperatorName> {
  return getOrCreate(
    byType,
    type,
    () => new Set(OPERATORS.filter((info) => info.types.includes(type)).map((info) => info.name)),
  )
}
