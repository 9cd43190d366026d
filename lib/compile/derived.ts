import type { Derivation, Field, ValueType } from '../../types/field.js'
import { createAverageDecoder, createDecoder, createSumDecoder } from '../codec/codecs.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { DATE_UNITS, MEASURES } from '../language/measures.js'
import { operatorsForType } from '../language/operators.js'

/** Adds the derivations for measures and groups to a field. Each derived field is created once, on first use. */
export function addDerivations(field: Omit<Field, 'derive' | 'derived'>): Field {
  const known = new Map<Derivation, Field | null>()
  const self: Field = Object.freeze({
    ...field,
    derive: (what: Derivation): Field | null => getOrCreate(known, what, () => DERIVATIONS[what](self)),
  })
  return self
}

// Databases count in 64 bits.
const NUMBER: ValueType = Object.freeze({ type: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n })
const FLOAT: ValueType = Object.freeze({ type: 'float' })
const TEXT: ValueType = Object.freeze({ type: 'string' })

const DERIVATIONS: Readonly<Record<Derivation, (of: Field) => Field | null>> = {
  rows: (of) => createDerivedField('rows', of, NUMBER, false),
  count: (of) => (of.virtual ? null : createDerivedField('count', of, NUMBER, false)),
  distinct: (of) => (isMeasurable('distinct', of) ? createDerivedField('distinct', of, NUMBER, false) : null),
  sum: (of) =>
    isMeasurable('sum', of)
      ? createDerivedField('sum', of, sumOf(of.valueType), true, createSumDecoder(of.valueType))
      : null,
  avg: (of) =>
    isMeasurable('avg', of) ? createDerivedField('avg', of, FLOAT, true, createAverageDecoder(of.valueType)) : null,
  min: (of) =>
    isMeasurable('min', of) ? createDerivedField('min', of, omitUnformatted(of.valueType), true, of.decode) : null,
  max: (of) =>
    isMeasurable('max', of) ? createDerivedField('max', of, omitUnformatted(of.valueType), true, of.decode) : null,
  instant: (of) =>
    of.valueType.type === 'datetime'
      ? createDerivedField('instant', of, omitUnformatted(of.valueType), true, of.decode)
      : null,
  year: (of) => createDatePart('year', of),
  month: (of) => createDatePart('month', of),
  day: (of) => createDatePart('day', of),
  hour: (of) => createDatePart('hour', of),
}

/**
 * A field with a getter has no measures: the database does not know the getter's result, and clients must not see the
 * stored value.
 */
function isMeasurable(name: keyof typeof MEASURES, { virtual, getter, valueType: { type } }: Field): boolean {
  return !virtual && !getter && (MEASURES[name]?.includes(type) ?? true)
}

function createDatePart(unit: keyof typeof DATE_UNITS, of: Field): Field | null {
  const { type } = of.valueType
  const isDate = type === 'datetime' || (type === 'date' && DATE_UNITS[unit].date)
  return isDate && !of.virtual && !of.getter ? createDerivedField(unit, of, TEXT, of.nullable) : null
}

/** Returns the type of a value after the database has converted it to the package's format. */
function omitUnformatted({ hasOtherFormats: _, ...valueType }: ValueType): ValueType {
  return Object.freeze(valueType)
}

function sumOf({ type, scale, jsonType }: ValueType): ValueType {
  if (type === 'float') return FLOAT
  if (type !== 'decimal') return Object.freeze({ type: 'bigint' })
  return Object.freeze({
    type,
    ...(scale === undefined ? {} : { scale }),
    ...(jsonType === undefined ? {} : { jsonType: jsonType }),
  })
}

function createDerivedField(
  what: Derivation,
  of: Field,
  valueType: ValueType,
  nullable: boolean,
  decode: Field['decode'] = createDecoder(valueType),
): Field {
  const { derive: _, ...source } = of
  const derived = Object.freeze({ kind: what, source: of })
  return Object.freeze({
    ...source,
    valueType,
    nullable,
    isKey: false,
    assigned: false,
    operators: operatorsForType(valueType.type),
    decode,
    derived,
  })
}
