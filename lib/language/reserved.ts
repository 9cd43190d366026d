/** The service's own parameters, of every resource. Their names are exact; those of fields are not. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...['page', 'pageSize', 'filter', 'sort', 'select', 'count', 'cursor', 'after', 'before', 'keys'],
  ...['includeDeleted', 'sortBy', 'sortDirection'],
])

/** Those that are taken only where something of the resource gives them a meaning. */
export const OPTIONAL: Readonly<Record<'search' | 'aggregate' | 'export' | 'replace', readonly string[]>> =
  Object.freeze({
    search: ['search'],
    aggregate: ['aggregate', 'group', 'having'],
    export: ['format'],
    replace: ['by'],
  })
