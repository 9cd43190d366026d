import type { JsonSchema } from '../../types/openApi.js'
import type { OperationName } from '../../types/resource.js'
import { anyOf, arrayOf, objectOf, TEXT } from '../codec/schema.js'
import { FORMATS } from '../http/formats.js'
import { makes } from './asked.js'
import { groupPageOf, type LinkedList, modesOf, numberOf, projectionOf } from './pages.js'
import * as parameters from './parameters.js'
import { aggregateParameters, IF_NONE_MATCH, listParameters, PREFER } from './parameters.js'
import type { HeaderName } from './problems.js'
import { bulkUpdateOf, createOf, itemOf, newRecordOf, recordOf, replaceOf, updateOf, upsertOf } from './shapes.js'
import type { Subject } from './subjects.js'
import { keyOf } from './values.js'

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

/** An operation in a document. Problems, path parameters and security follow from its row in the table of operations. */
export interface OperationEntry {
  /** Operations with the same method and path. The first enabled operation documents all of them. */
  readonly within?: readonly OperationName[]
  readonly named: readonly [id: string, summary: string]
  readonly describe?: (subject: Subject) => string | null
  readonly parameters?: (subject: Subject) => readonly JsonSchema[]
  /** Schema of the JSON body. */
  readonly body?: (subject: Subject) => JsonSchema
  readonly isBodyOptional?: true
  readonly replies: (subject: Subject) => Replies
}

/** Describes the QUERY method, which OpenAPI 3.1 cannot express. */
function byQuery({ components: { version } }: Subject): readonly string[] {
  return version === '3.1' ? [BY_QUERY] : []
}

const BY_QUERY =
  'The method `QUERY` returns the same response without `Link`. It takes these parameters in the body: a form, or a flat JSON object.'

const written = (): readonly JsonSchema[] => [PREFER.write]
const writtenTogether = (): readonly JsonSchema[] => [PREFER.several]

/** Parameter `If-None-Match` of a read. A singleton has none, because its record is always sent. */
export function tagParameter({ resource }: Subject): readonly JsonSchema[] {
  return resource.behaviours.ownKey === null ? [IF_NONE_MATCH] : []
}

/** Response 304 to `If-None-Match`. */
export function unchanged({ resource }: Subject, headers: readonly HeaderName[]): Replies {
  return resource.behaviours.ownKey === null ? { 304: { name: 'NotModified', description: UNCHANGED, headers } } : {}
}

/** Entries of all operations. The type requires an entry for every row of the table of operations. */
export const ENTRIES: Readonly<Record<OperationName, OperationEntry>> = {
  getById: {
    named: ['get{one}', 'Get one {one}'],
    parameters: (subject) => [parameters.selectParameter(subject, 'response'), PREFER.record, ...tagParameter(subject)],
    replies: (subject) => {
      const schema = (): JsonSchema => anyOf([recordOf(subject), projectionOf(subject)])
      const headers = ['ETag', 'Preference-Applied'] as const
      const reply = records(subject, 'The record. With `select`, only the selected fields.', schema, headers)
      return { 200: reply, ...unchanged(subject, headers) }
    },
  },
  getList: {
    named: ['list{many}', 'List {many}'],
    describe: (subject) => {
      const { keyset } = subject.resource
      const pages = `Returns a page: by number with \`page\`, or by a cursor with \`after\` or \`before\`. ${keyset ? '`cursor` returns a page in the order of the key. ' : ''}\`select\` chooses the fields. \`count=true\` returns only the number of records.`
      return [pages, ...byQuery(subject)].join(' ')
    },
    parameters: (subject) => [...listParameters(subject), ...aggregateParameters(subject), PREFER.list, IF_NONE_MATCH],
    replies: (subject) => listReplies(subject),
  },
  create: {
    named: ['create{one}', 'Create one {one}'],
    parameters: written,
    body: createOf,
    replies: created,
  },
  export: {
    within: ['getList', 'aggregate'],
    named: ['export{many}', 'Export {many}'],
    describe: (subject) =>
      ['Returns all matching records as a file: CSV, or one JSON record per line.', ...byQuery(subject)].join(' '),
    parameters: (subject) => [...listParameters(subject), PREFER.list],
    replies: (subject) => ({
      200: { description: 'The records, as a stream.', content: filesOf(subject) },
    }),
  },
  update: {
    named: ['update{one}', 'Change one {one}'],
    describe: (subject) =>
      `Omitted members keep their values, and null clears a value (RFC 7396).${describeJson(subject)}`,
    parameters: (subject) => [...versionParameter(subject, true), PREFER.write],
    body: updateOf,
    replies: changed,
  },
  delete: {
    named: ['delete{one}', 'Delete one {one}'],
    describe: ({ resource: { softDeletes } }) => (softDeletes ? 'The record is marked as deleted.' : null),
    parameters: (subject) => versionParameter(subject, false),
    replies: () => ({ 204: { description: 'The record is deleted.' } }),
  },
  bulkCreate: {
    named: ['bulkCreate{many}', 'Create several {many}'],
    describe: () => 'Creates all records or none.',
    parameters: writtenTogether,
    body: (subject) => itemsOf(subject, createOf(subject)),
    replies: (subject) => {
      const description = 'The new records in the order of the request. With `Prefer: return=minimal` there is no body.'
      return { 201: records(subject, description, () => arrayOf(newRecordOf(subject)), ['Preference-Applied']) }
    },
  },
  bulkDelete: {
    named: ['bulkDelete{many}', 'Delete several {many}'],
    describe: () => 'Deletes all records or none. Keys of missing records are ignored.',
    parameters: () => [PREFER.counted],
    body: (subject) => itemsOf(subject, keyOf(subject)),
    replies: (subject) => ({
      200: json('The number of deleted records.', numberOf(subject, 'BulkDeleted'), ['Preference-Applied']),
    }),
  },
  restore: {
    named: ['restore{one}', 'Restore a deleted {one}'],
    parameters: written,
    replies: changed,
  },
  aggregate: {
    within: ['getList'],
    named: ['aggregate{many}', 'Aggregate {many} by groups'],
    describe: (subject) => {
      const { operations } = subject.resource
      const file = 'With `format`, or by the `Accept` header, the server returns all records as a file instead.'
      const sentences = [...(operations.has('export') ? [file] : []), ...byQuery(subject)]
      return sentences.length === 0 ? null : sentences.join(' ')
    },
    parameters: (subject) => {
      const left = subject.resource.operations.has('export') ? OF_PAGES : OF_RECORDS
      const shared = listParameters(subject).filter(({ name }) => !left.has(String(name)))
      return [...shared, ...aggregateParameters(subject), PREFER.list, IF_NONE_MATCH]
    },
    replies: (subject) => listed(subject, 'A page of groups.', () => groupPageOf(subject)),
  },
  bulkUpdate: {
    named: ['bulkUpdate{many}', 'Change several {many}'],
    describe: (subject) =>
      `Changes all records or none. Omitted members keep their values, and null clears a value.${describeJson(subject)}`,
    parameters: writtenTogether,
    body: (subject) => itemsOf(subject, bulkUpdateOf(subject)),
    replies: (subject) => ({
      200: records(subject, 'The changed records in the order of the request.', () => arrayOf(recordOf(subject)), [
        'Preference-Applied',
      ]),
      204: minimal([]),
    }),
  },
  replace: {
    named: ['replace{one}', 'Replace one {one}'],
    describe: (subject) =>
      `Omitted members get their defaults, or null.${makes(subject) ? ' A missing record is created.' : ''}`,
    parameters: (subject) => [...versionParameter(subject, false), parameters.IF_NONE_MATCH_ANY, PREFER.write],
    body: replaceOf,
    replies: (subject) => ({ ...changed(subject), ...(makes(subject) ? created(subject) : {}) }),
  },
  upsert: {
    named: ['upsert{many}', 'Change or create several {many}'],
    describe: () =>
      'Writes all records or none. Each item changes the record with the same values of `by`, or creates a record.',
    parameters: (subject) => [parameters.byParameter(subject), PREFER.counted],
    body: (subject) => itemsOf(subject, upsertOf(subject)),
    replies: (subject) => ({
      200: json('The numbers of created and changed records.', numberOf(subject, 'Upserted'), ['Preference-Applied']),
    }),
  },
}

/** List parameters that do not apply to groups. `OF_PAGES` do not apply to groups and files. */
const OF_RECORDS: ReadonlySet<string> = new Set(['select', 'cursor', 'after', 'before', 'sortBy', 'sortDirection'])
const OF_PAGES: ReadonlySet<string> = new Set(['cursor', 'before'])

/** Last line of a JSON lines file with a record count. */
const LAST = objectOf({ '@count': { type: 'integer', minimum: 0 } })

/** File formats by media type. OpenAPI 3.2 has a schema for the records of a stream. */
function filesOf(subject: Subject): JsonSchema {
  const files = FORMATS.filter(({ kinds }) => kinds.has('export'))
  const isTyped = subject.components.version !== '3.1'
  return Object.fromEntries(
    files.map(({ mediaType, hasRecords }) => {
      if (!isTyped || hasRecords !== true) return [mediaType, { schema: TEXT }]
      return [mediaType, { itemSchema: anyOf([itemOf(subject), projectionOf(subject), LAST]) }]
    }),
  )
}

export const UNCHANGED = 'The client has the current version already.'

export function json(description: string, schema: JsonSchema, headers: readonly HeaderName[] = []): ReplyEntry {
  return { description, headers, content: { 'application/json': { schema } } }
}

/** Response with records. The body of a resource with `format` is unknown. */
export function records(
  { resource }: Subject,
  description: string,
  schema: () => JsonSchema,
  headers: readonly HeaderName[] = [],
): ReplyEntry {
  return json(description, resource.format === null ? schema() : {}, headers)
}

/** Responses of a list. For a list below a record, `linked` is its relation. */
export function listReplies(subject: Subject, linked: LinkedList | null = null): Replies {
  return listed(subject, 'A page of records. Some parameters return another of these schemas.', () =>
    anyOf(modesOf(subject, linked)),
  )
}

/** Responses of a list, as JSON or also as a file. */
function listed(subject: Subject, description: string, schema: () => JsonSchema): Replies {
  const { operations } = subject.resource
  const headers = ['ETag', 'Link', 'X-Total-Count', 'Preference-Applied', 'Accept-Query'] as const
  const page = records(subject, description, schema, headers)
  const content = { ...page.content, ...(operations.has('export') ? filesOf(subject) : {}) }
  return { 200: { ...page, content }, 304: { name: 'ListNotModified', description: UNCHANGED, headers } }
}

function created(subject: Subject): Replies {
  const headers = ['Location', 'Preference-Applied', ...versionHeader(subject)] as const
  const description = 'The new record. With `Prefer: return=minimal` there is no body.'
  return { 201: records(subject, description, () => newRecordOf(subject), headers) }
}

export function changed(subject: Subject): Replies {
  const headers = versionHeader(subject)
  return {
    200: records(subject, 'The current record.', () => recordOf(subject), headers),
    204: minimal(headers),
  }
}

export function minimal(headers: readonly HeaderName[]): ReplyEntry {
  const description = 'The write is done. `Prefer: return=minimal` leaves out the body.'
  return { description, headers: ['Preference-Applied', ...headers] }
}

export function versionHeader({ resource: { versions } }: Subject): readonly HeaderName[] {
  return versions ? ['ETag'] : []
}

export function versionParameter({ resource: { versions } }: Subject, isRequired: boolean): readonly JsonSchema[] {
  return versions ? [parameters.ifMatch(isRequired)] : []
}

/** Notes how PATCH treats JSON fields: readers of RFC 7396 would expect that JSON values are merged. */
function describeJson({ resource: { fields } }: Subject): string {
  const hasJson = fields.some(
    ({ targets, valueType }) => targets.has('update') && valueType.type === 'json' && valueType.form === undefined,
  )
  return hasJson ? ' A JSON field is replaced as a whole.' : ''
}

/** Array schema with the resource's limit of items per batch. */
function itemsOf({ resource: { limits } }: Subject, items: JsonSchema): JsonSchema {
  return arrayOf(items, limits.bulkItems)
}
