import { problem } from './problem.js'

type Replacer = (name: string, value: unknown) => unknown

/**
 * Writes a client's value as JSON text. Parsers accept deeper nesting than `JSON.stringify` can write.
 *
 * @throws Problem 400 for a value that is nested too deeply
 */
export function stringifyJson(value: unknown, replacer?: Replacer): string {
  try {
    return JSON.stringify(value, replacer)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw problem('malformed-body', { detail: 'The body is nested too deeply.' })
  }
}
