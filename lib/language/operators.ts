// The one table of filter operators: the grammar, the filter builder, fields, plans, statements and documents read it.

import type { FieldType } from '../../types/fieldType.js'

/** What an operator is, as a row of the table. */
interface Row {
  readonly token: string
  /** The fields that have it: of every type that can be compared, of those with an order, or of text alone. */
  readonly fields: 'equatable' | 'ordered' | 'text'
  /** Takes a `;`-separated list of values instead of one. */
  readonly list: boolean
  /** Reads the bare word `null` as a test for null, not as text. */
  readonly nulls: boolean
  /** The operator whose exact complement this one is; complements match null. */
  readonly complementOf: string | null
}

const ORDERED: readonly FieldType[] = ['string', 'integer', 'bigint', 'decimal', 'float', 'datetime', 'date', 'time']

const TYPES: Readonly<Record<Row['fields'], readonly FieldType[]>> = {
  equatable: [...ORDERED, 'boolean', 'enum', 'uuid'],
  ordered: ORDERED,
  text: ['string'],
}

/** By name, in the order of the documents. The comments are those of the filter builder. */
export const OPERATOR_ROWS = {
  /** Equal. `null` tests for null. */
  eq: { token: '=', fields: 'equatable', list: false, nulls: true, complementOf: null },
  /** Not equal, null included. `null` tests for anything but null. */
  ne: { token: '!=', fields: 'equatable', list: false, nulls: true, complementOf: 'eq' },
  gt: { token: '>', fields: 'ordered', list: false, nulls: false, complementOf: null },
  gte: { token: '>=', fields: 'ordered', list: false, nulls: false, complementOf: null },
  lt: { token: '<', fields: 'ordered', list: false, nulls: false, complementOf: null },
  lte: { token: '<=', fields: 'ordered', list: false, nulls: false, complementOf: null },
  /** The text has the value in it. Like all operators for text alone it needs a value that is not empty. */
  contains: { token: '=*', fields: 'text', list: false, nulls: false, complementOf: null },
  notContains: { token: '!*', fields: 'text', list: false, nulls: false, complementOf: 'contains' },
  startsWith: { token: '^', fields: 'text', list: false, nulls: false, complementOf: null },
  notStartsWith: { token: '!^', fields: 'text', list: false, nulls: false, complementOf: 'startsWith' },
  endsWith: { token: '$', fields: 'text', list: false, nulls: false, complementOf: null },
  notEndsWith: { token: '!$', fields: 'text', list: false, nulls: false, complementOf: 'endsWith' },
  /** Equal to one of the values, `null` among them tests for null. No list holds the empty string. An empty one is for scopes alone, and matches nothing. */
  in: { token: '=in=', fields: 'equatable', list: true, nulls: true, complementOf: null },
  /** Equal to none of the values. An empty list is for scopes alone, and matches everything. */
  notIn: { token: '=out=', fields: 'equatable', list: true, nulls: true, complementOf: 'in' },
} as const

type Rows = typeof OPERATOR_ROWS

export type OperatorName = keyof Rows

/** The operators whose rows have these members. */
export type OperatorWith<Traits extends Partial<Row>> = {
  [name in OperatorName]: Rows[name] extends Traits ? name : never
}[OperatorName]

/** The operators that are left when negation is a flag. */
export type PositiveOperator = OperatorWith<{ readonly complementOf: null }>

/** Those of them that numbers, dates and the like have too. */
export type ValueOperator = Exclude<PositiveOperator, OperatorWith<{ readonly fields: 'text' }>>

/** A row with what follows from it. */
export interface OperatorInfo extends Row {
  readonly name: OperatorName
  readonly complementOf: PositiveOperator | null
  /** What it is without negation, and whether the complement of that is meant. */
  readonly positive: PositiveOperator
  readonly negated: boolean
  /** Compares parts of text, so it exists for strings only and an empty value is an error. */
  readonly text: boolean
  /** The field types that have it. */
  readonly types: readonly FieldType[]
}

const ROWS: Readonly<Record<OperatorName, Row>> = OPERATOR_ROWS

const isPositive = (name: string): name is PositiveOperator =>
  Object.hasOwn(ROWS, name) && ROWS[name as OperatorName].complementOf === null

function infoOf(name: OperatorName): OperatorInfo {
  const row = Object.freeze(ROWS[name])
  const positive = row.complementOf ?? name
  if (!isPositive(positive)) throw new TypeError(`${name} is the complement of ${positive}, which is none to negate`)
  const complementOf = row.complementOf === null ? null : positive
  const derived = { name, complementOf, positive, negated: complementOf !== null }
  return Object.freeze({ ...row, ...derived, text: row.fields === 'text', types: TYPES[row.fields] })
}

/** All operators, in the order of the documents. */
export const OPERATORS: readonly OperatorInfo[] = Object.freeze((Object.keys(ROWS) as OperatorName[]).map(infoOf))

/** Those that are no complements: the words of statements. */
export const POSITIVE: readonly PositiveOperator[] = Object.freeze([
  ...new Set(OPERATORS.map(({ positive }) => positive)),
])

const byName: ReadonlyMap<OperatorName, OperatorInfo> = new Map(OPERATORS.map((info) => [info.name, info]))

/** The table's row for an operator. */
export function operatorInfo(name: OperatorName): OperatorInfo {
  const info = byName.get(name)
  if (info === undefined) throw new TypeError(`unknown operator ${name}`)
  return info
}

/** Whether more than text has an operator. */
export function isValueOperator(name: PositiveOperator): name is ValueOperator {
  return !operatorInfo(name).text
}

const byType = new Map<FieldType, ReadonlySet<OperatorName>>()

/** The operators that fields of a type have: one set for all of them. */
export function operatorsOf(type: FieldType): ReadonlySet<OperatorName> {
  const known = byType.get(type)
  if (known !== undefined) return known
  const operators = new Set(OPERATORS.filter((info) => info.types.includes(type)).map((info) => info.name))
  byType.set(type, operators)
  return operators
}
