import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { OperationName } from '../operations.js'
import { NO_REQUEST } from './noRequest.js'

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

/**
 * The version field that events of deleted records have. Returns null if the resource has no version, or if the version
 * is hidden from some callers.
 */
export function visibleVersionOf({ versionField: field, behaviours }: Resource): Field | null {
  if (field === null || !field.targets.has('response') || !field.targets.has('list')) return null
  const anonymous = { request: NO_REQUEST, identity: null, instant: new Date() }
  return behaviours.readable?.(field, anonymous) === false ? null : field
}
