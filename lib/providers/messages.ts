import type { ProblemError } from '../client/index.js'

/** Error messages for users, by problem code. */
export type Messages = Readonly<Record<string, string>>

const DEFAULTS: Messages = {
  'precondition-failed': 'Somebody else has changed this record. Reload it and apply your change again.',
}

/** Replaces the error's message if there is a message for its code. Returns the new message, or the problem's title. */
export function explain(error: ProblemError, messages?: Messages): string {
  const text: unknown = { ...DEFAULTS, ...messages }[error.code]
  if (typeof text !== 'string') return error.title
  error.message = text
  return text
}

/** Converts the place of an error to the path of a form field: `lines[0].quantity` becomes `lines.0.quantity`. */
export function fieldPath(place: string): string {
  return place.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '')
}
