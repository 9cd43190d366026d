import type { JsonSchema } from '../../types/openApi.js'
import type { OperationName } from '../../types/resource.js'
import { anyOf, listSchema, objectSchema, TEXT } from '../codec/schema.js'
import { FORMATS } from '../http/formats.js'
import { buildCountSchema, buildGroupPage, buildListSchemas, buildProjection, type LinkedList } from './pages.js'
import * as parameters from './parameters.js'
import { aggregateParameters, IF_NONE_MATCH, listParameters, PREFER } from './parameters.js'
import type { HeaderName } from './problems.js'
import { canCreate } from './requiredPermissions.js'
import {
  buildBulkUpdateSchema,
  buildCreateSchema,
  buildItemSchema,
  buildNewRecordSchema,
  buildRecordSchema,
  buildReplaceSchema,
  buildUpdateSchema,
  buildUpsertSchema,
} from './shapes.js'
import type { DescribedResource } from './subjects.js'
import { buildKeySchema } from './values.js'

/** A successful response. */
export interface ReplyEntry {
  readonly description: string
  readonly headers?: readonly HeaderName[]
  /** Body schemas by media type. */
  readonly content?: JsonSchema
  /** Name of the component, if all responses with the status are equal. */
  readonly name?: string
}

export type Replies = Readonly<Record<number, ReplyEntry>>

/**
 * An operation in a document. The operation's problems, path parameters and security follow from its row in the table
 * of operations.
 */
export interface OperationEntry {
  /** Other operations with this method and path. The first enabled operation documents all of them. */
  readonly sharedWith?: readonly OperationName[]
  readonly idAndSummary: readonly [id: string, summary: string]
  readonly describe?: (subject: DescribedResource) => string | null
  readonly parameters?: (subject: DescribedResource) => readonly JsonSchema[]
  /** Schema of the JSON body. */
  readonly body?: (subject: DescribedResource) => JsonSchema
  readonly isBodyOptional?: true
  readonly replies: (subject: DescribedResource) => Replies
}

/** Describes the QUERY method in words, because OpenAPI 3.1 cannot express it. */
function describeQueryMethod({ components: { version } }: DescribedResource): readonly string[] {
  return version === '3.1' ? [QUERY_METHOD_TEXT] : []
}

const QUERY_METHOD_TEXT =
  'The method `QUERY` returns the same response without `Link`. It takes these parameters in the body: a form, or a flat JSON object.'

const writeParameters = (): readonly JsonSchema[] => [PREFER.write]
const batchParameters = (): readonly JsonSchema[] => [PREFER.several]

/** Parameter `If-None-Match` of a read. A singleton has no such parameter, because its record is always sent. */
export function tagParameter({ resource }: DescribedResource): readonly JsonSchema[] {
  return resource.behaviours.ownKey === null ? [IF_NONE_MATCH] : []
}

/** Response 304 to a request with `If-None-Match`. */
export function notModifiedReply({ resource }: DescribedResource, headers: readonly HeaderName[]): Replies {
  return resource.behaviours.ownKey === null ? { 304: { name: 'NotModified', description: NOT_MODIFIED, headers } } : {}
}

/** Entries of all operations. The type requires an entry for every row of the table of operations. */
export const ENTRIES: Readonly<Record<OperationName, OperationEntry>> = {
  getById: {
    idAndSummary: ['get{one}', 'Get one {one}'],
    parameters: (subject) => [parameters.selectParameter(subject, 'response'), PREFER.record, ...tagParameter(subject)],
    replies: (subject) => {
      const schema = (): JsonSchema => anyOf([buildRecordSchema(subject), buildProjection(subject)])
      const headers = ['ETag', 'Preference-Applied'] as const
      const reply = recordsReply(subject, 'The record. With `select`, only the selected fields.', schema, headers)
      return { 200: reply, ...notModifiedReply(subject, headers) }
    },
  },
  getList: {
    idAndSummary: ['list{many}', 'List {many}'],
    describe: (subject) => {
      const { keyset } = subject.resource
      const pages = `Returns a page: by number with \`page\`, or by a cursor with \`after\` or \`before\`. ${keyset ? '`cursor` returns a page in the order of the key. ' : ''}\`select\` chooses the fields. \`count=true\` returns only the number of records.`
      return [pages, ...describeQueryMethod(subject)].join(' ')
    },
    parameters: (subject) => [...listParameters(subject), ...aggregateParameters(subject), PREFER.list, IF_NONE_MATCH],
    replies: (subject) => listReplies(subject),
  },
  create: {
    idAndSummary: ['create{one}', 'Create one {one}'],
    parameters: writeParameters,
    body: buildCreateSchema,
    replies: createdReplies,
  },
  export: {
    sharedWith: ['getList', 'aggregate'],
    idAndSummary: ['export{many}', 'Export {many}'],
    describe: (subject) =>
      [
        'Returns all matching records as a file: CSV, or one JSON record per line.',
        ...describeQueryMethod(subject),
      ].join(' '),
    parameters: (subject) => [...listParameters(subject), PREFER.list],
    replies: (subject) => ({
      200: { description: 'The records, as a stream.', content: fileContent(subject) },
    }),
  },
  update: {
    idAndSummary: ['update{one}', 'Change one {one}'],
    describe: (subject) =>
      `Omitted members keep their values, and null clears a value (RFC 7396).${describeJson(subject)}`,
    parameters: (subject) => [...versionParameter(subject, true), PREFER.write],
    body: buildUpdateSchema,
    replies: changedReplies,
  },
  delete: {
    idAndSummary: ['delete{one}', 'Delete one {one}'],
    describe: ({ resource: { softDeletes } }) => (softDeletes ? 'The record is marked as deleted.' : null),
    parameters: (subject) => versionParameter(subject, false),
    replies: () => ({ 204: { description: 'The record is deleted.' } }),
  },
  bulkCreate: {
    idAndSummary: ['bulkCreate{many}', 'Create several {many}'],
    describe: () => 'Creates all records or none.',
    parameters: batchParameters,
    body: (subject) => limitItems(subject, buildCreateSchema(subject)),
    replies: (subject) => {
      const description = 'The new records in the order of the request. With `Prefer: return=minimal` there is no body.'
      return {
        201: recordsReply(subject, description, () => listSchema(buildNewRecordSchema(subject)), [
          'Preference-Applied',
        ]),
      }
    },
  },
  bulkDelete: {
    idAndSummary: ['bulkDelete{many}', 'Delete several {many}'],
    describe: () => 'Deletes all records or none. Keys of missing records are ignored.',
    parameters: () => [PREFER.counted],
    body: (subject) => limitItems(subject, buildKeySchema(subject)),
    replies: (subject) => ({
      200: jsonReply('The number of deleted records.', buildCountSchema(subject, 'BulkDeleted'), [
        'Preference-Applied',
      ]),
    }),
  },
  restore: {
    idAndSummary: ['restore{one}', 'Restore a deleted {one}'],
    parameters: writeParameters,
    replies: changedReplies,
  },
  aggregate: {
    sharedWith: ['getList'],
    idAndSummary: ['aggregate{many}', 'Aggregate {many} by groups'],
    describe: (subject) => {
      const { operations } = subject.resource
      const file = 'With `format`, or by the `Accept` header, the server returns all records as a file instead.'
      const sentences = [...(operations.has('export') ? [file] : []), ...describeQueryMethod(subject)]
      return sentences.length === 0 ? null : sentences.join(' ')
    },
    parameters: (subject) => {
      const excluded = subject.resource.operations.has('export') ? PAGE_PARAMETERS : RECORD_PARAMETERS
      const shared = listParameters(subject).filter(({ name }) => !excluded.has(String(name)))
      return [...shared, ...aggregateParameters(subject), PREFER.list, IF_NONE_MATCH]
    },
    replies: (subject) => listOrFileReplies(subject, 'A page of groups.', () => buildGroupPage(subject)),
  },
  bulkUpdate: {
    idAndSummary: ['bulkUpdate{many}', 'Change several {many}'],
    describe: (subject) =>
      `Changes all records or none. Omitted members keep their values, and null clears a value.${describeJson(subject)}`,
    parameters: batchParameters,
    body: (subject) => limitItems(subject, buildBulkUpdateSchema(subject)),
    replies: (subject) => ({
      200: recordsReply(
        subject,
        'The changed records in the order of the request.',
        () => listSchema(buildRecordSchema(subject)),
        ['Preference-Applied'],
      ),
      204: minimalReply([]),
    }),
  },
  replace: {
    idAndSummary: ['replace{one}', 'Replace one {one}'],
    describe: (subject) =>
      `Omitted members get their defaults, or null.${canCreate(subject) ? ' A missing record is created.' : ''}`,
    parameters: (subject) => [...versionParameter(subject, false), parameters.IF_NONE_MATCH_ANY, PREFER.write],
    body: buildReplaceSchema,
    replies: (subject) => ({ ...changedReplies(subject), ...(canCreate(subject) ? createdReplies(subject) : {}) }),
  },
  upsert: {
    idAndSummary: ['upsert{many}', 'Change or create several {many}'],
    describe: () =>
      'Writes all records or none. Each item changes the record with the same values of `by`, or creates a record.',
    parameters: (subject) => [parameters.byParameter(subject), PREFER.counted],
    body: (subject) => limitItems(subject, buildUpsertSchema(subject)),
    replies: (subject) => ({
      200: jsonReply('The numbers of created and changed records.', buildCountSchema(subject, 'Upserted'), [
        'Preference-Applied',
      ]),
    }),
  },
}

/** List parameters that do not apply to groups. Neither groups nor files have `PAGE_PARAMETERS`. */
const RECORD_PARAMETERS: ReadonlySet<string> = new Set([
  'select',
  'cursor',
  'after',
  'before',
  'sortBy',
  'sortDirection',
])
const PAGE_PARAMETERS: ReadonlySet<string> = new Set(['cursor', 'before'])

/** Last line of a JSON lines file with a record count. */
const COUNT_LINE = objectSchema({ '@count': { type: 'integer', minimum: 0 } })

/** Schemas of file formats by media type. OpenAPI 3.2 can also describe the records of a stream. */
function fileContent(subject: DescribedResource): JsonSchema {
  const files = FORMATS.filter(({ kinds }) => kinds.has('export'))
  const isTyped = subject.components.version !== '3.1'
  return Object.fromEntries(
    files.map(({ mediaType, hasRecords }) => {
      if (!isTyped || hasRecords !== true) return [mediaType, { schema: TEXT }]
      return [mediaType, { itemSchema: anyOf([buildItemSchema(subject), buildProjection(subject), COUNT_LINE]) }]
    }),
  )
}

const NOT_MODIFIED = 'The client has the current version already.'

export function jsonReply(description: string, schema: JsonSchema, headers: readonly HeaderName[] = []): ReplyEntry {
  return { description, headers, content: { 'application/json': { schema } } }
}

/** Response with records. The body of a resource with `format` is unknown. */
export function recordsReply(
  { resource }: DescribedResource,
  description: string,
  schema: () => JsonSchema,
  headers: readonly HeaderName[] = [],
): ReplyEntry {
  return jsonReply(description, resource.format === null ? schema() : {}, headers)
}

/** Responses of a list. For a list below a record, `linked` is its relation. */
export function listReplies(subject: DescribedResource, linked: LinkedList | null = null): Replies {
  return listOrFileReplies(subject, 'A page of records. Some parameters return another of these schemas.', () =>
    anyOf(buildListSchemas(subject, linked)),
  )
}

/** Responses of a list. The response is JSON, or a file if the resource has exports. */
function listOrFileReplies(subject: DescribedResource, description: string, schema: () => JsonSchema): Replies {
  const { operations } = subject.resource
  const headers = ['ETag', 'Link', 'X-Total-Count', 'Preference-Applied', 'Accept-Query'] as const
  const page = recordsReply(subject, description, schema, headers)
  const content = { ...page.content, ...(operations.has('export') ? fileContent(subject) : {}) }
  return { 200: { ...page, content }, 304: { name: 'ListNotModified', description: NOT_MODIFIED, headers } }
}

function createdReplies(subject: DescribedResource): Replies {
  const headers = ['Location', 'Preference-Applied', ...versionHeader(subject)] as const
  const description = 'The new record. With `Prefer: return=minimal` there is no body.'
  return { 201: recordsReply(subject, description, () => buildNewRecordSchema(subject), headers) }
}

function changedReplies(subject: DescribedResource): Replies {
  const headers = versionHeader(subject)
  return {
    200: recordsReply(subject, 'The current record.', () => buildRecordSchema(subject), headers),
    204: minimalReply(headers),
  }
}

export function minimalReply(headers: readonly HeaderName[]): ReplyEntry {
  const description = 'The write is done. `Prefer: return=minimal` leaves out the body.'
  return { description, headers: ['Preference-Applied', ...headers] }
}

export function versionHeader({ resource: { versions } }: DescribedResource): readonly HeaderName[] {
  return versions ? ['ETag'] : []
}

export function versionParameter(
  { resource: { versions } }: DescribedResource,
  isRequired: boolean,
): readonly JsonSchema[] {
  return versions ? [parameters.ifMatch(isRequired)] : []
}

/** Describes how PATCH treats JSON fields. Readers of RFC 7396 would expect PATCH to merge JSON values. */
function describeJson({ resource: { fields } }: DescribedResource): string {
  const hasJson = fields.some(
    ({ targets, valueType }) => targets.has('update') && valueType.type === 'json' && valueType.form === undefined,
  )
  return hasJson ? ' A JSON field is replaced as a whole.' : ''
}

/** Array schema with the resource's maximum number of items per batch. */
function limitItems({ resource: { limits } }: DescribedResource, items: JsonSchema): JsonSchema {
  return listSchema(items, limits.bulkItems)
}
