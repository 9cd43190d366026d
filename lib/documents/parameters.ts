import type { Field, FieldType, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { TOKEN_LENGTH } from '../common/bookmark.js'
import { withMembers } from './fields.js'
import { crossedOf, describeFilter, exampleFilters } from './filters.js'
import { PARTS } from './keys.js'
import { integerFormat, replyOf } from './replies.js'
import { parametersOf, type Subject } from './subjects.js'

function query(name: string, schema: JsonSchema, description: string, more: JsonSchema = {}): JsonSchema {
  return { name, in: 'query', description, ...more, schema }
}

/** A list in one parameter, separated by commas. */
const COMMAS: JsonSchema = { style: 'form', explode: false }

/** What a field's value is in a URL, where filters would take it. */
const TYPED: Readonly<Record<FieldType, (valueType: ValueType) => JsonSchema>> = {
  string: () => ({ type: 'string' }),
  integer: (valueType) => ({ type: 'integer', format: integerFormat(valueType) }),
  bigint: () => ({ type: 'integer', format: 'int64' }),
  decimal: () => ({ type: 'number' }),
  float: () => ({ type: 'number', format: 'double' }),
  boolean: () => ({ type: 'boolean' }),
  datetime: () => ({ type: 'string', description: 'A date-time of ISO 8601, or a day.' }),
  date: () => ({ type: 'string', format: 'date' }),
  time: () => ({ type: 'string' }),
  uuid: () => ({ type: 'string', format: 'uuid' }),
  enum: ({ values = [] }) => ({ type: 'string', enum: [...values] }),
  json: () => ({}),
  blob: () => ({}),
}

/** The parameters of a list, in the order in which it reads them. */
export function listParameters(subject: Subject): readonly JsonSchema[] {
  const { query: settings, keyset, cursor, softDeletes, parameters, operations } = subject.resource
  return [
    query('page', { type: 'integer', minimum: 1, default: 1 }, 'The number of the page.'),
    pageSizeParameter(subject),
    filterParameter(subject),
    ...(settings.sortable ? sortParameters(subject) : []),
    selectParameter(subject, 'list'),
    query(
      'count',
      { type: 'string', enum: ['true', 'false', 'exact', 'none'] },
      '`true` answers with the number alone; `none` and `exact` say whether a page has totals.',
    ),
    query(
      'after',
      { type: 'string', maxLength: TOKEN_LENGTH },
      'Pages in any order: empty for the first one, then the `nextCursor` of the page before.',
      { allowEmptyValue: true },
    ),
    query(
      'before',
      { type: 'string', maxLength: TOKEN_LENGTH },
      'The same back: the `previousCursor` of the page behind.',
    ),
    ...(keyset
      ? [
          query(
            'cursor',
            { type: 'string', maxLength: cursor.maxLength },
            'Pages in the order of the key: empty for the first one, then the `nextCursor` of the page before. `page`, `sort` and `select` mean nothing then.',
            { allowEmptyValue: true },
          ),
        ]
      : []),
    keysParameter(subject),
    ...searchParameter(subject),
    ...(operations.has('export') ? [FORMAT] : []),
    ...(softDeletes ? [query('includeDeleted', { type: 'boolean', default: false }, 'With deleted records.')] : []),
    ...[...parameters.values()].map((field) => typedParameter(subject, field)),
  ]
}

const FORMAT = query('format', { type: 'string', enum: ['csv', 'jsonl'] }, 'All records as a file, for links.')

function pageSizeParameter({ resource: { query: settings } }: Subject): JsonSchema {
  const { pageSize, maxPageSize } = settings
  return query(
    'pageSize',
    { type: 'integer', minimum: 1, maximum: maxPageSize, default: pageSize },
    'How many records a page has.',
  )
}

function filterParameter(subject: Subject): JsonSchema {
  const { filterLength } = subject.resource.limits
  const examples = exampleFilters(subject).map((value, index) => [`example${index + 1}`, { value }])
  return query(
    'filter',
    { type: 'string', maxLength: filterLength },
    describeFilter(subject),
    examples.length === 0 ? {} : { examples: Object.fromEntries(examples) },
  )
}

/** A list of names: those that are known here, or any other path. */
function names(known: readonly string[], most: number): JsonSchema {
  const other: JsonSchema = { type: 'string' }
  return {
    type: 'array',
    maxItems: most,
    items: known.length === 0 ? other : { anyOf: [{ type: 'string', enum: [...new Set(known)] }, other] },
  }
}

/** The paths over one to-one relation. */
function hopsOf(subject: Subject, isMeant: (field: Field) => boolean): readonly string[] {
  return crossedOf(subject).flatMap(([{ json, many }, { fields }]) =>
    many
      ? []
      : withMembers([...fields.values()])
          .filter(isMeant)
          .map((field) => `${json}.${field.json}`),
  )
}

function sortParameters(subject: Subject): readonly JsonSchema[] {
  const { fields, limits, query: settings } = subject.resource
  const isSortable = ({ sortable }: Field): boolean => sortable
  const own = withMembers(fields)
    .filter(isSortable)
    .map(({ json }) => json)
  const known = [...own, ...hopsOf(subject, isSortable)].flatMap((name) => [name, `-${name}`])
  const usual = settings.defaultSort === '' ? 'the key' : `\`${settings.defaultSort}\``
  return [
    query(
      'sort',
      names(known, limits.sortKeys),
      `What records are ordered by, \`-\` for descending; paths go over to-one relations. Default: ${usual}.`,
      COMMAS,
    ),
    query('sortBy', { type: 'string' }, 'One field to order by, where there is no `sort`.'),
    query('sortDirection', { type: 'string', enum: ['asc', 'desc'] }, 'The direction of `sortBy`, or of the default.'),
  ]
}

/** The fields of records in one of their shapes. */
export function selectParameter(subject: Subject, shape: 'response' | 'list'): JsonSchema {
  const { fields, limits } = subject.resource
  const isListed = ({ targets }: Field): boolean => targets.has('list')
  const own = withMembers(fields)
    .filter(({ targets }) => targets.has(shape))
    .map(({ json }) => json)
  return query(
    'select',
    names([...own, ...hopsOf(subject, isListed)], limits.selectFields),
    'The only fields that records have, `*` for all of them; those of relations by paths or in groups, `players(name,level)`. Parameters such as `players.filter`, `players.sort` and `players.limit` say which records a collection has.',
    COMMAS,
  )
}

function keysParameter({ resource: { limits, query: settings } }: Subject): JsonSchema {
  const maxItems = Math.min(limits.listItems, settings.maxPageSize)
  return query(
    'keys',
    { type: 'array', items: { type: 'string' }, maxItems },
    'Only the records with these keys; `\\,` is a comma in a key.',
    { ...COMMAS, allowEmptyValue: true },
  )
}

function searchParameter({ resource: { search, limits } }: Subject): readonly JsonSchema[] {
  if (search === null) return []
  const paths = search.paths.map(({ segments }) => `\`${segments.join('.')}\``).join(', ')
  const description = `Records with all of these words, each in one of ${paths}; at most ${limits.searchWords}, \`"two words"\` is one.`
  return [query('search', { type: 'string', maxLength: limits.filterLength }, description)]
}

/** What makes groups of a list. */
export function aggregateParameters({ resource: { operations, limits } }: Subject): readonly JsonSchema[] {
  if (!operations.has('aggregate')) return []
  const { measures, groups, filterLength } = limits
  const texts = (maxItems: number): JsonSchema => ({ type: 'array', items: { type: 'string' }, maxItems })
  return [
    query(
      'aggregate',
      texts(measures),
      'Measures instead of records: `count`, and `count`, `distinct`, `sum`, `avg`, `min` and `max` of a field in parentheses.',
      COMMAS,
    ),
    query(
      'group',
      texts(groups),
      'What groups are made by: fields, to-one paths, and parts of dates such as `month(CreatedAt)`. `sort` then names groups and measures.',
      COMMAS,
    ),
    query(
      'having',
      { type: 'string', maxLength: filterLength },
      'A filter over measures, for groups: `count>5,avg(Level)>30`.',
    ),
  ]
}

function typedParameter({ resource: { documented } }: Subject, { name, json, valueType }: Field): JsonSchema {
  const permission = documented.masks.get(name)?.read ?? null
  return query(json, TYPED[valueType.type](valueType), `Only records with this ${json}.`, {
    ...(permission === null ? {} : { 'x-permission': permission }),
  })
}

/** The parameters in the path of a resource, and of one of its records. */
export function pathParameters(subject: Subject, ofRecord: boolean): readonly JsonSchema[] {
  const above = parametersOf(subject).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  return [...above, ...(ofRecord ? [keyParameter(subject, 'id')] : [])]
}

/** A key in a path. */
export function keyParameter({ resource: { key, keys } }: Subject, name: string): JsonSchema {
  const schema: JsonSchema = keys.length === 1 ? replyOf(key.valueType) : { type: 'string', description: PARTS }
  return { name, in: 'path', required: true, description: 'The key.', schema }
}

/** The preferences (RFC 7240) that requests may have. */
export const PREFER = {
  record: {
    name: 'Prefer',
    in: 'header',
    description: '`handling=strict` refuses fields in `select` that are none, `handling=lenient` leaves them out.',
    schema: { type: 'string', examples: ['handling=strict'] },
  },
  list: {
    name: 'Prefer',
    in: 'header',
    description:
      '`handling=strict` refuses parameters that are none, `handling=lenient` leaves out fields that are none.',
    schema: { type: 'string', examples: ['handling=strict'] },
  },
  write: {
    name: 'Prefer',
    in: 'header',
    description: '`return=minimal` leaves the record out of the reply.',
    schema: { type: 'string', examples: ['return=minimal'] },
  },
} as const

/** What an upsert finds records by. */
export function byParameter(subject: Subject): JsonSchema {
  const schema = { type: 'string', examples: namesOfBy(subject) }
  return query('by', schema, 'The key, or the fields of a unique index, by which records are found.', {
    required: true,
  })
}

/** What `by` may be. */
function namesOfBy({ resource: { uniques, keys } }: Subject): readonly string[] {
  const open = uniques.filter((fields) => fields.every((field) => keys.includes(field) || field.filterable))
  return open.map((fields) => fields.map(({ json }) => json).join(','))
}

/** What makes a write one that is done once. */
export function idempotencyKey(required: boolean): JsonSchema {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    ...(required ? { required } : {}),
    description: 'A key of your own for this write: sent again under it, it is not done again.',
    schema: { type: 'string', maxLength: 514, examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'] },
  }
}

/** What makes a reply a 304. */
export const IF_NONE_MATCH: JsonSchema = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of what the client has: 304 where that is still what there is.',
  schema: { type: 'string' },
}

/** What makes a replacement only create. */
export const IF_NONE_MATCH_ANY: JsonSchema = {
  name: 'If-None-Match',
  in: 'header',
  description: '`*` for a record that is not there yet.',
  schema: { type: 'string', examples: ['*'] },
}

/** What a write to a record with versions depends on. */
export function ifMatch(required: boolean): JsonSchema {
  return {
    name: 'If-Match',
    in: 'header',
    ...(required ? { required } : {}),
    description: 'The `ETag` of the record as it was read, or `*` for whatever version it has.',
    schema: { type: 'string', examples: ['W/"3"'] },
  }
}
