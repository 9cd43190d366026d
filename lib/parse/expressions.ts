import type { FilterNode, Path, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { QueryLimitError } from '../common/errors.js'
import { invalidQuery } from '../common/problem.js'
import { parseFilter, parseSelect, parseSort } from '../language/query.js'
import { parseWithProblems } from './syntaxProblems.js'

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
