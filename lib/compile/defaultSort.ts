import type { SortNode } from '../../types/query.js'
import type { QuerySettings } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { operatorsOf } from '../language/operators.js'
import { parseSort } from '../language/query.js'
import { type Described, hostPathOf } from './hostPath.js'

/**
 * Pass: the default sort parses, and each of its paths ends at something to sort by. What a resource over a relation's
 * target hides is left out of the order, so that it is no matter of mounting.
 *
 * @throws CrudConfigError for what does not parse, names and associations that do not exist, and relations that no sort crosses
 */
export function defaultSortOf(
  sorted: Described,
  { defaultSort, defaultDirection }: QuerySettings,
): readonly SortNode[] {
  if (defaultSort.trim() === '') return []
  const where = `${sorted.model.name}: query.defaultSort:`
  const keys = parse(where, defaultSort, { direction: defaultDirection })
  const wanted = {
    where,
    what: 'the sortable field',
    own: ({ sortable }: Described['fields'][number]): boolean => sortable,
    // Whose values have an order.
    behind: (type: Parameters<typeof operatorsOf>[0]): boolean => operatorsOf(type).size > 0,
  }
  return keys.map((key) => ({ ...key, path: hostPathOf(sorted, key.path, wanted) }))
}

function parse(where: string, text: string, options: Parameters<typeof parseSort>[1]): readonly SortNode[] {
  try {
    return parseSort(text, options)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CrudConfigError('INVALID_OPTION', `${where} ${reason}`)
  }
}
