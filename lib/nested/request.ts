import type { Call } from '../../types/call.js'
import type { Caller } from '../../types/plan.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'

/** Resource of a request, with a separate caller object, because a scope is evaluated once for each caller object. */
export interface ResourceCaller {
  readonly resource: Resource
  readonly caller: Caller
}

/** Request below a relation of a record, after all policy checks. */
export interface NestedRequest {
  readonly relation: Relation
  readonly parent: ResourceCaller
  readonly target: ResourceCaller
  /** Resource over the join model. null if there is no join model, or no resource over it. */
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
