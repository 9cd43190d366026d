import type { Request, Response } from '../../types/express.js'
import type { Identity, IdentityFunction } from '../../types/identity.js'
import { NOT_AUTHENTICATED } from '../common/denials.js'
import { isRefusal, type Problem, problem } from '../common/problem.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { identifyCaller } from '../identity/identity.js'
import { addChallenge, createChallenge } from './authorization.js'
import { hostnameOf, isOwnOrigin, LOCAL_HOSTS } from './hosts.js'
import type { McpOptions } from './options.js'
import type { ToolResource } from './toolResource.js'

/** Checks of a request before its message is read. */
export interface RequestChecks {
  /** Identity functions of all resources. */
  readonly identityFunctions: ReadonlySet<IdentityFunction>
  /** Host names that browser pages may send requests to. */
  readonly hosts: ReadonlySet<string>
  /** Whether requests without `Origin` must also be sent to one of the `hosts`. */
  readonly isHostRequired: boolean
  /** Allowed origins in addition to the handler's own. */
  readonly origins: ReadonlySet<string>
  /** Parameters of `WWW-Authenticate` challenges, or null without `authorization`. */
  readonly challenge: string | null
}

export function createRequestChecks(served: ReadonlyMap<string, ToolResource>, options: McpOptions): RequestChecks {
  const { hosts, origins, authorization } = options
  const known = authorization === undefined ? LOCAL_HOSTS : [...LOCAL_HOSTS, new URL(authorization.resource).hostname]
  return {
    identityFunctions: new Set([...served.values()].map(({ identifySender }) => identifySender)),
    hosts: new Set((hosts ?? known).map((name) => name.toLowerCase())),
    isHostRequired: hosts !== undefined,
    origins: new Set(origins),
    challenge: authorization === undefined ? null : createChallenge(authorization),
  }
}

/**
 * Checks a request's origin, method, host and credentials before its message is read. The credentials must be valid for
 * at least one resource.
 */
export async function assertRequestAllowed(gate: RequestChecks, req: Request, res: Response): Promise<void> {
  const { origin, host } = req.headers
  const isListed = gate.origins.has(origin ?? '')
  if (origin !== undefined && !isListed && !isOwnOrigin(origin, host)) {
    throw problem('forbidden', {
      detail:
        'Requests from pages of other origins are not allowed. The option `origins` of crudMcp lists allowed origins.',
    })
  }
  if (req.method !== 'POST') {
    res.setHeader('Allow', 'POST')
    throw problem('method-not-allowed', { detail: `This path does not support ${req.method}. It supports POST.` })
  }
  const hostname = hostnameOf(host)
  if (hostname === null) throw problem('bad-request', { detail: 'The Host header is malformed.' })
  // Protects against DNS rebinding: a malicious page sends its own origin, and a host name that resolves to this
  // server.
  const isChecked = gate.isHostRequired || (origin !== undefined && !isListed)
  if (isChecked && !gate.hosts.has(hostname)) {
    throw problem('forbidden', {
      detail: `Requests to the host "${truncateEcho(hostname)}" are not allowed. The option \`hosts\` of crudMcp lists allowed hosts.`,
    })
  }
  await assertIdentified(gate, req)
}

/** Requires an identity from one of the identity functions. Resources may accept tokens of different issuers. */
async function assertIdentified({ identityFunctions, challenge }: RequestChecks, req: Request): Promise<void> {
  const answers = await Promise.allSettled(
    [...identityFunctions].map((each): Promise<Identity | null> => identifyCaller(each, req)),
  )
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  const broken = failed.find((reason) => !isRefusal(reason))
  if (broken !== undefined) throw broken
  if (failed.length === answers.length) throw addChallenge(failed[0], challenge)
  const isKnown = answers.some((answer) => answer.status === 'fulfilled' && answer.value !== null)
  if (challenge !== null && !isKnown) throw addChallenge(unauthorizedProblem(), challenge)
}

/** The error for callers without an identity. */
export function unauthorizedProblem(): Problem {
  return problem('unauthorized', { detail: NOT_AUTHENTICATED, headers: { 'WWW-Authenticate': 'Bearer' } })
}
