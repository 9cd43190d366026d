import type { JsonSchema } from '../../types/openApi.js'
import { PROBLEMS } from '../common/problem.js'
import { takesBearer } from '../identity/identity.js'
import type { IntentKind } from '../operations.js'
import { type Asked, decidedBy } from './asked.js'
import { type Draft, SHARED } from './components.js'
import { type HeaderName, headersOf } from './headers.js'
import { anyOf } from './schema.js'

/** Whether an operation can answer with a problem, and what the document says of it. */
interface ProblemRow {
  readonly name: string
  readonly status: number
  readonly description: string
  readonly occurs: (asked: Asked) => boolean
  /** The names of the schemas of its body. Default: that of all problems. */
  readonly schemas?: readonly (keyof typeof SCHEMAS)[]
  readonly headers?: readonly HeaderName[]
}

const writes = ({ row }: Asked): boolean => row.hook !== null
const hasBody = ({ row }: Asked): boolean => row.body !== null
const namesRecords = ({ row }: Asked): boolean => row.path.startsWith('/:id') || row.intent === 'bulkUpdate'
const VERSIONED: ReadonlySet<IntentKind> = new Set(['update', 'delete', 'bulkUpdate', 'replace', 'upsert'])

const versioned = ({ subject: { resource }, row }: Asked): boolean => resource.versions && VERSIONED.has(row.intent)

const READING: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export', 'get'])

function isKnown({ subject: { resource }, isPart }: Asked): boolean {
  return !isPart && resource.identity !== null && takesBearer(resource.identity)
}

const CREATING: ReadonlySet<IntentKind> = new Set(['create', 'bulkCreate', 'replace', 'upsert'])

function isConfined({ subject: { resource }, row }: Asked): boolean {
  return resource.documented.scoped && CREATING.has(row.intent)
}

/** Whether not everybody may write what the request sets by itself. */
function isBarred({ subject: { resource }, sets }: Asked): boolean {
  return [...(sets ?? [])].some((name) => (resource.documented.masks.get(name)?.write ?? null) !== null)
}

const isAsked = (asked: Asked): boolean => decidedBy(asked) !== 'never'

/** Whether it can be sent under a key of its own, to be done once. */
export function isOnce({ subject: { resource }, row, isPart }: Asked): boolean {
  return !isPart && resource.keptIn !== null && row.hook !== null && row.method !== 'delete'
}

const ROWS: readonly ProblemRow[] = [
  {
    name: 'InvalidBody',
    status: 400,
    description: 'The body, or a value in it, is not what it must be.',
    occurs: hasBody,
    schemas: ['ValidationProblem', 'Problem'],
  },
  {
    name: 'BadRequest',
    status: 400,
    description: 'A parameter or a header is not what it must be; `errors` says which, where and why.',
    occurs: ({ subject, row }) =>
      row.body === null && (READING.has(row.intent) || row.intent === 'restore' || subject.resource.versions),
  },
  {
    name: 'Unauthorized',
    status: 401,
    description: 'Nobody knows who is asking, or the token does not hold.',
    occurs: (asked) => isAsked(asked) || isKnown(asked),
    headers: ['WWW-Authenticate'],
  },
  {
    name: 'Forbidden',
    status: 403,
    description: 'The caller may not do this.',
    occurs: (asked) => isAsked(asked) || isConfined(asked) || isBarred(asked),
  },
  {
    name: 'NotFound',
    status: 404,
    description: 'There is no such record, or not for this caller.',
    occurs: namesRecords,
  },
  {
    name: 'Conflict',
    status: 409,
    description: 'A value is taken, a reference points nowhere, or others refer to the record.',
    occurs: writes,
  },
  {
    name: 'ConflictOrRunning',
    status: 409,
    description:
      'A value is taken, a reference points nowhere, or others refer to the record; or the same request is still running.',
    occurs: isOnce,
    headers: ['Retry-After'],
  },
  {
    name: 'PreconditionFailed',
    status: 412,
    description: 'The record has another version by now.',
    occurs: (asked) => versioned(asked) || asked.row.intent === 'replace',
  },
  { name: 'ContentTooLarge', status: 413, description: 'The body has too many bytes.', occurs: hasBody },
  { name: 'UnsupportedMediaType', status: 415, description: 'The body is not JSON.', occurs: hasBody },
  {
    name: 'UnprocessableContent',
    status: 422,
    description: 'Another request has had this `Idempotency-Key`.',
    occurs: isOnce,
  },
  {
    name: 'PreconditionRequired',
    status: 428,
    description: 'The version is missing.',
    occurs: (asked) => versioned(asked) && asked.row.intent !== 'delete',
  },
  { name: 'InternalServerError', status: 500, description: 'Something unexpected happened.', occurs: () => true },
  {
    name: 'ServiceUnavailable',
    status: 503,
    description:
      'The database cannot be reached, is too busy, or took too long for the request (`timeout`); nothing was written.',
    occurs: () => true,
    headers: ['Retry-After'],
  },
]

const MESSAGES: JsonSchema = {
  type: 'object',
  description: 'Messages by property, or by query parameter.',
  additionalProperties: { type: 'array', items: { type: 'string' } },
}

const MEMBERS = {
  type: { type: 'string', format: 'uri-reference', description: 'Tells the kind of problem.' },
  title: { type: 'string' },
  status: { type: 'integer', minimum: 400, maximum: 599 },
  code: {
    type: 'string',
    description: 'What the problem is, for programs. Codes never change; the application may have its own.',
    examples: Object.keys(PROBLEMS),
  },
  detail: { type: 'string' },
  errors: MESSAGES,
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

/** The problems that an operation can answer with, by status, as references to what all operations share. */
export function problemsOf(draft: Draft, asked: Asked): Readonly<Record<string, JsonSchema>> {
  const rows = ROWS.filter(({ occurs }) => occurs(asked))
  return Object.fromEntries(rows.map((row) => [row.status, reply(draft, row)]))
}

function reply(draft: Draft, { name, description, schemas = ['Problem'], headers = [] }: ProblemRow): JsonSchema {
  return draft.components.refer('responses', name, SHARED, () => {
    const content = schemas.map((schema) => draft.components.refer('schemas', schema, SHARED, () => SCHEMAS[schema]))
    return {
      description,
      ...headersOf(draft, headers),
      content: { 'application/problem+json': { schema: anyOf(content) } },
    }
  })
}
