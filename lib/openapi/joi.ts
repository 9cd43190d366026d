import type { Schema } from 'joi'
import type { JsonSchema } from '../../types/openApi.js'
import { anyOf, arrayOf, defined, nullable, objectOf } from '../codec/schema.js'

/** Result of joi's `describe()`. */
interface Description {
  readonly type?: string
  readonly flags?: Flags
  readonly allow?: readonly unknown[]
  readonly rules?: readonly { readonly name: string; readonly args?: Readonly<Record<string, unknown>> }[]
  readonly keys?: Readonly<Record<string, Description>>
  readonly patterns?: readonly unknown[]
  readonly items?: readonly Description[]
  readonly ordered?: readonly Description[]
  readonly matches?: readonly { readonly schema?: Description }[]
}

interface Flags {
  readonly presence?: unknown
  readonly only?: unknown
  readonly unknown?: unknown
  readonly description?: unknown
}

/** Converts a joi schema to JSON Schema. Returns `{}` if JSON Schema cannot express it. */
export function joiSchema(schema: Schema): JsonSchema {
  return schemaOf(schema.describe())
}

/** A member of a joi object schema. */
interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

export function membersOf(schema: Schema): readonly Member[] {
  const { keys = {} }: Description = schema.describe()
  return Object.entries(keys).map(([name, member]) => ({
    name,
    schema: schemaOf(member),
    isRequired: member.flags?.presence === 'required',
  }))
}

function schemaOf(description: Description): JsonSchema {
  const { type = 'any', flags = {}, allow = [] } = description
  const values = allow.filter((each) => each !== null && isJson(each))
  const isNullable = allow.includes(null)
  if (flags.only === true) {
    if (allow.length > values.length + (isNullable ? 1 : 0)) return {}
    return told(flags, isNullable ? { enum: [...values, null] } : { enum: values })
  }
  const schema = told(flags, TYPES[type]?.(description) ?? {})
  return isNullable && Object.keys(schema).length > 0 ? nullable(schema) : schema
}

function told({ description }: Flags, schema: JsonSchema): JsonSchema {
  return typeof description === 'string' ? { ...schema, description } : schema
}

function isJson(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Converters by joi type. Converted values, such as dates, are text in JSON. */
const TYPES: Readonly<Record<string, (description: Description) => JsonSchema>> = {
  string: (description) => ({
    type: 'string',
    ...defined({
      minLength: numberOf(description, 'length') ?? numberOf(description, 'min') ?? leastOf(description),
      maxLength: numberOf(description, 'length') ?? numberOf(description, 'max'),
    }),
    ...(hasRule(description, 'email') ? { format: 'email' } : {}),
    ...(hasRule(description, 'guid') ? { format: 'uuid' } : {}),
  }),
  number: (description) => ({
    type: hasRule(description, 'integer') ? 'integer' : 'number',
    ...defined({
      minimum: numberOf(description, 'min'),
      maximum: numberOf(description, 'max'),
      exclusiveMinimum: numberOf(description, 'greater'),
      exclusiveMaximum: numberOf(description, 'less'),
    }),
  }),
  boolean: () => ({ type: 'boolean' }),
  date: () => ({ type: 'string', format: 'date-time' }),
  array: ({ items = [], ordered = [], ...description }) => ({
    ...arrayOf(ordered.length > 0 || items.length === 0 ? {} : anyOf(items.map(schemaOf))),
    ...defined({
      minItems: numberOf(description, 'length') ?? numberOf(description, 'min'),
      maxItems: numberOf(description, 'length') ?? numberOf(description, 'max'),
    }),
  }),
  object: ({ keys, flags = {}, patterns }) => {
    if (keys === undefined) return { type: 'object' }
    const members = Object.entries(keys).filter(([, { flags: own = {} }]) => own.presence !== 'forbidden')
    const optional = members.filter(([, { flags: own = {} }]) => own.presence !== 'required').map(([name]) => name)
    const properties = Object.fromEntries(members.map(([name, member]) => [name, schemaOf(member)]))
    const isOpen = flags.unknown === true || patterns !== undefined
    return { ...objectOf(properties, new Set(optional)), additionalProperties: isOpen }
  },
  alternatives: ({ matches = [] }) => {
    const schemas = matches.map(({ schema }) => (schema === undefined ? {} : schemaOf(schema)))
    const isTold = schemas.length > 0 && schemas.every((schema) => Object.keys(schema).length > 0)
    return isTold ? anyOf(schemas) : {}
  },
}

/** Minimum length of a text. Joi rejects the empty text unless the schema allows it. */
function leastOf({ allow = [] }: Description): number | undefined {
  return allow.includes('') ? undefined : 1
}

function hasRule({ rules = [] }: Description, name: string): boolean {
  return rules.some((rule) => rule.name === name)
}

/** Numeric limit of a rule. Undefined without the rule, or if the limit refers to another value. */
function numberOf({ rules = [] }: Description, name: string): number | undefined {
  const limit = rules.find((rule) => rule.name === name)?.args?.limit
  return typeof limit === 'number' && Number.isFinite(limit) ? limit : undefined
}
