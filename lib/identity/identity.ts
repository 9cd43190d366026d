import { createPublicKey, createSecretKey, KeyObject, X509Certificate } from 'node:crypto'
import type jsonwebtoken from 'jsonwebtoken'
import type { Request } from '../../types/express.js'
import type { Identity, IdentityFunction } from '../../types/identity.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { problem } from '../common/problem.js'
import { ignoreRejections, isPromise } from '../common/promise.js'
import { didYouMean } from '../config/suggest.js'

const ALGORITHMS = [
  ...(['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const),
] as const

/** The signature algorithms of RFC 7518 section 3.1, without `none`. */
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

/** The header of a token (RFC 7515 section 4). It is not verified, so use it only to find the key. */
export interface JwtTokenHeader {
  readonly alg: string
  readonly kid?: string | undefined
  readonly [parameter: string]: unknown
}

/** Returns the key of a token by the token's header, for rotating keys. */
export type KeyLookup = (header: JwtTokenHeader) => string | KeyObject | Promise<string | KeyObject>

export interface JwtIdentityOptions {
  /**
   * The key for verification: a secret, a public key or certificate as PEM text or as DER in base64, a KeyObject, or a
   * function of the token's header.
   */
  readonly key: string | KeyObject | KeyLookup
  /** The accepted algorithms. `none` is never accepted. */
  readonly algorithms: readonly JwtAlgorithm[]
  readonly issuer?: string | readonly string[]
  readonly audience?: string | readonly string[]
  /** The accepted difference between clocks in seconds. Default 0. */
  readonly clockTolerance?: number
}

/**
 * Returns an identity function that verifies `Authorization: Bearer` (RFC 6750) as a JSON Web Token. Without the header
 * the caller is anonymous. An invalid token, critical extensions (`crit`), another scheme or several tokens are a 401
 * with the challenge `error="invalid_token"`. Claims: `name`, `preferred_username` or `sub` is the name; `role` and
 * `roles` are roles; `permission`, `permissions` and the words of `scope` and `scp` are permissions.
 *
 * @throws TypeError for invalid or unknown options, such as a `key` that fits none of `algorithms`. An `issuer` or
 * `audience` that is present must be a text, because an unset environment variable must not accept every issuer.
 */
export function jwtIdentity(options: JwtIdentityOptions): IdentityFunction {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('jwtIdentity: the options are missing. Call jwtIdentity({ key, algorithms })')
  const { key, algorithms, issuer, audience, clockTolerance } = options
  assertNames(options)
  if (typeof key === 'string' && key.trim() === '')
    throw new TypeError('jwtIdentity: key is empty. Set the variable that holds it, such as JWT_SECRET')
  if (!isKey(key)) throw new TypeError('jwtIdentity: key must be a non-empty string, a KeyObject or a function')
  if (!Array.isArray(algorithms) || algorithms.length === 0 || algorithms.some((name) => !isAlgorithm(name))) {
    throw new TypeError(`jwtIdentity: algorithms must be a non-empty array of these names: ${ALGORITHMS.join(', ')}`)
  }
  assertIssuerAndAudience(options)
  const verification = {
    algorithms: [...algorithms],
    ...(issuer === undefined ? {} : { issuer: toList(issuer) }),
    ...(audience === undefined ? {} : { audience: toList(audience) }),
    ...(clockTolerance === undefined ? {} : { clockTolerance }),
  }
  const known = typeof key === 'function' ? key : toKeyObject(key)
  if (known instanceof KeyObject) {
    assertKeyType(known, algorithms)
    warnOfShortKey(known, algorithms)
  }
  const library = loadLibrary()
  const identify: IdentityFunction = async (request) => {
    const token = readToken(request)
    return token === null ? null : createIdentity(await verify(await library, token, known, verification))
  }
  bearerIdentities.add(identify)
  return identify
}

const bearerIdentities = new WeakSet<IdentityFunction>()

/** Whether `jwtIdentity` created an identity function, so that documents can name its header. */
export function isBearerIdentity(identify: IdentityFunction): boolean {
  return bearerIdentities.has(identify)
}

const OPTION_NAMES: readonly string[] = ['key', 'algorithms', 'issuer', 'audience', 'clockTolerance']

/** Checks the names of the options before their values, because a misspelt option would be reported as missing. */
function assertNames(options: JwtIdentityOptions): void {
  const unknown = Object.keys(options).find((name) => !OPTION_NAMES.includes(name))
  if (unknown === undefined) return
  const hint = /secret|key/i.test(unknown) ? ' Did you mean "key"?' : didYouMean(unknown, OPTION_NAMES)
  throw new TypeError(`jwtIdentity: the option "${unknown}" does not exist.${hint}`)
}

/**
 * Checks that `issuer` and `audience` are not empty. An empty value would accept tokens that the host wants to reject.
 */
function assertIssuerAndAudience(options: JwtIdentityOptions): void {
  for (const name of ['issuer', 'audience'] as const) {
    if (!Object.hasOwn(options, name)) continue
    const isGiven = [options[name]].flat().every((text) => typeof text === 'string' && text.trim() !== '')
    if (!isGiven)
      throw new TypeError(
        `jwtIdentity: ${name} must be a non-empty string or an array of them. Remove the option to accept every ${name}`,
      )
  }
  const { clockTolerance = 0 } = options
  if (typeof clockTolerance !== 'number' || !(clockTolerance >= 0)) {
    throw new TypeError('jwtIdentity: clockTolerance must be a number of seconds, 0 or more')
  }
}

/** Loads the library on demand, before the first token. Only applications that verify tokens need it. */
function loadLibrary(): Promise<typeof jsonwebtoken> {
  const library = import('jsonwebtoken').then((module) => module.default)
  // Callers that await the promise handle its error. Without this handler an earlier failure would end the process.
  library.catch(() => undefined)
  return library
}

/** Whether a value can be a key. An empty secret is not a key, because anybody could sign with it. */
function isKey(key: unknown): boolean {
  if (typeof key === 'string') return key.trim() !== ''
  if (key instanceof KeyObject) return key.symmetricKeySize !== 0
  return typeof key === 'function' || (key instanceof Uint8Array && key.length > 0)
}

/**
 * Converts a text or bytes once, as the library would for every token: to a public key if they are one, otherwise to a
 * secret.
 */
function toKeyObject(key: string | Uint8Array | KeyObject): KeyObject {
  if (key instanceof KeyObject) return key
  const bytes = Buffer.from(key)
  try {
    return createPublicKey(bytes)
  } catch (error) {
    // A public key with broken lines or quotes would be used as a secret. Anybody could then sign tokens with it.
    if (bytes.includes('-----BEGIN '))
      throw new TypeError(
        'jwtIdentity: key looks like a PEM file, but is not a valid public key. Check its line breaks',
        { cause: error },
      )
    return readBinaryPublicKey(bytes) ?? createSecretKey(bytes)
  }
}

/**
 * Reads a public key or a certificate in DER (RFC 5280 section 4.1), or in DER as base64, as identity providers show it
 * (RFC 7517 section 4.7). Its bytes are as public as PEM text, so they must not become a secret. Null for other bytes.
 */
function readBinaryPublicKey(bytes: Buffer): KeyObject | null {
  const text = bytes.toString('latin1')
  const key = text.startsWith('MI') ? Buffer.from(text, 'base64') : bytes
  if (key[0] !== DER_SEQUENCE) return null
  const readers = [
    () => createPublicKey({ key, format: 'der', type: 'spki' }),
    () => new X509Certificate(key).publicKey,
  ] as const
  for (const read of readers) {
    try {
      return read()
    } catch {
      // The bytes are of the other form, or of none.
    }
  }
  return null
}

const DER_SEQUENCE = 0x30

/** The key types of algorithms, by prefix of the algorithm's name (RFC 7518 section 3.1). */
const KEY_TYPES: readonly (readonly [names: RegExp, kinds: readonly string[]])[] = [
  [/^HS/, ['secret']],
  [/^[RP]S/, ['rsa', 'rsa-pss']],
  [/^ES/, ['ec']],
]

/** Checks that the key fits an algorithm. Otherwise every caller would be refused without an explanation. */
function assertKeyType({ type, asymmetricKeyType }: KeyObject, algorithms: readonly JwtAlgorithm[]): void {
  const kind = type === 'public' ? asymmetricKeyType : type
  const isFit = KEY_TYPES.some(
    ([names, kinds]) => kinds.includes(kind ?? '') && algorithms.some((name) => names.test(name)),
  )
  if (isFit) return
  const given = type === 'secret' ? 'a secret' : type === 'public' ? `a public key of type ${kind}` : 'a private key'
  throw new TypeError(
    `jwtIdentity: key is ${given}, which none of the algorithms ${algorithms.join(', ')} can use. HS algorithms need a secret, all others a public key`,
  )
}

/** The bytes of the hash of each HMAC algorithm, which are the minimum length of a key (RFC 7518 section 3.2). */
const HASH_BYTES = { HS256: 32, HS384: 48, HS512: 64 } as const

/**
 * Warns of a secret that is short enough to be guessed from one token. A short secret is not an error, because its
 * tokens are valid.
 */
function warnOfShortKey(key: KeyObject, algorithms: readonly JwtAlgorithm[]): void {
  const bytes = key.symmetricKeySize
  if (bytes === undefined) return
  const algorithm = (['HS512', 'HS384', 'HS256'] as const).find(
    (name) => algorithms.includes(name) && bytes < HASH_BYTES[name],
  )
  if (algorithm === undefined) return
  process.emitWarning(
    `jwtIdentity: key has ${bytes} bytes, but ${algorithm} needs at least ${HASH_BYTES[algorithm]} (RFC 7518 section 3.2). An attacker with one token can ` +
      `guess a short key and sign other tokens. Create a key with: openssl rand -hex ${HASH_BYTES[algorithm]}`,
    { code: 'CRUD_SHORT_KEY' },
  )
}

function isAlgorithm(name: unknown): boolean {
  return ALGORITHMS.some((algorithm) => algorithm === name)
}

function toList(given: string | readonly string[]): [string, ...string[]] {
  const [first = '', ...rest] = typeof given === 'string' ? [given] : given
  return [first, ...rest]
}

/** Returns the bearer token; null without the header. @throws Problem 401 for another scheme and for several tokens */
function readToken({ headers }: Request): string | null {
  const given = (headers.authorization ?? '').trim()
  if (given === '') return null
  const [scheme = '', token, ...more] = given.split(/\s+/)
  if (scheme.toLowerCase() !== 'bearer' || token === undefined || more.length > 0) throw invalidTokenProblem()
  return token
}

function verify(
  library: typeof jsonwebtoken,
  token: string,
  key: JwtIdentityOptions['key'],
  verification: Parameters<typeof jsonwebtoken.verify>[2] & object,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const lookUpKey: jsonwebtoken.GetPublicKeyOrSecret = (header, done) => {
      // A missing key is not reported to the client. `done` would throw at a payload that is null.
      resolveKey(key, { ...header })
        .then((secret) => done(null, secret))
        .catch((error: unknown) => reject(invalidTokenProblem(error)))
    }
    library.verify(token, lookUpKey, verification, (error, payload) => {
      if (error === null && isObject(payload)) resolve(payload)
      else reject(invalidTokenProblem(error))
    })
  })
}

async function resolveKey(key: JwtIdentityOptions['key'], header: JwtTokenHeader): Promise<string | KeyObject> {
  // `crit` names extensions that a verifier must understand (RFC 7515 section 4.1.11). The library supports none.
  if (Object.hasOwn(header, 'crit'))
    throw new TypeError('the header "crit" of the token names extensions that are not supported')
  const found = typeof key === 'function' ? await key(header) : key
  if (!isKey(found))
    throw new TypeError('jwtIdentity: the function key must return a non-empty string, a KeyObject or a Uint8Array')
  return toKeyObject(found)
}

/**
 * Creates the problem of an invalid token. The client gets no reason. Diagnostics channels get the class of the error.
 */
function invalidTokenProblem(cause: unknown = null): Error {
  const refusal = problem('unauthorized', {
    detail: 'The token is invalid or has expired.',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
  return cause === null ? refusal : Object.assign(refusal, { cause })
}

/**
 * The default identity function: reads the claims in `req.auth` (express-jwt) or `req.user` (passport), with the
 * meaning that `jwtIdentity` gives them. Without both members the caller is anonymous.
 *
 * @throws CrudConfigError if it is called without a request, as in `identity: identityFromRequest()`
 */
export function identityFromRequest(request: Request): Identity | null {
  if (request === undefined) {
    const message =
      'identityFromRequest must not be called. Write it without parentheses: identity: identityFromRequest.'
    throw new CrudConfigError('INVALID_OPTION', message)
  }
  const { auth, user } = request as { auth?: unknown; user?: unknown }
  const claims = auth ?? user
  if (isPromise(claims)) {
    ignoreRejections(claims)
    throw new TypeError('req.auth or req.user is a promise. Await it before the routes')
  }
  return typeof claims === 'object' && claims !== null ? createIdentity(claims as Record<string, unknown>) : null
}

/**
 * Identifies the caller by the host's function. A falsy result means an anonymous caller, so that a missing return
 * grants nothing.
 *
 * @throws TypeError for another result that is not an identity
 */
export async function identifyCaller(identify: IdentityFunction, request: Request): Promise<Identity | null> {
  return toIdentity(await identify(request))
}

function toIdentity(given: unknown): Identity | null {
  if (!given) return null
  if (isIdentity(given)) return given
  ignoreRejections(given)
  throw new TypeError('the identity function must return an identity: { name, roles, permissions, claims } or null')
}

function isIdentity(given: NonNullable<unknown>): given is Identity {
  const { roles, permissions, claims } = given as {
    readonly [name in keyof Identity]?: { readonly has?: unknown }
  }
  return (
    typeof roles?.has === 'function' && typeof permissions?.has === 'function' && isObject(claims) && !isPromise(claims)
  )
}

/** Creates the identity from the claims of a token or session. */
function createIdentity(claims: Readonly<Record<string, unknown>>): Identity {
  const name = [claims.name, claims.preferred_username, claims.sub].find(
    (value) => typeof value === 'string' && value !== '',
  )
  return Object.freeze({
    name: typeof name === 'string' ? name : null,
    roles: toSet(readClaimList(claims.role), readClaimList(claims.roles)),
    permissions: toSet(
      readClaimList(claims.permission),
      readClaimList(claims.permissions),
      splitClaim(claims.scope),
      splitClaim(claims.scp),
    ),
    claims,
  })
}

function toSet(...lists: readonly (readonly string[])[]): Set<string> {
  const all = new Set<string>()
  for (const list of lists) for (const each of list) all.add(each)
  return all
}

function readClaimList(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim === '' ? [] : [claim]
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string' && each !== '') : []
}

/** Splits a claim with OAuth scopes, which is one text of words (RFC 8693 section 4.2). Some issuers send an array. */
function splitClaim(claim: unknown): readonly string[] {
  return readClaimList(claim).flatMap((text) => text.split(/\s/).filter((word) => word !== ''))
}
