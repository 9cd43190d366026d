import type { ProblemError } from '../client/index.js'

/** Error messages for people, by problem code. */
export type Messages = Readonly<Record<string, string>>

const DEFAULTS: Messages = {
  'precondition-failed': 'Somebody else has changed this record. Reload it and apply your change again.',
}

/** Replaces the message of a problem by the one for its code. Returns it, or the problem's title if there is none. */
export function explain(error: ProblemError, messages?: Messages): string {
  const text: unknown = { ...DEFAULTS, ...messages }[error.code]
  if (typeof text !== 'string') return error.title
  error.message = text
  return text
}

/** Path of a form field: `lines.0.quantity` for the place `lines[0].quantity`. */
export function fieldPath(place: string): string {
  return place.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '')
}
