// The table of filter operators, for the grammar, the filter builder, fields, plans, statements and documents.

import type { FieldType } from '../../types/fieldType.js'

/** A row of the table. */
interface OperatorRow {
  readonly token: string
  /** The field types with the operator: comparable types, ordered types, or text only. */
  readonly fields: 'equatable' | 'ordered' | 'text'
  /** Takes a list of values separated by `;`. */
  readonly list: boolean
  /** Whether the word `null` tests for null. */
  readonly nulls: boolean
  /** The operator whose exact complement this one is. Complements match null. */
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

/** By name, in the order of the documents. The comments appear in the types of the filter builder. */
export const OPERATOR_ROWS = {
  /** Equal. `null` tests for null. */
  eq: { token: '=', fields: 'equatable', list: false, nulls: true, complementOf: null },
  /** Not equal, null included. `null` tests for anything but null. */
  ne: { token: '!=', fields: 'equatable', list: false, nulls: true, complementOf: 'eq' },
  gt: { token: '>', fields: 'ordered', list: false, nulls: false, complementOf: null },
  gte: { token: '>=', fields: 'ordered', list: false, nulls: false, complementOf: null },
  lt: { token: '<', fields: 'ordered', list: false, nulls: false, complementOf: null },
  lte: { token: '<=', fields: 'ordered', list: false, nulls: false, complementOf: null },
  /** The text contains the value. Like all text operators it needs a non-empty value. */
  contains: { token: '=*', fields: 'text', list: false, nulls: false, complementOf: null },
  notContains: { token: '!*', fields: 'text', list: false, nulls: false, complementOf: 'contains' },
  startsWith: { token: '^', fields: 'text', list: false, nulls: false, complementOf: null },
  notStartsWith: { token: '!^', fields: 'text', list: false, nulls: false, complementOf: 'startsWith' },
  endsWith: { token: '$', fields: 'text', list: false, nulls: false, complementOf: null },
  notEndsWith: { token: '!$', fields: 'text', list: false, nulls: false, complementOf: 'endsWith' },
  /**
   * Equal to one of the values. `null` tests for null. Empty strings are not allowed. An empty list is allowed in
   * scopes only, and matches nothing.
   */
  in: { token: '=in=', fields: 'equatable', list: true, nulls: true, complementOf: null },
  /** Equal to none of the values. An empty list is allowed in scopes only, and matches everything. */
  notIn: { token: '=out=', fields: 'equatable', list: true, nulls: true, complementOf: 'in' },
} as const

type OperatorRows = typeof OPERATOR_ROWS

export type OperatorName = keyof OperatorRows

/** The operators whose rows have these members. */
export type OperatorWith<Traits extends Partial<OperatorRow>> = {
  [name in OperatorName]: OperatorRows[name] extends Traits ? name : never
}[OperatorName]

/** The operators that are no complement of another one. Code with a separate flag for negation needs only these. */
export type PositiveOperator = OperatorWith<{ readonly complementOf: null }>

/** The operators without complements that types other than text support. */
export type ValueOperator = Exclude<PositiveOperator, OperatorWith<{ readonly fields: 'text' }>>

/** A row with derived members. */
export interface OperatorInfo extends OperatorRow {
  readonly name: OperatorName
  readonly complementOf: PositiveOperator | null
  /** The operator without negation, and whether it is negated. */
  readonly positive: PositiveOperator
  readonly negated: boolean
  /** Whether the operator compares parts of text. Then only strings support it, and an empty value is an error. */
  readonly text: boolean
  /** The field types with the operator. */
  readonly types: readonly FieldType[]
}

const OPERATOR_TABLE: Readonly<Record<OperatorName, OperatorRow>> = OPERATOR_ROWS

const isPositive = (name: string): name is PositiveOperator =>
  Object.hasOwn(OPERATOR_TABLE, name) && OPERATOR_TABLE[name as OperatorName].complementOf === null

function createInfo(name: OperatorName): OperatorInfo {
  const row = Object.freeze(OPERATOR_TABLE[name])
  const positive = row.complementOf ?? name
  if (!isPositive(positive)) throw new TypeError(`${name}: ${positive} is a complement itself`)
  const complementOf = row.complementOf === null ? null : positive
  const derived = { name, complementOf, positive, negated: complementOf !== null }
  return Object.freeze({ ...row, ...derived, text: row.fields === 'text', types: TYPES_BY_GROUP[row.fields] })
}

/** All operators, in the order of the documents. */
export const OPERATORS: readonly OperatorInfo[] = Object.freeze(
  (Object.keys(OPERATOR_TABLE) as OperatorName[]).map(createInfo),
)

/** The operators without complements, as statements use them. */
export const POSITIVE_OPERATORS: readonly PositiveOperator[] = Object.freeze([
  ...new Set(OPERATORS.map(({ positive }) => positive)),
])

const byName: ReadonlyMap<OperatorName, OperatorInfo> = new Map(OPERATORS.map((info) => [info.name, info]))

/** The row of an operator. */
export function operatorInfoOf(name: OperatorName): OperatorInfo {
  const info = byName.get(name)
  if (info === undefined) throw new TypeError(`unknown operator ${name}`)
  return info
}

/** Whether types other than text support an operator. */
export function isValueOperator(name: PositiveOperator): name is ValueOperator {
  return !operatorInfoOf(name).text
}

const byType = new Map<FieldType, ReadonlySet<OperatorName>>()

/** The operators of a field type. Fields of one type share one set. */
export function operatorsForType(type: FieldType): ReadonlySet<OperatorName> {
  const known = byType.get(type)
  if (known !== undefined) return known
  const operators = new Set(OPERATORS.filter((info) => info.types.includes(type)).map((info) => info.name))
  byType.set(type, operators)
  return operators
}
