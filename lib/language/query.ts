import { parse } from '../../grammar/query.js'
import type {
  Direction,
  FilterNode,
  GroupNode,
  GroupSortNode,
  HavingNode,
  MeasureNode,
  Path,
  SelectNode,
  SortNode,
} from '../../types/query.js'
import type { Limits } from '../../types/settings.js'
import { checkItems, checkNesting, checkSize, QUERY_LIMITS } from './limits.js'
import { findMeasure, findUnit } from './measures.js'
import { findOperatorAt } from './operatorTokens.js'
import { parseSyntax } from './syntax.js'

/** Limits of a filter. `Infinity` means no limit, but the nesting is at most 500. */
export type FilterLimits = Partial<Pick<Limits, 'nesting' | 'clauses' | 'listItems'>>

export interface SortOptions extends Partial<Pick<Limits, 'sortKeys'>> {
  /** Direction of keys without a direction. Default `asc`. */
  readonly direction?: Direction
}

export type SelectLimits = Partial<Pick<Limits, 'selectFields' | 'nesting'>>

const parseFilterText = (text: string): FilterNode => parse(text, { startRule: 'Filter', operatorAt: findOperatorAt })
const parseConditionText = (text: string): FilterNode =>
  parse(text, { startRule: 'Filter', operatorAt: findOperatorAt, emptyLists: true })
const parseSortText = (text: string, direction: Direction): readonly SortNode[] =>
  parse(text, { startRule: 'Sort', direction })
const parseSelectText = (text: string): readonly SelectNode[] => parse(text, { startRule: 'Select' })

/**
 * Parses a filter into a syntax tree in linear time. Names are not resolved, and values stay text.
 * @throws QuerySyntaxError for invalid syntax, QueryLimitError for an exceeded limit
 */
export function parseFilter(text: string, options: FilterLimits = {}): FilterNode {
  const { nesting = QUERY_LIMITS.nesting, clauses = QUERY_LIMITS.clauses, listItems = QUERY_LIMITS.listItems } = options
  const filter = parseSyntax('filter', text, (given) => {
    checkNesting('filter', given, nesting)
    return parseFilterText(given)
  })
  checkSize('filter', filter, { clauses, listItems })
  return filter
}

/**
 * Parses a condition that the host wrote. Such a condition has no limits and may have empty lists.
 * @throws QuerySyntaxError for invalid syntax
 */
export function parseCondition(text: string): FilterNode {
  return parseSyntax('filter', text, (given) => {
    checkNesting('filter', given, Number.POSITIVE_INFINITY)
    return parseConditionText(given)
  })
}

/**
 * Parses a sort into its keys, in their order.
 * @throws QuerySyntaxError for invalid syntax, QueryLimitError for an exceeded limit
 */
export function parseSort(text: string, options: SortOptions = {}): readonly SortNode[] {
  const { sortKeys = QUERY_LIMITS.sortKeys, direction = 'asc' } = options
  return parseSyntax('sort', text, (given) => {
    checkItems('sort', 'sortKeys', given, sortKeys)
    return parseSortText(given, direction)
  })
}

/**
 * Parses a select into its paths, in their order. Groups are expanded. A last segment `*` selects every field.
 * @throws QuerySyntaxError for invalid syntax, QueryLimitError for an exceeded limit
 */
export function parseSelect(text: string, options: SelectLimits = {}): readonly Path[] {
  const { selectFields = QUERY_LIMITS.selectFields, nesting = QUERY_LIMITS.nesting } = options
  const nodes = parseSyntax('select', text, (given) => {
    checkNesting('select', given, nesting)
    checkItems('select', 'selectFields', given, selectFields)
    return parseSelectText(given)
  })
  return flattenPaths(nodes, [])
}

function flattenPaths(nodes: readonly SelectNode[], before: readonly string[]): readonly Path[] {
  return nodes.flatMap(({ path, members }) => {
    const segments = [...before, ...path.segments]
    return members === null ? [{ segments, offset: path.offset }] : flattenPaths(members, segments)
  })
}

/**
 * Parses an aggregate into its measures, in their order.
 * @throws QuerySyntaxError for invalid syntax, QueryLimitError for an exceeded limit
 */
export function parseAggregate(text: string, { measures }: Pick<Limits, 'measures'>): readonly MeasureNode[] {
  return parseSyntax('aggregate', text, (given) => {
    checkItems('aggregate', 'measures', given, measures)
    return parse(given, { startRule: 'Aggregate', measureOf: findMeasure })
  })
}

/** Parses `group` into its keys, in their order. */
export function parseGroup(text: string, { groups }: Pick<Limits, 'groups'>): readonly GroupNode[] {
  return parseSyntax('group', text, (given) => {
    checkItems('group', 'groups', given, groups)
    return parse(given, { startRule: 'Groups', unitOf: findUnit })
  })
}

/** Parses `having`, a filter on measures. */
export function parseHaving(text: string, limits: Pick<Limits, 'nesting' | 'clauses' | 'listItems'>): HavingNode {
  const having = parseSyntax('having', text, (given) => {
    checkNesting('having', given, limits.nesting)
    return parse(given, { startRule: 'Having', operatorAt: findOperatorAt, measureOf: findMeasure, measures: true })
  })
  checkSize('having', having, limits)
  return having
}

/** Parses a sort of groups into its keys, in their order. */
export function parseGroupSort(text: string, { sortKeys }: Pick<Limits, 'sortKeys'>): readonly GroupSortNode[] {
  return parseSyntax('sort', text, (given) => {
    checkItems('sort', 'sortKeys', given, sortKeys)
    return parse(given, { startRule: 'GroupSort' })
  })
}
