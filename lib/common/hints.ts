/** Follows an error about filtering by the key, which is filterable only by option. */
export const KEY_HINT = ' Filters cannot use the key. Use the parameter keys, such as keys=1,2.'

/** Follows an error about filtering by the key of related records. */
export const RELATED_KEY_HINT =
  ' Filters cannot use the key of related records here. Filter by another field, such as a foreign key.'

/** Follows an error about a computed field in a query. */
export const COMPUTED_HINT = ' It is a computed field. Only the parameter "select" can use it.'
