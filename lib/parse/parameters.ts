import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import { invalidQuery } from '../common/problem.js'

/** The service's own parameters. Their names are exact; those of fields are not. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...['page', 'pageSize', 'filter', 'sort', 'select', 'count', 'cursor', 'includeDeleted', 'sortBy', 'sortDirection'],
])

/** The known parameters of a request: reserved ones by their names, field parameters in the order they came. */
export interface Parameters {
  readonly reserved: ReadonlyMap<string, string>
  readonly fields: readonly (readonly [name: string, text: string])[]
}

/**
 * Reads the parameters that this resource knows from the URL itself: strings only, `+` is a blank, all others are
 * the host's.
 *
 * @throws Problem `invalid-query` for a known parameter that is given twice or is not valid percent-encoded UTF-8
 */
export function readParameters(resource: Resource, url: string, readable: Readable): Parameters {
  const start = url.indexOf('?')
  if (start < 0) return { reserved: new Map(), fields: [] }
  const end = url.indexOf('#', start)
  const pairs: (readonly [string, string])[] = []
  for (const part of url.slice(start + 1, end < 0 ? undefined : end).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decoded(equals < 0 ? part : part.slice(0, equals))
    // A name that does not decode is no name that anything here has.
    const known = name === null ? null : knownAs(resource, name, readable)
    if (known === null) continue
    const text = decoded(equals < 0 ? '' : part.slice(equals + 1))
    if (text === null) throw invalidQuery(known, 'is not valid percent-encoded UTF-8.')
    pairs.push([known, text])
  }
  return gatherParameters(resource, pairs, readable)
}

/** The same from names and texts that are decoded already. */
export function gatherParameters(
  resource: Resource,
  pairs: Iterable<readonly [name: string, text: string]>,
  readable: Readable,
): Parameters {
  const reserved = new Map<string, string>()
  const fields = new Map<string, string>()
  for (const [name, text] of pairs) {
    const known = knownAs(resource, name, readable)
    if (known === null) continue
    const isReserved = RESERVED.has(known)
    const values = isReserved ? reserved : fields
    const key = isReserved ? known : known.toLowerCase()
    if (values.has(key)) throw invalidQuery(known, 'is given more than once.')
    values.set(key, text)
  }
  return { reserved, fields: [...fields] }
}

/** Whether the caller may read a field: what he may not is no parameter, just as what does not exist. */
export type Readable = (field: Field) => boolean

/** The name under which a parameter is known and told: a reserved one's own, or the field's. */
function knownAs({ parameters }: Resource, name: string, readable: Readable): string | null {
  if (RESERVED.has(name)) return name
  const field = parameters.get(name.toLowerCase())
  return field !== undefined && readable(field) ? field.json : null
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
