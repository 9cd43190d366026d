import type { OptionShape } from '../../types/check.js'
import type { CrudOptions } from '../../types/options.js'
import type { QuerySettings } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { count, either, flag, isFlag, isName, isText, oneOf, option } from '../config/checks.js'

const isNameList = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isName)

const isSearchOption = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || !isObject(value)) return false
  const { fields, fullText = false, ...others } = value as { readonly fields?: unknown; readonly fullText?: unknown }
  return isNameList(fields) && isFlag(fullText) && Object.keys(others).length === 0
}

/** Accepts a list of names, and of prefixes that end with `*`. */
const isParameterList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && /^[^*]+\*?$/.test(name))

export const QUERY: OptionShape = {
  sortable: flag,
  defaultSort: option(isText, 'a sort expression'),
  defaultDirection: option(oneOf('asc', 'desc'), '"asc" or "desc"'),
  unknownFields: option(oneOf('reject', 'ignore'), '"reject" or "ignore"'),
  unknownParameters: option(
    either(oneOf('reject', 'ignore'), isParameterList),
    '"reject", "ignore", or an array of names and of prefixes that end with "*"',
  ),
  pageSize: count,
  maxPageSize: count,
  total: option(oneOf('exact', 'none'), '"exact" or "none"'),
  search: option(
    either(isNameList, isSearchOption),
    'an array of paths, or an object with the paths as "fields" and the boolean "fullText"',
  ),
}

/** Returns the query settings with their defaults. @throws CrudConfigError if the page size exceeds its maximum */
export function createQuerySettings(model: string, options: CrudOptions): QuerySettings {
  const { sortable, defaultSort, defaultDirection, unknownFields, unknownParameters, pageSize, maxPageSize, total } =
    options.query ?? {}
  const settings: QuerySettings = {
    sortable: sortable ?? true,
    defaultSort: defaultSort ?? '',
    defaultDirection: defaultDirection ?? 'asc',
    unknownFields: unknownFields ?? 'reject',
    unknownParameters:
      typeof unknownParameters === 'object' ? Object.freeze([...unknownParameters]) : (unknownParameters ?? 'reject'),
    pageSize: pageSize ?? Math.min(20, maxPageSize ?? 20),
    maxPageSize: maxPageSize ?? Math.max(1000, pageSize ?? 0),
    total: total ?? 'exact',
  }
  if (settings.pageSize > settings.maxPageSize) {
    throw new CrudConfigError('INVALID_OPTION', `${model}: query.pageSize is greater than query.maxPageSize.`)
  }
  return Object.freeze(settings)
}
