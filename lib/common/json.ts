import { problem } from './problem.js'

/**
 * Writes a client's value as JSON text. Parsers accept deeper nesting than `JSON.stringify` can write.
 *
 * @throws Problem 400 for a value that is nested too deeply
 */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw problem('malformed-body', { detail: 'The body is nested too deeply.' })
  }
}
