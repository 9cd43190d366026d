import type { Caller } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { Remembered } from '../common/remembered.js'

/** Attributes of one resource, by their names. */
export type Hidden = ReadonlySet<string>

export const NOTHING: Hidden = new Set()

/** What of one resource is hidden from a caller, and of those that were asked before. Few requests ask of several. */
interface Asked {
  readonly resource: Resource
  readonly hidden: Hidden
  readonly before: Asked | undefined
}

const known = new Remembered<Asked>()

/** The attributes that a caller may not read, asked of each resource once a request. */
export function hiddenFrom(caller: Caller, resource: Resource): Hidden {
  const { readable } = resource.behaviours
  if (readable === null) return NOTHING
  const before = known.of(caller)
  for (let asked = before; asked !== undefined; asked = asked.before) {
    if (asked.resource === resource) return asked.hidden
  }
  const hidden = new Set<string>()
  for (const field of resource.fields) if (!readable(field, caller)) hidden.add(field.name)
  known.set(caller, { resource, hidden, before })
  return hidden
}
