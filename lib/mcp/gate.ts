import type { Request, Response } from '../../types/express.js'
import type { Identity, IdentityFunction } from '../../types/identity.js'
import { isRefusal, problem } from '../common/problem.js'
import { callerOf } from '../identity/identity.js'
import type { Served } from './served.js'

/**
 * What is decided before a message is read: whether a page of another origin sends it, by what method, to what host, and
 * whether its credentials hold for any resource.
 *
 * @throws Problem 403, 405, 400, 401
 */
export async function assertEntered(served: ReadonlyMap<string, Served>, req: Request, res: Response): Promise<void> {
  const { origin, host } = req.headers
  if (origin !== undefined && !isSame(origin, host)) {
    throw problem('forbidden', { detail: 'Pages of other origins may not ask here.' })
  }
  if (req.method !== 'POST') {
    res.setHeader('Allow', 'POST')
    throw problem('method-not-allowed', { detail: `${req.method} is not among POST.` })
  }
  // The protocol's library makes a URL of it, and answers by 400 alone where it cannot.
  if (!isHost(host)) throw problem('bad-request', { detail: 'The header Host names no host.' })
  await assertHolds(new Set([...served.values()].map(({ asks }) => asks)), req)
}

function isHost(host = ''): boolean {
  const url = `http://${host}`
  return URL.canParse(url) && new URL(url).hostname === host.replace(/:\d+$/, '').toLowerCase()
}

function isSame(origin: string, host = ''): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host: own } = new URL(origin)
  const url = `${protocol}//${host}`
  // The port that goes without saying may be said. A page of a file is of no host.
  return own !== '' && URL.canParse(url) && own === new URL(url).host
}

/** Resources may take tokens of different issuers: what holds for one of them gets in. */
async function assertHolds(functions: ReadonlySet<IdentityFunction>, req: Request): Promise<void> {
  const answers = await Promise.allSettled([...functions].map((each): Promise<Identity | null> => callerOf(each, req)))
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  const broken = failed.find((reason) => !isRefusal(reason))
  if (broken !== undefined) throw broken
  if (failed.length === answers.length) throw failed[0]
}
