/** The maximum depth to which `flatten` includes records and JSON objects. */
export const FLATTEN_LEVELS = 5
