/** The version of a new record. A row with a null version counts as this version. */
export const FIRST_VERSION = 0

/** The text of a version tag. Tags of contents are longer. */
const VERSION = /^\d{1,19}$/

/** Returns the version in the text of an entity tag, or null if the text has none. */
export function versionInTag(text: string): string | null {
  return VERSION.test(text) ? text : null
}
