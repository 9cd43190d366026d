/** Added to errors about filtering by the key. The key is filterable only by option. */
export const KEY_HINT = ' The key is not filterable: ask for records by keys=, as in keys=1,2.'

/** Added where a filter names the key of records behind a relation. */
export const RELATED_KEY_HINT = ' The key of related records is not filterable here.'

/** Added where a query names a computed field. */
export const COMPUTED_HINT = ' It is a computed field, which only "select" can name.'
