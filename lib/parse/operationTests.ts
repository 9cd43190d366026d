import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import type { IntentKind, OperationName } from '../operations.js'
import { modeOfUrl } from './list.js'
import { resourceForQuery, urlOf } from './queryMethod.js'

type IsRequested = (resource: Resource, call: Call) => boolean

/**
 * Tests of the operations that share their method and path with another operation, as aggregates do with the list. A
 * test decides whether a request is for its operation.
 */
const REQUEST_TESTS: { readonly [kind in IntentKind]?: IsRequested } = {
  aggregate: (resource, call) => modeOfUrl(resourceForQuery(resource, call), urlOf(call)) === 'aggregate',
}

/** Whether a request is for the operation of this kind. Several operations share a method and path. */
export function isOperationRequested(kind: IntentKind, resource: Resource, call: Call): boolean {
  return REQUEST_TESTS[kind]?.(resource, call) ?? false
}

/** Returns the operation of a list request. A request for a file is an export regardless of the other parameters. */
export function listOperationOf(resource: Resource, call: Call, isFile: boolean): OperationName {
  if (isFile && resource.operations.has('export')) return 'export'
  return resource.operations.has('aggregate') && isOperationRequested('aggregate', resource, call)
    ? 'aggregate'
    : 'getList'
}

/** Whether the operation of this kind shares its method and path with another operation. */
export function hasSharedRoute(kind: IntentKind): boolean {
  return REQUEST_TESTS[kind] !== undefined
}
