import type { ModelAttributeColumnOptions } from 'sequelize'
import type { ArrayType, ValueType } from '../../types/field.js'
import { EXACT_DIGITS } from '../common/values.js'
import { operatorsForType } from '../language/operators.js'

/** The parts of an attribute in `Model.getAttributes()` that its type depends on. */
export type TypedAttribute = Pick<ModelAttributeColumnOptions, 'type' | 'values'>

/** The host's choice for decimals in JSON. */
export interface ValueTypeOptions {
  readonly decimal?: 'string' | 'number' | undefined
}

const SINGLE_PRECISION_MAX = 3.4028234663852886e38

/**
 * Returns the type of an attribute, by the `key` of Sequelize's type. Unknown types (networks, ranges, geometry, custom
 * types) are opaque JSON without operators: comparing them as text would fail in the database.
 */
export function valueTypeOf(attribute: TypedAttribute, options: ValueTypeOptions = {}): ValueType {
  return Object.freeze(describeType(attribute.type, attribute.values, options))
}

function describeType(type: unknown, values: readonly string[] | undefined, options: ValueTypeOptions): ValueType {
  if (typeof type === 'string') return describeSql(type)
  const key = readMember(type, 'key')
  const typed = typeof key === 'string' ? TYPES.get(key) : undefined
  return typed === undefined ? { type: 'json' } : typed(type, values, options)
}

type DescribeType = (type: unknown, values: readonly string[] | undefined, options: ValueTypeOptions) => ValueType

function constantType(valueType: ValueType): DescribeType {
  return () => valueType
}

function integerTypeOf(bits: bigint): DescribeType {
  return (type) => integer(bits, isUnsigned(type))
}

const TYPES: ReadonlyMap<string, DescribeType> = new Map<string, DescribeType>([
  ['STRING', (type) => ({ type: 'string', ...length(type), ...(isBinary(type) ? { binary: true } : {}) })],
  ['CHAR', (type) => ({ type: 'string', ...length(type), ...(isBinary(type) ? { binary: true } : { padded: true }) })],
  ['TEXT', constantType({ type: 'string' })],
  ['CITEXT', constantType({ type: 'string' })],
  ['TINYINT', integerTypeOf(8n)],
  ['SMALLINT', integerTypeOf(16n)],
  ['MEDIUMINT', integerTypeOf(24n)],
  ['INTEGER', integerTypeOf(32n)],
  ['BIGINT', integerTypeOf(64n)],
  ['DECIMAL', (type, _, options) => decimal(type, options)],
  [
    'FLOAT',
    (type) => ({ type: 'float', maxMagnitude: SINGLE_PRECISION_MAX, ...singlePrecisionOf(type), ...unsigned(type) }),
  ],
  ['REAL', (type) => ({ type: 'float', maxMagnitude: SINGLE_PRECISION_MAX, real: true, ...unsigned(type) })],
  ['DOUBLE PRECISION', (type) => ({ type: 'float', ...unsigned(type) })],
  ['NUMBER', (type) => ({ type: 'float', ...unsigned(type) })],
  ['BOOLEAN', constantType({ type: 'boolean' })],
  ['DATE', (type) => ({ type: 'datetime', ...scaleOf(type) })],
  ['DATEONLY', constantType({ type: 'date' })],
  ['TIME', constantType({ type: 'time' })],
  ['UUID', constantType({ type: 'uuid' })],
  ['UUIDV1', constantType({ type: 'uuid' })],
  ['UUIDV4', constantType({ type: 'uuid' })],
  [
    'ENUM',
    (type, values) => ({ type: 'enum', values: Object.freeze(filterTexts(values ?? readMember(type, 'values'))) }),
  ],
  ['BLOB', (type) => ({ type: 'blob', ...(typeOptionOf(type, 'length') === 'tiny' ? { maxLength: 255 } : {}) })],
  ['ARRAY', (type) => ({ type: 'json', form: 'array', ...itemsTypeOf(type), ...elementFormOf(type) })],
  ['TSVECTOR', constantType({ type: 'json', form: 'text' })],
  ['INET', constantType({ type: 'json', form: 'text' })],
  ['CIDR', constantType({ type: 'json', form: 'text' })],
  ['MACADDR', constantType({ type: 'json', form: 'text' })],
  ['RANGE', constantType({ type: 'json', form: 'range' })],
  ['GEOMETRY', constantType({ type: 'json', form: 'geometry' })],
  ['GEOGRAPHY', constantType({ type: 'json', form: 'geometry' })],
  ['JSONB', constantType({ type: 'json', document: true, parsed: true })],
  ['JSON', constantType({ type: 'json', document: true })],
  ['VIRTUAL', (type, _, options) => describeType(readMember(type, 'returnType'), undefined, options)],
])

/** Returns the type of the items of an array, which may have several dimensions. */
function itemsTypeOf(array: unknown): Pick<ValueType, 'items'> {
  const item = readMember(array, 'type')
  if (readMember(item, 'key') === 'ARRAY') return itemsTypeOf(item)
  const { type } = describeType(item, undefined, {})
  return type === 'blob' || type === 'datetime' || type === 'date' ? { items: type } : {}
}

/** Returns the form of an array's elements: of arrays, ranges, geometries or texts. */
function elementFormOf(array: unknown): Pick<ValueType, 'elements'> {
  const { form, elements } = describeType(readMember(array, 'type'), undefined, {})
  if (form === undefined) return {}
  return { elements: { form, ...(elements === undefined ? {} : { elements }) } }
}

/** Returns the array of scalars in a column; null for other types. */
export function arrayTypeOf({ type }: TypedAttribute): ArrayType | null {
  let item: unknown = type
  let dimensions = 0
  for (; readMember(item, 'key') === 'ARRAY'; dimensions += 1) item = readMember(item, 'type')
  if (dimensions === 0) return null
  const valueType = describeType(item, undefined, {})
  return operatorsForType(valueType.type).size === 0 ? null : { path: [], item: valueType, takesNull: true, dimensions }
}

/** SQL types whose driver values equal the values of a Sequelize type, each with the key of that type. */
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

/** Returns the type of an attribute that is declared as SQL text. An unknown type is opaque. */
function describeSql(sql: string): ValueType {
  const written = /^([A-Z\d ]+?) ?(?:\( ?(\d+) ?(?:, ?(\d+) ?)?\))?( UNSIGNED)?$/i.exec(sql.trim())
  const [, name = '', first, second, unsigned] = written ?? []
  const key = SQL_TYPES.find(([pattern]) => pattern.test(name.toUpperCase()))?.[1]
  if (key === undefined) return { type: 'json', ...(/^SET ?\(/i.test(sql.trim()) ? { form: 'text' } : {}) }
  // The number after an integer type is its display width.
  const options = { length: first, precision: first, scale: second, unsigned: unsigned !== undefined }
  return describeType({ key, options }, undefined, {})
}

function length(type: unknown): { readonly maxLength: number } {
  return { maxLength: toPositiveInteger(typeOptionOf(type, 'length')) ?? 255 }
}

/** Returns the fractional digits of a DATE with a length. */
function scaleOf(type: unknown): { readonly scale?: number } {
  const scale = toPositiveInteger(typeOptionOf(type, 'length'))
  return scale === undefined ? {} : { scale }
}

function isBinary(type: unknown): boolean {
  return typeOptionOf(type, 'binary') === true
}

function integer(bits: bigint, isUnsigned: boolean): ValueType {
  const type = bits === 64n ? 'bigint' : 'integer'
  if (isUnsigned) return { type, min: 0n, max: 2n ** bits - 1n }
  return { type, min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n }
}

function decimal(type: unknown, options: ValueTypeOptions): ValueType {
  const precision = toPositiveInteger(typeOptionOf(type, 'precision'))
  if (precision === undefined) return { type: 'decimal', jsonType: options.decimal ?? 'string', ...unsigned(type) }
  const wire = options.decimal ?? (precision <= EXACT_DIGITS ? 'number' : 'string')
  // In every database, a precision without a scale declares an integer.
  return {
    type: 'decimal',
    precision,
    scale: toPositiveInteger(typeOptionOf(type, 'scale')) ?? 0,
    jsonType: wire,
    ...unsigned(type),
  }
}

/** In some databases a FLOAT of 25 bits or more has eight bytes, and a shorter FLOAT has four. */
function singlePrecisionOf(type: unknown): { readonly single?: boolean } {
  return Number(typeOptionOf(type, 'length')) > 24 ? {} : { single: true }
}

function unsigned(type: unknown): { readonly min?: bigint } {
  return isUnsigned(type) ? { min: 0n } : {}
}

/**
 * Sequelize drops UNSIGNED from the SQL of SQLite and PostgreSQL, but keeps it in the options. The model's bounds apply
 * on every database.
 */
function isUnsigned(type: unknown): boolean {
  return typeOptionOf(type, 'unsigned') === true
}

function typeOptionOf(type: unknown, name: string): unknown {
  return readMember(readMember(type, 'options'), name)
}

/** Whether an attribute has no column. */
export function isVirtual({ type }: { readonly type: unknown }): boolean {
  return readMember(type, 'key') === 'VIRTUAL'
}

/** Reads a member of an unknown value. Sequelize's declarations omit many members of attributes and types. */
export function readMember(value: unknown, name: string): unknown {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject ? Reflect.get(value, name) : undefined
}

function toPositiveInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number > 0 ? number : undefined
}

function filterTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
