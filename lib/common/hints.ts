/** Follows an error about filtering by the key, which is filterable only by option. */
export const KEY_HINT = ' The key is not filterable: ask for records by keys=, as in keys=1,2.'

/** Follows an error about filtering by the key of related records. */
export const RELATED_KEY_HINT =
  ' The key of related records is not filterable here. Filter by another field, such as a foreign key.'

/** Follows an error about a computed field in a query. */
export const COMPUTED_HINT = ' It is a computed field, which only "select" can name.'
