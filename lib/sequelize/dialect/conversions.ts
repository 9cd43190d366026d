import type { ColumnTypes, Conversion, TableName } from '../../../types/columnTypes.js'
import type { FieldType, ValueType } from '../../../types/field.js'

export type ConvertColumn = (type: string, declared: ValueType) => Conversion | null

/** Conversions by declared type, for columns of another type. JSON and binary data are never compared. */
export type ConversionTable = Readonly<Record<Exclude<FieldType, 'json' | 'blob'>, ConvertColumn>>

export function createConverter(table: ConversionTable): ColumnTypes['convert'] {
  return (type, declared) =>
    declared.type === 'json' || declared.type === 'blob' ? null : table[declared.type](type, declared)
}

/** Conversion for columns whose values cannot be compared with values of the declared type. */
export const INCOMPARABLE: Conversion = Object.freeze({ compare: null, read: null })

/** Creates a conversion of the column for comparisons only. */
export function convertForComparison(compare: (column: string) => string): Conversion {
  return { compare, read: null }
}

/** Creates a conversion of the column for comparisons and reads. */
export function convertForAll(convert: (column: string) => string): Conversion {
  return { compare: convert, read: convert }
}

/** Conversion that compares the column unchanged. */
export const UNCHANGED: Conversion = convertForComparison((column) => column)

/** Returns the name of a type without length, precision and scale. */
export function nameOf(type: string): string {
  return type.includes('(') ? type.replace(/\(.*?\)/, '').trim() : type
}

/** Parses precision and scale of a type such as `numeric(20,6)`. Returns null if the type has none. */
export function digitsOf(type: string): { readonly precision: number; readonly scale: number } | null {
  const [, precision, scale = '0'] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? []
  return precision === undefined ? null : { precision: Number(precision), scale: Number(scale) }
}

/** Number of decimal digits that a double represents without loss. */
export const DIGITS_OF_DOUBLE = 15

/** Table name with its schema. Sequelize stores the schema as part of the name. */
export function fullTableName({ schema, table }: TableName): string {
  return schema === null ? table : `${schema}.${table}`
}
