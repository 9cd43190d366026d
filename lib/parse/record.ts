import type { Selecting } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { WHOLE } from '../common/whole.js'
import { readSelection } from './parameters.js'
import { handlingOf } from './prefer.js'
import { readShapes } from './shapes.js'
import { readSelect } from './texts.js'

interface RecordRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** What of one record a request asks for. @throws Problem for parameters that are malformed or out of bounds */
export function readRecord(resource: Resource, { url, headers }: RecordRequest): Selecting {
  const given = readSelection(resource, url)
  if (given.size === 0) return WHOLE
  const text = given.get('select') || null
  const { query, limits } = resource
  const select = text === null ? null : readSelect(text, limits)
  const shapes = readShapes(resource, given, select)
  if (select === null) return { ...WHOLE, shapes }
  const handling = handlingOf(headers.prefer)
  // Leniency is the host's to allow; strictness is anybody's to ask for.
  const applied = handling === 'lenient' && query.unknownFields === 'reject' ? null : handling
  return {
    select,
    shapes,
    unknownFields: applied === 'strict' ? 'reject' : query.unknownFields,
    preference: { applied, varies: query.unknownFields === 'ignore' },
  }
}
