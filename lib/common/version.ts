/** The version of a new record. A row with a null version counts as this version. */
export const FIRST_VERSION = 0
