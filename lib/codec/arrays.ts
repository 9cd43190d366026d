// Arrays of scalars: array columns, JSON documents that are arrays, and arrays within JSON documents.

import type { ArrayType, JsonValue, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import { isObject } from '../common/object.js'
import { type Codec, type NestedMessage, type Reader, type Reading, rejectAt } from './codec.js'
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
  const readers = arrays.map(({ path, item, takesNull }) => {
    const read = codecOf(item).createBodyReader({ valueType: item, rules: { required: false } })
    return { path, read: createArrayReader(read, takesNull) }
  })
  return (raw) => {
    const errors: NestedMessage[] = []
    let value = raw
    for (const { path, read } of readers)
      value = replaceAt(value, path, '', (array, place) => read(array, place, errors))
    return errors.length === 0 ? { value: isColumn ? raw : value } : rejectAt(errors)
  }
}

function createArrayReader(read: Reader, takesNull: boolean): ReadArray {
  return (raw, place, errors) => {
    if (!Array.isArray(raw)) {
      errors.push({ path: place, message: createMessage('array') })
      return raw
    }
    return raw.map((item: JsonValue, index): JsonValue => {
      const reading: Reading =
        item !== null ? read(item) : takesNull ? { value: null } : { messages: [createMessage('null')] }
      if ('value' in reading) return formatItem(reading.value, item)
      errors.push(...reading.messages.map((message) => ({ path: `${place}[${index}]`, message })))
      return item
    })
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

/** Returns the schema of a value that is itself an array; null for other values. */
export function arraySchema(arrays: readonly ArrayType[] | undefined, codecOf: CodecOf): JsonSchema | null {
  const whole = arrays?.find(({ path }) => path.length === 0)
  if (whole === undefined) return null
  const item = codecOf(whole.item).schemas.reply(whole.item)
  return listSchema(whole.takesNull ? makeNullable(item) : item)
}
