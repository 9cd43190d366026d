import type { Call } from '../../types/call.js'
import type { Caller } from '../../types/plan.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'

/** A resource in a request, and the caller as it meets him: a scope answers once for each. */
export interface Party {
  readonly resource: Resource
  readonly caller: Caller
}

/** A call for what lies behind a relation of a record, admitted by all who have a say. */
export interface NestedRequest {
  readonly relation: Relation
  readonly owner: Party
  readonly target: Party
  /** Who speaks for the rows that link a many-to-many; null where nobody does, or there are none. */
  readonly link: Party | null
  readonly call: Call
  /** The owner's key, as it stands in paths. */
  readonly ownerId: string
  /** The operation of the target that it is for. */
  readonly operation: OperationName
}

/** Who must let the caller in before anything is read. @throws Problem 401 or 403 */
export async function admit({ resource, caller }: Party, operation: OperationName): Promise<void> {
  await resource.behaviours.admit?.(resource, operation, caller)
}
