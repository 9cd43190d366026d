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
  known.set(caller, answers)
  const answer = answers.get(resource) ?? new Set(namesOf(resource, (field) => !readable(field, caller)))
  answers.set(resource, answer)
  return answer
}

function namesOf({ fields }: Resource, isWanted: (field: Resource['fields'][number]) => boolean): readonly string[] {
  return fields.filter(isWanted).map(({ name }) => name)
}
