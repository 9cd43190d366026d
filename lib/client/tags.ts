/** The version tags of records that this client has read or written, for as long as somebody holds the record. */
const tags = new WeakMap<object, string>()

/** A tag of a version. One of the content changes with what others write elsewhere, and holds nothing off. */
const OF_VERSION = /^W\/"\d+"$/

/** Remembers the tag of an answer beside its record; whether it was one of a version. */
export function remember(record: object, tag: string | null): boolean {
  if (tag === null || !OF_VERSION.test(tag)) return false
  tags.set(record, tag)
  return true
}

/** The version tag (`W/"3"`) of a record that this client returned; null for copies of it, and where there are no versions. */
export function etagOf(record: object): string | null {
  return tags.get(record) ?? null
}

/**
 * Gives a record a tag, such as a copy that of its original; null, which is that of an original without one, takes it away.
 * Returns the record.
 *
 * @throws TypeError for what is no tag of a version
 */
export function withTag<R extends object>(record: R, tag: string | null): R {
  if (tag === null) tags.delete(record)
  else if (!remember(record, tag)) throw new TypeError(`a version tag is such as W/"3", not ${tag}`)
  return record
}
