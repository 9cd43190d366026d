/**
 * Texts that cannot be a path segment. URL parsers resolve dots, even percent-encoded ones, and an empty key is the
 * collection.
 */
export const INVALID_SEGMENTS: readonly string[] = ['', '.', '..']

export function isPathSegment(text: string): boolean {
  return !INVALID_SEGMENTS.includes(text)
}
