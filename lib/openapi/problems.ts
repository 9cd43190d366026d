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

/** The headers of replies that clients read. */
const HEADERS: Readonly<Record<HeaderName, JsonSchema>> = {
  ETag: { description: 'The version of what the reply shows.', schema: TEXT },
  Location: {
    description: 'The path of the new record. Absent where the database makes the key and does not tell it.',
    schema: { ...TEXT, format: 'uri-reference' },
  },
  Link: {
    description: 'The other pages (RFC 8288): `first`, `prev`, `next` and `last`, as far as there are any.',
    schema: TEXT,
  },
  'X-Total-Count': { description: 'How many records match.', schema: WHOLE },
  'Preference-Applied': { description: 'Which preference of `Prefer` was honoured.', schema: TEXT },
  'Accept-Query': { description: 'What a `QUERY` for the same may have in its body.', schema: TEXT },
  'Retry-After': { description: 'Seconds to wait.', schema: WHOLE },
  'WWW-Authenticate': { description: 'How to say who is asking.', schema: TEXT },
  'Idempotency-Replayed': {
    description: '`true` where this was done before, under the same `Idempotency-Key`, and not again.',
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
/** Changes of an action's handler are validated as well. */
const isValidated = (asked: Asked): boolean => hasBody(asked) || asked.action?.method === 'post'
const hasParameters = ({ subject: { resource }, row: { body, intent } }: Asked): boolean =>
  body === null && (READING.has(intent) || resource.versions)
// Each caller of a singleton has a record, or none.
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

/** Policies, scopes and masks of the attributes that the request sets by itself may forbid it. */
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

/** A problem that some operations answer with. The schemas of its body are `Problem`, or `schemas`. */
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
const CONFLICT = 'A value is taken, a reference points nowhere, or others refer to the record'
const WRONG = 'A parameter or a header is not what it must be; `errors` says which, where and why.'
const BUSY =
  'The database cannot be reached, is too busy, or took too long for the request (`timeout`); nothing was written.'

const ROWS: readonly ProblemRow[] = [
  row('InvalidBody', 400, isValidated, 'The body, or a value in it, is not what it must be.', {
    schemas: ['ValidationProblem', 'Problem'],
  }),
  row('BadRequest', 400, hasParameters, WRONG),
  row('Unauthorized', 401, needsCaller, 'Nobody knows who is asking, or the token does not hold.', {
    headers: ['WWW-Authenticate'],
  }),
  row('Forbidden', 403, isForbidding, 'The caller may not do this.'),
  row('NotFound', 404, namesRecords, 'There is no such record, or not for this caller.'),
  row('Conflict', 409, writes, `${CONFLICT}.`),
  row('ConflictOrRunning', 409, isOnce, `${CONFLICT}; or the same request is still running.`, RETRY),
  row('PreconditionFailed', 412, isConditional, 'The record has another version by now.'),
  row('ContentTooLarge', 413, receivesBody, 'The body has too many bytes.'),
  row('UnsupportedMediaType', 415, receivesBody, 'The body is not JSON.'),
  row('UnprocessableContent', 422, isOnce, 'Another request has had this `Idempotency-Key`.'),
  row('PreconditionRequired', 428, requiresVersion, 'The version is missing.'),
  row('InternalServerError', 500, always, 'Something unexpected happened.'),
  row('ServiceUnavailable', 503, always, BUSY, RETRY),
]

const MEMBERS = {
  type: { type: 'string', format: 'uri-reference', description: 'Tells the kind of problem.' },
  title: TEXT,
  status: { type: 'integer', minimum: 400, maximum: 599 },
  code: {
    type: 'string',
    description: 'What the problem is, for programs. Codes never change; the application may have its own.',
    examples: Object.keys(PROBLEMS),
  },
  detail: TEXT,
  errors: {
    type: 'object',
    description: 'Messages by property, or by query parameter.',
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
    description: 'What is wrong with the values of a body.',
  },
}

/** The problems of an operation, by status, as references, with more headers. */
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
