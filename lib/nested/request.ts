import type { Request, Response } from 'express'
import type { Caller } from '../../types/plan.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'
import type { OperationTable } from '../operations.js'
import type { BodyParsers } from '../parse/queried.js'

/** A resource in a request, and the caller as it meets him: a scope answers once for each. */
export interface Party {
  readonly resource: Resource
  readonly caller: Caller
}

/** A request for what lies behind a relation of a record, admitted by all who have a say. */
export interface NestedRequest {
  readonly relation: Relation
  readonly owner: Party
  readonly target: Party
  /** Who speaks for the rows that link a many-to-many; null where nobody does, or there are none. */
  readonly link: Party | null
  readonly req: Request
  readonly res: Response
  /** What reads the bodies of a resource. */
  readonly parsersOf: (resource: Resource) => BodyParsers
  readonly operations: OperationTable
  /** The operation of the target that it is for. */
  readonly operation: OperationName
  /** The names of the formats that an export may be asked for in. */
  readonly formats: readonly string[]
}

/** Who must let the caller in before anything is read. @throws Problem 401 or 403 */
export async function admit({ resource, caller }: Party, operation: OperationName): Promise<void> {
  await resource.behaviours.admit?.(resource, operation, caller)
}
