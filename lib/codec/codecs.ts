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

/** The one table of the types of values. Operators have theirs in the language, which runs in browsers as well. */
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
 * The function from a database value to its JSON, one for every driver: what sqlite3, mysql2, mariadb and pg return
 * for one stored value, and what an instance holds, decodes to one JSON value. It never throws. Numbers, texts and
 * enumerations that are no value of the type are shown as they are stored; NaN, the infinities, invalid dates and broken documents,
 * which cannot be shown, are null.
 */
export function decoderOf(valueType: ValueType, options: CodecOptions = {}): Decoder {
  const { onHidden } = options
  const decode = codecOf(valueType).json(valueType, options)
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const value = decode(typeof raw === 'object' ? ownJson(raw) : raw)
    // Null is a JSON document like any other.
    if (value === null && onHidden !== undefined && (valueType.type !== 'json' || raw !== 'null')) onHidden()
    return value
  }
}

/**
 * The text of a filter operand or a typed parameter as a value of the type; null for a text that is no value of it.
 *
 * Numbers may exceed the column, which is a comparison like any other. Integers are numbers while safe, else their
 * digits as text; floats may be infinite. Decimals stay text, so that they never pass through floating point.
 */
export function readFilterValue(valueType: ValueType, text: string): FilterValue | null {
  return codecOf(valueType).text(text, valueType)
}

/** The words for the values of a type in messages about all of them. */
export function nounForAll(valueType: ValueType): string {
  const { kind, noun } = codecOf(valueType)
  return kind ?? noun(valueType)
}

/** Sums of whole numbers are as these, of decimals exact at their scale: numbers as long as a JSON number has the digits. */
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

/** Averages of exact numbers come as `sum/count`, and are rounded once. */
export function averageDecoder({ type }: ValueType): Decoder {
  if (type === 'float') return decoderOf({ type })
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const [sum = '', count = ''] = String(raw).split('/')
    const digits = storedDigits(sum)
    return digits === null ? notANumber(sum) : quotient(digits, BigInt(count))
  }
}
