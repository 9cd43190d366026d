import type { SelectionMembers } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { WHOLE_RECORD } from '../common/wholeRecord.js'
import { readCollectionQueries } from './collectionQueries.js'
import { readSelect } from './expressions.js'
import type { SelectionParameters } from './parameters.js'
import { readHandling } from './prefer.js'
import { applyHandling } from './unknownParameters.js'

/** Reads the selection from given parameters. @throws Problem for unknown or malformed parameters and exceeded limits */
export function readSelectionMembers(
  resource: Resource,
  { given, unknown }: SelectionParameters,
  { prefer }: Readonly<Record<string, string | string[] | undefined>>,
): SelectionMembers {
  const { query, limits } = resource
  const applied = applyHandling(query, unknown, readHandling(prefer))
  const isUnknown = unknown.given.length > 0
  const whole = isUnknown ? { ...WHOLE_RECORD, preference: { applied, varies: true } } : WHOLE_RECORD
  if (given.size === 0) return whole
  const text = given.get('select') || null
  const select = text === null ? null : readSelect(text, limits)
  const shapes = readCollectionQueries(resource, given, select)
  if (select === null) return { ...whole, collections: shapes }
  return {
    select,
    collections: shapes,
    unknownFields: applied === 'strict' ? 'reject' : query.unknownFields,
    preference: { applied, varies: query.unknownFields === 'ignore' || isUnknown },
  }
}
