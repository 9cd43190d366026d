import type { Derivation, Field, ValueType } from '../../types/field.js'
import { averageDecoder, decoderOf, sumDecoder } from '../codec/codecs.js'
import { DATE_UNITS, MEASURES } from '../language/measures.js'
import { operatorsOf } from '../language/operators.js'

/** Adds the derivations for measures and groups to a field. Each is made once, on first use. */
export function derivable(field: Omit<Field, 'derive' | 'derived'>): Field {
  const known = new Map<Derivation, Field | null>()
  const self: Field = Object.freeze({
    ...field,
    derive: (what: Derivation): Field | null => {
      const made = known.get(what)
      if (made !== undefined) return made
      const derived = DERIVED[what](self)
      known.set(what, derived)
      return derived
    },
  })
  return self
}

// Databases count up to 64 bits.
const NUMBER: ValueType = Object.freeze({ type: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n })
const FLOAT: ValueType = Object.freeze({ type: 'float' })
const TEXT: ValueType = Object.freeze({ type: 'string' })

const DERIVED: Readonly<Record<Derivation, (of: Field) => Field | null>> = {
  rows: (of) => made('rows', of, NUMBER, false),
  count: (of) => (of.virtual ? null : made('count', of, NUMBER, false)),
  distinct: (of) => (isMeasured('distinct', of) ? made('distinct', of, NUMBER, false) : null),
  sum: (of) => (isMeasured('sum', of) ? made('sum', of, sumOf(of.valueType), true, sumDecoder(of.valueType)) : null),
  avg: (of) => (isMeasured('avg', of) ? made('avg', of, FLOAT, true, averageDecoder(of.valueType)) : null),
  min: (of) => (isMeasured('min', of) ? made('min', of, formatted(of.valueType), true, of.decode) : null),
  max: (of) => (isMeasured('max', of) ? made('max', of, formatted(of.valueType), true, of.decode) : null),
  instant: (of) =>
    of.valueType.type === 'datetime' ? made('instant', of, formatted(of.valueType), true, of.decode) : null,
  year: (of) => partOf('year', of),
  month: (of) => partOf('month', of),
  day: (of) => partOf('day', of),
  hour: (of) => partOf('hour', of),
}

/** A getter's result is unknown to the database, and the stored value is not for clients. */
function isMeasured(name: keyof typeof MEASURES, { virtual, getter, valueType: { type } }: Field): boolean {
  return !virtual && !getter && (MEASURES[name]?.includes(type) ?? true)
}

function partOf(unit: keyof typeof DATE_UNITS, of: Field): Field | null {
  const { type } = of.valueType
  const isDate = type === 'datetime' || (type === 'date' && DATE_UNITS[unit].date)
  return isDate && !of.virtual && !of.getter ? made(unit, of, TEXT, of.nullable) : null
}

/** The type of a value after the database has converted it to the package's format. */
function formatted({ unformatted: _, ...valueType }: ValueType): ValueType {
  return Object.freeze(valueType)
}

function sumOf({ type, scale, wire }: ValueType): ValueType {
  if (type === 'float') return FLOAT
  if (type !== 'decimal') return Object.freeze({ type: 'bigint' })
  return Object.freeze({ type, ...(scale === undefined ? {} : { scale }), ...(wire === undefined ? {} : { wire }) })
}

function made(
  what: Derivation,
  of: Field,
  valueType: ValueType,
  nullable: boolean,
  decode: Field['decode'] = decoderOf(valueType),
): Field {
  const { derive: _, ...source } = of
  const derived = Object.freeze({ what, of })
  return Object.freeze({
    ...source,
    valueType,
    nullable,
    isKey: false,
    assigned: false,
    operators: operatorsOf(valueType.type),
    decode,
    derived,
  })
}
