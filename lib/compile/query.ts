import type { OptionShape } from '../../types/check.js'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { SortNode } from '../../types/query.js'
import type { QuerySettings } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { count, flag, isText, oneOf, option } from '../config/checks.js'
import { unknownName } from '../config/suggest.js'
import { parseSort } from '../language/query.js'

export const QUERY: OptionShape = {
  sortable: flag,
  defaultSort: option(isText, 'a sort expression'),
  defaultDirection: option(oneOf('asc', 'desc'), '"asc" or "desc"'),
  unknownFields: option(oneOf('reject', 'ignore'), '"reject" or "ignore"'),
  unknownParameters: option(oneOf('reject', 'ignore'), '"reject" or "ignore"'),
  pageSize: count,
  maxPageSize: count,
}

/** Pass: the query settings with their defaults. @throws CrudConfigError when the page size exceeds its maximum */
export function querySettingsOf(model: string, options: CrudOptions): QuerySettings {
  const { sortable, defaultSort, defaultDirection, unknownFields, unknownParameters, pageSize, maxPageSize } =
    options.query ?? {}
  const settings: QuerySettings = {
    sortable: sortable ?? true,
    defaultSort: defaultSort ?? '',
    defaultDirection: defaultDirection ?? 'asc',
    unknownFields: unknownFields ?? 'reject',
    unknownParameters: unknownParameters ?? 'ignore',
    pageSize: pageSize ?? Math.min(20, maxPageSize ?? 20),
    maxPageSize: maxPageSize ?? Math.max(1000, pageSize ?? 0),
  }
  if (settings.pageSize > settings.maxPageSize) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: query.pageSize is greater than query.maxPageSize.`)
  }
  return Object.freeze(settings)
}

/** Pass: the default sort parses, and its own fields can be sorted by. Relation paths are found on first use. */
export function defaultSortOf(model: string, text: string, fields: readonly Field[]): readonly SortNode[] {
  if (text.trim() === '') return []
  const keys = parse(model, text)
  for (const { path } of keys) {
    const [name = ''] = path.segments
    if (path.segments.length > 1) continue
    const field = fields.find(({ json }) => json.toLowerCase() === name.toLowerCase())
    if (field?.sortable) continue
    const candidates = fields.filter(({ sortable }) => sortable).map(({ json }) => json)
    throw unknownName('UNKNOWN_ATTRIBUTE', `${model}: query.defaultSort: the sortable field`, name, candidates)
  }
  return keys
}

function parse(model: string, text: string): readonly SortNode[] {
  try {
    return parseSort(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CrudConfigError('INVALID_OPTION', `${model}: query.defaultSort: ${reason}`)
  }
}
