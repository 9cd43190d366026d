import type { Field, FilterValue, JsonValue, Value, ValueType } from '../../types/field.js'
import type { CodedMessage, FieldMessage, MessageCode } from '../../types/messages.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import type { Bounds } from './bounds.js'

/** The parsed value of a body member, or its errors. */
export type Reading = { readonly value: Value } | InvalidReading

interface InvalidReading {
  readonly messages: readonly FieldMessage[]
  /** Errors of parts of the value, each with its place: `[1]`. */
  readonly nested?: readonly NestedMessage[]
}

export interface NestedMessage {
  readonly path: string
  readonly message: FieldMessage
}

export type Reader = (raw: unknown) => Reading

/** Converts a database value to JSON. It is not called with null, undefined or host objects. */
export type Decoder = (raw: unknown) => JsonValue

/** The properties of a field that determine the valid values in bodies. */
export type RuledField = Pick<Field, 'valueType' | 'rules'>

/** Two inclusive bounds. */
export interface Range {
  readonly min: string | number
  readonly max: string | number
}

/** How the decoder receives a column's values. */
export interface CodecOptions {
  /**
   * Whether JSON arrives as text, as in raw rows of SQLite. If the driver has parsed the column, a string is a JSON
   * string.
   */
  readonly jsonAsText?: boolean
  /** Called for a stored value that cannot be shown, and that therefore becomes null. */
  readonly onUndecodable?: () => void
}

/** JSON Schemas of a type's values, without null. */
export interface ValueSchemas {
  /** The schema in replies, without rules: older rows and masked values may violate rules. */
  readonly reply: (valueType: ValueType) => JsonSchema
  /** The schema in bodies. Default: the schema in replies. `parts` is the number of key fields. */
  readonly body?: (field: RuledField & Partial<Pick<Field, 'isKey'>>, parts: number) => JsonSchema
  /** The schema in URLs. Default: the schema in replies. */
  readonly query?: JsonSchema
}

/** All conversions of one type of values. */
export interface Codec {
  /** Reads a body member that is neither missing nor null. */
  readonly createBodyReader: (field: RuledField) => Reader
  /** Parses a value of a filter or a field parameter; null if the text does not have the type. */
  readonly readText: (text: string, valueType: ValueType) => FilterValue | null
  /** Parses a key in a path, in the form of responses; null if the text cannot be a key. Default: the text itself. */
  readonly readKey?: (text: string, valueType: ValueType) => string | number | null
  /** Converts a stored value to JSON. */
  readonly createDecoder: (valueType: ValueType, options: CodecOptions) => Decoder
  /** The name of a value in messages: "a whole number". */
  readonly noun: (valueType: ValueType) => string
  /** The name of all values of the type. Default: `noun`. */
  readonly kind?: string
  /** Returns the contradicting bounds of column and rules; null if a value can satisfy both. Default: null. */
  readonly findBoundsConflict?: (field: RuledField) => Range | null
  readonly schemas: ValueSchemas
  /** An example in the filter language; empty if filters do not accept the type. */
  readonly example: (valueType: ValueType) => string
}

/** The error for a number that JSON parsing has rounded. */
export const INEXACT: CodedMessage = createMessage('digits')
export const NOT_STORABLE: CodedMessage = createMessage('characters')

/** The longest text of a number. A longer text is refused without parsing. */
export const MAX_NUMBER_LENGTH = 64

export function rejectWith(...faults: readonly FieldMessage[]): Reading {
  return { messages: faults }
}

/** Rejects a value with errors of its parts. Errors of the whole value have an empty path. */
export function rejectAt(errors: readonly NestedMessage[]): Reading {
  const own = errors.filter(({ path }) => path === '').map(({ message }) => message)
  return { messages: own, nested: errors.filter(({ path }) => path !== '') }
}

/** Creates a reader for values that are text in bodies. */
export function createTextReader(read: (text: string) => Value | null, otherwise: MessageCode): Reader {
  const none = rejectWith(createMessage(otherwise))
  return (raw) => {
    const value = typeof raw === 'string' ? read(raw) : null
    return value === null ? none : { value }
  }
}

/** Wraps a single filter value; null stays null. */
export function toFilterValue(value: string | number | boolean | Date | null): FilterValue | null {
  return value === null ? null : { kind: 'value', value }
}

/** Returns the bounds if they contradict each other. */
export function conflictOf<T extends string | number>(
  { min, max }: Bounds<T>,
  isEmpty: (min: T, max: T) => boolean,
): Range | null {
  return min !== undefined && max !== undefined && isEmpty(min, max) ? { min, max } : null
}
