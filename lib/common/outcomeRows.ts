import type { Outcome, Row } from '../../types/outcome.js'

/** Returns the rows of the records that a write has written. */
export function outcomeRows(outcome: Outcome): readonly Row[] {
  if (outcome.kind === 'record') return [outcome.row]
  return outcome.kind === 'records' ? outcome.rows : []
}
