/** The most characters of a client's own text that an answer repeats. */
const LONGEST = 200

/** A client's own text, cut so that an answer does not repeat a request. */
export function echoed(text: string): string {
  if (text.length <= LONGEST) return text
  const end = LONGEST - 1
  // A surrogate pair is not cut in two.
  return `${text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end)}…`
}
