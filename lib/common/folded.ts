/** A name without what spellings of it differ in: case, `_` and `-`. */
export function folded(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
