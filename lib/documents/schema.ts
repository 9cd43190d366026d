import type { JsonSchema } from '../../types/openApi.js'

/** The same schema for what may be null too: never a reference with siblings, and no enumeration that lacks it. */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type, anyOf, enum: values, $ref } = schema
  if ($ref !== undefined) return { anyOf: [schema, NULL] }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, NULL] }
  if (type === undefined) return without(schema, 'not')
  const types = [...new Set([type, 'null'].flat())]
  return { ...schema, type: types, ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}) }
}

const NULL: JsonSchema = { type: 'null' }

function without(schema: JsonSchema, keyword: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== keyword))
}

/** One schema of several, or the only one of them. */
export function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const [first, ...others] = schemas
  return first !== undefined && others.length === 0 ? first : { anyOf: schemas }
}

/** An object with these members, of which those that are not named as optional are always there. */
export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: ReadonlySet<string> | 'all' = new Set(),
): JsonSchema {
  const required = optional === 'all' ? [] : Object.keys(properties).filter((name) => !optional.has(name))
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties }
}

/** A schema with a sentence more in its description. */
export function told(schema: JsonSchema, ...sentences: readonly string[]): JsonSchema {
  const { description } = schema
  const all = [...(typeof description === 'string' ? [description] : []), ...sentences]
  return all.length === 0 ? schema : { ...schema, description: all.join(' ') }
}
