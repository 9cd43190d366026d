import type { Selecting } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { WHOLE } from '../common/whole.js'
import { readSelection, type Selection } from './parameters.js'
import { handlingOf } from './prefer.js'
import { readShapes } from './shapes.js'
import { readSelect } from './texts.js'
import { appliedHandling } from './unknown.js'

interface RecordRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Reads the selection of one record. @throws Problem for unknown or malformed parameters and exceeded limits */
export function readRecord(resource: Resource, { url, headers }: RecordRequest): Selecting {
  return selectingIn(resource, readSelection(resource, url), headers)
}

/** Reads the selection from given parameters. @throws Problem like `readRecord` */
export function selectingIn(
  resource: Resource,
  { given, unknown }: Selection,
  headers: RecordRequest['headers'],
): Selecting {
  const { query, limits } = resource
  const applied = appliedHandling(query, unknown, handlingOf(headers.prefer))
  const isUnknown = unknown.given.length > 0
  const whole = isUnknown ? { ...WHOLE, preference: { applied, varies: true } } : WHOLE
  if (given.size === 0) return whole
  const text = given.get('select') || null
  const select = text === null ? null : readSelect(text, limits)
  const shapes = readShapes(resource, given, select)
  if (select === null) return { ...whole, shapes }
  return {
    select,
    shapes,
    unknownFields: applied === 'strict' ? 'reject' : query.unknownFields,
    preference: { applied, varies: query.unknownFields === 'ignore' || isUnknown },
  }
}
