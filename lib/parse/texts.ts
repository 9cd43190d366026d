import type { FilterNode, Path, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { QueryLimitError } from '../common/errors.js'
import { invalidQuery } from '../common/problem.js'
import { parseFilter, parseSelect, parseSort } from '../language/query.js'
import { readText } from './text.js'

type Limits = Resource['limits']

/** @throws Problem for a filter with syntax errors or beyond a limit, under the parameter's name */
export function readFilter(text: string, limits: Limits, name = 'filter'): FilterNode {
  return readText(
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
export function readSort(text: string, limits: Limits, name = 'sort'): readonly SortNode[] {
  return readText('sort', () => parseSort(text, limits), name)
}

/** @throws Problem for a select with syntax errors or too many fields */
export function readSelect(text: string, limits: Limits): readonly Path[] {
  return readText('select', () => parseSelect(text, limits))
}

/** Accepts any number of digits. The caller of this function checks the range. */
export function whole(name: string, text: string | null): number | null {
  if (text === null) return null
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number < 1) throw invalidQuery(name, 'must be a whole number from 1.')
  return number
}
