import type { FilterNode } from '../../types/query.js'
import type { Limits } from '../../types/settings.js'
import { type QueryLimit, QueryLimitError, type QueryParameter } from '../common/errors.js'
import { type Visitors, visit } from '../common/visitor.js'

/** Limits of the query language, with their defaults. */
export const QUERY_LIMITS: Pick<
  Limits,
  'nesting' | 'clauses' | 'listItems' | 'sortKeys' | 'selectFields' | 'measures' | 'groups'
> = Object.freeze({
  nesting: 10,
  clauses: 100,
  listItems: 200,
  sortKeys: 10,
  selectFields: 50,
  measures: 20,
  groups: 5,
})

/**
 * Maximum nesting that any option can set. The recursive parser overflows Node.js's stack at a nesting between 2,000
 * and 3,000.
 */
const MAX_NESTING = 500

/**
 * Rejects deeply nested parentheses before the recursive parser runs. Misplaced parentheses count as well, but a text
 * with misplaced parentheses is invalid anyway.
 * @throws QueryLimitError
 */
export function checkNesting(parameter: QueryParameter, text: string, nesting: number): void {
  const maximum = Math.min(nesting, MAX_NESTING)
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '\\') at += 1
    else if (character === '(') checkCount(parameter, 'nesting', ++depth, maximum)
    else if (character === ')') depth = Math.max(0, depth - 1)
  }
}

/**
 * Rejects a list with too many items before the parser runs. Commas are counted.
 * @throws QueryLimitError
 */
export function checkItems(parameter: QueryParameter, limit: QueryLimit, text: string, maximum: number): void {
  let items = 1
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) {
    checkCount(parameter, limit, ++items, maximum)
  }
}

/**
 * Rejects a filter with too many comparisons, or with too many values in one list.
 * @throws QueryLimitError
 */
export function checkSize(
  parameter: QueryParameter,
  filter: FilterNode<unknown>,
  { clauses, listItems }: Pick<Limits, 'clauses' | 'listItems'>,
): void {
  let counted = 0
  visit(OPERAND_COUNTERS, filter, (operands) => {
    checkCount(parameter, 'clauses', ++counted, clauses)
    checkCount(parameter, 'listItems', operands.length, listItems)
  })
}

type CountOperands = (operands: readonly unknown[]) => void

const OPERAND_COUNTERS: Visitors<FilterNode<unknown>, [count: CountOperands], void> = {
  and: ({ nodes }, count) => {
    for (const node of nodes) visit(OPERAND_COUNTERS, node, count)
  },
  or: ({ nodes }, count) => {
    for (const node of nodes) visit(OPERAND_COUNTERS, node, count)
  },
  comparison: ({ operands }, count) => count(operands),
  quantified: (node, count) => {
    visit(OPERAND_COUNTERS, node.condition, count)
    if (node.count !== null) count(node.count.operands)
  },
}

function checkCount(parameter: QueryParameter, limit: QueryLimit, count: number, maximum: number): void {
  // `count > maximum` would accept any count if the maximum is NaN.
  if (!(count <= maximum)) throw new QueryLimitError({ parameter, limit, maximum })
}
