import type { Field, FieldType } from '../../types/field.js'
import type { Column } from '../../types/plan.js'
import { isGetterOrVirtual } from './columns.js'

/** The maximum length, in characters or bytes, of a column that does not count as large. */
const LARGE = 4096

const UNBOUNDED: ReadonlySet<FieldType> = new Set(['string', 'json', 'blob'])

/**
 * The maximum number of large values that one statement reads. At the default body limit of 1 MiB, the values take 50
 * MB. A page of the default size with up to two large columns needs only one statement.
 */
export const MAX_LARGE_VALUES = 50

/**
 * The maximum number of instances in memory at once if the table has large columns. An instance takes two or three
 * times the memory of its record, and garbage collection is delayed.
 */
const MAX_INSTANCES = 10

/** Returns the maximum number of instances with these fields in memory at once; `Infinity` without large columns. */
export function maxInstancesOf(fields: readonly Field[]): number {
  return fields.some(isLargeField) ? MAX_INSTANCES : Number.POSITIVE_INFINITY
}

/**
 * Whether a column's value may be large. Getters and virtual attributes count, because they need an instance with all
 * columns.
 */
export function isLargeColumn(column: Column): boolean {
  if (column.countedJoin !== undefined) return false
  return isGetterOrVirtual(column) || isLargeField(column.field)
}

function isLargeField({ valueType: { type, maxLength = Number.POSITIVE_INFINITY }, derived }: Field): boolean {
  if (derived !== undefined && derived.kind !== 'member')
    return isLargeField(derived.source) && SIZE_KEEPING_DERIVATIONS.has(derived.kind)
  return UNBOUNDED.has(type) && maxLength > LARGE
}

/** The derivations whose result may be as large as the stored value. */
const SIZE_KEEPING_DERIVATIONS: ReadonlySet<string> = new Set(['min', 'max'])

/**
 * Returns the maximum number of records with these columns that one statement reads; `Infinity` without large columns.
 */
export function maxRecordsOf(columns: readonly Column[]): number {
  const large = columns.filter(isLargeColumn)
  if (large.length === 0) return Number.POSITIVE_INFINITY
  const computed = large.filter(isGetterOrVirtual)
  // All getters and virtual attributes of a record share one instance.
  const values = large.length - computed.length + (computed.length === 0 ? 0 : 1)
  return Math.max(1, Math.floor(MAX_LARGE_VALUES / values))
}
