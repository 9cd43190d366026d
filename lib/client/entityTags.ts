/** Entity tags of records that this client has read or written. An entry lives as long as its record is referenced. */
const entityTags = new WeakMap<object, string>()

/** A version tag. Tags of other forms depend on the response content, so they do not protect writes. */
const VERSION_TAG = /^W\/"\d+(?:-\w{8})?"$/

/** Stores the entity tag of a response for its record. Returns whether the tag is a version tag. */
export function rememberTag(record: object, tag: string | null): boolean {
  if (tag === null || !VERSION_TAG.test(tag)) return false
  entityTags.set(record, tag)
  return true
}

/**
 * Version tag (`W/"3"`) of a record that this client returned. Null for copies of the record, and for resources without
 * versions.
 */
export function etagOf(record: object): string | null {
  return entityTags.get(record) ?? null
}

/**
 * Sets the version tag of a record, for example of a copy. Returns the record. Null removes the tag.
 *
 * @throws TypeError for a value that is not a version tag
 */
export function withTag<R extends object>(record: R, tag: string | null): R {
  if (tag === null) entityTags.delete(record)
  else if (!rememberTag(record, tag)) throw new TypeError(`"${tag}" is not a version tag such as W/"3".`)
  return record
}
