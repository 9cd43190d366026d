/** The number of records of an export that are in memory at once. */
export const BATCH = 500
