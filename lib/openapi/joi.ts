import type { Schema } from 'joi'
import type { JsonSchema } from '../../types/openApi.js'
import { anyOf, listSchema, makeNullable, objectSchema, omitUndefined } from '../codec/schema.js'

/** Result of joi's `describe()`. */
interface JoiDescription {
  readonly type?: string
  readonly flags?: JoiFlags
  readonly allow?: readonly unknown[]
  readonly rules?: readonly { readonly name: string; readonly args?: Readonly<Record<string, unknown>> }[]
  readonly keys?: Readonly<Record<string, JoiDescription>>
  readonly patterns?: readonly unknown[]
  readonly items?: readonly JoiDescription[]
  readonly ordered?: readonly JoiDescription[]
  readonly matches?: readonly { readonly schema?: JoiDescription }[]
}

interface JoiFlags {
  readonly presence?: unknown
  readonly only?: unknown
  readonly unknown?: unknown
  readonly description?: unknown
}

/** Converts a joi schema to JSON Schema. Returns `{}` if JSON Schema cannot express it. */
export function convertJoi(schema: Schema): JsonSchema {
  return convertDescription(schema.describe())
}

/** A member of a joi object schema. */
interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

export function readMembers(schema: Schema): readonly Member[] {
  const { keys = {} }: JoiDescription = schema.describe()
  return Object.entries(keys).map(([name, member]) => ({
    name,
    schema: convertDescription(member),
    isRequired: member.flags?.presence === 'required',
  }))
}

function convertDescription(description: JoiDescription): JsonSchema {
  const { type = 'any', flags = {}, allow = [] } = description
  const values = allow.filter((each) => each !== null && isJson(each))
  const isNullable = allow.includes(null)
  if (flags.only === true) {
    if (allow.length > values.length + (isNullable ? 1 : 0)) return {}
    return addDescription(flags, isNullable ? { enum: [...values, null] } : { enum: values })
  }
  const schema = addDescription(flags, CONVERTERS[type]?.(description) ?? {})
  return isNullable && Object.keys(schema).length > 0 ? makeNullable(schema) : schema
}

function addDescription({ description }: JoiFlags, schema: JsonSchema): JsonSchema {
  return typeof description === 'string' ? { ...schema, description } : schema
}

function isJson(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Converters by joi type. Converted values, such as dates, are texts in JSON. */
const CONVERTERS: Readonly<Record<string, (description: JoiDescription) => JsonSchema>> = {
  string: (description) => ({
    type: 'string',
    ...omitUndefined({
      minLength:
        numericLimitOf(description, 'length') ?? numericLimitOf(description, 'min') ?? minLengthOf(description),
      maxLength: numericLimitOf(description, 'length') ?? numericLimitOf(description, 'max'),
    }),
    ...(hasRule(description, 'email') ? { format: 'email' } : {}),
    ...(hasRule(description, 'guid') ? { format: 'uuid' } : {}),
  }),
  number: (description) => ({
    type: hasRule(description, 'integer') ? 'integer' : 'number',
    ...omitUndefined({
      minimum: numericLimitOf(description, 'min'),
      maximum: numericLimitOf(description, 'max'),
      exclusiveMinimum: numericLimitOf(description, 'greater'),
      exclusiveMaximum: numericLimitOf(description, 'less'),
    }),
  }),
  boolean: () => ({ type: 'boolean' }),
  date: () => ({ type: 'string', format: 'date-time' }),
  array: ({ items = [], ordered = [], ...description }) => ({
    ...listSchema(ordered.length > 0 || items.length === 0 ? {} : anyOf(items.map(convertDescription))),
    ...omitUndefined({
      minItems: numericLimitOf(description, 'length') ?? numericLimitOf(description, 'min'),
      maxItems: numericLimitOf(description, 'length') ?? numericLimitOf(description, 'max'),
    }),
  }),
  object: ({ keys, flags = {}, patterns }) => {
    if (keys === undefined) return { type: 'object' }
    const members = Object.entries(keys).filter(([, { flags: own = {} }]) => own.presence !== 'forbidden')
    const optional = members.filter(([, { flags: own = {} }]) => own.presence !== 'required').map(([name]) => name)
    const properties = Object.fromEntries(members.map(([name, member]) => [name, convertDescription(member)]))
    const isOpen = flags.unknown === true || patterns !== undefined
    return { ...objectSchema(properties, new Set(optional)), additionalProperties: isOpen }
  },
  alternatives: ({ matches = [] }) => {
    const schemas = matches.map(({ schema }) => (schema === undefined ? {} : convertDescription(schema)))
    const isDescribed = schemas.length > 0 && schemas.every((schema) => Object.keys(schema).length > 0)
    return isDescribed ? anyOf(schemas) : {}
  },
}

/** Minimum length of a text: 1 unless the joi schema allows the empty text. */
function minLengthOf({ allow = [] }: JoiDescription): number | undefined {
  return allow.includes('') ? undefined : 1
}

function hasRule({ rules = [] }: JoiDescription, name: string): boolean {
  return rules.some((rule) => rule.name === name)
}

/** Numeric limit of a rule. Undefined if the rule is missing, or if its limit refers to another value. */
function numericLimitOf({ rules = [] }: JoiDescription, name: string): number | undefined {
  const limit = rules.find((rule) => rule.name === name)?.args?.limit
  return typeof limit === 'number' && Number.isFinite(limit) ? limit : undefined
}
