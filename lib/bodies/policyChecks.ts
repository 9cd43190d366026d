import type { Caller, Projection } from '../../types/plan.js'
import type { PlannedWrite, Resource } from '../../types/resource.js'
import type { PassedPolicies, PolicyChecks, Work } from '../../types/work.js'
import { NO_PERMISSION } from '../common/denials.js'
import { isRefusal, problem } from '../common/problem.js'
import { resolveRelated } from '../common/relatedResources.js'
import { compileJoinModel } from '../compile/joinModel.js'
import { planFor } from '../read.js'
import type { Session } from './session.js'

/** Creates the policy checks of one request, which a replay repeats. */
export function createPolicyChecks(session: Session, parties: () => readonly Resource[]): PolicyChecks {
  return {
    passed: () => session.passedPolicies,
    repeat: async (passed) => {
      for (const [name, operation] of passed) {
        const those = parties().filter((each) => each.name === name)
        if (those.length === 0) throw missingResourceError()
        for (const each of those) await session.admit(each, operation)
      }
    },
  }
}

/** Evaluates the policies of the first request again, before its reply is replayed. @throws Problem 401 or 403 */
export async function repeatPolicyChecks({ policyChecks }: Work, passed: PassedPolicies): Promise<void> {
  if (passed.length === 0) return
  if (policyChecks === undefined) throw missingResourceError()
  await policyChecks.repeat(passed)
}

/** Creates the error for a policy check whose resource no longer exists. */
function missingResourceError(): Error {
  return problem('forbidden', { detail: NO_PERMISSION })
}

/**
 * Returns the resources that bodies may nest or link, and substitutes for join models that have no resource. Policy
 * checks of a substitute always pass.
 */
export function collectCheckedResources(resource: Resource): readonly Resource[] {
  const nested = resource.nestedResources()
  return [...nested, ...[resource, ...nested].flatMap(createSubstitutes)]
}

function createSubstitutes(resource: Resource): readonly Resource[] {
  return resolveRelated(resource, ({ joinModel }) =>
    joinModel === null || joinModel.joinModelResource() !== null ? [] : [compileJoinModel(joinModel.model)],
  )
}

/**
 * Returns the projection of each nested resource for a caller, flattened fields included; null for a resource that
 * refuses the caller.
 */
export async function readNestedProjections(
  resource: Resource,
  caller: Caller,
): ReturnType<PlannedWrite['nestedProjections']> {
  const shown: (readonly [Resource, Projection | null])[] = []
  for (const nested of resource.nestedResources()) shown.push([nested, await readProjection(nested, { ...caller })])
  return shown
}

async function readProjection(resource: Resource, caller: Caller): Promise<Projection | null> {
  try {
    // An empty batch has the projection that every batch has.
    const none = { kind: 'bulkCreate', bodies: [], minimal: false, operation: 'create' } as const
    const { plan } = await planFor(resource, none, caller, null)
    return 'projection' in plan ? plan.projection : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
