import type { Caller } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { Remembered } from '../common/remembered.js'
import { isFast } from '../common/speed.js'

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

/** The set of some attributes of a resource: one for all callers who have it, which others may keep things by. */
class HiddenSets {
  #last: Hidden = NOTHING
  readonly #known = new BoundedCache<string, Hidden>({ entries: 500, bytes: 2 ** 20, weigh: (key) => 8 * bytesOf(key) })

  of(names: readonly string[]): Hidden {
    if (names.length === 0) return NOTHING
    if (!isFast) return new Set(names)
    if (names.length === this.#last.size && names.every((name) => this.#last.has(name))) return this.#last
    const key = JSON.stringify(names)
    const hidden = this.#known.get(key) ?? new Set(names)
    this.#known.set(key, hidden)
    this.#last = hidden
    return hidden
  }
}

const sets = new WeakMap<Resource, HiddenSets>()

function setsOf(resource: Resource): HiddenSets {
  const kept = sets.get(resource)
  if (kept !== undefined) return kept
  const made = new HiddenSets()
  sets.set(resource, made)
  return made
}

/** The attributes that a caller may not read, asked of each resource once a request. */
export function hiddenFrom(caller: Caller, resource: Resource): Hidden {
  const { readable } = resource.behaviours
  if (readable === null) return NOTHING
  const before = known.of(caller)
  for (let asked = before; asked !== undefined; asked = asked.before) {
    if (asked.resource === resource) return asked.hidden
  }
  const names: string[] = []
  for (const field of resource.fields) if (!readable(field, caller)) names.push(field.name)
  const hidden = setsOf(resource).of(names)
  known.set(caller, { resource, hidden, before })
  return hidden
}
