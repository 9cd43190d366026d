/** The version of a new record, and of a row whose version is null. */
export const FIRST_VERSION = 0
