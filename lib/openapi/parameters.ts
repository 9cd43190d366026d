import type { Field } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { ModelAccess, Relation } from '../../types/resource.js'
import { codecOf } from '../codec/codecs.js'
import { listSchema, omitUndefined, TEXT } from '../codec/schema.js'
import { MAX_TOKEN_LENGTH } from '../common/cursorToken.js'
import { FORMATS, formatNames } from '../http/formats.js'
import { escapeFilterValue } from '../language/filter.js'
import { type OperatorName, operatorInfoOf } from '../language/operators.js'
import { markDeprecated } from './deprecated.js'
import { LIST_OPERATORS } from './operatorWords.js'
import type { DescribedResource } from './subjects.js'
import { buildKeySchema, buildQueryValue, expandMembers, permissionMember, valueKindOf } from './values.js'

function queryParameter(name: string, schema: JsonSchema, description: string, more: JsonSchema = {}): JsonSchema {
  return { name, in: 'query', description, ...more, schema }
}

/** Serialization of a list as one parameter, separated by commas. */
const COMMA_STYLE: JsonSchema = { style: 'form', explode: false }
const EMPTY_ALLOWED: JsonSchema = { allowEmptyValue: true }

// ---------------------------------------------------------------- lists

const PAGE = queryParameter('page', { type: 'integer', minimum: 1, default: 1 }, 'The page number.')
const COUNT = queryParameter(
  'count',
  { type: 'string', enum: ['true', 'false', 'exact', 'none'] },
  '`true` returns only the number of records. `none` and `exact` choose whether a page has totals.',
)
const TOKEN: JsonSchema = { type: 'string', maxLength: MAX_TOKEN_LENGTH }
const CURSOR_USAGE = 'empty for the first page, then the `nextCursor` of the previous page.'
const AFTER = queryParameter('after', TOKEN, `A cursor for pages in any order: ${CURSOR_USAGE}`, EMPTY_ALLOWED)
const BEFORE = queryParameter(
  'before',
  TOKEN,
  'A cursor for the previous page: the `previousCursor` of the current page.',
)
const CURSOR = `A cursor for pages in the order of the key: ${CURSOR_USAGE} \`page\`, \`sort\` and \`select\` do not apply.`
const FORMAT = queryParameter(
  'format',
  { type: 'string', enum: formatNames(FORMATS) },
  'Returns all records as a file of this format, for links.',
)
const INCLUDE_DELETED = queryParameter(
  'includeDeleted',
  { type: 'boolean', default: false },
  'Includes deleted records.',
)

/** Parameters of a list, in the order of evaluation. */
export function listParameters(subject: DescribedResource): readonly JsonSchema[] {
  const { query: settings, limits, keyset, cursor, softDeletes, parameters, operations, documented } = subject.resource
  const { pageSize, maxPageSize } = settings
  const sizes = { type: 'integer', minimum: 1, maximum: maxPageSize, default: pageSize }
  const keys = listSchema(TEXT, Math.min(limits.listItems, maxPageSize))
  return [
    PAGE,
    queryParameter('pageSize', sizes, 'The number of records per page.'),
    filterParameter(subject),
    ...(settings.sortable ? sortParameters(subject) : []),
    selectParameter(subject, 'list'),
    COUNT,
    AFTER,
    BEFORE,
    ...(keyset ? [queryParameter('cursor', { ...TEXT, maxLength: cursor.maxLength }, CURSOR, EMPTY_ALLOWED)] : []),
    queryParameter('keys', keys, 'Only records with these keys. Write a comma within a key as `\\,`.', {
      ...COMMA_STYLE,
      ...EMPTY_ALLOWED,
    }),
    ...searchParameter(subject),
    ...(operations.has('export') ? [FORMAT] : []),
    ...(softDeletes ? [INCLUDE_DELETED] : []),
    ...[...parameters.values()].map((field) => {
      const { name, json, valueType } = field
      const permission = permissionMember(documented.masks.get(name)?.read)
      return markDeprecated(
        queryParameter(json, buildQueryValue(valueType), `Only records with this ${json}.`, permission),
        field,
      )
    }),
  ]
}

/** Schema of a list of names. An item is a known name or any other path. */
function buildNameList(known: readonly string[], maxItems: number): JsonSchema {
  const items = known.length === 0 ? TEXT : { anyOf: [{ ...TEXT, enum: [...new Set(known)] }, TEXT] }
  return { type: 'array', maxItems, items }
}

function selectNames(fields: readonly Field[], isIncluded: (field: Field) => boolean): readonly string[] {
  return expandMembers(fields)
    .filter(isIncluded)
    .map(({ json }) => json)
}

/** Paths that cross one to-one relation and end at a matching field. */
function selectRelatedPaths(subject: DescribedResource, isIncluded: (field: Field) => boolean): readonly string[] {
  return queryableRelationsOf(subject).flatMap(([{ json, many }, { fields }]) =>
    many ? [] : selectNames([...fields.values()], isIncluded).map((name) => `${json}.${name}`),
  )
}

function sortParameters(subject: DescribedResource): readonly JsonSchema[] {
  const { fields, limits, query: settings } = subject.resource
  const isSortable = ({ sortable }: Field): boolean => sortable
  const known = [...selectNames(fields, isSortable), ...selectRelatedPaths(subject, isSortable)].flatMap((name) => [
    name,
    `-${name}`,
  ])
  const usual = settings.defaultSort === '' ? 'the key' : toCode(settings.defaultSort)
  const description = `The fields to sort by, with \`-\` for descending order. Paths may cross to-one relations. Default: ${usual}.`
  return [
    queryParameter('sort', buildNameList(known, limits.sortKeys), description, COMMA_STYLE),
    queryParameter('sortBy', TEXT, 'One field to sort by, if `sort` is absent.'),
    queryParameter(
      'sortDirection',
      { type: 'string', enum: ['asc', 'desc'] },
      'The direction of `sortBy`, or of the default sort.',
    ),
  ]
}

/** Describes `select` with example paths of the resource. */
function describeSelect(subject: DescribedResource, own: readonly string[]): string {
  const relations = queryableRelationsOf(subject).flatMap(([{ json, many }, { fields }]) => {
    const [name] = selectNames([...fields.values()], ({ targets }) => targets.has('list'))
    return name === undefined ? [] : [{ json, many, name }]
  })
  const [single, collection] = [relations.find(({ many }) => !many), relations.find(({ many }) => many)]
  const [first] = own
  return [
    `The fields of the records${first === undefined ? '' : `, such as ${toCode(first)}`}. \`*\` selects all fields.`,
    ...(single === undefined ? [] : [`Fields of one related record: ${toCode(`${single.json}.${single.name}`)}.`]),
    ...(collection === undefined
      ? []
      : [
          `Fields of a collection: ${toCode(`${collection.json}(${collection.name})`)}. The parameters ${toCode(`${collection.json}.filter`)}, ${toCode(`${collection.json}.sort`)} and ${toCode(`${collection.json}.limit`)} choose its records.`,
        ]),
  ].join(' ')
}

export function selectParameter(subject: DescribedResource, shape: 'response' | 'list'): JsonSchema {
  const { fields, computed, limits } = subject.resource
  const own = selectNames([...fields, ...computed], ({ targets }) => targets.has(shape))
  const behind = selectRelatedPaths(subject, ({ targets }) => targets.has('list'))
  return queryParameter(
    'select',
    buildNameList([...own, ...behind], limits.selectFields),
    describeSelect(subject, own),
    COMMA_STYLE,
  )
}

function searchParameter({ resource: { search, limits } }: DescribedResource): readonly JsonSchema[] {
  if (search === null) return []
  const paths = search.paths.map(({ segments }) => toCode(segments.join('.'))).join(', ')
  const description = `Only records with all of these words, each in one of ${paths}. At most ${limits.searchWords} words; \`"two words"\` counts as one.`
  return [queryParameter('search', { type: 'string', maxLength: limits.filterLength }, description)]
}

/** Parameters of an aggregate. */
export function aggregateParameters({ resource: { operations, limits } }: DescribedResource): readonly JsonSchema[] {
  if (!operations.has('aggregate')) return []
  return [
    queryParameter('aggregate', listSchema(TEXT, limits.measures), MEASURES_TEXT, COMMA_STYLE),
    queryParameter('group', listSchema(TEXT, limits.groups), GROUPS_TEXT, COMMA_STYLE),
    queryParameter('having', { type: 'string', maxLength: limits.filterLength }, HAVING_TEXT),
  ]
}

const MEASURES_TEXT =
  'Returns measures instead of records: `count`, and `count`, `distinct`, `sum`, `avg`, `min` and `max` of a field in parentheses.'
const GROUPS_TEXT =
  'The keys of the groups: fields, to-one paths, and parts of dates such as `month(CreatedAt)`. `sort` then takes these keys and measures.'
const HAVING_TEXT = 'A filter on the measures of groups: `count>5,avg(Level)>30`.'

/** Parameter `by` of an upsert. */
export function byParameter({ resource: { uniques, keys } }: DescribedResource): JsonSchema {
  const open = uniques.filter((fields) => fields.every((field) => keys.includes(field) || field.filterable))
  const examples = open.map((fields) => fields.map(({ json }) => json).join(','))
  const description = 'The fields that identify existing records: the key, or the fields of a unique index.'
  return queryParameter('by', { type: 'string', examples }, description, { required: true })
}

// ---------------------------------------------------------------- filters

/** Whether a filter can name a field. Virtual fields and fields without operators are excluded. */
export function isFilterable({ filterable, operators, virtual }: Field): boolean {
  return filterable && operators.size > 0 && !virtual
}

/** Filter operators of a field. */
export function operatorTokensOf(field: Field): readonly string[] {
  return isFilterable(field) ? [...field.operators].map((name: OperatorName) => operatorInfoOf(name).token) : []
}

/** Relations that relation paths can cross, with the fields behind them. */
export function queryableRelationsOf({
  resource,
}: DescribedResource): readonly (readonly [relation: Relation, reach: ModelAccess])[] {
  return [...resource.relations().values()].flatMap((relation) => {
    const access = relation.resolveTarget()
    return access === null ? [] : [[relation, access] as const]
  })
}

function filterParameter(subject: DescribedResource): JsonSchema {
  const found = createExampleFilters(subject)
  const schema = { ...TEXT, maxLength: subject.resource.limits.filterLength }
  const more = found.length === 0 ? {} : { examples: Object.fromEntries([ALL_RECORDS, ...found]), ...EMPTY_ALLOWED }
  return queryParameter('filter', schema, describeFilter(subject), more)
}

function toCode(text: string): string {
  return `\`${text}\``
}

const GRAMMAR_TEXT =
  'Clauses `field operator value`, joined by `,` (and) and `|` (or) and grouped by `( )`. Names ignore case. Write values without quotes, which would be part of the value. `/i` at the end of a clause ignores case. `null` tests for null, `\\` escapes a character, and `;` separates the values of ' +
  `${[...LIST_OPERATORS].map(toCode).join(' and ')}.`
const QUANTIFIERS_TEXT =
  'Collections: `Any`, `All` and `None` with a condition, as in `name.Any(a=1,b>2)`, and `name.Count>2`.'

const ITEMS_TEXT = 'Arrays: `Any`, `All` and `None` of the items, as in `name.Any=a`, and `name.Count>2`.'

/** Lists the array fields, each with its item type and operators. */
function describeArrays(fields: readonly Field[]): readonly string[] {
  return expandMembers(fields).flatMap(({ json, filterable, item }) => {
    const tokens = item === undefined ? [] : operatorTokensOf({ ...item, filterable }).map(toCode)
    return item === undefined || tokens.length === 0
      ? []
      : [`- ${toCode(json)} (array of ${item.valueType.type}): items ${tokens.join(' ')}`]
  })
}

/** Paths from a record of a many-to-many list to attributes of its join row. */
function joinRowPaths({ joinModel }: Relation): readonly string[] {
  const row = joinModel?.joinRow() ?? null
  const fields = row?.resolveTarget()?.fields.values() ?? []
  return row === null ? [] : selectNames([...fields], isFilterable).map((name) => `${row.json}.${name}`)
}

/** Describes the filter grammar with the resource's fields, operators and relation paths. */
function describeFilter(subject: DescribedResource): string {
  const { fields, limits } = subject.resource
  const groups = new Map<string, string[]>()
  for (const field of expandMembers(fields).filter(isFilterable)) {
    const tokens = operatorTokensOf(field).map(toCode).join(' ')
    const name = `${toCode(field.json)} (${valueKindOf(field)}${field.nullable ? ', null' : ''})`
    groups.set(tokens, [...(groups.get(tokens) ?? []), name])
  }
  const queryable = queryableRelationsOf(subject)
  const paths = queryable.map(([relation, access]) => {
    const { json, many } = relation
    const names = [...selectNames([...access.fields.values()], isFilterable), ...joinRowPaths(relation)]
    const behind = names.length === 0 ? 'only paths to further relations' : names.map(toCode).join(', ')
    return `- ${toCode(json)}${many ? ', a collection' : ''}: ${behind}`
  })
  const arrays = describeArrays(fields)
  const lines = [...[...groups].map(([tokens, names]) => `- ${names.join(', ')}: ${tokens}`), ...arrays]
  return [
    GRAMMAR_TEXT,
    ...(lines.length === 0 ? [] : ['', 'Fields:', '', ...lines]),
    ...(paths.length === 0 ? [] : ['', `Paths, up to ${limits.pathDepth} relations deep:`, '', ...paths]),
    ...(queryable.some(([{ many }]) => many) ? ['', QUANTIFIERS_TEXT] : []),
    ...(arrays.length === 0 ? [] : ['', ITEMS_TEXT]),
    '',
    `At most ${limits.filterLength} characters and ${limits.clauses} clauses.`,
  ].join('\n')
}

type Example = readonly [name: string, example: { readonly summary: string; readonly value: string }]

/** An example without a filter. Documentation pages use the first example as the initial value. */
const ALL_RECORDS: Example = ['all', { summary: 'All records', value: '' }]

function createExample(name: string, summary: string, value: string): Example {
  return [name, { summary, value }]
}

/** Up to three example filters with the resource's fields. */
function createExampleFilters(subject: DescribedResource): readonly Example[] {
  const { fields, documented } = subject.resource
  const open = expandMembers(fields).filter((field) => isFilterable(field) && !documented.masks.has(field.name))
  const own = open.flatMap((field) => exampleClauses(field, field.json))
  const behind = queryableRelationsOf(subject).flatMap(([{ json, many }, { fields, resources }]) =>
    [...fields.values()]
      .filter((field) => isFilterable(field) && !resources.some(({ documented }) => documented.masks.has(field.name)))
      .slice(0, 1)
      .flatMap((field) => exampleClauses(field, many ? `${json}.Any.${field.json}` : `${json}.${field.json}`)),
  )
  const [first, second, third] = own
  const [path] = behind
  const relation = path === undefined ? [] : [createExample('relation', 'A condition over a relation', path)]
  if (first === undefined || second === undefined) return relation
  const either = createExample('either', 'One of two conditions', `${first}|${second}`)
  return [
    createExample('one', 'One condition', first),
    createExample('both', 'Two conditions', `${first},${third ?? second}`),
    ...(relation.length === 0 ? [either] : relation),
  ]
}

/** Two filter clauses with operators that the field supports, or an empty list. */
function exampleClauses({ valueType, operators }: Field, path: string): readonly string[] {
  const plain = codecOf(valueType).example(valueType)
  const value = valueType.type === 'enum' ? escapeFilterValue(plain) : plain
  if (value === '') return []
  if (operators.has('contains')) return [`${path}=*${value}`, `${path}^${value}`]
  if (operators.has('gte')) return [`${path}>=${value}`, `${path}<${value}`]
  return [`${path}=${value}`, `${path}!=${value}`]
}

// ---------------------------------------------------------------- paths and headers

/** Path parameters of a resource, or of a single record. */
export function pathParameters(subject: DescribedResource, ofRecord: boolean): readonly JsonSchema[] {
  const names = [...subject.mountPath.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const above = names.map((name) => ({ name, in: 'path', required: true, schema: TEXT }))
  return [...above, ...(ofRecord ? [keyParameter(subject, 'id')] : [])]
}

export function keyParameter(subject: DescribedResource, name: string): JsonSchema {
  return { name, in: 'path', required: true, description: 'The key.', schema: buildKeySchema(subject) }
}

function headerParameter(name: string, description: string, schema: JsonSchema, isRequired = false): JsonSchema {
  return omitUndefined({ name, in: 'header', required: isRequired || undefined, description, schema })
}

const PRIMARY_TEXT =
  '`read=primary` reads from the primary database instead of a replica, so that recent writes are included.'
const READ_PREFERENCES = `\`handling=strict\` rejects unknown fields and parameters, \`handling=lenient\` ignores those that the server may ignore. ${PRIMARY_TEXT}`

const MINIMAL_TEXT = '`return=minimal` leaves the record out of the response.'
const AFFECTED_TEXT =
  '`max-affected=10` rejects a request that would change more than 10 records. Nothing is written then.'

/**
 * Header `Prefer` (RFC 7240) by kind of request. `several` is for batches, and `counted` for batches whose response has
 * only counts.
 */
export const PREFER: Readonly<Record<'record' | 'list' | 'write' | 'several' | 'counted', JsonSchema>> = {
  record: headerParameter('Prefer', READ_PREFERENCES, { ...TEXT, examples: ['handling=strict'] }),
  list: headerParameter('Prefer', READ_PREFERENCES, { ...TEXT, examples: ['handling=strict'] }),
  write: headerParameter('Prefer', MINIMAL_TEXT, { ...TEXT, examples: ['return=minimal'] }),
  several: headerParameter('Prefer', `${MINIMAL_TEXT} ${AFFECTED_TEXT}`, {
    ...TEXT,
    examples: ['return=minimal, max-affected=10'],
  }),
  counted: headerParameter('Prefer', AFFECTED_TEXT, { ...TEXT, examples: ['max-affected=10'] }),
}

export function idempotencyKey(isRequired: boolean): JsonSchema {
  const schema = { ...TEXT, maxLength: 514, examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'] }
  const description =
    'A unique key that you choose for this write. If you send the request again with the same key, the write is not repeated.'
  return headerParameter('Idempotency-Key', description, schema, isRequired)
}

/** Header of a conditional read, which the server may answer with 304. */
export const IF_NONE_MATCH: JsonSchema = headerParameter(
  'If-None-Match',
  'The `ETag` of the response that the client has. The server answers 304 if it is still current.',
  TEXT,
)

/** Header of a replacement that must create the record. */
export const IF_NONE_MATCH_ANY: JsonSchema = headerParameter(
  'If-None-Match',
  '`*` creates the record only if it does not exist.',
  {
    ...TEXT,
    examples: ['*'],
  },
)

/** Header with the version that a write requires. */
export function ifMatch(isRequired: boolean): JsonSchema {
  const description = 'The `ETag` of the record when it was read, or `*` for any version.'
  return headerParameter('If-Match', description, { ...TEXT, examples: ['W/"3"'] }, isRequired)
}
