/** The most characters of a client's text that a response repeats. */
const LONGEST = 200

/** A client's text, truncated for responses. */
export function echoed(text: string): string {
  if (text.length <= LONGEST) return text
  const end = LONGEST - 1
  // Does not split a surrogate pair.
  return `${text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end)}…`
}
