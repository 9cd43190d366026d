import type { FieldType, FilterValue, ValueType } from '../../types/field.js'
import { isKeyValue } from '../common/keys.js'
import { divideDecimal, EXACT_DIGITS } from '../common/values.js'
import { callToJson } from './anyJson.js'
import { blob } from './blob.js'
import type { Codec, CodecOptions, Decoder } from './codec.js'
import { decimal, decodeNonNumber, float, parseStoredDigits } from './decimals.js'
import { bigint, integer } from './integers.js'
import { jsonCodec } from './json.js'
import { boolean, enumeration, uuid } from './scalars.js'
import { string } from './string.js'
import { date, datetime, time } from './times.js'

/** The codecs by type. Operators are in lib/language, because they also run in browsers. */
const CODECS: Readonly<Record<FieldType, Codec>> = {
  string,
  integer,
  bigint,
  decimal,
  float,
  boolean,
  datetime,
  date,
  time,
  uuid,
  enum: enumeration,
  json: jsonCodec(({ type }) => CODECS[type]),
  blob,
}

export function codecOf({ type }: Pick<ValueType, 'type'>): Codec {
  return CODECS[type]
}

/**
 * Returns the function that converts database values to JSON. It accepts the values of all drivers and of instances,
 * and never throws. Numbers, texts and enumerations that do not fit the type are shown as stored. Values that JSON
 * cannot express (NaN, infinities, invalid dates, broken documents) become null.
 */
export function createDecoder(valueType: ValueType, options: CodecOptions = {}): Decoder {
  const { onUndecodable } = options
  const decode = codecOf(valueType).createDecoder(valueType, options)
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const value = decode(typeof raw === 'object' ? callToJson(raw) : raw)
    // Null is a valid JSON document, so it is not reported.
    if (value === null && onUndecodable !== undefined && (valueType.type !== 'json' || raw !== 'null')) onUndecodable()
    return value
  }
}

/**
 * Parses the text of a filter value or a field parameter; null if the text does not have the type.
 *
 * Numbers may exceed the column's range. Integers are numbers while they are safe, otherwise text. Floats may be
 * infinite. Decimals stay text and never become floating point.
 */
export function readFilterValue(valueType: ValueType, text: string): FilterValue | null {
  return codecOf(valueType).readText(text, valueType)
}

/**
 * Parses a key of a path. Returns null if the text cannot be a key of the type. Numbers must be written as in
 * responses: `05` is not `5`.
 */
export function readKeyText(valueType: ValueType, text: string): string | number | null {
  const { readKey } = codecOf(valueType)
  if (readKey !== undefined) return readKey(text, valueType)
  const read = readFilterValue(valueType, text)
  return read?.kind === 'value' && isKeyValue(read.value) ? read.value : null
}

/** Returns the name of a type's values for messages about all values of the type. */
export function nounForAll(valueType: ValueType): string {
  const { kind, noun } = codecOf(valueType)
  return kind ?? noun(valueType)
}

/**
 * Returns the decoder of sums. Sums of integers have the type of integers. Sums of decimals are exact at their scale,
 * and are numbers if JSON numbers have enough digits.
 */
export function createSumDecoder({ type, scale, jsonType }: ValueType): Decoder {
  if (type === 'float') return createDecoder({ type })
  if (type !== 'decimal') return createDecoder({ type: 'bigint' })
  const text = createDecoder({ type, jsonType: 'string', ...(scale === undefined ? {} : { scale }) })
  if (jsonType !== 'number') return text
  return (raw) => {
    const sum = text(raw)
    return typeof sum === 'string' && sum.replace(/\D/g, '').replace(/^0+/, '').length <= EXACT_DIGITS
      ? Number(sum)
      : sum
  }
}

/**
 * Returns the decoder of averages. Averages of exact numbers arrive as `sum/count`, so that they are rounded only once.
 */
export function createAverageDecoder({ type }: ValueType): Decoder {
  if (type === 'float') return createDecoder({ type })
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const [sum = '', count = ''] = String(raw).split('/')
    const digits = parseStoredDigits(sum)
    return digits === null ? decodeNonNumber(sum) : divideDecimal(digits, BigInt(count))
  }
}
