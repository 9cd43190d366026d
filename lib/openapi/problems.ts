import type { JsonSchema } from '../../types/openApi.js'
import { anyOf, arrayOf, type Members, TEXT } from '../codec/schema.js'
import { PROBLEMS } from '../common/problem.js'
import { takesBearer } from '../identity/identity.js'
import type { IntentKind } from '../operations.js'
import { type Asked, decidedBy } from './asked.js'
import type { Subject } from './subjects.js'

// ---------------------------------------------------------------- headers

const WHOLE: JsonSchema = { type: 'integer', minimum: 0 }

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
  'X-Total-Count': { description: 'The number of matching records.', schema: WHOLE },
  'Preference-Applied': { description: 'The preference of `Prefer` that the server applied.', schema: TEXT },
  'Accept-Query': { description: 'The media types for the body of a `QUERY` request.', schema: TEXT },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: WHOLE },
  'WWW-Authenticate': { description: 'The authentication scheme to use.', schema: TEXT },
  'Idempotency-Replayed': {
    description: '`true` for a replayed response: the write was done before with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
}

export function headersOf({ components }: Subject, names: readonly HeaderName[]): JsonSchema {
  if (names.length === 0) return {}
  const headers = names.map((name) => [name, components.refer('headers', name, () => HEADERS[name])])
  return { headers: Object.fromEntries(headers) }
}

// ---------------------------------------------------------------- which problems an operation has

const VERSIONED: ReadonlySet<IntentKind> = new Set(['update', 'delete', 'bulkUpdate', 'replace', 'upsert'])
const READING: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export', 'get', 'restore'])
const STORING: ReadonlySet<IntentKind> = new Set([
  'create',
  'bulkCreate',
  'update',
  'bulkUpdate',
  'replace',
  'upsert',
  'restore',
])

const always = (): boolean => true
const writes = ({ row }: Asked): boolean => row.hook !== null
const hasBody = ({ row }: Asked): boolean => row.body !== null
const receivesBody = (asked: Asked): boolean => hasBody(asked) || asked.isQueried === true
/** Changes that an action's handler makes are validated as well. */
const isValidated = (asked: Asked): boolean => hasBody(asked) || asked.action?.method === 'post'
const hasParameters = ({ subject: { resource }, row: { body, intent } }: Asked): boolean =>
  body === null && (READING.has(intent) || resource.versions)
// A caller may have no record of a singleton.
const namesRecords = ({ subject: { resource }, row, action, isPart }: Asked): boolean =>
  row.path.startsWith('/:id') ||
  row.intent === 'bulkUpdate' ||
  action?.output === 'record' ||
  (resource.behaviours.ownKey !== null && isPart !== true)
const isVersioned = ({ subject: { resource }, row }: Asked): boolean => resource.versions && VERSIONED.has(row.intent)
const isConditional = (asked: Asked): boolean => isVersioned(asked) || asked.row.intent === 'replace'
const requiresVersion = (asked: Asked): boolean => isVersioned(asked) && asked.row.intent !== 'delete'

function needsCaller(asked: Asked): boolean {
  const { identity } = asked.subject.resource
  return decidedBy(asked) !== 'never' || (!asked.isPart && identity !== null && takesBearer(identity))
}

/** Whether 403 is possible: policies, scopes and masks of attributes that the request sets may reject it. */
function isForbidding(asked: Asked): boolean {
  const { scoped, masks } = asked.subject.resource.documented
  const setsMasked = [...(asked.sets ?? [])].some((name) => (masks.get(name)?.write ?? null) !== null)
  const isStored = asked.isLinked === true || STORING.has(asked.row.intent) || asked.action?.method === 'post'
  return decidedBy(asked) !== 'never' || (scoped && isStored) || setsMasked
}

/** Whether the request may have an `Idempotency-Key`. */
export function isOnce({ subject: { resource }, row, isPart }: Asked): boolean {
  return !isPart && resource.keptIn !== null && row.hook !== null && row.method !== 'delete'
}

// ---------------------------------------------------------------- problems

/** A problem response of some operations. Its body has the schema `Problem`, or `schemas`. */
interface ProblemRow {
  readonly name: string
  readonly status: number
  readonly occurs: (asked: Asked) => boolean
  readonly description: string
  readonly schemas?: readonly (keyof typeof SCHEMAS)[]
  readonly headers?: readonly HeaderName[]
}

function row(
  name: string,
  status: number,
  occurs: ProblemRow['occurs'],
  description: string,
  more: Pick<ProblemRow, 'schemas' | 'headers'> = {},
): ProblemRow {
  return { name, status, occurs, description, ...more }
}

const RETRY = { headers: ['Retry-After'] } as const
const CONFLICT = 'A value is already taken, a referenced record does not exist, or other records refer to this record'
const WRONG = 'A parameter or a header is invalid. `errors` has its name, the place and the reason.'
const BUSY = 'The database is unreachable or busy, or the request took too long (`timeout`). Nothing was written.'

const ROWS: readonly ProblemRow[] = [
  row('InvalidBody', 400, isValidated, 'The body, or a value in it, is invalid.', {
    schemas: ['ValidationProblem', 'Problem'],
  }),
  row('BadRequest', 400, hasParameters, WRONG),
  row('Unauthorized', 401, needsCaller, 'Authentication is missing, or the token is invalid.', {
    headers: ['WWW-Authenticate'],
  }),
  row('Forbidden', 403, isForbidding, 'The caller may not do this.'),
  row('NotFound', 404, namesRecords, 'The record does not exist, or the caller may not see it.'),
  row('Conflict', 409, writes, `${CONFLICT}.`),
  row('ConflictOrRunning', 409, isOnce, `${CONFLICT}; or the same request is still running.`, RETRY),
  row('PreconditionFailed', 412, isConditional, 'The record has a different version now.'),
  row('ContentTooLarge', 413, receivesBody, 'The body is too large.'),
  row('UnsupportedMediaType', 415, receivesBody, 'The body is not JSON.'),
  row('UnprocessableContent', 422, isOnce, 'A different request has used this `Idempotency-Key`.'),
  row('PreconditionRequired', 428, requiresVersion, 'The request must state the version of the record.'),
  row('InternalServerError', 500, always, 'An unexpected error occurred.'),
  row('ServiceUnavailable', 503, always, BUSY, RETRY),
]

const MEMBERS = {
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
    additionalProperties: arrayOf(TEXT),
  },
}

const ALWAYS = ['type', 'title', 'status', 'code']

const SCHEMAS = {
  Problem: { type: 'object', required: ALWAYS, properties: MEMBERS, description: 'A problem (RFC 9457).' },
  ValidationProblem: {
    type: 'object',
    required: [...ALWAYS, 'errors'],
    properties: { ...MEMBERS, status: { const: 400 }, code: { const: 'validation' } },
    description: 'Invalid values in a body.',
  },
}

/** Problem responses of an operation by status, as references, with additional headers. */
export function problemsOf(asked: Asked, more: Members = {}): Readonly<Record<string, JsonSchema>> {
  const { subject } = asked
  const { components } = subject
  const rows = ROWS.filter(({ occurs }) => occurs(asked))
  const isPlain = Object.keys(more).length === 0
  const problems = rows.map(({ name, status, description, schemas = ['Problem'], headers = [] }) => {
    const make = (): JsonSchema => {
      const content = schemas.map((schema) => components.refer('schemas', schema, () => SCHEMAS[schema]))
      const json = { 'application/problem+json': { schema: anyOf(content) } }
      return { description, ...headersOf(subject, headers), content: json }
    }
    if (isPlain) return [status, components.refer('responses', name, make)]
    const problem = make()
    const all = { ...Object(problem.headers), ...more }
    return [status, components.share('responses', name, { ...problem, headers: all })]
  })
  return Object.fromEntries(problems)
}
