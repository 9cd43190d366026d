import type { ColumnTypes, Conversion } from '../../../types/columnTypes.js'
import type { FieldType, ValueType } from '../../../types/field.js'

export type ConvertColumn = (type: string, declared: ValueType) => Conversion | null

/** Conversions for columns of another type, by declared type. JSON and binary data are never compared. */
export type ConversionTable = Readonly<Record<Exclude<FieldType, 'json' | 'blob'>, ConvertColumn>>

export function createConverter(table: ConversionTable): ColumnTypes['convert'] {
  return (type, declared) =>
    declared.type === 'json' || declared.type === 'blob' ? null : table[declared.type](type, declared)
}

/** Columns whose values cannot be compared with values of the declared type. */
export const INCOMPARABLE: Conversion = Object.freeze({ compare: null, read: null })

/** Converts the column for comparisons only. */
export function convertForComparison(compare: (column: string) => string): Conversion {
  return { compare, read: null }
}

/** Converts the column for comparisons and reads. */
export function convertForAll(convert: (column: string) => string): Conversion {
  return { compare: convert, read: convert }
}

/** Compares the column without conversion. */
export const UNCHANGED: Conversion = convertForComparison((column) => column)

/** Name of a type without length, precision and scale. */
export function nameOf(type: string): string {
  return type.replace(/\(.*?\)/, '').trim()
}

/** Precision and scale from a type such as `numeric(20,6)`, or null. */
export function digitsOf(type: string): { readonly precision: number; readonly scale: number } | null {
  const [, precision, scale = '0'] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? []
  return precision === undefined ? null : { precision: Number(precision), scale: Number(scale) }
}

/** Number of digits for which every decimal has a distinct floating point number. */
export const DIGITS_OF_DOUBLE = 15
