import type { CompiledComputedField } from '../../types/computed.js'
import type { Field, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Join, Member, Projection } from '../../types/plan.js'
import { internalError } from './internalError.js'

/**
 * Returns the column of a field. After a relation every column is nullable, because the related record may be missing.
 */
export function columnOf(joins: readonly Join[], field: Field): Column {
  return { joins, field, nullable: field.nullable || joins.length > 0 }
}

/** Returns the column of a field of the record itself. */
export function ownColumn(field: Field): Column {
  return { joins: [], field, nullable: field.nullable }
}

/** Returns the column that counts the visible records of a to-many relation. The count is never null. */
export function countColumn(joins: readonly Join[], counted: Join): Column {
  return { joins, field: counted.relation.count, nullable: false, countedJoin: counted }
}

/**
 * Returns a field whose null stays null, because no record may have the value. The version of a stored record is never
 * null in JSON.
 */
export function optionalField(field: Field): Field {
  return { ...field, decode: (raw) => (raw === null || raw === undefined ? null : field.decode(raw)) }
}

/**
 * Returns the JSON member of a computed field. `indexOf` returns the column index of a field that the computation
 * needs.
 */
export function createComputedMember(
  field: CompiledComputedField,
  place: number,
  indexOf: (needed: Field) => number,
): Extract<Member, { kind: 'computed' }> {
  return { kind: 'computed', json: field.json, field, needs: field.computed.needs.map(indexOf), place }
}

/** Whether the application computes the values of a field. */
export function isComputedField(field: Field): field is CompiledComputedField {
  return field.computed !== undefined
}

/** Whether host code computes the value: a getter or a virtual attribute. Only an instance can run host code. */
export function isGetterOrVirtual({ field }: Pick<Column, 'field'>): boolean {
  return field.getter || field.virtual
}

/** Whether a column is the named attribute of the record itself. */
export function isOwnColumn({ joins, field, countedJoin }: Column, { name }: Pick<Field, 'name'>): boolean {
  return joins.length === 0 && countedJoin === undefined && field.derived === undefined && field.name === name
}

/** Returns the index of the record's own attribute among the columns; -1 if the attribute is missing. */
export function indexOfOwnColumn(columns: readonly Column[], attribute: string): number {
  return columns.findIndex((column) => isOwnColumn(column, { name: attribute }))
}

/** Reads the record's own attribute from a row, as JSON; undefined if the row lacks the attribute. */
export function readOwnValue(columns: readonly Column[], row: Row, attribute: string): JsonValue | undefined {
  const index = indexOfOwnColumn(columns, attribute)
  return columns[index]?.field.decode(row[index])
}

/** Adds own fields to a projection's columns. Returns the projection unchanged if it has all of them. */
export function addOwnColumns(projection: Projection, fields: readonly Field[]): Projection {
  const missing = fields.filter((field) => !projection.columns.some((column) => isOwnColumn(column, field)))
  return missing.length === 0
    ? projection
    : { ...projection, columns: [...projection.columns, ...missing.map(ownColumn)] }
}

/** Returns a projection of own fields without JSON members. */
export function projectOwnFields(fields: readonly Field[]): Projection {
  return { columns: fields.map(ownColumn), members: [] }
}

/** Returns the field of an attribute. @throws TypeError for an unknown name */
export function requireField(fields: readonly Field[], name: string): Field {
  const field = fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw internalError(`the resource has no field for the attribute "${name}"`)
  return field
}
