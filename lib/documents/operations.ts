import type { JsonSchema } from '../../types/openApi.js'
import type { OperationName } from '../../types/resource.js'
import type { Operation } from '../operations.js'
import { LINES, MEDIA_TYPES } from '../parse/body.js'
import { makes } from './asked.js'
import type { Draft } from './components.js'
import { type HeaderName, headersOf } from './headers.js'
import { keyOf } from './keys.js'
import type { Names } from './names.js'
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
import { projectionOf } from './projections.js'
import { anyOf } from './schema.js'
import {
  bulkUpdateOf,
  createOf,
  cursorPageOf,
  groupPageOf,
  itemOf,
  keysetPageOf,
  newRecordOf,
  numberOf,
  pageOf,
  recordOf,
  replaceOf,
  updateOf,
  upsertOf,
} from './shapes.js'
import type { Subject } from './subjects.js'
import { LISTED, unchanged, unchangedList } from './unchanged.js'

/** What a document says of an operation beside what follows from its row: problems, path parameters, security. */
export interface OperationEntry {
  /** The operations of the same method and path of which the first that the resource has tells of it. */
  readonly within?: readonly OperationName[]
  readonly id: (names: Names) => string
  readonly summary: (names: Names) => string
  readonly describe?: (subject: Subject) => string | null
  readonly parameters?: (subject: Subject) => readonly JsonSchema[]
  /** The schema of its JSON body. */
  readonly body?: (draft: Draft, subject: Subject) => JsonSchema
  /** Whether it can be left out; not unless told. */
  readonly isBodyOptional?: true
  /** The replies that are no problems, by status. */
  readonly replies: (draft: Draft, subject: Subject) => Readonly<Record<number, JsonSchema>>
}

/** OpenAPI 3.1 has no word for the method. */
const BY_QUERY =
  'The method `QUERY` answers the same, without `Link`, with these parameters in the body: a form, or a flat object of JSON.'

/** By operation: the compiler asks for an entry where the table of operations has a new row. */
export const ENTRIES: Readonly<Record<OperationName, OperationEntry>> = {
  getById: {
    id: ({ one }) => `get${one}`,
    summary: ({ one }) => `Get one ${one}`,
    parameters: (subject) => [selectParameter(subject, 'response'), PREFER.record, IF_NONE_MATCH],
    replies: (draft, subject) => ({
      200: json(
        draft,
        'The record, or with `select` what is selected of it.',
        anyOf([recordOf(draft, subject), projectionOf(draft, subject)]),
        ['ETag', 'Preference-Applied'],
      ),
      304: unchanged(draft),
    }),
  },
  getList: {
    id: ({ many }) => `list${many}`,
    summary: ({ many }) => `List ${many}`,
    describe: ({ resource: { keyset } }) =>
      `A page by number, or around a place in the order by \`after\` and \`before\`; with \`select\` of some fields only; ${keyset ? 'with `cursor` a page in the order of the key; ' : ''}with \`count=true\` the number of records alone. ${BY_QUERY}`,
    parameters: (subject) => [...listParameters(subject), ...aggregateParameters(subject), PREFER.list, IF_NONE_MATCH],
    replies: (draft, subject) => {
      const { 200: page = {}, ...others } = pagesOf(draft, subject)
      return { 200: withFiles(subject, page), ...others }
    },
  },
  create: {
    id: ({ one }) => `create${one}`,
    summary: ({ one }) => `Create one ${one}`,
    parameters: () => [PREFER.write],
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
    describe: (subject) => `What is absent stays, null clears (RFC 7396).${wholeIn(subject)}`,
    parameters: ({ resource: { versions } }) => [...(versions ? [ifMatch(true)] : []), PREFER.write],
    body: updateOf,
    replies: changed,
  },
  delete: {
    id: ({ one }) => `delete${one}`,
    summary: ({ one }) => `Delete one ${one}`,
    describe: ({ resource: { softDeletes } }) => (softDeletes ? 'The record is marked as deleted.' : null),
    parameters: ({ resource: { versions } }) => (versions ? [ifMatch(false)] : []),
    replies: () => ({ 204: { description: 'It is deleted.' } }),
  },
  bulkCreate: {
    id: ({ many }) => `bulkCreate${many}`,
    summary: ({ many }) => `Create several ${many}`,
    describe: () => 'All of them or none.',
    parameters: () => [PREFER.write],
    body: (draft, subject) => listOf(subject, createOf(draft, subject)),
    replies: (draft, subject) => ({
      201: json(
        draft,
        'The new records in their order; no body with `Prefer: return=minimal`.',
        { type: 'array', items: newRecordOf(draft, subject) },
        ['Preference-Applied'],
      ),
    }),
  },
  bulkDelete: {
    id: ({ many }) => `bulkDelete${many}`,
    summary: ({ many }) => `Delete several ${many}`,
    describe: () => 'All of them or none; keys of records that are not there are passed over.',
    body: (_, subject) => listOf(subject, keyOf(subject)),
    replies: (draft) => ({ 200: json(draft, 'How many were deleted.', numberOf(draft, 'BulkDeleted'), []) }),
  },
  restore: {
    id: ({ one }) => `restore${one}`,
    summary: ({ one }) => `Restore a deleted ${one}`,
    parameters: () => [PREFER.write],
    replies: changed,
  },
  aggregate: {
    within: ['getList'],
    id: ({ many }) => `aggregate${many}`,
    summary: ({ many }) => `Measure groups of ${many}`,
    describe: ({ resource: { operations } }) =>
      `${operations.has('export') ? 'By `format`, or by what the client accepts, all records as a file instead. ' : ''}${BY_QUERY}`,
    parameters: (subject) => [
      ...listParameters(subject).filter(({ name }) => !isOfRecords(subject, String(name))),
      ...aggregateParameters(subject),
      PREFER.list,
      IF_NONE_MATCH,
    ],
    replies: (draft, subject) => ({
      200: withFiles(subject, json(draft, 'A page of groups.', groupPageOf(draft, subject), LISTED)),
      304: unchangedList(draft),
    }),
  },
  bulkUpdate: {
    id: ({ many }) => `bulkUpdate${many}`,
    summary: ({ many }) => `Change several ${many}`,
    describe: (subject) => `All of them or none. What is absent stays, null clears.${wholeIn(subject)}`,
    parameters: () => [PREFER.write],
    body: (draft, subject) => listOf(subject, bulkUpdateOf(draft, subject)),
    replies: (draft, subject) => ({
      200: json(draft, 'The records in their order.', { type: 'array', items: recordOf(draft, subject) }, []),
      204: minimal(draft, []),
    }),
  },
  replace: {
    id: ({ one }) => `replace${one}`,
    summary: ({ one }) => `Replace one ${one}`,
    describe: (subject) =>
      `What is absent becomes its default, or null.${makes(subject) ? ' A record that is not there is created.' : ''}`,
    parameters: ({ resource: { versions } }) => [
      ...(versions ? [ifMatch(false)] : []),
      IF_NONE_MATCH_ANY,
      PREFER.write,
    ],
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
    replies: (draft) => ({ 200: json(draft, 'How many were created and changed.', numberOf(draft, 'Upserted'), []) }),
  },
}

/** The replies of a list that are no files. */
export function pagesOf(draft: Draft, subject: Subject): Readonly<Record<number, JsonSchema>> {
  return {
    200: json(draft, 'What the mode of the list answers.', anyOf(modesOf(draft, subject)), LISTED),
    304: unchangedList(draft),
  }
}

/** The parameters of lists that say something of records, and nothing of groups; files have those of whole pages not. */
const OF_RECORDS: ReadonlySet<string> = new Set(['select', 'cursor', 'after', 'before', 'sortBy', 'sortDirection'])
const OF_PAGES: ReadonlySet<string> = new Set(['cursor', 'before'])

function isOfRecords({ resource: { operations } }: Subject, name: string): boolean {
  return (operations.has('export') ? OF_PAGES : OF_RECORDS).has(name)
}

function created(draft: Draft, subject: Subject): JsonSchema {
  return json(draft, 'The new record; no body with `Prefer: return=minimal`.', newRecordOf(draft, subject), [
    'Location',
    'Preference-Applied',
    ...versionOf(subject),
  ])
}

/** What exports are written in. */
const FILES: JsonSchema = {
  'text/csv': { schema: { type: 'string' } },
  'application/jsonl': { schema: { type: 'string' } },
  'application/x-ndjson': { schema: { type: 'string' } },
}

function withFiles({ resource: { operations } }: Subject, reply: JsonSchema): JsonSchema {
  const { content } = reply
  return operations.has('export') && typeof content === 'object'
    ? { ...reply, content: { ...content, ...FILES } }
    : reply
}

function json(draft: Draft, description: string, schema: JsonSchema, headers: readonly HeaderName[]): JsonSchema {
  return { description, ...headersOf(draft, headers), content: { 'application/json': { schema } } }
}

/** The header with the version of one record. */
function versionOf({ resource: { versions } }: Subject): readonly HeaderName[] {
  return versions ? ['ETag'] : []
}

/** Who reads RFC 7396 would expect that what a JSON field holds is merged, too. */
function wholeIn({ resource: { fields } }: Subject): string {
  const hasJson = fields.some(
    ({ targets, valueType }) => targets.has('update') && valueType.type === 'json' && valueType.form === undefined,
  )
  return hasJson ? ' A JSON field is one value, which is replaced as a whole.' : ''
}

function changed(draft: Draft, subject: Subject): Readonly<Record<number, JsonSchema>> {
  const headers = versionOf(subject)
  return {
    200: json(draft, 'The record as it is now.', recordOf(draft, subject), headers),
    204: minimal(draft, headers),
  }
}

function minimal(draft: Draft, headers: readonly HeaderName[]): JsonSchema {
  const description = 'It is done, and `Prefer: return=minimal` asked for no more.'
  return { description, ...headersOf(draft, ['Preference-Applied', ...headers]) }
}

function listOf({ resource: { limits } }: Subject, items: JsonSchema): JsonSchema {
  return { type: 'array', items, maxItems: limits.bulkItems }
}

/** What the modes of a list answer. */
function modesOf(draft: Draft, subject: Subject): readonly JsonSchema[] {
  const { one } = subject.names
  return [
    pageOf(draft, subject, `${one}Page`, itemOf(draft, subject)),
    pageOf(draft, subject, `${one}ProjectionPage`, projectionOf(draft, subject)),
    keysetPageOf(draft, subject, `${one}KeysetPage`, itemOf(draft, subject)),
    keysetPageOf(draft, subject, `${one}ProjectionKeysetPage`, projectionOf(draft, subject)),
    ...(subject.resource.keyset ? [cursorPageOf(draft, subject)] : []),
    numberOf(draft, 'Count'),
    ...(subject.resource.operations.has('aggregate') ? [groupPageOf(draft, subject)] : []),
  ]
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
