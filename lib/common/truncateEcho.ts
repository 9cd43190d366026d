/** The maximum number of characters of a client's text that a response repeats. */
const MAX_ECHO_LENGTH = 200

/** Truncates a client's text for responses. */
export function truncateEcho(text: string): string {
  if (text.length <= MAX_ECHO_LENGTH) return text
  const end = MAX_ECHO_LENGTH - 1
  // The text must not end within a surrogate pair.
  return `${text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end)}…`
}
