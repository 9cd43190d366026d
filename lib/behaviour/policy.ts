import type { Behaviour } from '../../types/behaviour.js'
import type { Policy } from '../../types/identity.js'
import type { Caller } from '../../types/plan.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { problem } from '../problem.js'

/** The policy of each operation; none for those that are open. */
export interface Policies {
  readonly operations: ReadonlyMap<OperationName, Policy>
  readonly includeDeleted: Policy | null
}

/**
 * Operations ask a policy before anything else. What crosses into the resource by a relation path asks its list policy,
 * and where there are no lists the one of GET by id.
 */
export function policy({ operations, includeDeleted }: Policies): Behaviour {
  return {
    name: 'policy',
    admit: (resource, operation, caller) => require(operations.get(operation) ?? null, resource, operation, caller),
    amend: async (resource, plan, caller) => {
      const asks = (plan.kind === 'page' || plan.kind === 'count' || plan.kind === 'keyset') && plan.includeDeleted
      if (asks) await require(includeDeleted, resource, 'getList', caller)
      return plan
    },
    reach: async (resource, caller) => {
      const operation = resource.operations.has('getList') ? 'getList' : 'getById'
      const admits = await asked(operations.get(operation) ?? null, resource, operation, caller)
      return admits ? null : false
    },
  }
}

/** Nothing but `true` admits: a forgotten return or a truthy object does not. */
async function asked(
  decide: Policy | null,
  resource: Resource,
  operation: OperationName,
  { request, identity }: Caller,
): Promise<boolean> {
  return decide === null || (await decide({ request, identity, operation, resource })) === true
}

async function require(
  decide: Policy | null,
  resource: Resource,
  operation: OperationName,
  caller: Caller,
): Promise<void> {
  if (await asked(decide, resource, operation, caller)) return
  throw denied(caller)
}

/** 401 with a challenge for anonymous callers (RFC 9110 section 15.5.2), 403 for those who are known. */
function denied({ identity }: Caller): Error {
  if (identity !== null) return problem('forbidden', { detail: 'You may not do this.' })
  return problem('unauthorized', { detail: 'Say who you are.', headers: { 'WWW-Authenticate': 'Bearer' } })
}
