import type { Field, FieldType } from '../../types/field.js'
import type { Column } from '../../types/plan.js'
import { isComputed } from './columns.js'

/** Characters or bytes from which a column is large. */
const LARGE = 4096

const UNBOUNDED: ReadonlySet<FieldType> = new Set(['string', 'json', 'blob'])

/**
 * Large values that one statement reads, at the most. With bodies of a megabyte, which is the default limit, they come to 50 MB; a page of
 * the usual size is read in one statement.
 */
export const LARGE_AT_ONCE = 50

/**
 * Instances that are in memory at once, at the most, where their table has such columns: an instance takes its record two
 * or three times, and what was let go is not free at once.
 */
const INSTANCES_AT_ONCE = 10

/** How many instances with these fields may be in memory at once; any number without large columns. */
export function instancesAtOnce(fields: readonly Field[]): number {
  return fields.some(isLargeField) ? INSTANCES_AT_ONCE : Number.POSITIVE_INFINITY
}

/** Whether a value of a column may be of any size, or an instance is made for it, which has all columns of its table. */
export function isLarge(column: Column): boolean {
  if (column.counted !== undefined) return false
  return isComputed(column) || isLargeField(column.field)
}

function isLargeField({ valueType: { type, maxLength = Number.POSITIVE_INFINITY }, derived }: Field): boolean {
  if (derived !== undefined && derived.what !== 'member') return isLargeField(derived.of) && KEEPING.has(derived.what)
  return UNBOUNDED.has(type) && maxLength > LARGE
}

/** What the database computes of a value that may be as large as the value. */
const KEEPING: ReadonlySet<string> = new Set(['min', 'max'])

/** How many records with these columns one statement reads, at the most; any number without large columns. */
export function mostAtOnce(columns: readonly Column[]): number {
  const large = columns.filter(isLarge)
  if (large.length === 0) return Number.POSITIVE_INFINITY
  const computed = large.filter(isComputed)
  // Computed values share one instance.
  const values = large.length - computed.length + (computed.length === 0 ? 0 : 1)
  return Math.max(1, Math.floor(LARGE_AT_ONCE / values))
}
