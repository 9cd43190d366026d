import { parse } from '../../grammar/query.js'
import type { Direction, FilterNode, Path, SortNode } from '../../types/query.js'
import type { Limits } from '../../types/settings.js'
import { operatorAt } from './lexicon.js'
import { checkCount, checkNesting, checkSize, QUERY_LIMITS } from './limits.js'
import { readSyntax } from './syntax.js'

/** The largest filter to accept. `Infinity` is no limit, but groups never nest deeper than 500. */
export type FilterLimits = Partial<Pick<Limits, 'nesting' | 'clauses' | 'listItems'>>

export interface SortOptions extends Partial<Pick<Limits, 'sortKeys'>> {
  /** That of the keys which state none. Default `asc`. */
  readonly direction?: Direction
}

export type SelectLimits = Partial<Pick<Limits, 'selectFields'>>

const filterOf = (text: string): FilterNode => parse(text, { startRule: 'Filter', operatorAt })
const sortOf = (text: string, direction: Direction): readonly SortNode[] =>
  parse(text, { startRule: 'Sort', direction })
const selectOf = (text: string): readonly Path[] => parse(text, { startRule: 'Select' })

/**
 * The syntax tree of a filter: names are not looked up and values are still text. Throws `QuerySyntaxError` where the
 * text does not parse and `QueryLimitError` where it is too large, and takes time in proportion to its length.
 */
export function parseFilter(text: string, options: FilterLimits = {}): FilterNode {
  const { nesting = QUERY_LIMITS.nesting, clauses = QUERY_LIMITS.clauses, listItems = QUERY_LIMITS.listItems } = options
  const filter = readSyntax('filter', text, (given) => {
    checkNesting(given, nesting)
    return filterOf(given)
  })
  checkSize(filter, clauses, listItems)
  return filter
}

/** The keys of a sort in their order. Throws `QuerySyntaxError` and `QueryLimitError` like `parseFilter`. */
export function parseSort(text: string, options: SortOptions = {}): readonly SortNode[] {
  const { sortKeys = QUERY_LIMITS.sortKeys, direction = 'asc' } = options
  const keys = readSyntax('sort', text, (given) => sortOf(given, direction))
  checkCount('sort', 'sortKeys', keys.length, sortKeys)
  return keys
}

/** The fields of a select in their order. Throws `QuerySyntaxError` and `QueryLimitError` like `parseFilter`. */
export function parseSelect(text: string, options: SelectLimits = {}): readonly Path[] {
  const { selectFields = QUERY_LIMITS.selectFields } = options
  const fields = readSyntax('select', text, selectOf)
  checkCount('select', 'selectFields', fields.length, selectFields)
  return fields
}
