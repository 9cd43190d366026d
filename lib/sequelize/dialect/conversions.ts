import type { ColumnTypes, Conversion } from '../../../types/columnTypes.js'
import type { FieldType, ValueType } from '../../../types/field.js'

export type Convert = (type: string, declared: ValueType) => Conversion | null

/** What a column of another type needs, by the declared type. JSON and binary data are never compared. */
export type ConversionTable = Readonly<Record<Exclude<FieldType, 'json' | 'blob'>, Convert>>

export function convertBy(table: ConversionTable): ColumnTypes['convert'] {
  return (type, declared) =>
    declared.type === 'json' || declared.type === 'blob' ? null : table[declared.type](type, declared)
}

/** Values of such a column cannot be compared with values of the declared type. */
export const INCOMPARABLE: Conversion = Object.freeze({ compare: null, read: null })

/** The column is converted to be compared. It is read as it is. */
export function comparedAs(compare: (column: string) => string): Conversion {
  return { compare, read: null }
}

/** The column is converted to be compared and to be read. */
export function usedAs(convert: (column: string) => string): Conversion {
  return { compare: convert, read: convert }
}

/** The column is compared as it is: no value is changed to fit the declared type. */
export const UNCHANGED: Conversion = comparedAs((column) => column)

/** A type's name without its length, precision and scale. */
export function nameOf(type: string): string {
  return type.replace(/\(.*?\)/, '').trim()
}

/** Digits in all and behind the point that a type's name gives: `numeric(20,6)`; null for none. */
export function digitsOf(type: string): { readonly precision: number; readonly scale: number } | null {
  const [, precision, scale = '0'] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? []
  return precision === undefined ? null : { precision: Number(precision), scale: Number(scale) }
}

/** Digits of which every decimal number is told apart as floating point. */
export const DIGITS_OF_DOUBLE = 15
