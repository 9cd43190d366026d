import { type FilterOperand, valueText } from './filterValue.js'
import {
  type OPERATOR_ROWS,
  OPERATORS,
  type OperatorInfo,
  type OperatorName,
  type OperatorWith,
  operatorInfoOf,
} from './operators.js'

export { escapeFilterValue, type FilterOperand } from './filterValue.js'

/** Options of a comparison. `ignoreCase` adds `/i` to the comparison. */
export interface ComparisonOptions {
  readonly ignoreCase?: boolean
}

/** The operators that numbers support. */
type NumberOperator = Exclude<OperatorName, OperatorWith<{ readonly fields: 'text' }>>

/** The operators that compare a count with one number. */
export type CountOperator = Exclude<NumberOperator, OperatorWith<{ readonly list: true }>>

/** The operators that compare a count with several numbers. */
export type CountListOperator = Extract<NumberOperator, OperatorWith<{ readonly list: true }>>

type Compare = (field: string, value: FilterOperand, options?: ComparisonOptions) => string
type CompareNullable = (field: string, value: FilterOperand | null, options?: ComparisonOptions) => string
type CompareAll = (field: string, values: readonly (FilterOperand | null)[], options?: ComparisonOptions) => string

/** Functions that write a comparison, by operator name. */
export type ComparisonBuilder = {
  readonly [name in keyof typeof OPERATOR_ROWS]: name extends OperatorWith<{ readonly list: true }>
    ? CompareAll
    : name extends OperatorWith<{ readonly nulls: true }>
      ? CompareNullable
      : Compare
}

/**
 * Writes filters as text. Values are escaped, paths are checked, and groups keep their precedence. Fields are paths
 * such as `Level`, `Team.Name` or `Players.All.Level`. Invalid arguments throw a `TypeError`.
 *
 *     filter.and(filter.gt('Level', 25), filter.startsWith('Team.Name', 'La'))  // 'Level>25,Team.Name^La'
 */
export interface FilterBuilder extends ComparisonBuilder {
  /**
   * Joins conditions: all conditions must be true. A condition is a filter from this builder or a filter text. At least
   * one condition is required.
   */
  and(...conditions: readonly string[]): string
  /** Joins conditions: at least one condition must be true. */
  or(...conditions: readonly string[]): string

  /** Writes `Email=null`. For a to-one relation, the filter finds records without a related record. */
  isNull(field: string): string
  notNull(field: string): string

  /** At least one record of the collection meets the condition. */
  any(collection: string, condition: string): string
  /** Every record of the collection meets the condition. True for an empty collection. */
  all(collection: string, condition: string): string
  /** No record of the collection meets the condition. */
  none(collection: string, condition: string): string
  /**
   * Compares the number of records of a collection, or the number of records that meet a condition:
   * `filter.count('Players', 'gt', 2)`, `filter.count('Players', 'gte', 1, filter.gt('Level', 50))`.
   */
  count(collection: string, operator: CountOperator, number: number | bigint, condition?: string): string
  count(
    collection: string,
    operator: CountListOperator,
    numbers: readonly (number | bigint)[],
    condition?: string,
  ): string
}

/** Pattern of a path in the filter grammar. Text of another form could inject a condition. */
const PATH = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*$/u

const COUNT_OPERATORS: ReadonlySet<OperatorName> = new Set(
  OPERATORS.filter(({ text }) => !text).map(({ name }) => name),
)

/** Writes filters as text; see {@link FilterBuilder}. */
export const filter: FilterBuilder = Object.freeze<FilterBuilder>({
  and(...conditions) {
    const isAlone = conditions.length === 1
    return joinConditions(
      'and',
      conditions.map((condition) => (hasOuterOr(condition) && !isAlone ? addParentheses(condition) : condition)),
      ',',
    )
  },
  or(...conditions) {
    conditions.forEach(hasOuterOr)
    return joinConditions('or', conditions, '|')
  },

  ...createComparisons(),

  isNull: (field) => buildClause(field, 'eq', 'null'),
  notNull: (field) => buildClause(field, 'ne', 'null'),

  any: createQuantifier('Any'),
  all: createQuantifier('All'),
  none: createQuantifier('None'),
  count: buildCount,
})

function createComparisons(): ComparisonBuilder {
  return Object.fromEntries(
    OPERATORS.map((info) => [info.name, createComparison(info)]),
  ) as unknown as ComparisonBuilder
}

function createComparison({ name, list, nulls, text }: OperatorInfo): Compare | CompareNullable | CompareAll {
  const compareAll: CompareAll = (field, values, options) =>
    buildClause(field, name, buildList(name, values, field), options)
  const compare: CompareNullable = (field, value, options) => {
    // Callers without types may pass null to an operator that does not support null.
    const written = value === null && nulls ? 'null' : valueText(value as FilterOperand, field)
    if (written === '' && text) throw new TypeError(`${name} needs a value that is not empty`)
    return buildClause(field, name, written, options)
  }
  return list ? compareAll : compare
}

function createQuantifier(word: 'Any' | 'All' | 'None'): FilterBuilder['any'] {
  return (collection, condition) => `${checkPath(collection)}.${word}${addParentheses(condition)}`
}

function buildCount(
  collection: string,
  operator: CountOperator | CountListOperator,
  number: number | bigint | readonly (number | bigint)[],
  condition?: string,
): string {
  if (!COUNT_OPERATORS.has(operator))
    throw new TypeError(`filter.count cannot use the operator ${JSON.stringify(operator)}`)
  const numbers = Array.isArray(number) ? number : [number]
  const isList = operatorInfoOf(operator).list
  if (isList !== Array.isArray(number) || !numbers.length || !numbers.every(isInteger)) {
    throw new TypeError(`filter.count needs for ${operator} ${isList ? 'an array of whole numbers' : 'a whole number'}`)
  }
  const counted = `${checkPath(collection)}.Count${condition === undefined ? '' : addParentheses(condition)}`
  return `${counted}${operatorInfoOf(operator).token}${buildList(operator, numbers, collection)}`
}

const isInteger = (value: unknown): boolean => typeof value === 'bigint' || Number.isInteger(value)

function buildClause(field: string, operator: OperatorName, value: string, options?: ComparisonOptions): string {
  return `${checkPath(field)}${operatorInfoOf(operator).token}${value}${options?.ignoreCase === true ? '/i' : ''}`
}

/**
 * Writes a comparison with a list. An empty list becomes an empty text, which servers accept only in the condition of a
 * scope.
 */
function buildList(operator: OperatorName, values: readonly (FilterOperand | null)[], field: string): string {
  if (!Array.isArray(values)) throw new TypeError(`filter.${operator} needs an array for ${field}`)
  const items = values.map((value) => (value === null ? 'null' : valueText(value, field)))
  if (items.includes('')) throw new TypeError(`filter.${operator} cannot contain an empty string. Use eq or ne`)
  return items.join(';')
}

function checkPath(path: string): string {
  if (typeof path === 'string' && PATH.test(path)) return path
  throw new TypeError(`a field of a filter is a path such as Team.Name, not ${JSON.stringify(path)}`)
}

function joinConditions(name: 'and' | 'or', conditions: readonly string[], separator: string): string {
  // Without conditions, the filter would match every record, so this is an error.
  if (conditions.length === 0) throw new TypeError(`${name} needs a condition`)
  return conditions.join(separator)
}

function addParentheses(condition: string): string {
  hasOuterOr(condition)
  return `(${condition})`
}

/**
 * Whether a condition has a `|` outside groups.
 * @throws TypeError for a condition with unmatched parentheses or escapes, which would change the meaning of a larger
 * filter
 */
function hasOuterOr(condition: string): boolean {
  if (typeof condition !== 'string' || condition.trim() === '')
    throw new TypeError('a condition must be the text of a filter')
  let depth = 0
  let found = false
  let at = 0
  for (; at < condition.length && depth >= 0; at += 1) {
    const character = condition[at]
    if (character === '\\') at += 1
    else if (character === '(') depth += 1
    else if (character === ')') depth -= 1
    else if (character === '|' && depth === 0) found = true
  }
  // `at` is larger after a trailing backslash. The backslash would escape the next character of the larger filter.
  if (depth === 0 && at === condition.length) return found
  throw new TypeError(`parentheses or escapes do not match in the condition ${JSON.stringify(condition)}`)
}
