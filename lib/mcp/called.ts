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

/** The surroundings of a call: the same for all calls but for the request. */
export interface Context {
  readonly served: ReadonlyMap<string, Served>
  /** The request that brings the call; null for a call without a request. */
  readonly request: Request | null
  readonly maxRecords: number
  readonly maxBytes: number
  /** The operations of the tools. */
  readonly operations: readonly OperationName[]
  /** Whether there are tools that write. */
  readonly writes: boolean
}

/** The actions of a resource that tools may run, for any caller. */
export function actionsOf({ resource }: Served, { writes }: Pick<Context, 'writes'>): readonly Action[] {
  return [...resource.actions.values()].filter(({ method }) => writes || method === 'get')
}

/** @throws Problem for an unknown name */
export function namedBy({ served }: Context, { resource: name = '' }: Arguments): Served {
  const found = served.get(name)
  if (found !== undefined) return found
  throw invalidQuery('resource', 'is the name of none: list_resources has those that there are.')
}

/** The resource of a call for an operation. @throws Problem for arguments that the operation does not take */
export function resourceFor(context: Context, operation: OperationName, given: Arguments): Served {
  const served = namedBy(context, given)
  const { name, resource } = served
  if (!resource.operations.has(operation)) {
    throw problem('method-not-allowed', { detail: `${name} has no operation ${operation}.` })
  }
  const { key = null, version } = given
  assertKey(resource, OPERATIONS[operation].path.startsWith('/:id'), key)
  if (version !== undefined && !resource.versions) {
    throw invalidQuery('version', 'is for resources whose records have one.')
  }
  return served
}

/** The reply of a resource, behind the middleware of its routes. */
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

/** @throws Problem for an unknown name, and for an action that tools may not run */
export function actionNamed(context: Context, given: Arguments): Action {
  const found = actionsOf(namedBy(context, given), context).find(({ name }) => name === given.action)
  if (found !== undefined) return found
  throw invalidQuery('action', 'is the name of none: describe_resource has those that there are.')
}

/** The reply of an action, likewise. @throws Problem for arguments that are not for it */
export function acted(context: Context, action: Action, given: Arguments): Promise<Reply> {
  const { resource, identify, within } = namedBy(context, given)
  const { key = null, input, version } = given
  const { name, operation, method, path, on } = action
  const isRead = method === 'get'
  assertKey(resource, on === 'record', key)
  if (on === 'collection' && key !== null) throw invalidQuery('key', 'is for actions of records.')
  if (action.input === null && input !== undefined) throw invalidQuery('input', 'is for actions that take one.')
  if (version !== undefined && (!resource.versions || isRead || on === 'collection')) {
    throw invalidQuery('version', 'is for actions that change a record which has one.')
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

/** @throws Problem for a key where the caller has one record, and without one where a record is needed */
function assertKey({ behaviours }: Resource, isOfRecord: boolean, key: string | null): void {
  if (behaviours.ownKey !== null && key !== null) {
    throw invalidQuery('key', 'is not for this resource, which has one record for you.')
  }
  if (behaviours.ownKey === null && key === null && isOfRecord) throw invalidQuery('key', 'is missing.')
}

function urlOf({ route }: Resource, key: string | null): string {
  return route + (key === null ? '' : `/${encodeURIComponent(key)}`)
}

function headersOf({ keeps }: Resource, version: string | undefined): Readonly<Record<string, string>> {
  return {
    // An unknown name in a query is an error, even if the API ignores it.
    prefer: 'handling=strict',
    ...(version === undefined ? {} : { 'if-match': `W/"${version}"` }),
    // Each call is a write of its own.
    ...(keeps === null ? {} : { 'idempotency-key': randomUUID() }),
  }
}

/** @throws Problem 413 for values that are larger than a body may be */
function assertSize({ limits: { bodySize } }: Resource, values: object | undefined): void {
  if (values === undefined || Buffer.byteLength(jsonOf(values)) <= bodySize) return
  throw bodyProblem({ type: 'entity.too.large' }, bodySize) ?? new RangeError('the values are too large')
}

/** Parameters of a URL: an array is one that is given several times. */
function queryOf(parameters: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === null
      ? []
      : [value].flat().map((each): [string, string] => [name, typeof each === 'object' ? jsonOf(each) : String(each)]),
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
