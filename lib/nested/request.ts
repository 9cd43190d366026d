import type { Call } from '../../types/call.js'
import type { Caller } from '../../types/plan.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'

/** A resource of a request, with a caller of its own. A scope is evaluated once for each caller. */
export interface ResourceCaller {
  readonly resource: Resource
  readonly caller: Caller
}

/** A request below a relation of a record, after all policy checks. */
export interface NestedRequest {
  readonly relation: Relation
  readonly parent: ResourceCaller
  readonly target: ResourceCaller
  /** Resource over the join model. Null if there is no join model, or no resource over it. */
  readonly joinModel: ResourceCaller | null
  readonly call: Call
  /** The parent's key, as written in paths. */
  readonly parentId: string
  /** Operation of the target. */
  readonly operation: OperationName
}

/** Evaluates the policy of an operation before any read. @throws Problem 401 or 403 */
export async function admit({ resource, caller }: ResourceCaller, operation: OperationName): Promise<void> {
  await resource.behaviours.admit?.(resource, operation, caller)
}
