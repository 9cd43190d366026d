/** The version of a new record, and of a row from before the column existed, which holds null. */
export const FIRST_VERSION = 0
