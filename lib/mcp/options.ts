import type { Identity, IdentityFunction } from '../../types/identity.js'
import type { Documentable } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { didYouMean } from '../config/suggest.js'
import { hostnameOf, LOCAL_HOSTS, originOf } from './hosts.js'

/** The handler as an OAuth 2.0 protected resource (RFC 9728). */
export interface McpAuthorization {
  /** The handler's public URL. Tokens must be issued for this URL: the identity function must check their audience. */
  readonly resource: string
  /** URLs of the authorization servers that issue tokens. */
  readonly servers: readonly string[]
  /** Scopes that clients request. Default: none. */
  readonly scopes?: readonly string[]
}

export interface McpOptions {
  /** Routers or controllers. Tools name a resource by the last segment of its path, or by `name`. */
  readonly resources: readonly (Documentable | { readonly resource: Documentable; readonly name?: string })[]
  /**
   * Identifies callers of resources without an identity function. An identity instead of a function applies to every
   * caller. An identity works with `connect` only: the HTTP handler answers 500 for it.
   */
  readonly identity?: IdentityFunction | Identity
  /** Whether to offer tools that write. Default false. */
  readonly write?: boolean
  /** Whether a person must confirm each deletion, through the protocol's elicitation. Default true. */
  readonly confirm?: boolean
  /** Maximum number of records in an answer, and of records in all its collections together. Default 100. */
  readonly maxRecords?: number
  /** Maximum size of an answer's JSON, in bytes. At least 10,000. Default 100,000. */
  readonly maxBytes?: number
  /**
   * Authorization of the handler as an OAuth 2.0 protected resource. If set, requests without an identity are answered
   * with 401. The 401 names the metadata. Default: none.
   */
  readonly authorization?: McpAuthorization
  /**
   * Host names, without ports, that requests may be sent to. Default for browser pages: the local names and the host of
   * `authorization.resource`. Default for other clients: any name.
   */
  readonly hosts?: readonly string[]
  /** Additional origins of pages that may send requests. The handler's own origin is always allowed. Default: none. */
  readonly origins?: readonly string[]
}

/** Minimum of `maxBytes`. One cursor can have 2,048 characters. */
const MIN_BYTES = 10_000

const isNameList = (value: unknown, isName: (name: string) => boolean): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && isName(each))

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'

const isIntegerFrom = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && Number(value) >= least

const isHost = (name: string): boolean => hostnameOf(name) === name.toLowerCase()

/** Checks of the options. `createToolResources` checks `resources`. */
const CHECKS: Readonly<
  Record<keyof McpOptions, { readonly isValid: (value: unknown) => boolean; readonly must: string }>
> = {
  resources: { isValid: () => true, must: '' },
  identity: {
    isValid: (value) => typeof value === 'function' || (isObject(value) && isSet(value.roles)),
    must: 'must be a function, or an identity: { name, roles, permissions, claims }.',
  },
  write: { isValid: isBoolean, must: 'must be a boolean.' },
  confirm: { isValid: isBoolean, must: 'must be a boolean.' },
  maxRecords: { isValid: (value) => isIntegerFrom(value, 1), must: 'must be a whole number from 1.' },
  maxBytes: { isValid: (value) => isIntegerFrom(value, MIN_BYTES), must: `must be a whole number from ${MIN_BYTES}.` },
  authorization: { isValid: isObject, must: 'must be an object: { resource, servers, scopes }.' },
  hosts: {
    isValid: (value) => isNameList(value, isHost) && Object(value).length > 0,
    must: 'must be an array of host names without ports, such as "api.example.com".',
  },
  origins: {
    isValid: (value) => isNameList(value, (name) => originOf(name) === name),
    must: 'must be an array of origins, such as "https://app.example.com".',
  },
}

function isSet(value: unknown): boolean {
  return typeof Object(value).has === 'function'
}

/** Checks the options. @throws CrudConfigError for a missing, unknown or invalid option */
export function assertOptions(options: McpOptions): void {
  if (options === undefined || options === null) throw invalidOption('options are missing.')
  // A router is a function. Passing a router instead of the options is an error.
  if (!isObject(options)) throw invalidOption('the argument must be an object with "resources".')
  assertNames(options, Object.keys(CHECKS), '')
  for (const [name, { isValid, must }] of Object.entries(CHECKS)) {
    const value: unknown = Reflect.get(options, name)
    // An identity that is undefined by mistake is an error and does not select the default.
    const isGiven = name === 'identity' ? Object.hasOwn(options, name) : value !== undefined
    if (isGiven && !isValid(value)) throw invalidOption(`${name} ${must}`)
  }
  const { authorization, identity } = options
  if (authorization === undefined) return
  if (typeof identity === 'object')
    throw invalidOption('authorization needs HTTP, which a fixed identity disables. Set identity to a function.')
  assertAuthorization(authorization)
}

function assertNames(given: object, names: readonly string[], within: string): void {
  for (const name of Object.keys(given)) {
    if (!names.includes(name))
      throw invalidOption(`the option "${within}${name}" does not exist.${didYouMean(name, names)}`)
  }
}

const URL_RULE = 'with https, or http on localhost, and without credentials, query and fragment.'

function assertAuthorization(authorization: McpAuthorization): void {
  assertNames(authorization, ['resource', 'servers', 'scopes'], 'authorization.')
  const { resource, servers, scopes = [] } = authorization
  if (!isSecureUrl(resource)) throw invalidOption(`authorization.resource must be the URL of the handler, ${URL_RULE}`)
  if (!isNameList(servers, isSecureUrl) || servers.length === 0) {
    throw invalidOption(`authorization.servers must be an array of URLs, ${URL_RULE}`)
  }
  // Characters of a scope token (RFC 6749 section 3.3).
  if (!isNameList(scopes, (name) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name))) {
    throw invalidOption(
      'authorization.scopes must be an array of scopes: texts without spaces, quotes and backslashes.',
    )
  }
}

function isSecureUrl(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  const isSecure = protocol === 'https:' || (protocol === 'http:' && LOCAL_HOSTS.includes(hostname))
  return isSecure && username + password + search + hash === '' && !/[?#]/.test(text)
}

export function invalidOption(message: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', `crudMcp: ${message}`)
}
