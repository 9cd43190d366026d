import type { FilterNode, Path, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { QueryLimitError } from '../common/errors.js'
import { invalidQuery } from '../common/problem.js'
import { parseFilter, parseSelect, parseSort } from '../language/query.js'
import { parseWithProblems } from './syntaxProblems.js'

type QueryLimits = Resource['limits']

/** @throws Problem for a filter with syntax errors or beyond a limit, under the parameter's name */
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

/** @throws Problem for a sort with syntax errors or too many keys */
export function readSort(text: string, limits: QueryLimits, name = 'sort'): readonly SortNode[] {
  return parseWithProblems('sort', () => parseSort(text, limits), name)
}

/** @throws Problem for a select with syntax errors or too many fields */
export function readSelect(text: string, limits: QueryLimits): readonly Path[] {
  return parseWithProblems('select', () => parseSelect(text, limits))
}

/** Accepts any number of digits. The caller of this function checks the range. */
export function readPositiveInteger(name: string, text: string | null): number | null {
  if (text === null) return null
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number < 1) throw invalidQuery(name, 'must be a whole number from 1.')
  return number
}
