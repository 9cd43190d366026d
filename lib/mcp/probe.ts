import type { Action } from '../../types/action.js'
import type { Request } from '../../types/express.js'
import type { Caller } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName } from '../../types/resource.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { isRefusal, Problem, problem } from '../common/problem.js'
import { report } from '../common/report.js'
import { replyBehind } from '../http/calls.js'
import { callerOf } from '../identity/identity.js'
import type { Served } from './served.js'

/** Operations and actions whose policies are evaluated. */
export interface Probing {
  /** The HTTP request of the call, or null over standard input and output. */
  readonly request: Request | null
  readonly operations: readonly OperationName[]
  readonly actions: readonly Action[]
}

/** A caller, and the operations and actions that the resource's policies allow. */
export interface Probed {
  readonly caller: Caller
  readonly allowed: ReadonlySet<OperationName>
  /** Names of the actions that a tool may run for the caller. */
  readonly actions: ReadonlySet<string>
}

const NOTHING: Reply = { status: 200, headers: {}, content: { kind: 'nothing' } }

/**
 * Evaluates a resource's policies for a caller, after the middleware of its routes and its identity function.
 * @throws Problem of the policy if nothing is allowed; 500 if the host's code fails, which is reported to `onError`
 */
export async function probe(
  { name, resource, identify }: Served,
  { request, operations, actions: named }: Probing,
): Promise<Probed> {
  const { admit } = resource.behaviours
  const found: { probed?: Probed; error?: unknown } = {}
  const look = async (req: Request): Promise<Probed> => {
    const identity = await callerOf(identify, req)
    const instant = new Date()
    // A new caller for each operation, because policies' answers are cached per caller.
    const callerNow = (): Caller => ({ request: req, identity, instant })
    const allowed = new Set<OperationName>()
    const actions = new Set<string>()
    let refusal: unknown = null
    const ask = async (operation: OperationName, action?: string): Promise<boolean> => {
      try {
        await admit?.(resource, operation, callerNow(), action)
        return true
      } catch (error) {
        if (!isRefusal(error)) throw error
        refusal ??= error
        return false
      }
    }
    for (const operation of operations.filter((one) => resource.operations.has(one))) {
      if (await ask(operation)) allowed.add(operation)
    }
    for (const action of named) {
      if (await ask(action.operation, action.name)) actions.add(action.name)
    }
    // No policy was evaluated, because no tool fits the resource.
    if (allowed.size + actions.size === 0)
      throw refusal ?? problem('method-not-allowed', { detail: `${name} has no operation that a tool supports.` })
    return { caller: callerNow(), allowed, actions }
  }
  const message = { request, method: 'GET', url: resource.route, key: null, headers: {} }
  await replyBehind(resource, message, (call, outlet) =>
    look(call.request)
      .then(
        (probed) => Object.assign(found, { probed }),
        (error: unknown) => Object.assign(found, { error }),
      )
      .then(() => outlet.reply(NOTHING)),
  )
  if (found.probed !== undefined) return found.probed
  // A middleware of the routes has answered the request itself.
  if (!('error' in found)) throw problem('forbidden')
  if (found.error instanceof Problem) throw found.error
  report(found.error, request ?? NO_REQUEST, resource.onError)
  throw problem('internal', { detail: 'An unexpected error occurred.' })
}
