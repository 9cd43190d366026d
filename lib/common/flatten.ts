/** How deep records, and the objects in JSON columns, flatten into a response. */
export const FLATTEN_LEVELS = 5
