import { getOAuthProtectedResourceMetadataUrl } from '@modelcontextprotocol/server'
import type { RequestHandler } from '../../types/express.js'
import { Problem, problem } from '../common/problem.js'
import { respondProblem } from '../http/respond.js'
import type { McpAuthorization } from './options.js'

/**
 * Writes the parameters of a `WWW-Authenticate` challenge that tell clients where to get tokens (RFC 9728 section 5.1).
 */
export function createChallenge(authorization: McpAuthorization): string {
  const { resource, scopes = [] } = authorization
  const scope = scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`
  return `resource_metadata="${getOAuthProtectedResourceMetadataUrl(new URL(resource))}"${scope}`
}

/** Adds the handler's challenge to a problem with status 401. Returns other errors unchanged. */
export function addChallenge(refusal: unknown, challenge: string | null): unknown {
  if (challenge === null || !(refusal instanceof Problem) || refusal.status !== 401) return refusal
  const { headers } = refusal
  const [name = 'WWW-Authenticate', given = 'Bearer'] =
    Object.entries(headers).find(([each]) => each.toLowerCase() === 'www-authenticate') ?? []
  // A copy is returned, because the host may throw the problem object again.
  return Object.create(refusal, { headers: { value: { ...headers, [name]: mergeChallenges(given, challenge) } } })
}

function mergeChallenges(given: string, challenge: string): string {
  const rest = /^Bearer\b *(.*)/is.exec(given)?.[1]
  if (rest === undefined) return `Bearer ${challenge}, ${given}`
  return `Bearer ${challenge}${rest === '' || rest.startsWith(',') ? '' : ', '}${rest}`
}

const METADATA_METHODS = 'GET, HEAD, OPTIONS'

/**
 * Creates middleware that serves the protected resource metadata at its well-known path, with CORS for any origin.
 * Passes on all other requests.
 */
export function createMetadataHandler(authorization: McpAuthorization | undefined): RequestHandler {
  if (authorization === undefined) return (_req, _res, next) => next()
  const { resource, servers, scopes } = authorization
  const { pathname } = new URL(getOAuthProtectedResourceMetadataUrl(new URL(resource)))
  const body = Buffer.from(
    JSON.stringify({
      resource,
      authorization_servers: servers,
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    }),
  )
  return (req, res, next) => {
    if (req.originalUrl.split('?')[0] !== pathname) {
      next()
      return
    }
    res.setHeader('Access-Control-Allow-Origin', '*')
    if (req.method === 'OPTIONS') {
      res.setHeader('Access-Control-Allow-Methods', METADATA_METHODS)
      // Clients in browsers send a header with the protocol version.
      res.setHeader('Access-Control-Allow-Headers', '*')
      res.writeHead(204).end()
    } else if (req.method === 'GET' || req.method === 'HEAD') {
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
      res.end(body)
    } else {
      const detail = `This path does not support ${req.method}. It supports ${METADATA_METHODS}.`
      respondProblem(res, problem('method-not-allowed', { detail, headers: { Allow: METADATA_METHODS } }))
    }
  }
}
