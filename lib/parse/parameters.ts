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
  readonly fields: readonly (readonly [field: Field, text: string])[]
}

/**
 * Reads the parameters that this resource knows from the URL itself: strings only, `+` is a blank, all others are
 * the host's.
 *
 * @throws Problem `invalid-query` for a known parameter that is given twice or is not valid percent-encoded UTF-8
 */
export function readParameters(resource: Resource, url: string, hidden: Hidden): Parameters {
  const start = url.indexOf('?')
  if (start < 0) return { reserved: new Map(), fields: [] }
  const end = url.indexOf('#', start)
  const given: Given[] = []
  for (const part of url.slice(start + 1, end < 0 ? undefined : end).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decoded(equals < 0 ? part : part.slice(0, equals))
    // A name that does not decode is no name that anything here has.
    const known = name === null ? null : knownAs(resource, name, hidden)
    if (known === null) continue
    const text = decoded(equals < 0 ? '' : part.slice(equals + 1))
    if (text === null) throw invalidQuery(toldAs(known), 'is not valid percent-encoded UTF-8.')
    given.push([known, text])
  }
  return gathered(given)
}

/** The same from names and texts that are decoded already. */
export function gatherParameters(
  resource: Resource,
  pairs: readonly (readonly [name: string, text: string])[],
  hidden: Hidden,
): Parameters {
  return gathered(
    pairs.flatMap(([name, text]): Given[] => {
      const known = knownAs(resource, name, hidden)
      return known === null ? [] : [[known, text]]
    }),
  )
}

/** A known parameter: the name of a reserved one, or a field. */
type Known = string | Field
type Given = readonly [known: Known, text: string]

function gathered(given: readonly Given[]): Parameters {
  const reserved = new Map<string, string>()
  const fields = new Map<Field, string>()
  for (const [known, text] of given) {
    const isRepeated = typeof known === 'string' ? reserved.has(known) : fields.has(known)
    if (isRepeated) throw invalidQuery(toldAs(known), 'is given more than once.')
    if (typeof known === 'string') reserved.set(known, text)
    else fields.set(known, text)
  }
  return { reserved, fields: [...fields] }
}

/** The attributes that the caller may not read: they are no parameters, just as what does not exist. */
export type Hidden = ReadonlySet<string>

function knownAs({ parameters }: Resource, name: string, hidden: Hidden): Known | null {
  if (RESERVED.has(name)) return name
  const field = parameters.get(name.toLowerCase())
  return field === undefined || hidden.has(field.name) ? null : field
}

function toldAs(known: Known): string {
  return typeof known === 'string' ? known : known.json
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
