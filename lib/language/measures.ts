// The tables of what aggregates measure and group by: the grammar, plans and statements read them.

import type { FieldType } from '../../types/fieldType.js'
import { type OperatorName, operatorInfo } from './operators.js'

const NUMBERS: readonly FieldType[] = ['integer', 'bigint', 'decimal', 'float']

const typesOf = (operator: OperatorName): readonly FieldType[] => operatorInfo(operator).types

export type MeasureName = 'count' | 'distinct' | 'sum' | 'avg' | 'min' | 'max'

/** By name, the types of the fields that have it; null for all. */
export const MEASURES: Readonly<Record<MeasureName, readonly FieldType[] | null>> = Object.freeze({
  /** Without a field the number of rows, else of those that have a value. */
  count: null,
  /** The number of values. */
  distinct: typesOf('eq'),
  sum: NUMBERS,
  avg: NUMBERS,
  min: typesOf('gt'),
  max: typesOf('gt'),
})

export type DateUnit = 'year' | 'month' | 'day' | 'hour'

/** The parts of a date, in UTC, that dates may be grouped by; `date` says whether one without a time has it. */
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

/** The measure of a word, in any case. */
export function measureOf(word: string): MeasureName | null {
  return measures.get(word.toLowerCase()) ?? null
}

/** The part of a date of a word, in any case. */
export function unitOf(word: string): DateUnit | null {
  return units.get(word.toLowerCase()) ?? null
}
