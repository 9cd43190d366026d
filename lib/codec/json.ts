import type { ArrayType, FieldType, JsonValue, RestrictedForm, ValueType } from '../../types/field.js'
import type { CodedMessage, FieldMessage } from '../../types/messages.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import { isObject } from '../common/object.js'
import { isStorableText } from '../common/values.js'
import { toJson } from './anyJson.js'
import { arraySchema, type CodecOf, createArrayDecoder, createArraysReader, wholeArrayOf } from './arrays.js'
import { blob } from './blob.js'
import {
  type Codec,
  type NestedMessage,
  NOT_STORABLE,
  type Reader,
  type RuledField,
  rejectAt,
  rejectWith,
} from './codec.js'
import { makeNullable, TEXT } from './schema.js'
import { date, datetime } from './times.js'

/** Creates the codec of JSON. `codecOf` returns the codecs of array items. */
export function jsonCodec(codecOf: CodecOf): Codec {
  return {
    createBodyReader: (field) => createBodyReader(field, codecOf),
    readText: () => null,
    createDecoder: (valueType, { jsonAsText }) => {
      const array = valueType.form === 'array' ? wholeArrayOf(valueType) : undefined
      if (array !== undefined) return createArrayDecoder(array, codecOf)
      if (valueType.form === 'text') return decodeFormText
      return jsonAsText === true ? decodeJsonText : toJson
    },
    noun: () => 'JSON',
    schemas: {
      reply: (valueType) => {
        const array = wholeArrayOf(valueType)
        if (array === undefined) return { description: 'Any JSON.' }
        return arraySchema(array, (item) => codecOf(item).schemas.reply(item))
      },
      body: (field) => bodySchema(field, codecOf),
      query: {},
    },
    example: () => '',
  }
}

/** Decodes a text. The mariadb driver reads a SET as an array of its members, which no write accepts. */
function decodeFormText(raw: unknown): JsonValue {
  return Array.isArray(raw) ? raw.join(',') : toJson(raw)
}

/** The maximum nesting depth of JSON columns on MariaDB, as its JSON_VALID checks it. */
const JSON_DEPTH = 31

/** Creates a reader that refuses null. Nullable fields accept null before they call a reader. */
function createBodyReader({ valueType }: RuledField, codecOf: CodecOf): Reader {
  const { form, items, arrays } = valueType
  // Items with a type that filters can compare are read by the codec of their type.
  const nested = arrays === undefined ? items : undefined
  const readArrays = arrays === undefined ? null : createArraysReader(arrays, form === 'array', codecOf)
  return (raw) => {
    const malformed = findJsonError(raw, JSON_DEPTH)
    if (malformed !== null) return rejectWith(malformed)
    const errors = findFormErrors(raw, valueType)
    if (errors.length > 0) return rejectAt(errors)
    const wrong = findItemError(raw, nested)
    if (wrong !== null || !isJsonValue(raw)) return rejectWith(wrong ?? createMessage('json'))
    return readArrays === null ? { value: raw } : readArrays(raw)
  }
}

type Formed = Pick<ValueType, 'form' | 'elements' | 'hasEpsgNamesOnly'>

/**
 * Returns the errors of a value that Sequelize cannot write as an ARRAY, a RANGE or a GEOMETRY, with their places. The
 * database checks the contents.
 */
function findFormErrors(raw: unknown, { form, elements, hasEpsgNamesOnly }: Formed): readonly NestedMessage[] {
  const wrong = findFormError(raw, form)
  if (wrong !== null) return [{ path: '', message: wrong }]
  if (hasEpsgNamesOnly === true) return findCrsErrors(raw)
  if (elements === undefined || !Array.isArray(raw)) return []
  return raw.flatMap((element, index) => {
    // Arrays of arrays cannot contain null: all their elements have the same number of items.
    if (element === null && elements.form !== 'array') return []
    const errors = findFormErrors(element, elements)
    return errors.map(({ path, message }) => ({ path: `[${index}]${path}`, message }))
  })
}

function findFormError(raw: unknown, form: ValueType['form']): CodedMessage | null {
  if (form === undefined) return null
  if (form === 'text') return typeof raw === 'string' ? null : createMessage('string')
  if (form === 'geometry') return isGeometry(raw) ? null : createMessage('geometry')
  if (!Array.isArray(raw)) return createMessage('array')
  return form === 'range' && raw.length !== 0 && raw.length !== 2 ? createMessage('bounds') : null
}

/** The names of coordinate reference systems that the library wkx can read. */
const EPSG_NAME = /^(?:urn:ogc:def:crs:EPSG::|EPSG:)\d{1,9}$/

/** Returns an error for each `crs` in a geometry, and in the geometries of a collection, that is not an EPSG code. */
function findCrsErrors(geometry: unknown): readonly NestedMessage[] {
  if (!isObject(geometry)) return []
  const { crs, geometries } = geometry
  const own =
    crs === undefined || crs === null || isEpsgCrs(crs) ? [] : [{ path: '.crs', message: createMessage('crs') }]
  if (!Array.isArray(geometries)) return own
  const within = geometries.flatMap((each, index) =>
    findCrsErrors(each).map(({ path, message }) => ({ path: `.geometries[${index}]${path}`, message })),
  )
  return [...own, ...within]
}

function isEpsgCrs(crs: unknown): boolean {
  if (!isObject(crs) || crs.type !== 'name' || !isObject(crs.properties)) return false
  const { name } = crs.properties
  return typeof name === 'string' && EPSG_NAME.test(name)
}

/** Returns the first error of an array's items. Items are read like values of a column of their type. */
function findItemError(raw: unknown, items: ValueType['items']): FieldMessage | null {
  if (items === undefined || raw === null) return null
  if (Array.isArray(raw)) return raw.map((item) => findItemError(item, items)).find((wrong) => wrong !== null) ?? null
  const reading = ITEMS[items](raw)
  return 'messages' in reading ? (reading.messages[0] ?? null) : null
}

const ITEMS: Readonly<Record<NonNullable<ValueType['items']>, Reader>> = {
  blob: createItemReader(blob, 'blob'),
  datetime: createItemReader(datetime, 'datetime'),
  date: createItemReader(date, 'date'),
}

function createItemReader(codec: Codec, type: FieldType): Reader {
  return codec.createBodyReader({ valueType: { type }, rules: { required: false } })
}

/** The nesting depth of positions in the coordinates of a geometry (RFC 7946 section 3.1). */
const POSITIONS: ReadonlyMap<unknown, number> = new Map([
  ['Point', 0],
  ['MultiPoint', 1],
  ['LineString', 1],
  ['MultiLineString', 2],
  ['Polygon', 2],
  ['MultiPolygon', 3],
])

function isGeometry(raw: unknown): boolean {
  if (typeof raw !== 'object' || raw === null) return false
  const { type, coordinates, geometries }: { type?: unknown; coordinates?: unknown; geometries?: unknown } = raw
  if (type === 'GeometryCollection') return Array.isArray(geometries) && geometries.every(isGeometry)
  const depth = POSITIONS.get(type)
  return depth !== undefined && hasPositions(coordinates, depth)
}

function hasPositions(coordinates: unknown, depth: number): boolean {
  if (!Array.isArray(coordinates)) return false
  if (depth > 0) return coordinates.every((each) => hasPositions(each, depth - 1))
  return coordinates.length >= 2 && coordinates.every((each) => typeof each === 'number')
}

/** Checks only the top level, because the value was parsed from JSON. */
function isJsonValue(raw: unknown): raw is JsonValue {
  return raw !== null && ['string', 'number', 'boolean', 'object'].includes(typeof raw)
}

function findJsonError(value: unknown, levels: number): CodedMessage | null {
  if (typeof value === 'string') return isStorableText(value) ? null : NOT_STORABLE
  // JSON.parse reads 1e400 as infinity, which JSON.stringify writes as null.
  if (typeof value === 'number') return Number.isFinite(value) ? null : createMessage('json-finite')
  if (typeof value !== 'object' || value === null) return null
  if (levels === 0) return createMessage('json-depth', { levels: JSON_DEPTH })
  if (!Array.isArray(value) && !Object.keys(value).every(isStorableText)) return NOT_STORABLE
  for (const item of Object.values(value)) {
    const wrong = findJsonError(item, levels - 1)
    if (wrong !== null) return wrong
  }
  return null
}

function decodeJsonText(raw: unknown): JsonValue {
  if (typeof raw !== 'string') return toJson(raw)
  try {
    const value: unknown = JSON.parse(raw)
    return toJson(value)
  } catch {
    return null
  }
}

const GEOMETRIES = ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon']

const FORMS: Readonly<Record<NonNullable<ValueType['form']>, JsonSchema>> = {
  text: TEXT,
  array: { type: 'array', items: {} },
  range: {
    type: 'array',
    items: {},
    maxItems: 2,
    // The type lets the schema accept null in nullable fields.
    not: { type: 'array', minItems: 1, maxItems: 1 },
    description: 'An empty array, or an array of the lower and the upper bound.',
  },
  geometry: {
    type: 'object',
    required: ['type'],
    properties: { type: { enum: [...GEOMETRIES, 'GeometryCollection'] } },
    description: 'A GeoJSON geometry (RFC 7946).',
  },
}

function bodySchema({ valueType }: RuledField, codecOf: CodecOf): JsonSchema {
  const { form, elements, arrays = [] } = valueType
  const array = wholeArrayOf(valueType)
  if (array !== undefined) return arrayBodySchema(array, codecOf)
  if (form === undefined) {
    const within = arrays.map((each) => membersSchema(each.path, makeNullable(arrayBodySchema(each, codecOf))))
    return { not: { type: 'null' }, description: 'Any JSON.', ...within.reduce(mergeMembers, {}) }
  }
  return formSchema({ form, ...(elements === undefined ? {} : { elements }) })
}

function arrayBodySchema(array: ArrayType, codecOf: CodecOf): JsonSchema {
  return arraySchema(array, (item) => {
    const { reply, body } = codecOf(item).schemas
    return body?.({ valueType: item, rules: { required: false } }, 1) ?? reply(item)
  })
}

/** Returns a schema of a member of JSON. Without `type`, the schema allows any value that is not an object. */
function membersSchema(path: readonly string[], schema: JsonSchema): JsonSchema {
  return path.reduceRight((within, name) => ({ properties: { [name]: within } }), schema)
}

/** Merges the schemas of two members, whose paths may begin alike. */
function mergeMembers(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = new Map(Object.entries(one.properties ?? {}))
  for (const [name, schema] of Object.entries(other.properties ?? {}))
    properties.set(name, mergeMembers(properties.get(name) ?? {}, schema))
  return { ...one, ...other, ...(properties.size === 0 ? {} : { properties: Object.fromEntries(properties) }) }
}

function formSchema({ form, elements }: RestrictedForm): JsonSchema {
  if (elements === undefined) return FORMS[form]
  const element = formSchema(elements)
  return { ...FORMS[form], items: elements.form === 'array' ? element : makeNullable(element) }
}
