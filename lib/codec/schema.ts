// Helpers for JSON Schemas.

import type { JsonSchema } from '../../types/openApi.js'
import type { Bounds } from './bounds.js'

export const TEXT: JsonSchema = { type: 'string' }
export const DOUBLE: JsonSchema = { type: 'number', format: 'double' }
export const INT64: JsonSchema = { type: 'integer', format: 'int64' }
const NULL: JsonSchema = { type: 'null' }

export type SchemaMembers = Readonly<Record<string, JsonSchema>>

/** Removes undefined keywords from a schema. */
export function omitUndefined(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}

/** Adds null to a schema. A reference is wrapped in `anyOf`, and an enumeration gets null as a value. */
export function makeNullable(schema: JsonSchema): JsonSchema {
  const { type, anyOf, enum: values, $ref } = schema
  if ($ref !== undefined) return { anyOf: [schema, NULL] }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, NULL] }
  const { not: _, ...others } = schema
  if (type === undefined) return others
  const types = [...new Set([type, 'null'].flat())]
  return { ...schema, type: types, ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}) }
}

export function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const [first, ...others] = schemas
  return first !== undefined && others.length === 0 ? first : { anyOf: schemas }
}

/** Returns the schema of an object with these members. A member is required unless it is optional. */
export function objectSchema(properties: SchemaMembers, optional: ReadonlySet<string> | 'all' = new Set()): JsonSchema {
  const required = optional === 'all' ? [] : Object.keys(properties).filter((name) => !optional.has(name))
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties }
}

export function listSchema(items: JsonSchema, maxItems?: number): JsonSchema {
  return omitUndefined({ type: 'array', items, maxItems })
}

/** Appends sentences to the description of a schema. */
export function describeSchema(schema: JsonSchema, ...sentences: readonly string[]): JsonSchema {
  const all = [schema.description ?? [], sentences].flat()
  return all.length === 0 ? schema : { ...schema, description: all.join(' ') }
}

export function numberBoundsSchema({ min, max }: Bounds<number>): JsonSchema {
  return omitUndefined({ minimum: min, maximum: max })
}
