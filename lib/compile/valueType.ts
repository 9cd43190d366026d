import type { ModelAttributeColumnOptions } from 'sequelize'
import type { ValueType } from '../../types/field.js'
import { EXACT_DIGITS } from '../common/values.js'
import { operatorsOf } from '../language/operators.js'

/** The parts of an attribute in `Model.getAttributes()` that its type depends on. */
export type TypedAttribute = Pick<ModelAttributeColumnOptions, 'type' | 'values'>

/** The host's choice for decimals in JSON. */
export interface ValueTypeOptions {
  readonly decimal?: 'string' | 'number' | undefined
}

const SINGLE_PRECISION_MAX = 3.4028234663852886e38

/**
 * The type of an attribute, by the `key` of Sequelize's type, which the dialects' subclasses keep. Other types
 * (networks, ranges, geometry, custom types) are opaque JSON without operators, since comparing them as text would fail
 * in the database.
 */
export function valueTypeOf(attribute: TypedAttribute, options: ValueTypeOptions = {}): ValueType {
  return Object.freeze(describe(attribute.type, attribute.values, options))
}

function describe(type: unknown, values: readonly string[] | undefined, options: ValueTypeOptions): ValueType {
  if (typeof type === 'string') return describeSql(type)
  const key = member(type, 'key')
  const typed = typeof key === 'string' ? TYPES.get(key) : undefined
  return typed === undefined ? { type: 'json' } : typed(type, values, options)
}

type Describe = (type: unknown, values: readonly string[] | undefined, options: ValueTypeOptions) => ValueType

function only(valueType: ValueType): Describe {
  return () => valueType
}

function wholeNumbers(bits: bigint): Describe {
  return (type) => integer(bits, isUnsigned(type))
}

const TYPES: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ['STRING', (type) => ({ type: 'string', ...length(type), ...(isBinary(type) ? { binary: true } : {}) })],
  ['CHAR', (type) => ({ type: 'string', ...length(type), ...(isBinary(type) ? { binary: true } : { padded: true }) })],
  ['TEXT', only({ type: 'string' })],
  ['CITEXT', only({ type: 'string' })],
  ['TINYINT', wholeNumbers(8n)],
  ['SMALLINT', wholeNumbers(16n)],
  ['MEDIUMINT', wholeNumbers(24n)],
  ['INTEGER', wholeNumbers(32n)],
  ['BIGINT', wholeNumbers(64n)],
  ['DECIMAL', (type, _, options) => decimal(type, options)],
  ['FLOAT', (type) => ({ type: 'float', maxMagnitude: SINGLE_PRECISION_MAX, ...single(type), ...unsigned(type) })],
  ['REAL', (type) => ({ type: 'float', maxMagnitude: SINGLE_PRECISION_MAX, real: true, ...unsigned(type) })],
  ['DOUBLE PRECISION', (type) => ({ type: 'float', ...unsigned(type) })],
  ['NUMBER', (type) => ({ type: 'float', ...unsigned(type) })],
  ['BOOLEAN', only({ type: 'boolean' })],
  ['DATE', only({ type: 'datetime' })],
  ['DATEONLY', only({ type: 'date' })],
  ['TIME', only({ type: 'time' })],
  ['UUID', only({ type: 'uuid' })],
  ['UUIDV1', only({ type: 'uuid' })],
  ['UUIDV4', only({ type: 'uuid' })],
  ['ENUM', (type, values) => ({ type: 'enum', values: Object.freeze(texts(values ?? member(type, 'values'))) })],
  ['BLOB', (type) => ({ type: 'blob', ...(option(type, 'length') === 'tiny' ? { maxLength: 255 } : {}) })],
  ['ARRAY', (type) => ({ type: 'json', form: 'array', ...itemsOf(type) })],
  ['TSVECTOR', only({ type: 'json', form: 'text' })],
  ['INET', only({ type: 'json', form: 'text' })],
  ['CIDR', only({ type: 'json', form: 'text' })],
  ['MACADDR', only({ type: 'json', form: 'text' })],
  ['RANGE', only({ type: 'json', form: 'range' })],
  ['GEOMETRY', only({ type: 'json', form: 'geometry' })],
  ['GEOGRAPHY', only({ type: 'json', form: 'geometry' })],
  ['JSONB', only({ type: 'json', document: true, parsed: true })],
  ['JSON', only({ type: 'json', document: true })],
  ['VIRTUAL', (type, _, options) => describe(member(type, 'returnType'), undefined, options)],
])

/** The item type of an array of any dimension. */
function itemsOf(array: unknown): Pick<ValueType, 'items'> {
  const item = member(array, 'type')
  if (member(item, 'key') === 'ARRAY') return itemsOf(item)
  const { type } = describe(item, undefined, {})
  return type === 'blob' || type === 'datetime' || type === 'date' ? { items: type } : {}
}

/** The item type of a one-dimensional array that filters can compare; null for other types. */
export function itemTypeOf({ type }: TypedAttribute): ValueType | null {
  const item = member(type, 'type')
  if (member(type, 'key') !== 'ARRAY' || member(item, 'key') === 'ARRAY') return null
  const valueType = describe(item, undefined, {})
  return operatorsOf(valueType.type).size === 0 ? null : valueType
}

/** SQL types whose driver values equal those of a Sequelize type, with its key. */
const SQL_TYPES: readonly (readonly [pattern: RegExp, key: string])[] = [
  [/^(?:N?VARCHAR|(?:NATIONAL )?CHARACTER VARYING)$/, 'STRING'],
  [/^(?:N?CHAR|CHARACTER)$/, 'CHAR'],
  [/^(?:TINY|MEDIUM|LONG)?TEXT$|^CLOB$/, 'TEXT'],
  [/^CITEXT$/, 'CITEXT'],
  [/^TINYINT$/, 'TINYINT'],
  [/^(?:SMALLINT|INT2)$/, 'SMALLINT'],
  [/^MEDIUMINT$/, 'MEDIUMINT'],
  [/^(?:INT|INTEGER|INT4)$/, 'INTEGER'],
  [/^(?:BIGINT|INT8)$/, 'BIGINT'],
  [/^(?:DECIMAL|NUMERIC)$/, 'DECIMAL'],
  [/^(?:DOUBLE(?: PRECISION)?|FLOAT8)$/, 'DOUBLE PRECISION'],
  [/^UUID$/, 'UUID'],
  [/^JSON$/, 'JSON'],
  [/^JSONB$/, 'JSONB'],
]

/** A type given as SQL. An unknown one is opaque. */
function describeSql(sql: string): ValueType {
  const written = /^([A-Z\d ]+?) ?(?:\( ?(\d+) ?(?:, ?(\d+) ?)?\))?( UNSIGNED)?$/i.exec(sql.trim())
  const [, name = '', first, second, unsigned] = written ?? []
  const key = SQL_TYPES.find(([pattern]) => pattern.test(name.toUpperCase()))?.[1]
  if (key === undefined) return { type: 'json' }
  // The number after an integer type is its display width.
  const options = { length: first, precision: first, scale: second, unsigned: unsigned !== undefined }
  return describe({ key, options }, undefined, {})
}

function length(type: unknown): { readonly maxLength: number } {
  return { maxLength: numeric(option(type, 'length')) ?? 255 }
}

function isBinary(type: unknown): boolean {
  return option(type, 'binary') === true
}

function integer(bits: bigint, isUnsigned: boolean): ValueType {
  const type = bits === 64n ? 'bigint' : 'integer'
  if (isUnsigned) return { type, min: 0n, max: 2n ** bits - 1n }
  return { type, min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n }
}

function decimal(type: unknown, options: ValueTypeOptions): ValueType {
  const precision = numeric(option(type, 'precision'))
  if (precision === undefined) return { type: 'decimal', wire: options.decimal ?? 'string', ...unsigned(type) }
  const wire = options.decimal ?? (precision <= EXACT_DIGITS ? 'number' : 'string')
  // A precision without a scale means integers in every database.
  return { type: 'decimal', precision, scale: numeric(option(type, 'scale')) ?? 0, wire, ...unsigned(type) }
}

/** A FLOAT of 25 bits or more has eight bytes in databases where a shorter one has four. */
function single(type: unknown): { readonly single?: boolean } {
  return Number(option(type, 'length')) > 24 ? {} : { single: true }
}

function unsigned(type: unknown): { readonly min?: bigint } {
  return isUnsigned(type) ? { min: 0n } : {}
}

/**
 * The dialects of SQLite and PostgreSQL drop UNSIGNED from the SQL but keep it in the options. The model's bounds
 * apply.
 */
function isUnsigned(type: unknown): boolean {
  return option(type, 'unsigned') === true
}

function option(type: unknown, name: string): unknown {
  return member(member(type, 'options'), name)
}

/** A member of an unknown value. Sequelize's declarations omit many members of attributes and types. */
export function member(value: unknown, name: string): unknown {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject ? Reflect.get(value, name) : undefined
}

function numeric(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number > 0 ? number : undefined
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
