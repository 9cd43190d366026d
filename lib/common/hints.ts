/** Added to errors about filtering by the key. The key is filterable only by option. */
export const KEY_HINT = ' The key is not filterable: ask for records by keys=, as in keys=1,2.'

/** Added to errors about filtering by the key of related records. */
export const RELATED_KEY_HINT = ' The key of related records is not filterable here.'

/** Added to errors about computed fields in a query. */
export const COMPUTED_HINT = ' It is a computed field, which only "select" can name.'
