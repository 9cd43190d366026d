import type { Aggregation } from '../../types/intent.js'
import type { FilterNode, Path, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { QueryLimitError, type QueryParameter, QuerySyntaxError } from '../common/errors.js'
import { invalidQuery, problem } from '../common/problem.js'
import {
  parseAggregate,
  parseFilter,
  parseGroup,
  parseGroupSort,
  parseHaving,
  parseSelect,
  parseSort,
} from '../language/query.js'

type QueryLimits = Resource['limits']

/** Parses a filter. @throws Problem under the parameter's name, for syntax errors and exceeded limits */
export function readFilter(text: string, limits: QueryLimits, name = 'filter'): FilterNode {
  return parseWithProblems(
    'filter',
    () => {
      const maximum = limits.filterLength
      if (text.length > maximum) throw new QueryLimitError({ parameter: 'filter', limit: 'filterLength', maximum })
      return parseFilter(text, limits)
    },
    name,
  )
}

/** Parses a sort. @throws Problem for syntax errors and too many keys */
export function readSort(text: string, limits: QueryLimits, name = 'sort'): readonly SortNode[] {
  return parseWithProblems('sort', () => parseSort(text, limits), name)
}

/** Parses a select. @throws Problem for syntax errors and too many fields */
export function readSelect(text: string, limits: QueryLimits): readonly Path[] {
  return parseWithProblems('select', () => parseSelect(text, limits))
}

/** Parses a whole number from 1, with any number of digits. Callers check the upper bound. */
export function readPositiveInteger(name: string, text: string | null): number | null {
  if (text === null) return null
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number < 1) throw invalidQuery(name, 'must be a whole number from 1.')
  return number
}

/** Converts syntax errors to problems, with the position, the expected tokens and a picture. */
function parseWithProblems<T>(language: QueryParameter, parse: () => T, parameter: string = language): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof QueryLimitError) throw invalidQuery(parameter, error.message)
    if (!(error instanceof QuerySyntaxError)) throw error
    throw problem(`malformed-${language}`, {
      errors: { [parameter]: [error.message] },
      detail: `${error.message}\n${error.picture}`,
    })
  }
}

/**
 * Reads `aggregate`, `group`, `having` and `sort`. @throws Problem for syntax errors, exceeded limits, and `having`
 * without `group`
 */
export function readAggregation(
  { limits, query: { sortable } }: Resource,
  given: (name: string) => string | null,
): Aggregation {
  const [aggregate, group, having] = [given('aggregate'), given('group'), given('having')]
  const sort = sortable ? given('sort') : null
  if (having !== null && group === null) throw invalidQuery('having', 'needs the parameter "group".')
  return {
    measures: aggregate === null ? [] : parseWithProblems('aggregate', () => parseAggregate(aggregate, limits)),
    groups: group === null ? [] : parseWithProblems('group', () => parseGroup(group, limits)),
    having:
      having === null
        ? null
        : parseWithProblems('having', () => parseHaving(checkHavingLength(having, limits), limits)),
    sort: sort === null ? [] : parseWithProblems('sort', () => parseGroupSort(sort, limits)),
  }
}

function checkHavingLength(having: string, { filterLength: maximum }: Resource['limits']): string {
  if (having.length <= maximum) return having
  throw new QueryLimitError({ parameter: 'having', limit: 'filterLength', maximum })
}
