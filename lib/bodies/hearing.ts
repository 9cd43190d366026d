import type { Caller, Projection } from '../../types/plan.js'
import type { Relation, Resource, Written } from '../../types/resource.js'
import type { Asked, Hearing, Work } from '../../types/work.js'
import { CrudConfigError } from '../common/errors.js'
import { isRefusal, problem } from '../common/problem.js'
import { between } from '../compile/between.js'
import { planFor } from '../read.js'
import type { Session } from './session.js'

/** Policy checks of one request that a replay repeats. */
export function hearingOf(session: Session, parties: () => readonly Resource[]): Hearing {
  return {
    asked: () => session.asked,
    again: async (asked) => {
      for (const [name, operation] of asked) {
        const those = parties().filter((each) => each.name === name)
        if (those.length === 0) throw gone()
        for (const each of those) await session.admit(each, operation)
      }
    },
  }
}

/** Evaluates the policies of the first request again before its reply is replayed. @throws Problem 401 or 403 */
export async function askAgain({ hearing }: Work, asked: Asked): Promise<void> {
  if (asked.length === 0) return
  if (hearing === undefined) throw gone()
  await hearing.again(asked)
}

/** Error for a policy check whose resource no longer exists. */
function gone(): Error {
  return problem('forbidden', { detail: 'You may not do this.' })
}

/** Resources whose records a body may nest or link, at any depth, without duplicates. */
export function heldWithin(resource: Resource): readonly Resource[] {
  const met = new Set<Resource>()
  const meet = (one: Resource): void => {
    for (const held of heldBy(one)) {
      if (met.has(held)) continue
      met.add(held)
      meet(held)
    }
  }
  meet(resource)
  return [...met]
}

/** Resources of `heldWithin`, with substitutes for join models that have no resource. Policy checks of a substitute always pass. */
export function askedWithin(resource: Resource): readonly Resource[] {
  const held = heldWithin(resource)
  return [...held, ...[resource, ...held].flatMap(unspokenBy)]
}

function unspokenBy(resource: Resource): readonly Resource[] {
  return behind(resource, ({ link }) => (link === null || link.speaker() !== null ? [] : [between(link.model)]))
}

function heldBy(resource: Resource): readonly Resource[] {
  return behind(resource, (relation) => [relation.speaker(), relation.link?.speaker() ?? null])
}

/** Resources behind relations of bodies. Ambiguous and missing resources are left out: a body that names such a relation gets the error. */
function behind(
  { holds, relations }: Resource,
  resourcesOf: (relation: Relation) => readonly (Resource | null)[],
): readonly Resource[] {
  return holds.flatMap((json) => {
    const relation = relations().get(json.toLowerCase())
    try {
      return (relation === undefined ? [] : resourcesOf(relation)).filter((each) => each !== null)
    } catch (error) {
      if (error instanceof CrudConfigError) return []
      throw error
    }
  })
}

/** Projection of each nested resource for a caller, including flattened fields. Null for a resource that refuses the caller. */
export async function shownWithin(resource: Resource, caller: Caller): ReturnType<Written['held']> {
  const shown: (readonly [Resource, Projection | null])[] = []
  for (const held of heldWithin(resource)) shown.push([held, await shownOf(held, { ...caller })])
  return shown
}

async function shownOf(resource: Resource, caller: Caller): Promise<Projection | null> {
  try {
    // A batch without records has the projection of every batch.
    const none = { kind: 'bulkCreate', bodies: [], minimal: false, operation: 'create' } as const
    const { plan } = await planFor(resource, none, caller, () => undefined)
    return 'projection' in plan ? plan.projection : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
