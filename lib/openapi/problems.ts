import type { JsonSchema } from '../../types/openApi.js'
import { PROBLEMS } from '../common/problem.js'
import { takesBearer } from '../identity/identity.js'
import type { IntentKind } from '../operations.js'
import { type Asked, decidedBy } from './asked.js'
import { type Draft, SHARED } from './components.js'
import { anyOf } from './values.js'

// ---------------------------------------------------------------- headers

const TEXT: JsonSchema = { type: 'string' }
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

/** The member `headers` of a reply. */
export function headersOf({ components }: Draft, names: readonly HeaderName[]): JsonSchema {
  if (names.length === 0) return {}
  const headers = names.map((name) => [name, components.refer('headers', name, SHARED, () => HEADERS[name])])
  return { headers: Object.fromEntries(headers) }
}

// ---------------------------------------------------------------- problems

/** A problem that some operations answer with. The schemas of its body are `Problem`, or `schemas`. */
interface ProblemRow {
  readonly name: string
  readonly status: number
  readonly description: string
  readonly occurs: (asked: Asked) => boolean
  readonly schemas?: readonly (keyof typeof SCHEMAS)[]
  readonly headers?: readonly HeaderName[]
}

const VERSIONED: ReadonlySet<IntentKind> = new Set(['update', 'delete', 'bulkUpdate', 'replace', 'upsert'])
const READING: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export', 'get'])
const CREATING: ReadonlySet<IntentKind> = new Set(['create', 'bulkCreate', 'replace', 'upsert'])

const always = (): boolean => true
const writes = ({ row }: Asked): boolean => row.hook !== null
const hasBody = ({ row }: Asked): boolean => row.body !== null
const isAsked = (asked: Asked): boolean => decidedBy(asked) !== 'never'
const versioned = ({ subject: { resource }, row }: Asked): boolean => resource.versions && VERSIONED.has(row.intent)
const confined = ({ subject: { resource }, row }: Asked): boolean =>
  resource.documented.scoped && CREATING.has(row.intent)
const namesRecords = ({ row }: Asked): boolean => row.path.startsWith('/:id') || row.intent === 'bulkUpdate'
const isConditional = (asked: Asked): boolean => versioned(asked) || asked.row.intent === 'replace'
const requiresVersion = (asked: Asked): boolean => versioned(asked) && asked.row.intent !== 'delete'
const isForbidding = (asked: Asked): boolean => isAsked(asked) || confined(asked) || setsMasked(asked)

function identifies({ subject: { resource }, isPart }: Asked): boolean {
  return !isPart && resource.identity !== null && takesBearer(resource.identity)
}

/** Whether the request sets attributes that not everybody may write. */
function setsMasked({ subject: { resource }, sets }: Asked): boolean {
  return [...(sets ?? [])].some((name) => (resource.documented.masks.get(name)?.write ?? null) !== null)
}

/** Whether the request may have an `Idempotency-Key`. */
export function isOnce({ subject: { resource }, row, isPart }: Asked): boolean {
  return !isPart && resource.keptIn !== null && row.hook !== null && row.method !== 'delete'
}

const RETRY = { headers: ['Retry-After'] } as const
const CONFLICT = 'A value is taken, a reference points nowhere, or others refer to the record'

function problem(
  name: string,
  status: number,
  occurs: ProblemRow['occurs'],
  description: string,
  more: Pick<ProblemRow, 'schemas' | 'headers'> = {},
): ProblemRow {
  return { name, status, description, occurs, ...more }
}

const ROWS: readonly ProblemRow[] = [
  problem('InvalidBody', 400, hasBody, 'The body, or a value in it, is not what it must be.', {
    schemas: ['ValidationProblem', 'Problem'],
  }),
  problem(
    'BadRequest',
    400,
    ({ subject, row: { body, intent } }) =>
      body === null && (READING.has(intent) || intent === 'restore' || subject.resource.versions),
    'A parameter or a header is not what it must be; `errors` says which, where and why.',
  ),
  problem(
    'Unauthorized',
    401,
    (asked) => isAsked(asked) || identifies(asked),
    'Nobody knows who is asking, or the token does not hold.',
    { headers: ['WWW-Authenticate'] },
  ),
  problem('Forbidden', 403, isForbidding, 'The caller may not do this.'),
  problem('NotFound', 404, namesRecords, 'There is no such record, or not for this caller.'),
  problem('Conflict', 409, writes, `${CONFLICT}.`),
  problem('ConflictOrRunning', 409, isOnce, `${CONFLICT}; or the same request is still running.`, RETRY),
  problem('PreconditionFailed', 412, isConditional, 'The record has another version by now.'),
  problem('ContentTooLarge', 413, hasBody, 'The body has too many bytes.'),
  problem('UnsupportedMediaType', 415, hasBody, 'The body is not JSON.'),
  problem('UnprocessableContent', 422, isOnce, 'Another request has had this `Idempotency-Key`.'),
  problem('PreconditionRequired', 428, requiresVersion, 'The version is missing.'),
  problem('InternalServerError', 500, always, 'Something unexpected happened.'),
  problem(
    'ServiceUnavailable',
    503,
    always,
    'The database cannot be reached, is too busy, or took too long for the request (`timeout`); nothing was written.',
    RETRY,
  ),
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
    additionalProperties: { type: 'array', items: TEXT },
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

/** The problems of an operation, by status, as references. */
export function problemsOf(draft: Draft, asked: Asked): Readonly<Record<string, JsonSchema>> {
  const rows = ROWS.filter(({ occurs }) => occurs(asked))
  return Object.fromEntries(rows.map((row) => [row.status, problemOf(draft, row)]))
}

function problemOf(draft: Draft, { name, description, schemas = ['Problem'], headers = [] }: ProblemRow): JsonSchema {
  const { components } = draft
  return components.refer('responses', name, SHARED, () => {
    const content = schemas.map((schema) => components.refer('schemas', schema, SHARED, () => SCHEMAS[schema]))
    const json = { 'application/problem+json': { schema: anyOf(content) } }
    return { description, ...headersOf(draft, headers), content: json }
  })
}
