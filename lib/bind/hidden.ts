import type { Caller } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'

/** Attributes of one resource, by their names. */
export type Hidden = ReadonlySet<string>

export const NOTHING: Hidden = new Set()

const known = new WeakMap<Caller, Map<Resource, Hidden>>()

/** The attributes that a caller may not read, asked of each resource once a request. */
export function hiddenFrom(caller: Caller, resource: Resource): Hidden {
  const { readable } = resource.behaviours
  if (readable === null) return NOTHING
  const answers = known.get(caller) ?? new Map<Resource, Hidden>()
  const asked = answers.get(resource)
  if (asked !== undefined) return asked
  const hidden = resource.fields.filter((field) => !readable(field, caller))
  const answer = hidden.length === 0 ? NOTHING : new Set(hidden.map(({ name }) => name))
  answers.set(resource, answer)
  known.set(caller, answers)
  return answer
}
