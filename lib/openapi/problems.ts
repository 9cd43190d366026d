import type { JsonSchema } from '../../types/openApi.js'
import { anyOf, listSchema, type SchemaMembers, TEXT } from '../codec/schema.js'
import { PROBLEMS } from '../common/problem.js'
import { isBearerIdentity } from '../identity/identity.js'
import type { IntentKind } from '../operations.js'
import { policyCoverage, type RequiredPermission } from './requiredPermissions.js'
import type { DescribedResource } from './subjects.js'

// ---------------------------------------------------------------- headers

const COUNT_SCHEMA: JsonSchema = { type: 'integer', minimum: 0 }

export type HeaderName =
  | 'ETag'
  | 'Location'
  | 'Link'
  | 'X-Total-Count'
  | 'Preference-Applied'
  | 'Accept-Query'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'Idempotency-Replayed'

/** Response headers that clients read. */
const HEADERS: Readonly<Record<HeaderName, JsonSchema>> = {
  ETag: { description: 'The version of the response content.', schema: TEXT },
  Location: {
    description: 'The path of the new record. Absent if the database creates the key and does not return it.',
    schema: { ...TEXT, format: 'uri-reference' },
  },
  Link: {
    description: 'Links to other pages (RFC 8288): `first`, `prev`, `next` and `last`, if they exist.',
    schema: TEXT,
  },
  'X-Total-Count': { description: 'The number of matching records.', schema: COUNT_SCHEMA },
  'Preference-Applied': { description: 'The preference of `Prefer` that the server applied.', schema: TEXT },
  'Accept-Query': { description: 'The media types for the body of a `QUERY` request.', schema: TEXT },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: COUNT_SCHEMA },
  'WWW-Authenticate': { description: 'The authentication scheme to use.', schema: TEXT },
  'Idempotency-Replayed': {
    description: '`true` for a replayed response: the write was done before with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
}

export function writeHeaders({ components }: DescribedResource, names: readonly HeaderName[]): JsonSchema {
  if (names.length === 0) return {}
  const headers = names.map((name) => [name, components.referTo('headers', name, () => HEADERS[name])])
  return { headers: Object.fromEntries(headers) }
}

// ---------------------------------------------------------------- problems of an operation

const VERSIONED_INTENTS: ReadonlySet<IntentKind> = new Set(['update', 'delete', 'bulkUpdate', 'replace', 'upsert'])
const READ_INTENTS: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export', 'get', 'restore'])
const STORE_INTENTS: ReadonlySet<IntentKind> = new Set([
  'create',
  'bulkCreate',
  'update',
  'bulkUpdate',
  'replace',
  'upsert',
  'restore',
])

const isAlways = (): boolean => true
const isWrite = ({ row }: RequiredPermission): boolean => row.hook !== null
const hasBody = ({ row }: RequiredPermission): boolean => row.body !== null
const hasRequestBody = (permission: RequiredPermission): boolean =>
  hasBody(permission) || permission.hasQueryBody === true
/** Whether the server validates values. Changes by an action's handler are validated as well as bodies. */
const hasValidation = (permission: RequiredPermission): boolean =>
  hasBody(permission) || permission.action?.method === 'post'
const hasParameters = ({ subject: { resource }, row: { body, intent } }: RequiredPermission): boolean =>
  body === null && (READ_INTENTS.has(intent) || resource.versions)
// Whether the server may answer that the record is missing. A caller of a singleton may have no record, and then cannot
// nest it in a body either.
const hasRecordKey = ({ subject: { resource }, row, action }: RequiredPermission): boolean =>
  row.path.startsWith('/:id') ||
  row.intent === 'bulkUpdate' ||
  action?.output === 'record' ||
  resource.behaviours.ownKey !== null
const isVersioned = ({ subject: { resource }, row }: RequiredPermission): boolean =>
  resource.versions && VERSIONED_INTENTS.has(row.intent)
const isConditional = (permission: RequiredPermission): boolean =>
  isVersioned(permission) || permission.row.intent === 'replace'
const isVersionRequired = (permission: RequiredPermission): boolean =>
  isVersioned(permission) && permission.row.intent !== 'delete'

function isAuthenticationPossible(permission: RequiredPermission): boolean {
  const { identity } = permission.subject.resource
  return (
    policyCoverage(permission) !== 'never' || (!permission.isNested && identity !== null && isBearerIdentity(identity))
  )
}

/**
 * Whether the server may answer 403. Policies, scopes and masks of attributes that the request sets can reject a
 * request.
 */
function isForbiddenPossible(permission: RequiredPermission): boolean {
  const { isScoped, masks } = permission.subject.resource.documented
  const setsMasked = [...(permission.assignedAttributes ?? [])].some(
    (name) => (masks.get(name)?.write ?? null) !== null,
  )
  const isStored =
    permission.isLinkChange === true || STORE_INTENTS.has(permission.row.intent) || permission.action?.method === 'post'
  return policyCoverage(permission) !== 'never' || (isScoped && isStored) || setsMasked
}

/** Whether the request may have an `Idempotency-Key`. */
export function hasIdempotencyKey({ subject: { resource }, row, isNested }: RequiredPermission): boolean {
  return !isNested && resource.idempotencyModel !== null && row.hook !== null && row.method !== 'delete'
}

// ---------------------------------------------------------------- problems

/** A problem response of some operations. The response body has the schema `Problem`, or one of `schemas`. */
interface ProblemRow {
  readonly name: string
  readonly status: number
  readonly isPossible: (permission: RequiredPermission) => boolean
  readonly description: string
  readonly schemas?: readonly (keyof typeof PROBLEM_SCHEMAS)[]
  readonly headers?: readonly HeaderName[]
}

function createRow(
  name: string,
  status: number,
  occurs: ProblemRow['isPossible'],
  description: string,
  more: Pick<ProblemRow, 'schemas' | 'headers'> = {},
): ProblemRow {
  return { name, status, isPossible: occurs, description, ...more }
}

const RETRY_HEADERS = { headers: ['Retry-After'] } as const
const CONFLICT_TEXT =
  'A value is already taken, a referenced record does not exist, or other records refer to this record'
const INVALID_TEXT = 'A parameter or a header is invalid. `errors` has its name, the place and the reason.'
const BUSY_TEXT = 'The database is unreachable or busy, or the request took too long (`timeout`). Nothing was written.'
const VERSION_TEXT =
  'The version of the record is missing. Send its `ETag` as `If-Match`. In a batch, send the version of each record in the body.'

const PROBLEM_ROWS: readonly ProblemRow[] = [
  createRow('InvalidBody', 400, hasValidation, 'The body, or a value in it, is invalid.', {
    schemas: ['ValidationProblem', 'Problem'],
  }),
  createRow('BadRequest', 400, hasParameters, INVALID_TEXT),
  createRow('Unauthorized', 401, isAuthenticationPossible, 'Authentication is missing, or the token is invalid.', {
    headers: ['WWW-Authenticate'],
  }),
  createRow('Forbidden', 403, isForbiddenPossible, 'The caller may not do this.'),
  createRow('NotFound', 404, hasRecordKey, 'The record does not exist, or the caller may not see it.'),
  createRow('Conflict', 409, isWrite, `${CONFLICT_TEXT}.`),
  createRow(
    'ConflictOrRunning',
    409,
    hasIdempotencyKey,
    `${CONFLICT_TEXT}; or the same request is still running.`,
    RETRY_HEADERS,
  ),
  createRow('PreconditionFailed', 412, isConditional, 'The record has a different version now.'),
  createRow('ContentTooLarge', 413, hasRequestBody, 'The body is too large.'),
  createRow('UnsupportedMediaType', 415, hasRequestBody, 'The body is not JSON.'),
  createRow('UnprocessableContent', 422, hasIdempotencyKey, 'A different request has used this `Idempotency-Key`.'),
  createRow('PreconditionRequired', 428, isVersionRequired, VERSION_TEXT),
  createRow('InternalServerError', 500, isAlways, 'An unexpected error occurred.'),
  createRow('ServiceUnavailable', 503, isAlways, BUSY_TEXT, RETRY_HEADERS),
]

const PROBLEM_MEMBERS = {
  type: { type: 'string', format: 'uri-reference', description: 'Identifies the type of the problem.' },
  title: TEXT,
  status: { type: 'integer', minimum: 400, maximum: 599 },
  code: {
    type: 'string',
    description: 'The error code for programs. Codes never change. The application may add codes.',
    examples: Object.keys(PROBLEMS),
  },
  detail: TEXT,
  errors: {
    type: 'object',
    description: 'Messages by property or query parameter.',
    additionalProperties: listSchema(TEXT),
  },
}

const REQUIRED_MEMBERS = ['type', 'title', 'status', 'code']

const PROBLEM_SCHEMAS = {
  Problem: {
    type: 'object',
    required: REQUIRED_MEMBERS,
    properties: PROBLEM_MEMBERS,
    description: 'A problem (RFC 9457).',
  },
  ValidationProblem: {
    type: 'object',
    required: [...REQUIRED_MEMBERS, 'errors'],
    properties: { ...PROBLEM_MEMBERS, status: { const: 400 }, code: { const: 'validation' } },
    description: 'Invalid values in a body.',
  },
}

/** Problem responses of an operation by status, as references. `more` has additional headers. */
export function problemResponses(
  permission: RequiredPermission,
  more: SchemaMembers = {},
): Readonly<Record<string, JsonSchema>> {
  const { subject } = permission
  const { components } = subject
  const rows = PROBLEM_ROWS.filter(({ isPossible }) => isPossible(permission))
  const isPlain = Object.keys(more).length === 0
  const problems = rows.map(({ name, status, description, schemas = ['Problem'], headers = [] }) => {
    const buildSchema = (): JsonSchema => {
      const content = schemas.map((schema) => components.referTo('schemas', schema, () => PROBLEM_SCHEMAS[schema]))
      const json = { 'application/problem+json': { schema: anyOf(content) } }
      return { description, ...writeHeaders(subject, headers), content: json }
    }
    if (isPlain) return [status, components.referTo('responses', name, buildSchema)]
    const problem = buildSchema()
    const all = { ...Object(problem.headers), ...more }
    return [status, components.share('responses', name, { ...problem, headers: all })]
  })
  return Object.fromEntries(problems)
}
