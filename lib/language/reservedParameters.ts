/**
 * Query parameters of every resource. Names of query parameters are case-sensitive. Names of fields are not
 * case-sensitive.
 */
export const RESERVED_PARAMETERS: ReadonlySet<string> = new Set([
  ...['page', 'pageSize', 'filter', 'sort', 'select', 'count', 'cursor', 'after', 'before', 'keys'],
  ...['includeDeleted', 'sortBy', 'sortDirection'],
])

/** Query parameters that are reserved only if the resource uses them. */
export const OPTIONAL_PARAMETERS: Readonly<Record<'search' | 'aggregate' | 'export' | 'replace', readonly string[]>> =
  Object.freeze({
    search: ['search'],
    aggregate: ['aggregate', 'group', 'having'],
    export: ['format'],
    replace: ['by'],
  })
