import { problem } from './problem.js'

/**
 * What a client has sent as JSON text. A parser may take what is nested deeper than the text of it can be written.
 *
 * @throws Problem 400 for that
 */
export function jsonOf(sent: unknown): string {
  try {
    return JSON.stringify(sent)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw problem('malformed-body', { detail: 'The body is nested too deeply.' })
  }
}
