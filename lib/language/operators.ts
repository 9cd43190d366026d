import type { FieldType } from '../../types/field.js'
import type { Operator } from '../../types/query.js'

/** One row of the operator table: the token in the filter language, and what the operator means. */
export interface OperatorInfo {
  readonly name: Operator
  readonly token: string
  /** Takes a `;`-separated list of values instead of one. */
  readonly list: boolean
  /** Compares parts of text, so it exists for strings only and an empty value is an error. */
  readonly text: boolean
  /** The operator whose exact complement this one is; negated operators match null. */
  readonly complementOf: Operator | null
  /** The field types that have it. */
  readonly types: readonly FieldType[]
}

const TEXT: readonly FieldType[] = ['string']
const ORDERED: readonly FieldType[] = ['string', 'integer', 'bigint', 'decimal', 'float', 'datetime', 'date', 'time']
const EQUATABLE: readonly FieldType[] = [...ORDERED, 'boolean', 'enum', 'uuid']

function row(
  name: Operator,
  token: string,
  types: readonly FieldType[],
  complementOf: Operator | null = null,
): OperatorInfo {
  return Object.freeze({
    name,
    token,
    list: name === 'in' || name === 'notIn',
    text: types === TEXT,
    complementOf,
    types,
  })
}

/** The fourteen operators in the order of the specification's table. */
export const OPERATORS: readonly OperatorInfo[] = Object.freeze([
  row('eq', '=', EQUATABLE),
  row('ne', '!=', EQUATABLE, 'eq'),
  row('gt', '>', ORDERED),
  row('gte', '>=', ORDERED),
  row('lt', '<', ORDERED),
  row('lte', '<=', ORDERED),
  row('contains', '=*', TEXT),
  row('notContains', '!*', TEXT, 'contains'),
  row('startsWith', '^', TEXT),
  row('notStartsWith', '!^', TEXT, 'startsWith'),
  row('endsWith', '$', TEXT),
  row('notEndsWith', '!$', TEXT, 'endsWith'),
  row('in', '=in=', EQUATABLE),
  row('notIn', '=out=', EQUATABLE, 'in'),
])

const byName: ReadonlyMap<Operator, OperatorInfo> = new Map(OPERATORS.map((info) => [info.name, info]))

/** The table's row for an operator. */
export function operatorInfo(name: Operator): OperatorInfo {
  const info = byName.get(name)
  if (info === undefined) throw new TypeError(`unknown operator ${name}`)
  return info
}

const byType = new Map<FieldType, ReadonlySet<Operator>>()

/** The operators that fields of a type have: one set for all of them. */
export function operatorsOf(type: FieldType): ReadonlySet<Operator> {
  const known = byType.get(type)
  if (known !== undefined) return known
  const operators = new Set(OPERATORS.filter((info) => info.types.includes(type)).map((info) => info.name))
  byType.set(type, operators)
  return operators
}
