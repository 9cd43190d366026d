import type { Caller, Projection } from '../../types/plan.js'
import type { Relation, Resource, Written } from '../../types/resource.js'
import type { Asked, Hearing, Work } from '../../types/work.js'
import { CrudConfigError } from '../common/errors.js'
import { isRefusal, problem } from '../common/problem.js'
import { between } from '../compile/between.js'
import { planFor } from '../read.js'
import type { Session } from './session.js'

/** Those who let the caller in on the way of one request, so that they can be asked once more. */
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

/** Asks those whom the first request has asked on its way, before its reply is given again. @throws Problem 401 or 403 */
export async function askAgain({ hearing }: Work, asked: Asked): Promise<void> {
  if (asked.length === 0) return
  if (hearing === undefined) throw gone()
  await hearing.again(asked)
}

/** Whoever was asked is not there any more. */
function gone(): Error {
  return problem('forbidden', { detail: 'You may not do this.' })
}

/** The resources whose records bodies of one may hold or link, those of these included, each once. */
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

/** The same, and what the rows of tables between are written by that have no resource: they are asked like any, and say nothing. */
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

/** Resources behind relations of bodies. Ambiguous or missing ones are left out: a body that names such a relation is answered with that. */
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

/** What a caller is shown of each of these records, what is flattened into them included; null where he is refused. */
export async function shownWithin(resource: Resource, caller: Caller): ReturnType<Written['held']> {
  const shown: (readonly [Resource, Projection | null])[] = []
  for (const held of heldWithin(resource)) shown.push([held, await shownOf(held, { ...caller })])
  return shown
}

async function shownOf(resource: Resource, caller: Caller): Promise<Projection | null> {
  try {
    // Of no records: what they show is that of any.
    const none = { kind: 'bulkCreate', bodies: [], minimal: false, operation: 'create' } as const
    const { plan } = await planFor(resource, none, caller, () => undefined)
    return 'projection' in plan ? plan.projection : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
