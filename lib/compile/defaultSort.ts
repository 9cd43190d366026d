import type { SortNode } from '../../types/query.js'
import type { QuerySettings } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { operatorsForType } from '../language/operators.js'
import { parseSort } from '../language/query.js'
import { type PathOrigin, resolveHostPath } from './hostPath.js'

/**
 * Parses the default sort and checks that each path ends at a sortable field. Fields that the target's resource hides
 * are dropped later, because routers mount in any order.
 *
 * @throws CrudConfigError for syntax errors, unknown names and associations, and relations that sorts cannot use
 */
export function resolveDefaultSort(
  sorted: PathOrigin,
  { defaultSort, defaultDirection }: QuerySettings,
): readonly SortNode[] {
  if (defaultSort.trim() === '') return []
  const where = `${sorted.model.name}: query.defaultSort:`
  const keys = parseDefaultSort(where, defaultSort, { direction: defaultDirection })
  const requirements = {
    where,
    what: 'the sortable field',
    isAllowedField: ({ sortable }: PathOrigin['fields'][number]): boolean => sortable,
    // A type has an order if it has operators.
    isAllowedType: (type: Parameters<typeof operatorsForType>[0]): boolean => operatorsForType(type).size > 0,
  }
  return keys.map((key) => ({ ...key, path: resolveHostPath(sorted, key.path, requirements) }))
}

function parseDefaultSort(where: string, text: string, options: Parameters<typeof parseSort>[1]): readonly SortNode[] {
  try {
    return parseSort(text, options)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CrudConfigError('INVALID_OPTION', `${where} ${reason}`)
  }
}
