// Arrays of scalars: array columns, JSON documents that are arrays, and arrays within JSON documents.

import type { ArrayType, JsonValue, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import { isObject } from '../common/object.js'
import { callToJson, toJson } from './anyJson.js'
import { type Codec, type Decoder, type NestedMessage, type Reader, type Reading, rejectAt } from './codec.js'
import { listSchema, makeNullable } from './schema.js'

export type CodecOf = (valueType: Pick<ValueType, 'type'>) => Codec

/** Reads one array, at a place within the body's value. */
type ReadArray = (raw: JsonValue, place: string, errors: NestedMessage[]) => JsonValue

/** Returns the reader of JSON whose arrays have typed items. Items of an array column are validated, not converted. */
export function createArraysReader(
  arrays: readonly ArrayType[],
  isColumn: boolean,
  codecOf: CodecOf,
): (raw: JsonValue) => Reading {
  const readers = arrays.map(({ path, item, takesNull, dimensions }) => {
    const read = codecOf(item).createBodyReader({ valueType: item, rules: { required: false } })
    return { path, read: createArrayReader(createItemReader(read, takesNull), dimensions) }
  })
  return (raw) => {
    const errors: NestedMessage[] = []
    let value = raw
    for (const { path, read } of readers)
      value = replaceAt(value, path, '', (array, place) => read(array, place, errors))
    return errors.length === 0 ? { value: isColumn ? raw : value } : rejectAt(errors)
  }
}

/** Creates the reader of an array. With more than one dimension, its elements are arrays, and never null. */
function createArrayReader(readItem: ReadArray, dimensions: number): ReadArray {
  const readElement = dimensions > 1 ? createArrayReader(readItem, dimensions - 1) : readItem
  return (raw, place, errors) => {
    if (Array.isArray(raw))
      return raw.map((element: JsonValue, index) => readElement(element, `${place}[${index}]`, errors))
    errors.push({ path: place, message: createMessage('array') })
    return raw
  }
}

function createItemReader(read: Reader, takesNull: boolean): ReadArray {
  return (item, place, errors) => {
    const reading: Reading =
      item !== null ? read(item) : takesNull ? { value: null } : { messages: [createMessage('null')] }
    if ('value' in reading) return formatItem(reading.value, item)
    errors.push(...reading.messages.map((message) => ({ path: place, message })))
    return item
  }
}

/** Converts a date to the format of responses. Filters compare dates in JSON in this format. */
function formatItem(value: unknown, given: JsonValue): JsonValue {
  return value instanceof Date ? value.toISOString() : given
}

/** Replaces the member at a path by the result of `read`. A null or missing member is unchanged. */
function replaceAt(
  value: JsonValue,
  [name, ...path]: readonly string[],
  place: string,
  read: (array: JsonValue, place: string) => JsonValue,
): JsonValue {
  if (name === undefined) return read(value, place)
  if (!isObject(value) || !Object.hasOwn(value, name)) return value
  const within = value[name]
  if (within === null || within === undefined) return value
  return { ...value, [name]: replaceAt(within, path, `${place}.${name}`, read) }
}

/** Creates the decoder of an array column. Items have the form of values in a column of their type. */
export function createArrayDecoder({ item }: ArrayType, codecOf: CodecOf): Decoder {
  const decode = codecOf(item).createDecoder(item, {})
  // The database does not check the number of dimensions.
  const decodeElement = (raw: unknown): JsonValue => {
    if (Array.isArray(raw)) return raw.map(decodeElement)
    if (raw === null || raw === undefined) return null
    return decode(typeof raw === 'object' ? callToJson(raw) : raw)
  }
  return (raw) => (Array.isArray(raw) ? decodeElement(raw) : toJson(raw))
}

/** Returns the array that is the whole value; undefined for other values. */
export function wholeArrayOf({ arrays }: Pick<ValueType, 'arrays'>): ArrayType | undefined {
  return arrays?.find(({ path }) => path.length === 0)
}

/** Returns the schema of an array. `schemaOf` returns the schema of its items. */
export function arraySchema(
  { item, takesNull, dimensions }: ArrayType,
  schemaOf: (item: ValueType) => JsonSchema,
): JsonSchema {
  const element = schemaOf(item)
  const row = listSchema(takesNull ? makeNullable(element) : element)
  return Array.from({ length: dimensions - 1 }).reduce<JsonSchema>((schema) => listSchema(schema), row)
}
