/** The number of records of one export that are in memory at once. */
export const EXPORT_BATCH_SIZE = 500
