import type { Field, FieldType } from '../../types/field.js'
import type { Column } from '../../types/plan.js'
import { isComputed } from './columns.js'

/** The length in characters or bytes from which a column counts as large. */
const LARGE = 4096

const UNBOUNDED: ReadonlySet<FieldType> = new Set(['string', 'json', 'blob'])

/**
 * The most large values that one statement reads. At the default body limit of 1 MiB they take 50 MB. A page of the
 * usual size is still one statement.
 */
export const LARGE_AT_ONCE = 50

/**
 * The most instances in memory at once if the table has large columns. An instance takes two or three times the memory
 * of its record, and garbage collection is delayed.
 */
const INSTANCES_AT_ONCE = 10

/** The most instances with these fields in memory at once; `Infinity` without large columns. */
export function instancesAtOnce(fields: readonly Field[]): number {
  return fields.some(isLargeField) ? INSTANCES_AT_ONCE : Number.POSITIVE_INFINITY
}

/** Whether a column's value may be large. A computed column needs an instance, which has all columns. */
export function isLarge(column: Column): boolean {
  if (column.counted !== undefined) return false
  return isComputed(column) || isLargeField(column.field)
}

function isLargeField({ valueType: { type, maxLength = Number.POSITIVE_INFINITY }, derived }: Field): boolean {
  if (derived !== undefined && derived.what !== 'member') return isLargeField(derived.of) && KEEPING.has(derived.what)
  return UNBOUNDED.has(type) && maxLength > LARGE
}

/** Derivations whose result may be as large as the value. */
const KEEPING: ReadonlySet<string> = new Set(['min', 'max'])

/** The most records with these columns that one statement reads; `Infinity` without large columns. */
export function mostAtOnce(columns: readonly Column[]): number {
  const large = columns.filter(isLarge)
  if (large.length === 0) return Number.POSITIVE_INFINITY
  const computed = large.filter(isComputed)
  // The computed values of a record share one instance.
  const values = large.length - computed.length + (computed.length === 0 ? 0 : 1)
  return Math.max(1, Math.floor(LARGE_AT_ONCE / values))
}
