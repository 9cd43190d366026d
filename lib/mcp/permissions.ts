import type { Action } from '../../types/action.js'
import type { Request } from '../../types/express.js'
import type { Caller } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName } from '../../types/resource.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { isRefusal, Problem, problem } from '../common/problem.js'
import { reportError } from '../common/report.js'
import { callRoute } from '../http/internalCall.js'
import { identifyCaller } from '../identity/identity.js'
import type { ToolResource } from './toolResource.js'

/** Operations and actions whose policies are evaluated. */
export interface PermissionQuery {
  /** The HTTP request of the call, or null over standard input and output. */
  readonly request: Request | null
  readonly operations: readonly OperationName[]
  readonly actions: readonly Action[]
}

/** A caller, and the operations and actions that the resource's policies allow. */
export interface Permissions {
  readonly caller: Caller
  readonly allowed: ReadonlySet<OperationName>
  /** Names of the actions that a tool may run for the caller. */
  readonly actions: ReadonlySet<string>
}

const EMPTY_REPLY: Reply = { status: 200, headers: {}, content: { kind: 'nothing' } }

/**
 * Evaluates a resource's policies for a caller. Middlewares of the routes and the identity function run first.
 * @throws Problem of the policy if nothing is allowed; 500 if the host's code fails. The failure is reported to
 * `onError`
 */
export async function findPermissions(
  { name, resource, identify }: ToolResource,
  { request, operations, actions: named }: PermissionQuery,
): Promise<Permissions> {
  const { admit } = resource.behaviours
  const found: { probed?: Permissions; error?: unknown } = {}
  const evaluatePolicies = async (req: Request): Promise<Permissions> => {
    const identity = await identifyCaller(identify, req)
    const instant = new Date()
    // Each operation gets a new caller object, because results of policies are cached per caller object.
    const createCaller = (): Caller => ({ request: req, identity, instant })
    const allowed = new Set<OperationName>()
    const actions = new Set<string>()
    let refusal: unknown = null
    const isAllowed = async (operation: OperationName, action?: string): Promise<boolean> => {
      try {
        await admit?.(resource, operation, createCaller(), action)
        return true
      } catch (error) {
        if (!isRefusal(error)) throw error
        refusal ??= error
        return false
      }
    }
    for (const operation of operations.filter((one) => resource.operations.has(one))) {
      if (await isAllowed(operation)) allowed.add(operation)
    }
    for (const action of named) {
      if (await isAllowed(action.operation, action.name)) actions.add(action.name)
    }
    // No policy was evaluated, because the resource has no operation that a tool supports.
    if (allowed.size + actions.size === 0)
      throw refusal ?? problem('method-not-allowed', { detail: `${name} has no operation that a tool supports.` })
    return { caller: createCaller(), allowed, actions }
  }
  const message = { request, method: 'GET', url: resource.route, key: null, headers: {} }
  await callRoute(resource, message, (call, outlet) =>
    evaluatePolicies(call.request)
      .then(
        (probed) => Object.assign(found, { probed }),
        (error: unknown) => Object.assign(found, { error }),
      )
      .then(() => outlet.reply(EMPTY_REPLY)),
  )
  if (found.probed !== undefined) return found.probed
  // A middleware of the routes has answered the request itself.
  if (!('error' in found)) throw problem('forbidden')
  if (found.error instanceof Problem) throw found.error
  reportError(found.error, request ?? NO_REQUEST, resource.onError)
  throw problem('internal', { detail: 'An unexpected error occurred.' })
}
