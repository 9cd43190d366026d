import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import type { Model, ModelStatic } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Call } from '../../types/call.js'
import type { Identity } from '../../types/identity.js'
import type { Caller, ComparePredicate, Plan, Projection } from '../../types/plan.js'
import type {
  Behaviour,
  IdempotencyRequest,
  OperationName,
  ParsedRequest,
  PlannedWrite,
  Resource,
} from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { stringifyJson } from '../common/json.js'
import { LINES, mediaTypeOf, splitJsonLines } from '../common/jsonLines.js'
import { isObject } from '../common/object.js'
import { isRefusal, problem } from '../common/problem.js'
import { toOriginForm } from '../common/requestTarget.js'
import { either, flag, isFlag, isFunction, option } from '../config/checks.js'
import { isObjectPrototype, isPlainObject } from '../config/inherited.js'
import { OPERATIONS } from '../operations.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Whether a write with an `Idempotency-Key` is executed only once, however often it is sent. Default false. */
    readonly idempotency?: boolean | IdempotencyOptions
  }
}

export interface IdempotencyOptions {
  /** The lifetime of an idempotency record: a number and `s`, `m`, `h` or `d`. Default `24h`. */
  readonly ttl?: string
  /** Whether a write without the header is refused. Default false. */
  readonly required?: boolean
  /**
   * A model of the host for idempotency records, on the resource's Sequelize instance. Default: a model that the
   * package adds to that instance.
   */
  readonly model?: ModelStatic<Model>
}

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const TTL = /^[1-9]\d{0,8}[smhd]$/

/**
 * Stores replies to writes under the client's key. If the same caller repeats the request, the stored reply is
 * replayed.
 */
export const idempotency: BehaviourDefinition = {
  options: {
    idempotency: option(either(isFlag, isObject), 'a boolean or an object', {
      members: {
        ttl: option(
          (ttl) => typeof ttl === 'string' && TTL.test(ttl),
          'a number followed by s, m, h or d, such as "24h"',
        ),
        required: flag,
        model: option(isFunction, 'a Sequelize model'),
      },
    }),
  },
  isRouteOnly: true,
  prepare: ({ model }, { idempotency: given = false }) => {
    if (given === false) return null
    const { ttl = '24h', required = false, model: own }: IdempotencyOptions = given === true ? {} : given
    if (own !== undefined) assertModel(model, own)
    const time = Number(ttl.slice(0, -1)) * (UNIT_MILLISECONDS[ttl.slice(-1)] ?? 0)
    return {
      facts: { needsIdentity: true, idempotency: { model: own ?? null } },
      documented: { requiresIdempotencyKey: required },
      behaviour: () =>
        ({
          resolveIdempotency: (parsed, work) => createIdempotencyRequest(parsed, work, { ttl: time, required }),
        }) satisfies Behaviour,
    }
  },
}

const ATTRIBUTES = ['id', 'fingerprint', 'reply', 'expiresAt']

function assertModel(model: ModelStatic<Model>, own: ModelStatic<Model>): void {
  const missing = ATTRIBUTES.filter((name) => !Object.hasOwn(own.getAttributes?.() ?? {}, name))
  if (missing.length === 0 && own.sequelize === model.sequelize) return
  const reason =
    missing.length === 0
      ? 'must use the same Sequelize instance as the resource'
      : `needs the attributes ${missing.join(', ')}`
  throw new CrudConfigError('INVALID_OPTION', `${model.name}: idempotency.model ${reason}.`)
}

interface Settings {
  /** The lifetime of a record in milliseconds. */
  readonly ttl: number
  readonly required: boolean
}

async function createIdempotencyRequest(
  parsed: ParsedRequest,
  work: PlannedWrite,
  { ttl, required }: Settings,
): Promise<IdempotencyRequest | null> {
  const { operation, caller, call } = parsed
  if (OPERATIONS[operation].method === 'delete') return null
  const { headers, originalUrl } = call
  const key = parseKey(headers['idempotency-key'])
  if (key === null) {
    if (!required) return null
    throw problem('bad-request', {
      detail: 'This request requires the header Idempotency-Key. Choose a new key for each write.',
    })
  }
  const [path = '', query = ''] = toOriginForm(originalUrl).split(/\?(.*)/s)
  const id = hash(serializePlanParts([await describeCaller(parsed, work), call.method, path, key]))
  const expires = new Date(caller.instant.getTime() + ttl)
  return {
    id,
    fingerprint: hash(stringifyJson([query, parsedBodyOf(call) ?? null], sortMembers)),
    expires,
    isShared: hasNoIdentity(caller.identity),
  }
}

/** Returns the parsed body, so that equal records have one fingerprint in JSON lines of any spacing. */
function parsedBodyOf({ body, headers }: Call): unknown {
  if (typeof body !== 'string' || mediaTypeOf(headers) !== LINES) return body
  try {
    return splitJsonLines(body).map((text): unknown => JSON.parse(text))
  } catch {
    // An operation that ignores its body has not checked the body.
    return body
  }
}

/** Sorts the members of an object by name, because their order has no meaning in JSON. */
function sortMembers(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function hasNoIdentity(identity: Identity | null): boolean {
  if (identity === null) return true
  const { claims, name } = identity
  return !isNotEmpty(name) && isPlainObject(claims) && !claimEntriesOf(claims).some(([, value]) => isNotEmpty(value))
}

/**
 * Parses the header as a String of Structured Fields (RFC 8941 section 3.3.3), or as bare text. The key has 1 to 255
 * characters; null without the header.
 *
 * @throws Problem 400 for other values
 */
function parseKey(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null
  const text = String(header)
  const quoted = /^"(?:[ !#-[\]-~]|\\["\\])*"$/.test(text) ? text.slice(1, -1).replace(/\\(.)/g, '$1') : null
  const key = quoted ?? (/^[!#-~][ -~]*$/.test(text) ? text : '')
  if (key.length >= 1 && key.length <= 255) return key
  throw problem('bad-request', {
    detail: 'The header Idempotency-Key must be a string of 1 to 255 characters, such as "8e03978e".',
  })
}

/**
 * Describes the caller, and everything that affects the data visible to the caller. A reply is not replayed to a caller
 * who may see less or other data.
 */
async function describeCaller(
  { caller, operation, action }: ParsedRequest,
  { resource, plan, dependsOn = [], nestedProjections }: PlannedWrite,
): Promise<unknown> {
  const { identity } = caller
  const who = identity === null ? null : describeIdentity(identity)
  const seen: unknown[] = [await describeAccess(caller, resource, ['getList', operation], action?.name)]
  for (const each of dependsOn) seen.push(await describeAccess(caller, each, NESTED_OPERATIONS))
  // Resources that this body does not use are included. Otherwise the key with another body would look like another
  // caller's request, not like a conflict.
  for (const [each, shown] of await nestedProjections())
    seen.push([await describeAccess(caller, each, NESTED_OPERATIONS), describeProjection(shown)])
  return [who, seen, describeProjection(projectionOf(plan))]
}

/** Claims that identify callers without `sub`: session users, and machines. Several callers may share a value. */
const IDENTIFYING_CLAIMS = ['id', 'client_id', 'azp', 'username', 'email'] as const

/**
 * Claims about permissions of the caller. They do not identify the caller, because policies are evaluated again before
 * a reply is replayed.
 */
const PERMISSION_CLAIMS = ['role', 'roles', 'permission', 'permissions', 'scope', 'scp'] as const

/** Claims whose meaning is known. `name` is a member of the identity as well. */
const KNOWN_CLAIMS: ReadonlySet<string> = new Set(['iss', 'sub', 'name', ...IDENTIFYING_CLAIMS, ...PERMISSION_CLAIMS])

/** Claims about a single token, which differ in the caller's next token. */
const TOKEN_CLAIMS: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'jti', 'auth_time', 'nonce'])

/** Members of an identity whose meaning is known. */
const IDENTITY_MEMBERS: ReadonlySet<string> = new Set(['name', 'roles', 'permissions', 'claims'])

/**
 * Describes the identifying part of an identity. Unknown claims may identify the caller, such as `userId`, or `oid`
 * with `tid`. With unknown claims, all members of the identity are described.
 */
function describeIdentity(identity: Identity): readonly unknown[] {
  const { claims, name } = identity
  const entries = claimEntriesOf(claims)
  const { iss, sub } = claims
  const further = isNotEmpty(sub) ? [] : IDENTIFYING_CLAIMS.map((claim) => claims[claim])
  const known = [iss, sub, name, ...further]
  // A Map, an object with private members, and JSON of its own may have contents that are not members.
  const isPlain = isPlainObject(claims) && !hasOwnJson(claims)
  const isKnown =
    isPlain &&
    entries.every(([claim]) => KNOWN_CLAIMS.has(claim) || TOKEN_CLAIMS.has(claim)) &&
    Object.keys(identity).every((member) => IDENTITY_MEMBERS.has(member)) &&
    known.some(isNotEmpty)
  const texts = known.map((value) => (isNotEmpty(value) ? serializeValue(value) : null))
  if (isKnown) return texts
  const { claims: _, ...rest } = identity
  const described = serializeEntries(entries.filter(([claim]) => !TOKEN_CLAIMS.has(claim)))
  const contents = isPlain ? [] : [serializeValue(claims, TOKEN_CLAIMS)]
  return [...texts, serializeEntries(Object.entries(rest)), described, ...contents]
}

/**
 * Returns the members of claims, also members that are not enumerable. Inherited members and getters of prototypes are
 * included, unless the object has JSON of its own: a getter of a Sequelize instance returns the whole Sequelize instance.
 */
function claimEntriesOf(claims: Identity['claims']): readonly (readonly [name: string, value: unknown])[] {
  const names = new Set<string>()
  for (
    let from: object | null = claims;
    from !== null && !isObjectPrototype(from);
    from = Object.getPrototypeOf(from)
  ) {
    for (const name of Object.getOwnPropertyNames(from)) names.add(name)
    if (hasOwnJson(claims)) break
  }
  return [...names].map((name) => [name, claims[name]])
}

function hasOwnJson({ toJSON }: Identity['claims']): boolean {
  return typeof toJSON === 'function'
}

/** Serializes entries sorted by name, because the next token may list its claims in another order. */
function serializeEntries(entries: readonly (readonly [name: string, value: unknown])[]): readonly unknown[] {
  return entries
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => [name, value === undefined ? null : serializeValue(value)])
}

function isNotEmpty(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/**
 * Returns a text that differs if the values differ: JSON, the value's own text, or the output of `inspect`. The JSON of
 * an object lacks the members `omitted`.
 */
function serializeValue(value: unknown, omitted: ReadonlySet<string> = NONE): string {
  for (const serialize of [serializeAsJson, String]) {
    try {
      const text: unknown = serialize(value, omitted)
      if (typeof text === 'string' && text !== '{}' && !text.startsWith('[object ')) return `${typeof value} ${text}`
    } catch {
      // A circular value, or a value that refuses conversion, needs the next form.
    }
  }
  return inspect(value, INSPECT_OPTIONS)
}

const NONE: ReadonlySet<string> = new Set()
const INSPECT_OPTIONS = { depth: 9, maxArrayLength: Number.POSITIVE_INFINITY, maxStringLength: 9999, sorted: true }

/**
 * Serializes a value as JSON. JSON omits the contents of Maps, Sets and objects with private state, so these are
 * replaced by their own text and `inspect`.
 */
function serializeAsJson(value: unknown, omitted: ReadonlySet<string>): string {
  let root: unknown
  return JSON.stringify(value, function (this: unknown, name, each: unknown) {
    root ??= each
    if (this === root && omitted.has(name)) return undefined
    return isObject(each) && Object.keys(each).length === 0 ? [String(each), inspect(each, INSPECT_OPTIONS)] : each
  })
}

/** The operations on nested records. */
const NESTED_OPERATIONS: readonly OperationName[] = ['getList', 'create', 'update', 'delete']

/**
 * Describes the fields that a caller may read, and the conditions of the records that the caller may read and write.
 */
async function describeAccess(
  caller: Caller,
  resource: Resource,
  operations: readonly OperationName[],
  action?: string,
): Promise<unknown> {
  const { readable } = resource.behaviours
  const hidden = resource.fields.filter((field) => readable !== null && !readable(field, caller))
  const fixed: unknown[] = []
  for (const operation of operations) fixed.push(await describeScope(caller, resource, operation, action))
  return [fixed, hidden.map(({ name }) => name)]
}

/**
 * Describes the scope of an operation of the caller; null if the scope refuses the caller. The operation itself reports
 * the error.
 */
async function describeScope(
  caller: Caller,
  resource: Resource,
  operation: OperationName,
  action?: string,
): Promise<unknown> {
  const { resolveScope } = resource.behaviours
  try {
    const confinement = await resolveScope?.(resource, caller, operation, action)
    if (confinement === undefined) return 'all'
    const values = confinement.fixed.map(([{ name }, value]) => [name, value])
    return confinement.where === null ? values : [values, confinement.where]
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** Describes the members of records, with the conditions under which records show related records. */
function describeProjection(projection: Projection | null): unknown {
  if (projection === null) return null
  const { columns, members, readableColumns } = projection.full ?? projection
  const answered = columns.filter((_, index) => readableColumns?.has(index) !== false)
  return [answered.map(({ joins, field }) => [joins, field.name]), members]
}

function projectionOf(plan: Plan): Projection | null {
  switch (plan.kind) {
    case 'bulkUpdate':
      return plan.combined.projection
    case 'replace':
      return plan.update.projection
    case 'action':
      return plan.resultPlan?.projection ?? null
    default:
      return 'projection' in plan ? plan.projection : null
  }
}

/** Serialized conditions contain the names of fields and relations instead of the objects. */
const MEMBERS_BY_NAME: ReadonlySet<string> = new Set(['field', 'relation'])

/**
 * Serializes parts of a plan. It is not for the client's input, which may contain members named `field` or `relation`.
 */
function serializePlanParts(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    if (typeof each === 'bigint') return String(each)
    // A condition may compare with the current time, which differs on each request, so such values are removed.
    if (isInstantRange(each)) return { ...each, values: [] }
    return MEMBERS_BY_NAME.has(name) && isObject(each) ? String(each.name) : each
  })
}

/** Operators of conditions with the current time. Instants of other operators tell callers apart. */
const RANGE_OPERATORS: ReadonlySet<unknown> = new Set<ComparePredicate['operator']>(['gt', 'gte', 'lt', 'lte'])

function isInstantRange(value: unknown): value is ComparePredicate {
  if (!isObject(value) || value.kind !== 'compare' || !isObject(value.column)) return false
  if (!RANGE_OPERATORS.has(value.operator)) return false
  const { field } = value.column
  return isObject(field) && isObject(field.valueType) && field.valueType.type === 'datetime'
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
