/** The number of records of an export that are in memory at once. */
export const EXPORT_BATCH_SIZE = 500
