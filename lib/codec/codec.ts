import type { Field, FilterValue, JsonValue, Value, ValueType } from '../../types/field.js'
import type { Fault, MessageCode, Told } from '../../types/messages.js'
import type { JsonSchema } from '../../types/openApi.js'
import { fault } from '../common/messages.js'
import type { Bounds } from './bounds.js'

/** A value of a body as its type has it, or the messages that say why it has none. */
export type Reading = { readonly value: Value } | Faulty

interface Faulty {
  readonly faults: readonly Told[]
  /** Messages of parts of the value, each with the part's place: `[1]`. */
  readonly within?: readonly Misplaced[]
}

export interface Misplaced {
  readonly place: string
  readonly told: Told
}

export type Reader = (raw: unknown) => Reading

/** From a value of the database to its JSON. Null and undefined never reach it, nor objects that are no data. */
export type Decoder = (raw: unknown) => JsonValue

/** The parts of a field that decide which values bodies may have. */
export type RuledField = Pick<Field, 'valueType' | 'rules'>

/** Two inclusive bounds. */
export interface Range {
  readonly min: string | number
  readonly max: string | number
}

/** How a column's values reach the decoder. */
export interface CodecOptions {
  /** JSON comes as text, as raw rows of SQLite have it. Where the driver has parsed it, a string is a JSON string. */
  readonly jsonAsText?: boolean
  /** Called when a stored value cannot be shown, which then is null. */
  readonly onHidden?: () => void
}

/** JSON Schemas of a type's values, without null. */
export interface ValueSchemas {
  /** In replies. No rules: rows from before a rule keep none, and neither do masked values. */
  readonly reply: (valueType: ValueType) => JsonSchema
  /** In bodies. Default: as in replies. `parts` is the number of fields of the key. */
  readonly body?: (field: Field, parts: number) => JsonSchema
  /** In URLs. Default: as in replies. */
  readonly query?: JsonSchema
}

/** All that the wire does with the values of one type. */
export interface Codec {
  /** Reads a member of a body. Absent members and nulls do not reach it. */
  readonly body: (field: RuledField) => Reader
  /** Reads an operand of a filter or a typed parameter; null for a text that is no value of the type. */
  readonly text: (text: string, valueType: ValueType) => FilterValue | null
  /** Reads a key in a path, in the form that responses have; null for a text that is no key. Default: as an operand. */
  readonly key?: (text: string, valueType: ValueType) => string | number | null
  /** Writes a stored value. */
  readonly json: (valueType: ValueType, options: CodecOptions) => Decoder
  /** The words for a value in messages: "a whole number". */
  readonly noun: (valueType: ValueType) => string
  /** The words for all of them. Default: `noun`. */
  readonly kind?: string
  /** The bounds of column and rules between which there is no value; null where there is one. Default: there always is. */
  readonly gap?: (field: RuledField) => Range | null
  readonly schemas: ValueSchemas
  /** An example in the filter language; empty where filters take no value of the type. */
  readonly example: (valueType: ValueType) => string
}

/** A number that has been rounded before it was read. */
export const INEXACT: Fault = fault('digits')
export const NOT_STORABLE: Fault = fault('characters')

/** No number is written in more characters: what is longer is looked at no further. */
export const LONGEST_NUMBER = 64

export function faulty(...faults: readonly Told[]): Reading {
  return { faults }
}

/** Reads a value that bodies have as text. */
export function textReader(read: (text: string) => Value | null, otherwise: MessageCode): Reader {
  const none = faulty(fault(otherwise))
  return (raw) => {
    const value = typeof raw === 'string' ? read(raw) : null
    return value === null ? none : { value }
  }
}

/** An operand that stands for one value. */
export function operand(value: string | number | boolean | Date | null): FilterValue | null {
  return value === null ? null : { kind: 'value', value }
}

/** The bounds if no value is between them. */
export function gap<T extends string | number>(
  { min, max }: Bounds<T>,
  isEmpty: (min: T, max: T) => boolean,
): Range | null {
  return min !== undefined && max !== undefined && isEmpty(min, max) ? { min, max } : null
}
