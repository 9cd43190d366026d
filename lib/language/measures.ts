// The measures and date parts of aggregates, for the grammar, plans and statements.

import type { FieldType } from '../../types/fieldType.js'
import { type OperatorName, operatorInfo } from './operators.js'

const NUMBERS: readonly FieldType[] = ['integer', 'bigint', 'decimal', 'float']

const typesOf = (operator: OperatorName): readonly FieldType[] => operatorInfo(operator).types

export type MeasureName = 'count' | 'distinct' | 'sum' | 'avg' | 'min' | 'max'

/** The field types of each measure; null for all types. */
export const MEASURES: Readonly<Record<MeasureName, readonly FieldType[] | null>> = Object.freeze({
  /** The number of rows or, with a field, of non-null values. */
  count: null,
  /** The number of distinct values. */
  distinct: typesOf('eq'),
  sum: NUMBERS,
  avg: NUMBERS,
  min: typesOf('gt'),
  max: typesOf('gt'),
})

export type DateUnit = 'year' | 'month' | 'day' | 'hour'

/**
 * The parts of a date in UTC by which records can be grouped. `date` tells whether dates without a time have the part.
 */
export const DATE_UNITS: Readonly<Record<DateUnit, { readonly date: boolean }>> = Object.freeze({
  year: { date: true },
  month: { date: true },
  day: { date: true },
  hour: { date: false },
})

const measures: ReadonlyMap<string, MeasureName> = new Map(named<MeasureName>(MEASURES))
const units: ReadonlyMap<string, DateUnit> = new Map(named<DateUnit>(DATE_UNITS))

function named<N extends string>(table: Readonly<Record<N, unknown>>): readonly (readonly [string, N])[] {
  return (Object.keys(table) as N[]).map((name) => [name, name])
}

/** The measure with this name, case-insensitive. */
export function measureOf(word: string): MeasureName | null {
  return measures.get(word.toLowerCase()) ?? null
}

/** The part of a date with this name, case-insensitive. */
export function unitOf(word: string): DateUnit | null {
  return units.get(word.toLowerCase()) ?? null
}
