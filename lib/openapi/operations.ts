import type { JsonSchema } from '../../types/openApi.js'
import type { OperationName } from '../../types/resource.js'
import type { Operation } from '../operations.js'
import { LINES, MEDIA_TYPES } from '../parse/body.js'
import { makes } from './asked.js'
import { type Draft, SHARED } from './components.js'
import { groupPageOf, modesOf, numberOf, projectionOf } from './pages.js'
import {
  aggregateParameters,
  byParameter,
  IF_NONE_MATCH,
  IF_NONE_MATCH_ANY,
  ifMatch,
  listParameters,
  PREFER,
  selectParameter,
} from './parameters.js'
import { type HeaderName, headersOf } from './problems.js'
import { bulkUpdateOf, createOf, newRecordOf, recordOf, replaceOf, updateOf, upsertOf } from './shapes.js'
import type { Names, Subject } from './subjects.js'
import { anyOf, keyOf } from './values.js'

/** Replies by status. */
export type Replies = Readonly<Record<number, JsonSchema>>

/** An operation in a document, without what follows from its row: problems, path parameters, security. */
export interface OperationEntry {
  /** Operations of the same method and path. The first that the resource has stands for all of them. */
  readonly within?: readonly OperationName[]
  readonly id: (names: Names) => string
  readonly summary: (names: Names) => string
  readonly describe?: (subject: Subject) => string | null
  readonly parameters?: (subject: Subject) => readonly JsonSchema[]
  /** The schema of its JSON body. */
  readonly body?: (draft: Draft, subject: Subject) => JsonSchema
  readonly isBodyOptional?: true
  /** The replies that are no problems. */
  readonly replies: (draft: Draft, subject: Subject) => Replies
}

/** OpenAPI 3.1 cannot describe the method. */
const BY_QUERY =
  'The method `QUERY` answers the same, without `Link`, with these parameters in the body: a form, or a flat object of JSON.'

const written = (): readonly JsonSchema[] => [PREFER.write]

/** The compiler asks for an entry where the table of operations has a new row. */
export const ENTRIES: Readonly<Record<OperationName, OperationEntry>> = {
  getById: {
    id: ({ one }) => `get${one}`,
    summary: ({ one }) => `Get one ${one}`,
    parameters: (subject) => [selectParameter(subject, 'response'), PREFER.record, IF_NONE_MATCH],
    replies: (draft, subject) => {
      const schema = anyOf([recordOf(draft, subject), projectionOf(draft, subject)])
      const description = 'The record, or with `select` what is selected of it.'
      return { 200: json(draft, description, schema, ['ETag', 'Preference-Applied']), 304: unchanged(draft) }
    },
  },
  getList: {
    id: ({ many }) => `list${many}`,
    summary: ({ many }) => `List ${many}`,
    describe: ({ resource: { keyset } }) =>
      `A page by number, or around a place in the order by \`after\` and \`before\`; with \`select\` of some fields only; ${keyset ? 'with `cursor` a page in the order of the key; ' : ''}with \`count=true\` the number of records alone. ${BY_QUERY}`,
    parameters: (subject) => [...listParameters(subject), ...aggregateParameters(subject), PREFER.list, IF_NONE_MATCH],
    replies: (draft, subject) =>
      listed(draft, subject, 'What the mode of the list answers.', anyOf(modesOf(draft, subject))),
  },
  create: {
    id: ({ one }) => `create${one}`,
    summary: ({ one }) => `Create one ${one}`,
    parameters: written,
    body: createOf,
    replies: (draft, subject) => ({ 201: created(draft, subject) }),
  },
  export: {
    within: ['getList', 'aggregate'],
    id: ({ many }) => `export${many}`,
    summary: ({ many }) => `Export ${many}`,
    describe: () => `All records that match, as CSV or as a record a line. ${BY_QUERY}`,
    parameters: (subject) => [...listParameters(subject), PREFER.list],
    replies: () => ({ 200: { description: 'The records, written while they are read.', content: FILES } }),
  },
  update: {
    id: ({ one }) => `update${one}`,
    summary: ({ one }) => `Change one ${one}`,
    describe: (subject) => `What is absent stays, null clears (RFC 7396).${describeJson(subject)}`,
    parameters: (subject) => [...versionParameter(subject, true), PREFER.write],
    body: updateOf,
    replies: changed,
  },
  delete: {
    id: ({ one }) => `delete${one}`,
    summary: ({ one }) => `Delete one ${one}`,
    describe: ({ resource: { softDeletes } }) => (softDeletes ? 'The record is marked as deleted.' : null),
    parameters: (subject) => versionParameter(subject, false),
    replies: () => ({ 204: { description: 'It is deleted.' } }),
  },
  bulkCreate: {
    id: ({ many }) => `bulkCreate${many}`,
    summary: ({ many }) => `Create several ${many}`,
    describe: () => 'All of them or none.',
    parameters: written,
    body: (draft, subject) => listOf(subject, createOf(draft, subject)),
    replies: (draft, subject) => {
      const description = 'The new records in their order; no body with `Prefer: return=minimal`.'
      return { 201: json(draft, description, listOf(null, newRecordOf(draft, subject)), ['Preference-Applied']) }
    },
  },
  bulkDelete: {
    id: ({ many }) => `bulkDelete${many}`,
    summary: ({ many }) => `Delete several ${many}`,
    describe: () => 'All of them or none; keys of records that are not there are passed over.',
    body: (_, subject) => listOf(subject, keyOf(subject)),
    replies: (draft) => ({ 200: json(draft, 'How many were deleted.', numberOf(draft, 'BulkDeleted')) }),
  },
  restore: {
    id: ({ one }) => `restore${one}`,
    summary: ({ one }) => `Restore a deleted ${one}`,
    parameters: written,
    replies: changed,
  },
  aggregate: {
    within: ['getList'],
    id: ({ many }) => `aggregate${many}`,
    summary: ({ many }) => `Measure groups of ${many}`,
    describe: ({ resource: { operations } }) =>
      `${operations.has('export') ? 'By `format`, or by what the client accepts, all records as a file instead. ' : ''}${BY_QUERY}`,
    parameters: (subject) => {
      const left = subject.resource.operations.has('export') ? OF_PAGES : OF_RECORDS
      const shared = listParameters(subject).filter(({ name }) => !left.has(String(name)))
      return [...shared, ...aggregateParameters(subject), PREFER.list, IF_NONE_MATCH]
    },
    replies: (draft, subject) => listed(draft, subject, 'A page of groups.', groupPageOf(draft, subject)),
  },
  bulkUpdate: {
    id: ({ many }) => `bulkUpdate${many}`,
    summary: ({ many }) => `Change several ${many}`,
    describe: (subject) => `All of them or none. What is absent stays, null clears.${describeJson(subject)}`,
    parameters: written,
    body: (draft, subject) => listOf(subject, bulkUpdateOf(draft, subject)),
    replies: (draft, subject) => ({
      200: json(draft, 'The records in their order.', listOf(null, recordOf(draft, subject))),
      204: minimal(draft, []),
    }),
  },
  replace: {
    id: ({ one }) => `replace${one}`,
    summary: ({ one }) => `Replace one ${one}`,
    describe: (subject) =>
      `What is absent becomes its default, or null.${makes(subject) ? ' A record that is not there is created.' : ''}`,
    parameters: (subject) => [...versionParameter(subject, false), IF_NONE_MATCH_ANY, PREFER.write],
    body: replaceOf,
    replies: (draft, subject) => ({
      ...changed(draft, subject),
      ...(makes(subject) ? { 201: created(draft, subject) } : {}),
    }),
  },
  upsert: {
    id: ({ many }) => `upsert${many}`,
    summary: ({ many }) => `Change or create several ${many}`,
    describe: () => 'All of them or none. Each changes the record that has its values of `by`, or creates one.',
    parameters: (subject) => [byParameter(subject)],
    body: (draft, subject) => listOf(subject, upsertOf(draft, subject)),
    replies: (draft) => ({ 200: json(draft, 'How many were created and changed.', numberOf(draft, 'Upserted')) }),
  },
}

/** The parameters of lists that groups do not have, and those that groups and files do not have. */
const OF_RECORDS: ReadonlySet<string> = new Set(['select', 'cursor', 'after', 'before', 'sortBy', 'sortDirection'])
const OF_PAGES: ReadonlySet<string> = new Set(['cursor', 'before'])

/** The media types of exports. */
const FILES: JsonSchema = Object.fromEntries(
  ['text/csv', 'application/jsonl', 'application/x-ndjson'].map((type) => [type, { schema: { type: 'string' } }]),
)

const LIST_HEADERS: readonly HeaderName[] = ['ETag', 'Link', 'X-Total-Count', 'Preference-Applied', 'Accept-Query']
const UNCHANGED = 'Nothing has changed since the client got it.'

/** The replies of a list that is JSON, or also a file. */
function listed(draft: Draft, { resource: { operations } }: Subject, description: string, schema: JsonSchema): Replies {
  const page = json(draft, description, schema, LIST_HEADERS)
  const content = { ...Object(page.content), ...(operations.has('export') ? FILES : {}) }
  const headers = headersOf(draft, LIST_HEADERS)
  const refer = (): JsonSchema => ({ description: UNCHANGED, ...headers })
  return { 200: { ...page, content }, 304: draft.components.refer('responses', 'ListNotModified', SHARED, refer) }
}

/** 304 of a record. */
function unchanged(draft: Draft): JsonSchema {
  const headers = headersOf(draft, ['ETag', 'Preference-Applied'])
  const refer = (): JsonSchema => ({ description: UNCHANGED, ...headers })
  return draft.components.refer('responses', 'NotModified', SHARED, refer)
}

export function json(
  draft: Draft,
  description: string,
  schema: JsonSchema,
  headers: readonly HeaderName[] = [],
): JsonSchema {
  return { description, ...headersOf(draft, headers), content: { 'application/json': { schema } } }
}

function created(draft: Draft, subject: Subject): JsonSchema {
  const headers = ['Location', 'Preference-Applied', ...versionHeader(subject)] as const
  const description = 'The new record; no body with `Prefer: return=minimal`.'
  return json(draft, description, newRecordOf(draft, subject), headers)
}

function changed(draft: Draft, subject: Subject): Replies {
  const headers = versionHeader(subject)
  const reply = json(draft, 'The record as it is now.', recordOf(draft, subject), headers)
  return { 200: reply, 204: minimal(draft, headers) }
}

function minimal(draft: Draft, headers: readonly HeaderName[]): JsonSchema {
  const description = 'It is done, and `Prefer: return=minimal` asked for no more.'
  return { description, ...headersOf(draft, ['Preference-Applied', ...headers]) }
}

function versionHeader({ resource: { versions } }: Subject): readonly HeaderName[] {
  return versions ? ['ETag'] : []
}

function versionParameter({ resource: { versions } }: Subject, isRequired: boolean): readonly JsonSchema[] {
  return versions ? [ifMatch(isRequired)] : []
}

/** Readers of RFC 7396 would expect that JSON in a field is merged, too. */
function describeJson({ resource: { fields } }: Subject): string {
  const hasJson = fields.some(
    ({ targets, valueType }) => targets.has('update') && valueType.type === 'json' && valueType.form === undefined,
  )
  return hasJson ? ' A JSON field is one value, which is replaced as a whole.' : ''
}

/** A list; in bodies of as many items as the resource's limits allow. */
function listOf(subject: Subject | null, items: JsonSchema): JsonSchema {
  return { type: 'array', items, ...(subject === null ? {} : { maxItems: subject.resource.limits.bulkItems }) }
}

/** The member `requestBody` of an operation with a body. */
export function requestOf(
  draft: Draft,
  subject: Subject,
  { body, isBodyOptional }: Pick<OperationEntry, 'body' | 'isBodyOptional'>,
  { method, lines }: Pick<Operation, 'method' | 'lines'>,
): JsonSchema {
  if (body === undefined) return {}
  const schema = body(draft, subject)
  const types = method === 'patch' ? MEDIA_TYPES : MEDIA_TYPES.slice(0, 1)
  const content = Object.fromEntries([
    ...types.map((type) => [type, { schema }]),
    ...(lines ? [[LINES, { schema: { type: 'string', description: 'One object a line.' } }]] : []),
  ])
  return { requestBody: { ...(isBodyOptional ? {} : { required: true }), content } }
}
