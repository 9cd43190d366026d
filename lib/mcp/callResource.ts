import { randomUUID } from 'node:crypto'
import type { Action } from '../../types/action.js'
import type { Request } from '../../types/express.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { stringifyJson } from '../common/json.js'
import { invalidQuery, problem } from '../common/problem.js'
import { handle, serve } from '../handle.js'
import { callRoute } from '../http/internalCall.js'
import { OPERATIONS } from '../operations.js'
import { bodyProblem } from '../parse/body.js'
import type { Arguments } from './arguments.js'
import type { ToolResource } from './toolResource.js'

/** Settings of the handler, and the HTTP request of one call. */
export interface ToolContext {
  readonly resources: ReadonlyMap<string, ToolResource>
  /** The HTTP request of the call, or null over standard input and output. */
  readonly request: Request | null
  readonly maxRecords: number
  readonly maxBytes: number
  /** Operations that the tools call. */
  readonly operations: readonly OperationName[]
  /** Whether writing tools are offered. */
  readonly hasWriteTools: boolean
}

/** Actions of a resource that tools may run. The function does not evaluate policies. */
export function runnableActionsOf(
  { resource }: ToolResource,
  { hasWriteTools }: Pick<ToolContext, 'hasWriteTools'>,
): readonly Action[] {
  return [...resource.actions.values()].filter(({ method }) => hasWriteTools || method === 'get')
}

/** Finds a resource by the name in a call. @throws Problem for an unknown resource */
export function findResource({ resources }: ToolContext, { resource: name = '' }: Arguments): ToolResource {
  const found = resources.get(name)
  if (found !== undefined) return found
  throw invalidQuery('resource', 'is not a known resource. Call list_resources for the names.')
}

/**
 * Finds the resource of a call.
 * @throws Problem if the resource lacks the operation, or does not support an argument
 */
export function findResourceFor(context: ToolContext, operation: OperationName, given: Arguments): ToolResource {
  const served = findResource(context, given)
  const { name, resource } = served
  if (!resource.operations.has(operation)) {
    throw problem('method-not-allowed', { detail: `${name} has no operation ${operation}.` })
  }
  const { key = null, version } = given
  assertKeyArgument(resource, OPERATIONS[operation].path.startsWith('/:id'), key)
  if (version !== undefined && !resource.versions) {
    throw invalidQuery('version', 'is not allowed: records of this resource have no version.')
  }
  return served
}

/** Runs an operation. Middlewares of the resource's routes run first. */
export function callOperation(
  context: ToolContext,
  operation: OperationName,
  given: Arguments,
  parameters: Readonly<Record<string, string | undefined>> = {},
): Promise<Reply> {
  const { resource, identify, limitIntent } = findResourceFor(context, operation, given)
  const { key = null, values, version } = given
  assertBodySize(resource, values)
  const isRead = OPERATIONS[operation].hook === null
  return callRoute(
    resource,
    {
      request: context.request,
      method: OPERATIONS[operation].method.toUpperCase(),
      url: recordUrl(resource, key) + toQueryString(parameters),
      key,
      headers: requestHeaders(resource, version),
      body: values,
    },
    (call, response) =>
      serve({ resource, relation: null, operation, isRead }, call, response, () =>
        handle(resource, operation, call, { identify, limitIntent }),
      ),
  )
}

/** Finds the action of a call. @throws Problem for an unknown action, and for an action that tools may not run */
export function findAction(context: ToolContext, given: Arguments): Action {
  const found = runnableActionsOf(findResource(context, given), context).find(({ name }) => name === given.action)
  if (found !== undefined) return found
  throw invalidQuery('action', 'is not an action of this resource. Call describe_resource for the names.')
}

/**
 * Runs an action. Middlewares of the resource's routes run first.
 * @throws Problem for arguments that the action does not support
 */
export function callAction(context: ToolContext, action: Action, given: Arguments): Promise<Reply> {
  const { resource, identify, limitIntent } = findResource(context, given)
  const { key = null, input, version } = given
  const { name, operation, method, path, on } = action
  const isRead = method === 'get'
  assertKeyArgument(resource, on === 'record', key)
  if (on === 'collection' && key !== null)
    throw invalidQuery('key', 'is not allowed: this action applies to the collection.')
  if (action.input === null && input !== undefined)
    throw invalidQuery('input', 'is not allowed: this action has no input.')
  if (version !== undefined && (!resource.versions || isRead || on === 'collection')) {
    throw invalidQuery('version', 'is not allowed: this action does not change a record with a version.')
  }
  assertBodySize(resource, input)
  return callRoute(
    resource,
    {
      request: context.request,
      method: method.toUpperCase(),
      url: recordUrl(resource, key) + path.replace('/:id', '') + (isRead ? toQueryString(input ?? {}) : ''),
      key,
      headers: requestHeaders(resource, version),
      body: isRead || action.input === null ? undefined : (input ?? {}),
    },
    (call, response) =>
      serve({ resource, relation: null, operation, action: name, isRead }, call, response, () =>
        handle(resource, operation, call, { identify, limitIntent, action }),
      ),
  )
}

/** Checks the argument `key`. @throws Problem if a call has a key for a singleton, or lacks the key of a record */
function assertKeyArgument({ behaviours }: Resource, isOfRecord: boolean, key: string | null): void {
  if (behaviours.ownKey !== null && key !== null) {
    throw invalidQuery('key', 'is not allowed: this resource has a single record for you.')
  }
  if (behaviours.ownKey === null && key === null && isOfRecord) throw invalidQuery('key', 'is missing.')
}

function recordUrl({ route }: Resource, key: string | null): string {
  return route + (key === null ? '' : `/${encodeURIComponent(key)}`)
}

function requestHeaders({ idempotency }: Resource, version: string | undefined): Readonly<Record<string, string>> {
  return {
    // Strict handling makes unknown query parameters an error, even if the API ignores them.
    prefer: 'handling=strict',
    ...(version === undefined ? {} : { 'if-match': `W/"${version}"` }),
    // The idempotency key is random, because every call is a new write.
    ...(idempotency === null ? {} : { 'idempotency-key': randomUUID() }),
  }
}

/** Checks the size of a call's values. @throws Problem 413 if the values exceed the body limit */
function assertBodySize({ limits: { bodySize } }: Resource, values: object | undefined): void {
  if (values === undefined || Buffer.byteLength(stringifyJson(values)) <= bodySize) return
  throw bodyProblem({ type: 'entity.too.large' }, bodySize) ?? new RangeError('the values exceed the body limit')
}

/** Writes the query string of a URL. An array becomes a repeated parameter. */
function toQueryString(parameters: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === null
      ? []
      : [value]
          .flat()
          .map((each): [string, string] => [name, typeof each === 'object' ? stringifyJson(each) : String(each)]),
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
