import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import { invalidQuery, problem } from '../common/problem.js'
import { didYouMean } from '../config/suggest.js'
import { RESERVED } from '../language/reserved.js'

/** The parameters of a request: reserved ones by their names, field parameters in the order they came. */
export interface Parameters {
  readonly reserved: ReadonlyMap<string, string>
  readonly fields: readonly (readonly [field: Field, text: string])[]
  readonly unknown: UnknownParameters
}

/** Those that are not this resource's, with the names that this caller may use instead. */
interface UnknownParameters {
  readonly names: readonly string[]
  readonly valid: () => readonly string[]
}

/**
 * Reads the parameters that this resource knows from the URL itself: strings only, `+` is a blank, all others are
 * the host's.
 *
 * @throws Problem `invalid-query` for a known parameter that is given twice or is not valid percent-encoded UTF-8
 */
export function readParameters(resource: Resource, url: string, hidden: Hidden): Parameters {
  const start = url.indexOf('?')
  if (start < 0) return gathered(resource, hidden, [], [])
  const end = url.indexOf('#', start)
  const given: Given[] = []
  const unknown: string[] = []
  for (const part of url.slice(start + 1, end < 0 ? undefined : end).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const raw = equals < 0 ? part : part.slice(0, equals)
    const name = decoded(raw)
    // A name that does not decode is no name that anything here has.
    const known = name === null ? null : knownAs(resource, name, hidden)
    if (known === null) {
      unknown.push(name ?? raw)
      continue
    }
    const text = decoded(equals < 0 ? '' : part.slice(equals + 1))
    if (text === null) throw invalidQuery(toldAs(known), 'is not valid percent-encoded UTF-8.')
    given.push([known, text])
  }
  return gathered(resource, hidden, given, unknown)
}

/** The same from names and texts that are decoded already. */
export function gatherParameters(
  resource: Resource,
  pairs: readonly (readonly [name: string, text: string])[],
  hidden: Hidden,
): Parameters {
  const unknown: string[] = []
  const given = pairs.flatMap(([name, text]): Given[] => {
    const known = knownAs(resource, name, hidden)
    if (known === null) unknown.push(name)
    return known === null ? [] : [[known, text]]
  })
  return gathered(resource, hidden, given, unknown)
}

/** A known parameter: the name of a reserved one, or a field. */
type Known = string | Field
type Given = readonly [known: Known, text: string]

function gathered(resource: Resource, hidden: Hidden, given: readonly Given[], names: readonly string[]): Parameters {
  const reserved = new Map<string, string>()
  const fields = new Map<Field, string>()
  for (const [known, text] of given) {
    const isRepeated = typeof known === 'string' ? reserved.has(known) : fields.has(known)
    if (isRepeated) throw invalidQuery(toldAs(known), 'is given more than once.')
    if (typeof known === 'string') reserved.set(known, text)
    else fields.set(known, text)
  }
  // What this resource has no use for it does not know either.
  const useless = [...reserved.keys()].filter((name) => !isUsed(resource, name))
  const unknown = { names: [...names, ...useless], valid: () => validOf(resource, hidden) }
  return { reserved, fields: [...fields], unknown }
}

/** Whether one of the service's own parameters means something for this resource. */
function isUsed({ softDeletes, keyset, query: { sortable } }: Resource, name: string): boolean {
  if (name === 'includeDeleted') return softDeletes
  if (name === 'cursor') return keyset
  return sortable || !name.startsWith('sort')
}

function validOf(resource: Resource, hidden: Hidden): readonly string[] {
  const fields = [...resource.parameters.values()].filter(({ name }) => !hidden.has(name))
  return [...[...RESERVED].filter((name) => isUsed(resource, name)), ...fields.map(({ json }) => json)]
}

// A URL has room for thousands of names, and for very long ones.
const MOST_TOLD = 10
const LONGEST_GUESSED = 50

/** @throws Problem for parameters that nobody here knows, with what was probably meant */
export function refuseUnknown({ names, valid }: UnknownParameters): void {
  const told = [...new Set(names)].slice(0, MOST_TOLD)
  if (told.length === 0) return
  const candidates = valid()
  const messages = told.map((name) => {
    const hint = name.length > LONGEST_GUESSED ? '' : didYouMean(name, candidates)
    return [name, [`is not a parameter of this list.${hint}`]] as const
  })
  const [first, [message = ''] = []] = messages[0] ?? []
  throw problem('unknown-parameter', { errors: Object.fromEntries(messages), detail: `${first} ${message}` })
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
