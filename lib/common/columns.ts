import type { ComputingField } from '../../types/computed.js'
import type { Field, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Hop, Member, Projection } from '../../types/plan.js'

/** A field as a column of the statement. Behind a hop everything may be null, since the hop's record may be missing. */
export function columnOf(hops: readonly Hop[], field: Field): Column {
  return { hops, field, nullable: field.nullable || hops.length > 0 }
}

/** A field of the record itself. */
export function ownColumn(field: Field): Column {
  return { hops: [], field, nullable: field.nullable }
}

/** The number of the records that a caller may meet behind a relation to many. There always is one. */
export function countColumn(hops: readonly Hop[], counted: Hop): Column {
  return { hops, field: counted.relation.count, nullable: false, counted }
}

/** The member of a computed field, of the columns that `indexOf` gives for what it needs. */
export function computedMember(
  field: ComputingField,
  place: number,
  indexOf: (needed: Field) => number,
): Extract<Member, { kind: 'computed' }> {
  return { kind: 'computed', json: field.json, field, needs: field.computed.needs.map(indexOf), place }
}

/** Whether the application computes the values of a field. */
export function isComputing(field: Field): field is ComputingField {
  return field.computed !== undefined
}

/** Whether the host's code makes the value, so that there must be an instance of Sequelize. */
export function isComputed({ field }: Pick<Column, 'field'>): boolean {
  return field.getter || field.virtual
}

/** Whether a column is this field of the record itself, named by its attribute. */
export function isOwn({ hops, field, counted }: Column, { name }: Pick<Field, 'name'>): boolean {
  return hops.length === 0 && counted === undefined && field.derived === undefined && field.name === name
}

/** Where the record's own attribute stands among columns; -1 for nowhere. */
export function placeOfOwn(columns: readonly Column[], attribute: string): number {
  return columns.findIndex((column) => isOwn(column, { name: attribute }))
}

/** The value of the record's own attribute in a row, as JSON; undefined where the row does not have it. */
export function ownValue(columns: readonly Column[], row: Row, attribute: string): JsonValue | undefined {
  const index = placeOfOwn(columns, attribute)
  return columns[index]?.field.decode(row[index])
}

/** The projection with all of these fields of the record itself among its columns; itself where it has them. */
export function withOwn(projection: Projection, fields: readonly Field[]): Projection {
  const missing = fields.filter((field) => !projection.columns.some((column) => isOwn(column, field)))
  return missing.length === 0
    ? projection
    : { ...projection, columns: [...projection.columns, ...missing.map(ownColumn)] }
}

/** A projection that shows nothing, of fields of the record itself. */
export function ofOwn(fields: readonly Field[]): Projection {
  return { columns: fields.map(ownColumn), members: [] }
}

/** The field of an attribute. @throws TypeError where there is none */
export function fieldNamed(fields: readonly Field[], name: string): Field {
  const field = fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw new TypeError(`the attribute ${name} was not compiled`)
  return field
}
