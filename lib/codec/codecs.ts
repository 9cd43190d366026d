import type { FieldType, FilterValue, ValueType } from '../../types/field.js'
import { EXACT_DIGITS, quotient } from '../common/values.js'
import { ownJson } from './anyJson.js'
import { blob } from './blob.js'
import type { Codec, CodecOptions, Decoder } from './codec.js'
import { decimal, float, notANumber, storedDigits } from './decimals.js'
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
 * Returns the function that converts database values to JSON. Values of all drivers and of instances decode alike. It
 * never throws. Numbers, texts and enumerations that do not fit the type are shown as stored. Values that JSON cannot
 * express (NaN, infinities, invalid dates, broken documents) become null.
 */
export function decoderOf(valueType: ValueType, options: CodecOptions = {}): Decoder {
  const { onHidden } = options
  const decode = codecOf(valueType).json(valueType, options)
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const value = decode(typeof raw === 'object' ? ownJson(raw) : raw)
    // Null is a valid JSON document.
    if (value === null && onHidden !== undefined && (valueType.type !== 'json' || raw !== 'null')) onHidden()
    return value
  }
}

/**
 * Reads the text of a filter value or a field parameter; null if it is not of the type.
 *
 * Numbers may exceed the column's range. Integers are numbers while safe, else text; floats may be infinite. Decimals
 * stay text and never become floating point.
 */
export function readFilterValue(valueType: ValueType, text: string): FilterValue | null {
  return codecOf(valueType).text(text, valueType)
}

/** The name of a type's values in messages about all of them. */
export function nounForAll(valueType: ValueType): string {
  const { kind, noun } = codecOf(valueType)
  return kind ?? noun(valueType)
}

/**
 * Sums of integers have the type of integers. Sums of decimals are exact at their scale, as numbers if JSON numbers
 * have enough digits.
 */
export function sumDecoder({ type, scale, wire }: ValueType): Decoder {
  if (type === 'float') return decoderOf({ type })
  if (type !== 'decimal') return decoderOf({ type: 'bigint' })
  const text = decoderOf({ type, wire: 'string', ...(scale === undefined ? {} : { scale }) })
  if (wire !== 'number') return text
  return (raw) => {
    const sum = text(raw)
    return typeof sum === 'string' && sum.replace(/\D/g, '').replace(/^0+/, '').length <= EXACT_DIGITS
      ? Number(sum)
      : sum
  }
}

/** Averages of exact numbers arrive as `sum/count`, so that they are rounded only once. */
export function averageDecoder({ type }: ValueType): Decoder {
  if (type === 'float') return decoderOf({ type })
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const [sum = '', count = ''] = String(raw).split('/')
    const digits = storedDigits(sum)
    return digits === null ? notANumber(sum) : quotient(digits, BigInt(count))
  }
}
