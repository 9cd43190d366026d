import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import type { IntentKind, OperationName } from '../operations.js'
import { modeIn } from './list.js'
import { readFor, urlOf } from './queried.js'

type Meant = (resource: Resource, call: Call) => boolean

/** For operations that share a method and path: whether a request is for the operation. */
const MEANT: { readonly [kind in IntentKind]?: Meant } = {
  aggregate: (resource, call) => modeIn(readFor(resource, call), urlOf(call)) === 'aggregate',
}

/** Whether a request is for the operation of this kind, among those with the same method and path. */
export function isMeant(kind: IntentKind, resource: Resource, call: Call): boolean {
  return MEANT[kind]?.(resource, call) ?? false
}

/** The operation of a list request. A file is an export regardless of the other parameters. */
export function listOperation(resource: Resource, call: Call, isFile: boolean): OperationName {
  if (isFile && resource.operations.has('export')) return 'export'
  return resource.operations.has('aggregate') && isMeant('aggregate', resource, call) ? 'aggregate' : 'getList'
}

/** Whether the operation of this kind shares its method and path with another one. */
export function isTold(kind: IntentKind): boolean {
  return MEANT[kind] !== undefined
}
