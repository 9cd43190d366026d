// The measures and date units of aggregates, for the grammar, plans and statements.

import type { FieldType } from '../../types/fieldType.js'
import { type OperatorName, operatorInfoOf } from './operators.js'

const NUMBER_TYPES: readonly FieldType[] = ['integer', 'bigint', 'decimal', 'float']

const operatorTypes = (operator: OperatorName): readonly FieldType[] => operatorInfoOf(operator).types

export type MeasureName = 'count' | 'distinct' | 'sum' | 'avg' | 'min' | 'max'

/** Field types that each measure supports. null: all types. */
export const MEASURES: Readonly<Record<MeasureName, readonly FieldType[] | null>> = Object.freeze({
  /** Number of rows. With a field, number of non-null values. */
  count: null,
  /** Number of distinct values. */
  distinct: operatorTypes('eq'),
  sum: NUMBER_TYPES,
  avg: NUMBER_TYPES,
  min: operatorTypes('gt'),
  max: operatorTypes('gt'),
})

export type DateUnit = 'year' | 'month' | 'day' | 'hour'

/** Date units by which records can be grouped, in UTC. `date`: whether dates without a time have the unit. */
export const DATE_UNITS: Readonly<Record<DateUnit, { readonly date: boolean }>> = Object.freeze({
  year: { date: true },
  month: { date: true },
  day: { date: true },
  hour: { date: false },
})

const measuresByName: ReadonlyMap<string, MeasureName> = new Map(namedEntries<MeasureName>(MEASURES))
const unitsByName: ReadonlyMap<string, DateUnit> = new Map(namedEntries<DateUnit>(DATE_UNITS))

function namedEntries<N extends string>(table: Readonly<Record<N, unknown>>): readonly (readonly [string, N])[] {
  return (Object.keys(table) as N[]).map((name) => [name, name])
}

/** Finds a measure by its name. Case is ignored. */
export function findMeasure(word: string): MeasureName | null {
  return measuresByName.get(word.toLowerCase()) ?? null
}

/** Finds a date unit by its name. Case is ignored. */
export function findUnit(word: string): DateUnit | null {
  return unitsByName.get(word.toLowerCase()) ?? null
}
