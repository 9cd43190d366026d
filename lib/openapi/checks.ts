import type { Field, FieldType, ValueCheck } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { isObject } from '../common/object.js'

/** Types whose values Sequelize's validators receive exactly as in JSON. */
const EXACT_NUMBER_TYPES: ReadonlySet<FieldType> = new Set(['integer', 'float'])

const CHECK_SENTENCES: Readonly<Record<string, string>> = {
  isUrl: 'A URL.',
  isURL: 'A URL.',
  isNumeric: 'Numeric.',
  isFloat: 'Numeric.',
  isDecimal: 'Numeric.',
  isInt: 'An integer.',
  isAlpha: 'Letters only.',
  isAlphanumeric: 'Letters and digits only.',
  isLowercase: 'Lower case.',
  isUppercase: 'Upper case.',
  isIP: 'An IP address.',
  isIPv4: 'An IP address.',
  isIPv6: 'An IP address.',
  isDate: 'A date.',
  isCreditCard: 'A credit card number.',
}

/** Adds the model's validators to the schema of a body value, where JSON Schema can express them. */
export function addCheckKeywords(
  schema: JsonSchema,
  { valueType: { type }, rules: { checks = [] } }: Field,
): JsonSchema {
  return checks.reduce((all, check) => combineSchemas(all, buildCheckSchema(check, type)), schema)
}

/** Combines two schemas. A keyword that both schemas have goes into `allOf`. */
function combineSchemas(schema: JsonSchema, more: JsonSchema): JsonSchema {
  const { description, enum: values, ...rest } = more
  const known: unknown = schema.enum
  const common =
    Array.isArray(known) && Array.isArray(values) ? values.filter((value) => known.includes(value)) : values
  const others = common === undefined ? rest : { ...rest, enum: common }
  const isTwice = Object.keys(rest).some((keyword) => Object.hasOwn(schema, keyword))
  const all = Array.isArray(schema.allOf) ? schema.allOf : []
  const sentences = [schema.description, description].filter((each) => typeof each === 'string')
  return {
    ...schema,
    ...(isTwice ? { allOf: [...all, others] } : others),
    ...(sentences.length === 0 ? {} : { description: sentences.join(' ') }),
  }
}

function buildCheckSchema({ name, args: [first] }: ValueCheck, type: FieldType): JsonSchema {
  const sentence = CHECK_SENTENCES[name]
  const described: JsonSchema = sentence === undefined ? {} : { description: sentence }
  const ofAll = CHECK_SCHEMAS.get(name)?.(first, type)
  return ofAll ?? (type === 'string' ? TEXT_CHECK_SCHEMAS.get(name)?.(first) : undefined) ?? described
}

/** Schemas for values of all types, by validator. */
const CHECK_SCHEMAS: ReadonlyMap<string, (first: unknown, type: FieldType) => JsonSchema> = new Map<
  string,
  (first: unknown, type: FieldType) => JsonSchema
>([
  ['isIn', (first, type) => buildEnumSchema(first, type) ?? {}],
  [
    'notIn',
    (first, type) => {
      const values = buildEnumSchema(first, type)
      return values === null ? {} : { not: values }
    },
  ],
  ['isAfter', (first) => ({ description: `After ${formatDate(first)}.` })],
  ['isBefore', (first) => ({ description: `Before ${formatDate(first)}.` })],
])

/** Schemas for text only. Undefined if JSON Schema cannot express the validator. */
const TEXT_CHECK_SCHEMAS: ReadonlyMap<string, (first: unknown) => JsonSchema | undefined> = new Map<
  string,
  (first: unknown) => JsonSchema | undefined
>([
  ['notEmpty', () => ({ pattern: '\\S' })],
  ['isAlpha', (locale) => (locale === undefined ? { pattern: '^[A-Za-z]+$' } : undefined)],
  ['isAlphanumeric', (locale) => (locale === undefined ? { pattern: '^[0-9A-Za-z]+$' } : undefined)],
  ['isUUID', () => ({ format: 'uuid' })],
  ['contains', (part) => (isText(part) ? { pattern: escapePattern(part) } : {})],
  ['notContains', (part) => (isText(part) ? { not: { type: 'string', pattern: escapePattern(part) } } : {})],
  ['equals', (text) => (isText(text) ? { enum: [text] } : {})],
])

/**
 * Builds the enumeration of values as JSON. Returns null if JSON values may differ from the values that the validator
 * compares.
 */
function buildEnumSchema(given: unknown, type: FieldType): JsonSchema | null {
  if (!Array.isArray(given)) return null
  if (type === 'string' || type === 'enum') return { enum: given.map((value) => String(value ?? '')) }
  if (!EXACT_NUMBER_TYPES.has(type)) return null
  // The validator compares texts. Only texts in the form of JSON numbers can match.
  return {
    enum: given
      .map((value) => String(value ?? ''))
      .filter((text) => String(Number(text)) === text)
      .map(Number),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function formatDate(date: unknown): string {
  const given: unknown = isObject(date) ? date.comparisonDate : date
  return typeof given === 'string' ? given : 'now'
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
