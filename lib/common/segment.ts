/**
 * Texts that cannot be a path segment. URL parsers resolve dots, even percent-encoded ones, and an empty key is the
 * collection.
 */
export const NO_SEGMENTS: readonly string[] = ['', '.', '..']

export function isSegment(text: string): boolean {
  return !NO_SEGMENTS.includes(text)
}
