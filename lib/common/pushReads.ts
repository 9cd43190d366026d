import type { OperationName } from '../operations.js'

interface Operations {
  readonly operations: ReadonlySet<OperationName>
}

/** The operation whose policy and scope decide which clients may connect to a resource's hub. */
export function admittingOperationOf({ operations }: Operations): 'getById' | 'getList' {
  return operations.has('getById') && !operations.has('getList') ? 'getById' : 'getList'
}

/**
 * Whether events have all attributes of responses. Events of a resource that has only lists lack attributes that lists
 * exclude.
 */
export function hasWholeRecords({ operations }: Operations): boolean {
  return operations.has('getById') || !operations.has('getList')
}
