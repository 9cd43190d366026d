import { createPublicKey, createSecretKey, KeyObject } from 'node:crypto'
import type jsonwebtoken from 'jsonwebtoken'
import type { Request } from '../../types/express.js'
import type { Identity, IdentityFunction } from '../../types/identity.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { problem } from '../common/problem.js'
import { didYouMean } from '../config/suggest.js'

const ALGORITHMS = [
  ...(['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const),
] as const

/** The signature algorithms of RFC 7518 section 3.1, `none` left out. */
export type JwtAlgorithm =
  | 'HS256'
  | 'HS384'
  | 'HS512'
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'PS256'
  | 'PS384'
  | 'PS512'

/** The header of a token (RFC 7515 section 4): unverified, and good for nothing but finding a key. */
export interface JwtTokenHeader {
  readonly alg: string
  readonly kid?: string | undefined
  readonly [parameter: string]: unknown
}

/** Finds the key of a token by its header, for keys that rotate. */
export type KeyLookup = (header: JwtTokenHeader) => string | KeyObject | Promise<string | KeyObject>

export interface JwtIdentityOptions {
  /** What tokens are verified with: a secret or PEM text, a KeyObject, or a function of the token's header. */
  readonly key: string | KeyObject | KeyLookup
  /** The only algorithms that are accepted; `none` never is. */
  readonly algorithms: readonly JwtAlgorithm[]
  readonly issuer?: string | readonly string[]
  readonly audience?: string | readonly string[]
  /** Seconds that clocks may differ. Default 0. */
  readonly clockTolerance?: number
}

/**
 * An identity function that verifies `Authorization: Bearer` (RFC 6750) as a JSON Web Token. Without the header the caller
 * is anonymous; a token that fails, or has extensions that must be understood (`crit`), another scheme or more than one
 * token is a 401 with the challenge `error="invalid_token"`. Claims: `name`, `preferred_username` or `sub` give the name,
 * `role` and `roles` the roles, `permission`, `permissions` and the words of `scope` and `scp` the permissions.
 *
 * @throws TypeError when `key` is empty, when `algorithms` names none or an unknown one, when `issuer` or `audience` is there
 * and is no text (a variable of the environment that is not set must not accept every issuer), when `clockTolerance` is no
 * number, for an option that does not exist, and for a key that verifies none of the algorithms
 */
export function jwtIdentity(options: JwtIdentityOptions): IdentityFunction {
  if (typeof options !== 'object' || options === null) throw new TypeError('jwtIdentity: options are missing')
  const { key, algorithms, issuer, audience, clockTolerance } = options
  assertNames(options)
  if (!isKey(key)) throw new TypeError('jwtIdentity: key must be a non-empty string, a KeyObject or a function')
  if (!Array.isArray(algorithms) || algorithms.length === 0 || algorithms.some((name) => !isAlgorithm(name))) {
    throw new TypeError(`jwtIdentity: algorithms must name at least one of ${ALGORITHMS.join(', ')}`)
  }
  assertChecks(options)
  const verification = {
    algorithms: [...algorithms],
    ...(issuer === undefined ? {} : { issuer: listOf(issuer) }),
    ...(audience === undefined ? {} : { audience: listOf(audience) }),
    ...(clockTolerance === undefined ? {} : { clockTolerance }),
  }
  const known = typeof key === 'string' ? keyOf(key) : key
  if (known instanceof KeyObject) assertFits(known, algorithms)
  const library = loadLibrary()
  const identify: IdentityFunction = async (request) => {
    const token = tokenOf(request)
    return token === null ? null : identityOf(await verify(await library, token, known, verification))
  }
  bearing.add(identify)
  return identify
}

const bearing = new WeakSet<IdentityFunction>()

/** Whether an identity function is one of `jwtIdentity`: then it is known by which header callers say who they are. */
export function takesBearer(identify: IdentityFunction): boolean {
  return bearing.has(identify)
}

const NAMES: readonly string[] = ['key', 'algorithms', 'issuer', 'audience', 'clockTolerance']

/** Misspelt, an option is missing under its own name, which is told by that. */
function assertNames(options: JwtIdentityOptions): void {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name))
  if (unknown === undefined) return
  const hint = /secret|key/i.test(unknown) ? ' Did you mean "key"?' : didYouMean(unknown, NAMES)
  throw new TypeError(`jwtIdentity: there is no option "${unknown}".${hint}`)
}

/** What looks like a check and checks nothing would let tokens in that were to be kept out. */
function assertChecks(options: JwtIdentityOptions): void {
  for (const name of ['issuer', 'audience'] as const) {
    if (!Object.hasOwn(options, name)) continue
    const isGiven = [options[name]].flat().every((text) => typeof text === 'string' && text.trim() !== '')
    if (!isGiven)
      throw new TypeError(`jwtIdentity: ${name} must be a non-empty string or several; leave it out to check none`)
  }
  const { clockTolerance = 0 } = options
  if (typeof clockTolerance !== 'number' || !(clockTolerance >= 0)) {
    throw new TypeError('jwtIdentity: clockTolerance must be a number of seconds from 0')
  }
}

/** Only applications that verify tokens here load what it takes, and before the first token comes. */
function loadLibrary(): Promise<typeof jsonwebtoken> {
  const library = import('jsonwebtoken').then((module) => module.default)
  // Whoever waits for it hears of a failure; that nobody does yet must not end the process.
  library.catch(() => undefined)
  return library
}

/** An empty secret would be everybody's. */
function isKey(key: unknown): boolean {
  if (typeof key === 'string') return key.trim() !== ''
  if (key instanceof KeyObject) return key.symmetricKeySize !== 0
  return typeof key === 'function' || (key instanceof Uint8Array && key.length > 0)
}

/** What the library would make of a text with every token: a public key where it is one, else a secret. */
function keyOf(text: string): KeyObject {
  try {
    return createPublicKey(text)
  } catch (error) {
    // Broken lines, or quotes around it, would make a public key what everybody may sign with.
    if (text.includes('-----BEGIN '))
      throw new TypeError('jwtIdentity: key looks like PEM, but cannot be read as a key', { cause: error })
    return createSecretKey(Buffer.from(text))
  }
}

/** The kinds of keys that verify algorithms, by how their names begin (RFC 7518 section 3.1). */
const KINDS: readonly (readonly [names: RegExp, kinds: readonly string[]])[] = [
  [/^HS/, ['secret']],
  [/^[RP]S/, ['rsa', 'rsa-pss']],
  [/^ES/, ['ec']],
]

/** A key that verifies none of its algorithms would refuse everybody, and say nothing. */
function assertFits({ type, asymmetricKeyType }: KeyObject, algorithms: readonly JwtAlgorithm[]): void {
  const kind = type === 'public' ? asymmetricKeyType : type
  const isFit = KINDS.some(
    ([names, kinds]) => kinds.includes(kind ?? '') && algorithms.some((name) => names.test(name)),
  )
  if (isFit) return
  const given = type === 'secret' ? 'a secret, and no PEM' : type === 'public' ? `a key of ${kind}` : 'a private key'
  throw new TypeError(`jwtIdentity: key is ${given}, which verifies none of ${algorithms.join(', ')}`)
}

function isAlgorithm(name: unknown): boolean {
  return ALGORITHMS.some((algorithm) => algorithm === name)
}

function listOf(given: string | readonly string[]): [string, ...string[]] {
  const [first = '', ...rest] = typeof given === 'string' ? [given] : given
  return [first, ...rest]
}

/** The bearer token; null without credentials. Those of another scheme, and more than one token, are none that holds. */
function tokenOf({ headers }: Request): string | null {
  const given = (headers.authorization ?? '').trim()
  if (given === '') return null
  const [scheme = '', token, ...more] = given.split(/\s+/)
  if (scheme.toLowerCase() !== 'bearer' || token === undefined || more.length > 0) throw invalidToken()
  return token
}

function verify(
  library: typeof jsonwebtoken,
  token: string,
  key: JwtIdentityOptions['key'],
  verification: Parameters<typeof jsonwebtoken.verify>[2] & object,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const lookup: jsonwebtoken.GetPublicKeyOrSecret = (header, done) => {
      // Which keys there are is nobody's business. `done` itself throws at a payload that is null.
      keyFor(key, { ...header })
        .then((secret) => done(null, secret))
        .catch((error: unknown) => reject(invalidToken(error)))
    }
    library.verify(token, lookup, verification, (error, payload) => {
      if (error === null && isObject(payload)) resolve(payload)
      else reject(invalidToken(error))
    })
  })
}

async function keyFor(key: JwtIdentityOptions['key'], header: JwtTokenHeader): Promise<string | KeyObject> {
  // It names what must be understood or the token refused (RFC 7515 section 4.1.11), and the library knows none of it.
  if (Object.hasOwn(header, 'crit')) throw new TypeError('the token has extensions that must be understood')
  const found = typeof key === 'function' ? await key(header) : key
  if (!isKey(found)) throw new TypeError('the key of a token is empty')
  return typeof found === 'string' ? keyOf(found) : found
}

/** Who sent it is not told why; who watches requests is told the class of what was wrong. */
function invalidToken(cause: unknown = null): Error {
  const refusal = problem('unauthorized', {
    detail: 'The token is not valid.',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
  return cause === null ? refusal : Object.assign(refusal, { cause })
}

/**
 * The default: who the host's own middleware found, in `req.auth` (express-jwt) or `req.user` (passport), by the same
 * claims as `jwtIdentity`. Anonymous where there is neither.
 *
 * @throws CrudConfigError if it is called without a request, as `identity: identityFromRequest()` does
 */
export function identityFromRequest(request: Request): Identity | null {
  if (request === undefined) {
    const message =
      'identityFromRequest is an identity function: write it without parentheses, identity: identityFromRequest.'
    throw new CrudConfigError('INVALID_OPTION', message)
  }
  const { auth, user } = request as { auth?: unknown; user?: unknown }
  const claims = auth ?? user
  return typeof claims === 'object' && claims !== null ? identityOf(claims as Record<string, unknown>) : null
}

/**
 * Who sends a request, by the host's function. What JavaScript takes for false is nobody, so that a forgotten return
 * is not taken for somebody.
 *
 * @throws TypeError for what is neither an identity nor nothing
 */
export async function callerOf(identify: IdentityFunction, request: Request): Promise<Identity | null> {
  return identityIn(await identify(request))
}

function identityIn(given: unknown): Identity | null {
  if (!given) return null
  if (isIdentity(given)) return given
  throw new TypeError('the identity function gave no identity: { name, roles, permissions, claims } or null')
}

function isIdentity(given: unknown): given is Identity {
  if (typeof given !== 'object' || given === null) return false
  const { roles, permissions, claims } = given as {
    readonly [name in keyof Identity]?: { readonly has?: unknown }
  }
  return typeof roles?.has === 'function' && typeof permissions?.has === 'function' && isObject(claims)
}

/** An identity from the claims of a token or session. */
function identityOf(claims: Readonly<Record<string, unknown>>): Identity {
  const name = [claims.name, claims.preferred_username, claims.sub].find(
    (value) => typeof value === 'string' && value !== '',
  )
  return Object.freeze({
    name: typeof name === 'string' ? name : null,
    roles: setOf(listed(claims.role), listed(claims.roles)),
    permissions: setOf(listed(claims.permission), listed(claims.permissions), words(claims.scope), words(claims.scp)),
    claims,
  })
}

function setOf(...lists: readonly (readonly string[])[]): Set<string> {
  const all = new Set<string>()
  for (const list of lists) for (const each of list) all.add(each)
  return all
}

/** Most tokens have one of these claims, or two. */
const NONE: readonly string[] = []

function listed(claim: unknown): readonly string[] {
  if (claim === undefined) return NONE
  if (typeof claim === 'string') return claim === '' ? [] : [claim]
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string' && each !== '') : []
}

/** OAuth's scope is one text of words (RFC 8693 section 4.2); some issuers send a list. */
function words(claim: unknown): readonly string[] {
  return claim === undefined ? NONE : listed(claim).flatMap((text) => text.split(/\s+/).filter((word) => word !== ''))
}
