import type { Aggregation } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { QueryLimitError } from '../common/errors.js'
import { invalidQuery } from '../common/problem.js'
import { parseAggregate, parseGroup, parseGroupSort, parseHaving } from '../language/query.js'
import { parseWithProblems } from './syntaxProblems.js'

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
