import { randomUUID } from 'node:crypto'
import type { Request } from '../../types/express.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName } from '../../types/resource.js'
import { jsonOf } from '../common/json.js'
import { invalidQuery, problem } from '../common/problem.js'
import { replyTo, serve } from '../handle.js'
import { replyBehind } from '../http/calls.js'
import { OPERATIONS } from '../operations.js'
import { bodyProblem } from '../parse/body.js'
import type { Arguments } from './arguments.js'
import type { Served } from './served.js'

/** What tools are called in. */
export interface Context {
  readonly served: ReadonlyMap<string, Served>
  /** The request that brings the call; null where none does. */
  readonly request: Request | null
  readonly maxRecords: number
  /** The operations that tools stand for here. */
  readonly operations: readonly OperationName[]
}

/** @throws Problem for a name that no resource has */
export function namedBy({ served }: Context, { resource: name = '' }: Arguments): Served {
  const found = served.get(name)
  if (found !== undefined) return found
  throw invalidQuery('resource', 'is the name of none: list_resources has those that there are.')
}

/** The reply of a resource, behind what runs in front of its routes. */
export function called(
  context: Context,
  operation: OperationName,
  given: Arguments,
  parameters: Readonly<Record<string, string | undefined>> = {},
): Promise<Reply> {
  const { name, resource, identify, within } = namedBy(context, given)
  if (!resource.operations.has(operation)) {
    throw problem('method-not-allowed', { detail: `${name} has no operation ${operation}.` })
  }
  const { key = null, values, version } = given
  if (version !== undefined && !resource.versions) {
    throw invalidQuery('version', 'is for resources whose records have one.')
  }
  const { bodySize } = resource.limits
  if (values !== undefined && Buffer.byteLength(jsonOf(values)) > bodySize) {
    throw bodyProblem({ type: 'entity.too.large' }, bodySize) ?? new RangeError('the values are too large')
  }
  const isRead = OPERATIONS[operation].hook === null
  return replyBehind(
    resource,
    {
      request: context.request,
      method: OPERATIONS[operation].method.toUpperCase(),
      url: resource.route + (key === null ? '' : `/${encodeURIComponent(key)}`) + queryOf(parameters),
      key,
      headers: {
        // A clause that means nothing is told, whatever the API lets pass.
        prefer: 'handling=strict',
        ...(version === undefined ? {} : { 'if-match': `W/"${version}"` }),
        // Each call is a write of its own.
        ...(resource.keeps === null ? {} : { 'idempotency-key': randomUUID() }),
      },
      body: values,
    },
    (call, outlet) =>
      serve({ resource, relation: null, operation, isRead }, call, outlet, () =>
        replyTo(resource, operation, call, { identify, within }),
      ),
  )
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
