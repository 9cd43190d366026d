/** The service's own parameters. Their names are exact; those of fields are not. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...[
    'page',
    'pageSize',
    'filter',
    'sort',
    'select',
    'count',
    'cursor',
    'keys',
    'includeDeleted',
    'sortBy',
    'sortDirection',
  ],
])
