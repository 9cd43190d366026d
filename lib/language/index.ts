/**
 * Exports of the query language. The query language imports no Node.js modules and no packages, so that it runs in
 * browsers.
 */

export type {
  Comparison,
  Direction,
  FilterNode,
  Junction,
  Operand,
  Operator,
  Path,
  Quantified,
  Quantifier,
  SortNode,
} from '../../types/query.js'
export { type QueryLimit, QueryLimitError, type QueryParameter, QuerySyntaxError } from '../common/errors.js'
export {
  type ComparisonOptions,
  type CountListOperator,
  type CountOperator,
  escapeFilterValue,
  type FilterBuilder,
  type FilterOperand,
  filter,
} from './filter.js'
export {
  type FilterLimits,
  parseFilter,
  parseSelect,
  parseSort,
  type SelectLimits,
  type SortOptions,
} from './query.js'
