import type { Field } from '../../types/field.js'
import type { Column, Hop } from '../../types/plan.js'

/** A field as a column of the statement. Behind a hop everything may be null, since the hop's record may be missing. */
export function columnOf(hops: readonly Hop[], field: Field): Column {
  return { hops, field, nullable: field.nullable || hops.length > 0 }
}

/** A field of the record itself. */
export function ownColumn(field: Field): Column {
  return columnOf([], field)
}

/** Whether a column is this field of the record itself. */
export function isOwn({ hops, field }: Pick<Column, 'hops' | 'field'>, wanted: Field): boolean {
  return hops.length === 0 && field === wanted
}

/** Where a field of the record itself stands among columns; -1 for nowhere. */
export function placeOfOwn(columns: readonly Column[], field: Field): number {
  return columns.findIndex((column) => isOwn(column, field))
}
