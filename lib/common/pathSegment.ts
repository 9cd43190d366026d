/**
 * Texts that cannot be a path segment. URL parsers resolve `.` and `..`, even percent-encoded, and an empty segment is
 * the collection.
 */
export const INVALID_SEGMENTS: readonly string[] = ['', '.', '..']

export function isPathSegment(text: string): boolean {
  return !INVALID_SEGMENTS.includes(text)
}
