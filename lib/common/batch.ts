/** How many records of an export are in memory at once. */
export const BATCH = 500
