import type { FieldType, JsonValue, ValueType } from '../../types/field.js'
import type { CodedMessage, FieldMessage } from '../../types/messages.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import { isStorableText } from '../common/values.js'
import { toJson } from './anyJson.js'
import { arraySchema, type CodecOf, createArraysReader } from './arrays.js'
import { blob } from './blob.js'
import { type Codec, NOT_STORABLE, type Reader, type RuledField, rejectWith } from './codec.js'
import { TEXT } from './schema.js'
import { date, datetime } from './times.js'

/** Creates the codec of JSON. `codecOf` returns the codecs of array items. */
export function jsonCodec(codecOf: CodecOf): Codec {
  return {
    createBodyReader: (field) => createBodyReader(field, codecOf),
    readText: () => null,
    createDecoder: (_, { jsonAsText }) => (jsonAsText === true ? decodeJsonText : toJson),
    noun: () => 'JSON',
    schemas: {
      reply: ({ arrays }) => arraySchema(arrays, codecOf) ?? { description: 'Any JSON.' },
      body: (field) => bodySchema(field, codecOf),
      query: {},
    },
    example: () => '',
  }
}

/** The maximum nesting depth of JSON columns on MariaDB, as its JSON_VALID checks it. */
const JSON_DEPTH = 31

/** Creates a reader that refuses null. Nullable fields accept null before they call a reader. */
function createBodyReader({ valueType: { form, items, arrays } }: RuledField, codecOf: CodecOf): Reader {
  // Items of one-dimensional arrays are read by the codec of their own type.
  const nested = arrays === undefined ? items : undefined
  const readArrays = arrays === undefined ? null : createArraysReader(arrays, form === 'array', codecOf)
  return (raw) => {
    const wrong = findJsonError(raw, JSON_DEPTH) ?? findFormError(raw, form) ?? findItemError(raw, nested)
    if (wrong !== null || !isJsonValue(raw)) return rejectWith(wrong ?? createMessage('json'))
    return readArrays === null ? { value: raw } : readArrays(raw)
  }
}

/**
 * Returns the error of a value that Sequelize cannot write as an ARRAY, a RANGE or a GEOMETRY. PostgreSQL checks the
 * contents.
 */
function findFormError(raw: unknown, form: ValueType['form']): CodedMessage | null {
  if (form === undefined) return null
  if (form === 'text') return typeof raw === 'string' ? null : createMessage('string')
  if (form === 'geometry') return isGeometry(raw) ? null : createMessage('geometry')
  if (!Array.isArray(raw)) return createMessage('array')
  return form === 'range' && raw.length !== 0 && raw.length !== 2 ? createMessage('bounds') : null
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
    not: { minItems: 1, maxItems: 1 },
    description: 'An empty array, or an array of the lower and the upper bound.',
  },
  geometry: {
    type: 'object',
    required: ['type'],
    properties: { type: { enum: [...GEOMETRIES, 'GeometryCollection'] } },
    description: 'A GeoJSON geometry (RFC 7946).',
  },
}

function bodySchema({ valueType: { form, arrays } }: RuledField, codecOf: CodecOf): JsonSchema {
  const array = arraySchema(arrays, codecOf)
  if (array !== null) return array
  return form === undefined ? { not: { type: 'null' }, description: 'Any JSON.' } : FORMS[form]
}
