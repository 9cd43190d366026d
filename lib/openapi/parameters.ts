import type { Field } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Reach, Relation } from '../../types/resource.js'
import { codecOf } from '../codec/codecs.js'
import { arrayOf, defined, TEXT } from '../codec/schema.js'
import { TOKEN_LENGTH } from '../common/bookmark.js'
import { FORMATS, formatNames } from '../http/formats.js'
import { escapeFilterValue } from '../language/filter.js'
import { type OperatorName, operatorInfo } from '../language/operators.js'
import { marked } from './deprecated.js'
import type { Subject } from './subjects.js'
import { keyOf, kindOf, permissionOf, queryOf, withMembers } from './values.js'

function query(name: string, schema: JsonSchema, description: string, more: JsonSchema = {}): JsonSchema {
  return { name, in: 'query', description, ...more, schema }
}

/** Serialization of a list as one parameter, separated by commas. */
const COMMAS: JsonSchema = { style: 'form', explode: false }
const EMPTY: JsonSchema = { allowEmptyValue: true }

// ---------------------------------------------------------------- lists

const PAGE = query('page', { type: 'integer', minimum: 1, default: 1 }, 'The page number.')
const COUNT = query(
  'count',
  { type: 'string', enum: ['true', 'false', 'exact', 'none'] },
  '`true` returns only the number of records. `none` and `exact` choose whether a page has totals.',
)
const TOKEN: JsonSchema = { type: 'string', maxLength: TOKEN_LENGTH }
const FIRST = 'empty for the first page, then the `nextCursor` of the previous page.'
const AFTER = query('after', TOKEN, `A cursor for pages in any order: ${FIRST}`, EMPTY)
const BEFORE = query('before', TOKEN, 'A cursor for the previous page: the `previousCursor` of the current page.')
const CURSOR = `A cursor for pages in the order of the key: ${FIRST} \`page\`, \`sort\` and \`select\` do not apply.`
const FORMAT = query(
  'format',
  { type: 'string', enum: formatNames(FORMATS) },
  'Returns all records as a file of this format, for links.',
)
const INCLUDE_DELETED = query('includeDeleted', { type: 'boolean', default: false }, 'Includes deleted records.')

/** Parameters of a list, in the order of evaluation. */
export function listParameters(subject: Subject): readonly JsonSchema[] {
  const { query: settings, limits, keyset, cursor, softDeletes, parameters, operations, documented } = subject.resource
  const { pageSize, maxPageSize } = settings
  const sizes = { type: 'integer', minimum: 1, maximum: maxPageSize, default: pageSize }
  const keys = arrayOf(TEXT, Math.min(limits.listItems, maxPageSize))
  return [
    PAGE,
    query('pageSize', sizes, 'The number of records per page.'),
    filterParameter(subject),
    ...(settings.sortable ? sortParameters(subject) : []),
    selectParameter(subject, 'list'),
    COUNT,
    AFTER,
    BEFORE,
    ...(keyset ? [query('cursor', { ...TEXT, maxLength: cursor.maxLength }, CURSOR, EMPTY)] : []),
    query('keys', keys, 'Only records with these keys. Write a comma within a key as `\\,`.', { ...COMMAS, ...EMPTY }),
    ...searchParameter(subject),
    ...(operations.has('export') ? [FORMAT] : []),
    ...(softDeletes ? [INCLUDE_DELETED] : []),
    ...[...parameters.values()].map((field) => {
      const { name, json, valueType } = field
      const permission = permissionOf(documented.masks.get(name)?.read)
      return marked(query(json, queryOf(valueType), `Only records with this ${json}.`, permission), field)
    }),
  ]
}

/** Schema of a list of names: known names, or any other path. */
function namesFrom(known: readonly string[], maxItems: number): JsonSchema {
  const items = known.length === 0 ? TEXT : { anyOf: [{ ...TEXT, enum: [...new Set(known)] }, TEXT] }
  return { type: 'array', maxItems, items }
}

function namesOf(fields: readonly Field[], isMeant: (field: Field) => boolean): readonly string[] {
  return withMembers(fields)
    .filter(isMeant)
    .map(({ json }) => json)
}

/** Paths over one to-one relation. */
function pathsOf(subject: Subject, isMeant: (field: Field) => boolean): readonly string[] {
  return crossedOf(subject).flatMap(([{ json, many }, { fields }]) =>
    many ? [] : namesOf([...fields.values()], isMeant).map((name) => `${json}.${name}`),
  )
}

function sortParameters(subject: Subject): readonly JsonSchema[] {
  const { fields, limits, query: settings } = subject.resource
  const isSortable = ({ sortable }: Field): boolean => sortable
  const known = [...namesOf(fields, isSortable), ...pathsOf(subject, isSortable)].flatMap((name) => [name, `-${name}`])
  const usual = settings.defaultSort === '' ? 'the key' : code(settings.defaultSort)
  const description = `The fields to sort by, with \`-\` for descending order. Paths may cross to-one relations. Default: ${usual}.`
  return [
    query('sort', namesFrom(known, limits.sortKeys), description, COMMAS),
    query('sortBy', TEXT, 'One field to sort by, if `sort` is absent.'),
    query(
      'sortDirection',
      { type: 'string', enum: ['asc', 'desc'] },
      'The direction of `sortBy`, or of the default sort.',
    ),
  ]
}

/** Describes `select` with example paths of the resource. */
function describeSelect(subject: Subject, own: readonly string[]): string {
  const relations = crossedOf(subject).flatMap(([{ json, many }, { fields }]) => {
    const [name] = namesOf([...fields.values()], ({ targets }) => targets.has('list'))
    return name === undefined ? [] : [{ json, many, name }]
  })
  const [single, several] = [relations.find(({ many }) => !many), relations.find(({ many }) => many)]
  const [first] = own
  return [
    `The fields of the records${first === undefined ? '' : `, such as ${code(first)}`}. \`*\` selects all fields.`,
    ...(single === undefined ? [] : [`Fields of one related record: ${code(`${single.json}.${single.name}`)}.`]),
    ...(several === undefined
      ? []
      : [
          `Fields of a collection: ${code(`${several.json}(${several.name})`)}. The parameters ${code(`${several.json}.filter`)}, ${code(`${several.json}.sort`)} and ${code(`${several.json}.limit`)} choose its records.`,
        ]),
  ].join(' ')
}

export function selectParameter(subject: Subject, shape: 'response' | 'list'): JsonSchema {
  const { fields, computed, limits } = subject.resource
  const own = namesOf([...fields, ...computed], ({ targets }) => targets.has(shape))
  const behind = pathsOf(subject, ({ targets }) => targets.has('list'))
  return query('select', namesFrom([...own, ...behind], limits.selectFields), describeSelect(subject, own), COMMAS)
}

function searchParameter({ resource: { search, limits } }: Subject): readonly JsonSchema[] {
  if (search === null) return []
  const paths = search.paths.map(({ segments }) => code(segments.join('.'))).join(', ')
  const description = `Only records with all of these words, each in one of ${paths}. At most ${limits.searchWords} words; \`"two words"\` counts as one.`
  return [query('search', { type: 'string', maxLength: limits.filterLength }, description)]
}

/** Parameters of an aggregate. */
export function aggregateParameters({ resource: { operations, limits } }: Subject): readonly JsonSchema[] {
  if (!operations.has('aggregate')) return []
  return [
    query('aggregate', arrayOf(TEXT, limits.measures), MEASURES, COMMAS),
    query('group', arrayOf(TEXT, limits.groups), GROUPS, COMMAS),
    query('having', { type: 'string', maxLength: limits.filterLength }, HAVING),
  ]
}

const MEASURES =
  'Returns measures instead of records: `count`, and `count`, `distinct`, `sum`, `avg`, `min` and `max` of a field in parentheses.'
const GROUPS =
  'The keys of the groups: fields, to-one paths, and parts of dates such as `month(CreatedAt)`. `sort` then takes these keys and measures.'
const HAVING = 'A filter on the measures of groups: `count>5,avg(Level)>30`.'

/** Parameter `by` of an upsert. */
export function byParameter({ resource: { uniques, keys } }: Subject): JsonSchema {
  const open = uniques.filter((fields) => fields.every((field) => keys.includes(field) || field.filterable))
  const examples = open.map((fields) => fields.map(({ json }) => json).join(','))
  const description = 'The fields that identify existing records: the key, or the fields of a unique index.'
  return query('by', { type: 'string', examples }, description, { required: true })
}

// ---------------------------------------------------------------- filters

/** Whether filters can name a field. Without the check, its operators would reveal the field. */
export function isFilterable({ filterable, operators, virtual }: Field): boolean {
  return filterable && operators.size > 0 && !virtual
}

/** Filter operators of a field. */
export function tokensOf(field: Field): readonly string[] {
  return isFilterable(field) ? [...field.operators].map((name: OperatorName) => operatorInfo(name).token) : []
}

/** Relations that paths of a resource can cross, with the fields behind them. */
export function crossedOf({ resource }: Subject): readonly (readonly [relation: Relation, reach: Reach])[] {
  return [...resource.relations().values()].flatMap((relation) => {
    const reach = relation.reach()
    return reach === null ? [] : [[relation, reach] as const]
  })
}

function filterParameter(subject: Subject): JsonSchema {
  const found = exampleFilters(subject)
  const schema = { ...TEXT, maxLength: subject.resource.limits.filterLength }
  const more = found.length === 0 ? {} : { examples: Object.fromEntries([ALL, ...found]), ...EMPTY }
  return query('filter', schema, describeFilter(subject), more)
}

function code(text: string): string {
  return `\`${text}\``
}

const GRAMMAR =
  'Clauses `field operator value`, joined by `,` (and) and `|` (or) and grouped by `( )`. Names ignore case. Write values without quotes, which would be part of the value. `/i` at the end of a clause ignores case. `null` tests for null, `\\` escapes a character, and `;` separates the values of `=in=` and `=out=`.'
const QUANTIFIERS =
  'Collections: `Any`, `All` and `None` with a condition, as in `name.Any(a=1,b>2)`, and `name.Count>2`.'

const ITEMS = 'Arrays: `Any`, `All` and `None` of the items, as in `name.Any=a`, and `name.Count>2`.'

/** Arrays among the fields, each with its item type and operators. */
function arraysOf(fields: readonly Field[]): readonly string[] {
  return withMembers(fields).flatMap(({ json, filterable, item }) => {
    const tokens = item === undefined ? [] : tokensOf({ ...item, filterable }).map(code)
    return item === undefined || tokens.length === 0
      ? []
      : [`- ${code(json)} (array of ${item.valueType.type}): items ${tokens.join(' ')}`]
  })
}

/** Paths from a record of a many-to-many list to attributes of its join row. */
function linkNames({ link }: Relation): readonly string[] {
  const row = link?.row() ?? null
  const fields = row?.reach()?.fields.values() ?? []
  return row === null ? [] : namesOf([...fields], isFilterable).map((name) => `${row.json}.${name}`)
}

/** Describes the filter grammar with the resource's fields, operators and relation paths. */
function describeFilter(subject: Subject): string {
  const { fields, limits } = subject.resource
  const groups = new Map<string, string[]>()
  for (const field of withMembers(fields).filter(isFilterable)) {
    const tokens = tokensOf(field).map(code).join(' ')
    const name = `${code(field.json)} (${kindOf(field)}${field.nullable ? ', null' : ''})`
    groups.set(tokens, [...(groups.get(tokens) ?? []), name])
  }
  const crossed = crossedOf(subject)
  const paths = crossed.map(([relation, reach]) => {
    const { json, many } = relation
    const names = [...namesOf([...reach.fields.values()], isFilterable), ...linkNames(relation)]
    const behind = names.length === 0 ? 'paths behind it' : names.map(code).join(', ')
    return `- ${code(json)}${many ? ', a collection' : ''}: ${behind}`
  })
  const arrays = arraysOf(fields)
  const lines = [...[...groups].map(([tokens, names]) => `- ${names.join(', ')}: ${tokens}`), ...arrays]
  return [
    GRAMMAR,
    ...(lines.length === 0 ? [] : ['', 'Fields:', '', ...lines]),
    ...(paths.length === 0 ? [] : ['', `Paths, up to ${limits.pathDepth} relations deep:`, '', ...paths]),
    ...(crossed.some(([{ many }]) => many) ? ['', QUANTIFIERS] : []),
    ...(arrays.length === 0 ? [] : ['', ITEMS]),
    '',
    `At most ${limits.filterLength} characters and ${limits.clauses} clauses.`,
  ].join('\n')
}

type Example = readonly [name: string, example: { readonly summary: string; readonly value: string }]

/** Pages use the first example as the initial value, so it must not filter any record. */
const ALL: Example = ['all', { summary: 'All records', value: '' }]

function example(name: string, summary: string, value: string): Example {
  return [name, { summary, value }]
}

/** Up to three example filters with the resource's fields. */
function exampleFilters(subject: Subject): readonly Example[] {
  const { fields, documented } = subject.resource
  const open = withMembers(fields).filter((field) => isFilterable(field) && !documented.masks.has(field.name))
  const own = open.flatMap((field) => clauses(field, field.json))
  const behind = crossedOf(subject).flatMap(([{ json, many }, { fields, resources }]) =>
    [...fields.values()]
      .filter((field) => isFilterable(field) && !resources.some(({ documented }) => documented.masks.has(field.name)))
      .slice(0, 1)
      .flatMap((field) => clauses(field, many ? `${json}.Any.${field.json}` : `${json}.${field.json}`)),
  )
  const [first, second, third] = own
  const [path] = behind
  const relation = path === undefined ? [] : [example('relation', 'A condition over a relation', path)]
  if (first === undefined || second === undefined) return relation
  const either = example('either', 'One of two conditions', `${first}|${second}`)
  return [
    example('one', 'One condition', first),
    example('both', 'Two conditions', `${first},${third ?? second}`),
    ...(relation.length === 0 ? [either] : relation),
  ]
}

/** Two clauses on a field with operators that it supports, or none. */
function clauses({ valueType, operators }: Field, path: string): readonly string[] {
  const plain = codecOf(valueType).example(valueType)
  const value = valueType.type === 'enum' ? escapeFilterValue(plain) : plain
  if (value === '') return []
  if (operators.has('contains')) return [`${path}=*${value}`, `${path}^${value}`]
  if (operators.has('gte')) return [`${path}>=${value}`, `${path}<${value}`]
  return [`${path}=${value}`, `${path}!=${value}`]
}

// ---------------------------------------------------------------- paths and headers

/** Path parameters of a resource, or of a single record. */
export function pathParameters(subject: Subject, ofRecord: boolean): readonly JsonSchema[] {
  const names = [...subject.at.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const above = names.map((name) => ({ name, in: 'path', required: true, schema: TEXT }))
  return [...above, ...(ofRecord ? [keyParameter(subject, 'id')] : [])]
}

export function keyParameter(subject: Subject, name: string): JsonSchema {
  return { name, in: 'path', required: true, description: 'The key.', schema: keyOf(subject) }
}

function header(name: string, description: string, schema: JsonSchema, isRequired = false): JsonSchema {
  return defined({ name, in: 'header', required: isRequired || undefined, description, schema })
}

const PRIMARY =
  '`read=primary` reads from the primary database instead of a replica, so that recent writes are included.'
const OF_READ = `\`handling=strict\` rejects unknown fields and parameters, \`handling=lenient\` ignores those that the server may ignore. ${PRIMARY}`

const MINIMAL = '`return=minimal` leaves the record out of the response.'
const AFFECTED = '`max-affected=10` rejects a request that would change more than 10 records. Nothing is written then.'

/** Preferences by kind of request (RFC 7240): `several` for batches, `counted` for batches whose response has counts only. */
export const PREFER: Readonly<Record<'record' | 'list' | 'write' | 'several' | 'counted', JsonSchema>> = {
  record: header('Prefer', OF_READ, { ...TEXT, examples: ['handling=strict'] }),
  list: header('Prefer', OF_READ, { ...TEXT, examples: ['handling=strict'] }),
  write: header('Prefer', MINIMAL, { ...TEXT, examples: ['return=minimal'] }),
  several: header('Prefer', `${MINIMAL} ${AFFECTED}`, { ...TEXT, examples: ['return=minimal, max-affected=10'] }),
  counted: header('Prefer', AFFECTED, { ...TEXT, examples: ['max-affected=10'] }),
}

export function idempotencyKey(isRequired: boolean): JsonSchema {
  const schema = { ...TEXT, maxLength: 514, examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'] }
  const description =
    'A unique key that you choose for this write. If you send the request again with the same key, the write is not repeated.'
  return header('Idempotency-Key', description, schema, isRequired)
}

/** Conditional read, answered with 304. */
export const IF_NONE_MATCH: JsonSchema = header(
  'If-None-Match',
  'The `ETag` of the response that the client has. The server answers 304 if it is still current.',
  TEXT,
)

/** Restricts a replacement to creating the record. */
export const IF_NONE_MATCH_ANY: JsonSchema = header(
  'If-None-Match',
  '`*` creates the record only if it does not exist.',
  {
    ...TEXT,
    examples: ['*'],
  },
)

/** Version that a write requires. */
export function ifMatch(isRequired: boolean): JsonSchema {
  const description = 'The `ETag` of the record when it was read, or `*` for any version.'
  return header('If-Match', description, { ...TEXT, examples: ['W/"3"'] }, isRequired)
}
