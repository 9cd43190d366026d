import { randomUUID } from 'node:crypto'
import type { Action } from '../../types/action.js'
import type { Request } from '../../types/express.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { jsonOf } from '../common/json.js'
import { invalidQuery, problem } from '../common/problem.js'
import { replyTo, serve } from '../handle.js'
import { replyBehind } from '../http/calls.js'
import { OPERATIONS } from '../operations.js'
import { bodyProblem } from '../parse/body.js'
import type { Arguments } from './arguments.js'
import type { Served } from './served.js'

/** Settings of all calls, and the request of this call. */
export interface Context {
  readonly served: ReadonlyMap<string, Served>
  /** The HTTP request of the call, or null over standard input and output. */
  readonly request: Request | null
  readonly maxRecords: number
  readonly maxBytes: number
  /** Operations that the tools call. */
  readonly operations: readonly OperationName[]
  /** Whether writing tools are offered. */
  readonly writes: boolean
}

/** Actions of a resource that tools may run. Policies are not evaluated here. */
export function actionsOf({ resource }: Served, { writes }: Pick<Context, 'writes'>): readonly Action[] {
  return [...resource.actions.values()].filter(({ method }) => writes || method === 'get')
}

/** @throws Problem for an unknown resource */
export function namedBy({ served }: Context, { resource: name = '' }: Arguments): Served {
  const found = served.get(name)
  if (found !== undefined) return found
  throw invalidQuery('resource', 'is not a known resource. Call list_resources for the names.')
}

/**
 * The resource of a call. @throws Problem if the resource lacks the operation, or for arguments that it does not take
 */
export function resourceFor(context: Context, operation: OperationName, given: Arguments): Served {
  const served = namedBy(context, given)
  const { name, resource } = served
  if (!resource.operations.has(operation)) {
    throw problem('method-not-allowed', { detail: `${name} has no operation ${operation}.` })
  }
  const { key = null, version } = given
  assertKey(resource, OPERATIONS[operation].path.startsWith('/:id'), key)
  if (version !== undefined && !resource.versions) {
    throw invalidQuery('version', 'is not allowed: records of this resource have no version.')
  }
  return served
}

/** Runs an operation, after the middleware of the resource's routes. */
export function called(
  context: Context,
  operation: OperationName,
  given: Arguments,
  parameters: Readonly<Record<string, string | undefined>> = {},
): Promise<Reply> {
  const { resource, identify, within } = resourceFor(context, operation, given)
  const { key = null, values, version } = given
  assertSize(resource, values)
  const isRead = OPERATIONS[operation].hook === null
  return replyBehind(
    resource,
    {
      request: context.request,
      method: OPERATIONS[operation].method.toUpperCase(),
      url: urlOf(resource, key) + queryOf(parameters),
      key,
      headers: headersOf(resource, version),
      body: values,
    },
    (call, outlet) =>
      serve({ resource, relation: null, operation, isRead }, call, outlet, () =>
        replyTo(resource, operation, call, { identify, within }),
      ),
  )
}

/** @throws Problem for an unknown action, and for an action that tools may not run */
export function actionNamed(context: Context, given: Arguments): Action {
  const found = actionsOf(namedBy(context, given), context).find(({ name }) => name === given.action)
  if (found !== undefined) return found
  throw invalidQuery('action', 'is not an action of this resource. Call describe_resource for the names.')
}

/**
 * Runs an action, after the middleware of the resource's routes. @throws Problem for arguments that the action does not
 * take
 */
export function acted(context: Context, action: Action, given: Arguments): Promise<Reply> {
  const { resource, identify, within } = namedBy(context, given)
  const { key = null, input, version } = given
  const { name, operation, method, path, on } = action
  const isRead = method === 'get'
  assertKey(resource, on === 'record', key)
  if (on === 'collection' && key !== null)
    throw invalidQuery('key', 'is not allowed: this action applies to the collection.')
  if (action.input === null && input !== undefined)
    throw invalidQuery('input', 'is not allowed: this action has no input.')
  if (version !== undefined && (!resource.versions || isRead || on === 'collection')) {
    throw invalidQuery('version', 'is not allowed: this action does not change a record with a version.')
  }
  assertSize(resource, input)
  return replyBehind(
    resource,
    {
      request: context.request,
      method: method.toUpperCase(),
      url: urlOf(resource, key) + path.replace('/:id', '') + (isRead ? queryOf(input ?? {}) : ''),
      key,
      headers: headersOf(resource, version),
      body: isRead || action.input === null ? undefined : (input ?? {}),
    },
    (call, outlet) =>
      serve({ resource, relation: null, operation, action: name, isRead }, call, outlet, () =>
        replyTo(resource, operation, call, { identify, within, action }),
      ),
  )
}

/** @throws Problem for a key of a singleton, and for a missing key of a record */
function assertKey({ behaviours }: Resource, isOfRecord: boolean, key: string | null): void {
  if (behaviours.ownKey !== null && key !== null) {
    throw invalidQuery('key', 'is not allowed: this resource has a single record for you.')
  }
  if (behaviours.ownKey === null && key === null && isOfRecord) throw invalidQuery('key', 'is missing.')
}

function urlOf({ route }: Resource, key: string | null): string {
  return route + (key === null ? '' : `/${encodeURIComponent(key)}`)
}

function headersOf({ keeps }: Resource, version: string | undefined): Readonly<Record<string, string>> {
  return {
    // An unknown query parameter is an error, even if the API ignores it.
    prefer: 'handling=strict',
    ...(version === undefined ? {} : { 'if-match': `W/"${version}"` }),
    // Every call is a new write, so its idempotency key is random.
    ...(keeps === null ? {} : { 'idempotency-key': randomUUID() }),
  }
}

/** @throws Problem 413 if the values exceed the body limit */
function assertSize({ limits: { bodySize } }: Resource, values: object | undefined): void {
  if (values === undefined || Buffer.byteLength(jsonOf(values)) <= bodySize) return
  throw bodyProblem({ type: 'entity.too.large' }, bodySize) ?? new RangeError('the values exceed the body limit')
}

/** The query string of a URL. An array becomes a repeated parameter. */
function queryOf(parameters: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === null
      ? []
      : [value].flat().map((each): [string, string] => [name, typeof each === 'object' ? jsonOf(each) : String(each)]),
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
