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

/** A reply that is no problem. */
export interface ReplyEntry {
  readonly description: string
  readonly headers?: readonly HeaderName[]
  /** Its body, by media type. */
  readonly content?: JsonSchema
  /** The name of its component, where all replies of the status are the same. */
  readonly name?: string
}

export type Replies = Readonly<Record<number, ReplyEntry>>

/** An operation in a document, without what follows from its row: problems, path parameters, security. */
export interface OperationEntry {
  /** Operations of the same method and path. The first that the resource has stands for all of them. */
  readonly within?: readonly OperationName[]
  readonly named: readonly [id: string, summary: string]
  readonly describe?: (subject: Subject) => string | null
  readonly parameters?: (subject: Subject) => readonly JsonSchema[]
  /** The schema of its JSON body. */
  readonly body?: (subject: Subject) => JsonSchema
  readonly isBodyOptional?: true
  readonly replies: (subject: Subject) => Replies
}

/** Tells of the method that OpenAPI 3.1 cannot describe. */
function byQuery({ components: { version } }: Subject): readonly string[] {
  return version === '3.1' ? [BY_QUERY] : []
}

const BY_QUERY =
  'The method `QUERY` answers the same, without `Link`, with these parameters in the body: a form, or a flat object of JSON.'

const written = (): readonly JsonSchema[] => [PREFER.write]
const writtenTogether = (): readonly JsonSchema[] => [PREFER.several]

/** `If-None-Match` of a read. The record of a singleton is sent each time. */
export function tagParameter({ resource }: Subject): readonly JsonSchema[] {
  return resource.behaviours.ownKey === null ? [IF_NONE_MATCH] : []
}

/** The reply to that, if the record is the one that the client has. */
export function unchanged({ resource }: Subject, headers: readonly HeaderName[]): Replies {
  return resource.behaviours.ownKey === null ? { 304: { name: 'NotModified', description: UNCHANGED, headers } } : {}
}

/** The compiler asks for an entry where the table of operations has a new row. */
export const ENTRIES: Readonly<Record<OperationName, OperationEntry>> = {
  getById: {
    named: ['get{one}', 'Get one {one}'],
    parameters: (subject) => [parameters.selectParameter(subject, 'response'), PREFER.record, ...tagParameter(subject)],
    replies: (subject) => {
      const schema = (): JsonSchema => anyOf([recordOf(subject), projectionOf(subject)])
      const headers = ['ETag', 'Preference-Applied'] as const
      const reply = records(subject, 'The record, or with `select` what is selected of it.', schema, headers)
      return { 200: reply, ...unchanged(subject, headers) }
    },
  },
  getList: {
    named: ['list{many}', 'List {many}'],
    describe: (subject) => {
      const { keyset } = subject.resource
      const pages = `A page by number, or around a place in the order by \`after\` and \`before\`; with \`select\` of some fields only; ${keyset ? 'with `cursor` a page in the order of the key; ' : ''}with \`count=true\` the number of records alone.`
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
    describe: (subject) => ['All records that match, as CSV or as a record a line.', ...byQuery(subject)].join(' '),
    parameters: (subject) => [...listParameters(subject), PREFER.list],
    replies: (subject) => ({
      200: { description: 'The records, written while they are read.', content: filesOf(subject) },
    }),
  },
  update: {
    named: ['update{one}', 'Change one {one}'],
    describe: (subject) => `What is absent stays, null clears (RFC 7396).${describeJson(subject)}`,
    parameters: (subject) => [...versionParameter(subject, true), PREFER.write],
    body: updateOf,
    replies: changed,
  },
  delete: {
    named: ['delete{one}', 'Delete one {one}'],
    describe: ({ resource: { softDeletes } }) => (softDeletes ? 'The record is marked as deleted.' : null),
    parameters: (subject) => versionParameter(subject, false),
    replies: () => ({ 204: { description: 'It is deleted.' } }),
  },
  bulkCreate: {
    named: ['bulkCreate{many}', 'Create several {many}'],
    describe: () => 'All of them or none.',
    parameters: writtenTogether,
    body: (subject) => itemsOf(subject, createOf(subject)),
    replies: (subject) => {
      const description = 'The new records in their order; no body with `Prefer: return=minimal`.'
      return { 201: records(subject, description, () => arrayOf(newRecordOf(subject)), ['Preference-Applied']) }
    },
  },
  bulkDelete: {
    named: ['bulkDelete{many}', 'Delete several {many}'],
    describe: () => 'All of them or none; keys of records that are not there are passed over.',
    parameters: () => [PREFER.counted],
    body: (subject) => itemsOf(subject, keyOf(subject)),
    replies: (subject) => ({
      200: json('How many were deleted.', numberOf(subject, 'BulkDeleted'), ['Preference-Applied']),
    }),
  },
  restore: {
    named: ['restore{one}', 'Restore a deleted {one}'],
    parameters: written,
    replies: changed,
  },
  aggregate: {
    within: ['getList'],
    named: ['aggregate{many}', 'Measure groups of {many}'],
    describe: (subject) => {
      const { operations } = subject.resource
      const file = 'By `format`, or by what the client accepts, all records as a file instead.'
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
    describe: (subject) => `All of them or none. What is absent stays, null clears.${describeJson(subject)}`,
    parameters: writtenTogether,
    body: (subject) => itemsOf(subject, bulkUpdateOf(subject)),
    replies: (subject) => ({
      200: records(subject, 'The records in their order.', () => arrayOf(recordOf(subject)), ['Preference-Applied']),
      204: minimal([]),
    }),
  },
  replace: {
    named: ['replace{one}', 'Replace one {one}'],
    describe: (subject) =>
      `What is absent becomes its default, or null.${makes(subject) ? ' A record that is not there is created.' : ''}`,
    parameters: (subject) => [...versionParameter(subject, false), parameters.IF_NONE_MATCH_ANY, PREFER.write],
    body: replaceOf,
    replies: (subject) => ({ ...changed(subject), ...(makes(subject) ? created(subject) : {}) }),
  },
  upsert: {
    named: ['upsert{many}', 'Change or create several {many}'],
    describe: () => 'All of them or none. Each changes the record that has its values of `by`, or creates one.',
    parameters: (subject) => [parameters.byParameter(subject), PREFER.counted],
    body: (subject) => itemsOf(subject, upsertOf(subject)),
    replies: (subject) => ({
      200: json('How many were created and changed.', numberOf(subject, 'Upserted'), ['Preference-Applied']),
    }),
  },
}

/** The parameters of lists that groups do not have, and those that groups and files do not have. */
const OF_RECORDS: ReadonlySet<string> = new Set(['select', 'cursor', 'after', 'before', 'sortBy', 'sortDirection'])
const OF_PAGES: ReadonlySet<string> = new Set(['cursor', 'before'])

/** The last line of a file of JSON records that was counted. */
const LAST = objectOf({ '@count': { type: 'integer', minimum: 0 } })

/** The formats of files by media type. OpenAPI 3.2 has a schema for the records of a stream. */
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

export const UNCHANGED = 'Nothing has changed since the client got it.'

export function json(description: string, schema: JsonSchema, headers: readonly HeaderName[] = []): ReplyEntry {
  return { description, headers, content: { 'application/json': { schema } } }
}

/** A reply of records. A resource with `format` sends a body that only its host knows. */
export function records(
  { resource }: Subject,
  description: string,
  schema: () => JsonSchema,
  headers: readonly HeaderName[] = [],
): ReplyEntry {
  return json(description, resource.format === null ? schema() : {}, headers)
}

/** The replies of a list; below a record `linked` is the relation that it is of. */
export function listReplies(subject: Subject, linked: LinkedList | null = null): Replies {
  return listed(subject, 'What the mode of the list answers.', () => anyOf(modesOf(subject, linked)))
}

/** The replies of a list that is JSON, or also a file. */
function listed(subject: Subject, description: string, schema: () => JsonSchema): Replies {
  const { operations } = subject.resource
  const headers = ['ETag', 'Link', 'X-Total-Count', 'Preference-Applied', 'Accept-Query'] as const
  const page = records(subject, description, schema, headers)
  const content = { ...page.content, ...(operations.has('export') ? filesOf(subject) : {}) }
  return { 200: { ...page, content }, 304: { name: 'ListNotModified', description: UNCHANGED, headers } }
}

function created(subject: Subject): Replies {
  const headers = ['Location', 'Preference-Applied', ...versionHeader(subject)] as const
  const description = 'The new record; no body with `Prefer: return=minimal`.'
  return { 201: records(subject, description, () => newRecordOf(subject), headers) }
}

export function changed(subject: Subject): Replies {
  const headers = versionHeader(subject)
  return {
    200: records(subject, 'The record as it is now.', () => recordOf(subject), headers),
    204: minimal(headers),
  }
}

export function minimal(headers: readonly HeaderName[]): ReplyEntry {
  const description = 'It is done, and `Prefer: return=minimal` asked for no more.'
  return { description, headers: ['Preference-Applied', ...headers] }
}

export function versionHeader({ resource: { versions } }: Subject): readonly HeaderName[] {
  return versions ? ['ETag'] : []
}

export function versionParameter({ resource: { versions } }: Subject, isRequired: boolean): readonly JsonSchema[] {
  return versions ? [parameters.ifMatch(isRequired)] : []
}

/** Readers of RFC 7396 would expect that JSON in a field is merged, too. */
function describeJson({ resource: { fields } }: Subject): string {
  const hasJson = fields.some(
    ({ targets, valueType }) => targets.has('update') && valueType.type === 'json' && valueType.form === undefined,
  )
  return hasJson ? ' A JSON field is one value, which is replaced as a whole.' : ''
}

/** The items of a body, as many as the resource's limits allow. */
function itemsOf({ resource: { limits } }: Subject, items: JsonSchema): JsonSchema {
  return arrayOf(items, limits.bulkItems)
}
