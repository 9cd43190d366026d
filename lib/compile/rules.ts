import Joi from 'joi'
import type { Field, Value } from '../../types/field.js'
import type { MessageCode, Told } from '../../types/messages.js'
import type { Validator } from '../../types/resource.js'
import { fault, inEnglish, type Tell } from '../common/messages.js'
import { numberBounds } from './bounds.js'
import { type Reader, readerOf } from './readers.js'

export { derivesEveryValidator, type RuledAttribute, rulesOf } from './modelRules.js'

export interface BodyOptions {
  /** `create` asks for what is required; `update` looks at nothing but what is present. */
  readonly mode: 'create' | 'update'
  /** What becomes of names that are neither a field's nor known. */
  readonly unknown: 'ignore' | 'reject'
  /** Names that exist and that this body may not write, ignored in both modes. */
  readonly known: ReadonlySet<string>
  /** The host's own schemas by JSON name; each stands in for the one derived from its field. */
  readonly schemas: ReadonlyMap<string, Joi.Schema>
  /** The texts that keys, or their parts, cannot be; none unless told. */
  readonly noKeys?: ReadonlySet<unknown>
  /** What puts messages into words; without it they are English. */
  readonly tell?: Tell
}

type Body = Readonly<Record<string, unknown>>
type Errors = Map<string, string[]>

const IS_NULL = fault('null')

const NONE: ReadonlySet<unknown> = new Set()

// Baked into the schema: given with every call they would cost three quarters of the speed.
const SETTINGS: Joi.ValidationOptions = {
  abortEarly: false,
  convert: false,
  errors: { label: false, wrap: { label: false }, stack: false },
}
const HOST_SETTINGS: Joi.ValidationOptions = { abortEarly: false, errors: { label: false, wrap: { label: false } } }

/**
 * Compiles the validation of one body shape. Every failure of every field is told at once, values come out as
 * Sequelize takes them, and the body itself is only read: its own properties, by the fields' exact names.
 */
export function bodyValidator(fields: readonly Field[], options: BodyOptions): Validator {
  const { tell = inEnglish, noKeys = NONE } = options
  const derived = fields.filter((field) => !options.schemas.has(field.json))
  const hosted = fields.flatMap((field) => {
    const schema = options.schemas.get(field.json)
    return schema === undefined ? [] : [{ field, schema }]
  })
  const keys = fields.filter(({ isKey, valueType }) => isKey && valueType.type === 'string')
  const names = new Set([...fields.map((field) => field.json), ...options.known])
  const rules = new Map(derived.map((field) => [field.json, ruleOf(field, options.mode)]))
  const schemas = Object.fromEntries([...rules].map(([name, { schema }]) => [name, schema]))
  const nulls = new Map(derived.map(({ json, rules: { says } }) => [json, says?.required]))
  const schema = Joi.object<Record<string, Value>>(schemas).prefs(SETTINGS)

  return (body, unknown: BodyOptions['unknown'] = options.unknown) => {
    const own = pick(body, derived)
    const errors: Errors = new Map()
    const changes = new Map<string, Value>()
    const { error, value } = schema.validate(own)
    for (const { path, type, message, context } of error?.details ?? []) {
      const name = String(path[0])
      const faults: readonly Told[] = context?.faults ?? [rules.get(name)?.messages[type] ?? message]
      // A null fails only where it may not stand.
      for (const each of own[name] === null ? [nulls.get(name) ?? IS_NULL] : faults) add(errors, name, tell(each))
    }
    const failed = new Set<string>()
    for (const { name, json } of derived) {
      const change = value?.[json]
      if (errors.has(json)) failed.add(name)
      else if (change !== undefined) changes.set(name, change)
    }
    for (const { field, schema } of hosted) {
      if (!validateHosted(body, field, schema, options.mode, changes, errors)) failed.add(field.name)
    }
    for (const { name, json } of keys) {
      if (!noKeys.has(changes.get(name) ?? own[json])) continue
      add(errors, json, tell(fault('key')))
      failed.add(name)
      changes.delete(name)
    }
    if (unknown === 'reject') {
      for (const name of Object.keys(body)) if (!names.has(name)) add(errors, name, tell(fault('unknown-property')))
    }
    return errors.size === 0 ? { changes } : { changes, errors: Object.fromEntries(errors), failed }
  }
}

/**
 * The fields' own properties of a body. Absent ones are there as undefined: nothing can be inherited, and all the
 * objects of one validator have one shape.
 */
function pick(body: Body, fields: readonly Field[]): Body {
  const own: Record<string, unknown> = {}
  for (const { json } of fields) own[json] = Object.hasOwn(body, json) ? body[json] : undefined
  return own
}

function add(errors: Errors, name: string, message: string): void {
  const messages = errors.get(name)
  if (messages === undefined) errors.set(name, [message])
  else if (!messages.includes(message)) messages.push(message)
}

/**
 * Whether a value is what the host's schema wants. Runs through the schema's own `validate`, since the host's joi may be
 * another copy with settings of its own.
 */
function validateHosted(
  body: Body,
  field: Field,
  schema: Joi.Schema,
  mode: BodyOptions['mode'],
  changes: Map<string, Value>,
  errors: Errors,
): boolean {
  const isPresent = Object.hasOwn(body, field.json)
  if (!isPresent && mode === 'update') return true
  const { error, value } = schema.validate(isPresent ? body[field.json] : undefined, HOST_SETTINGS)
  if (error === undefined) {
    if (value !== undefined) changes.set(field.name, value)
    return true
  }
  for (const { path, message } of error.details) add(errors, nested(field.json, path), message)
  return false
}

function nested(name: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((text, part) => text + (typeof part === 'number' ? `[${part}]` : `.${part}`), name)
}

/**
 * A field's schema with the messages of joi's codes. They stay outside the schema: joi would merge each field's
 * messages into its settings on every validation, which doubles the time.
 */
interface Rule {
  readonly schema: Joi.Schema
  readonly messages: Readonly<Record<string, Told>>
}

function ruleOf(field: Field, mode: BodyOptions['mode']): Rule {
  const { schema, messages } = typed(field)
  const nullable = takesNull(field) ? schema.allow(null) : schema
  if (!isWanted(field, mode)) return { schema: nullable, messages }
  return {
    schema: nullable.required(),
    messages: { ...messages, 'any.required': field.rules.says?.required ?? fault('required') },
  }
}

/** Whether a body may have a null for a field. */
function takesNull({ nullable, rules }: Field): boolean {
  return (nullable || rules.filled === true) && !rules.required
}

/** Whether a body must have a value for a field. */
function isWanted({ rules }: Field, mode: BodyOptions['mode']): boolean {
  return mode === 'create' && rules.required
}

function typed(field: Field): Rule {
  const reader = readerOf(field)
  if (reader !== null) return { schema: readBy(reader), messages: {} }
  switch (field.valueType.type) {
    case 'integer':
      return numeric(Joi.number().integer(), field, 'integer')
    case 'float':
      return numeric(Joi.number(), field, 'number')
    case 'boolean':
      return { schema: Joi.boolean(), messages: { 'boolean.base': fault('boolean') } }
    default: {
      const values = field.valueType.values ?? []
      return {
        schema: Joi.valid(...values),
        messages: { 'any.only': fault('enum', { values: Object.freeze([...values]) }) },
      }
    }
  }
}

function numeric(numbers: Joi.NumberSchema, field: Field, otherwise: MessageCode): Rule {
  const { min, max, tooLow, tooHigh } = numberBounds(field.valueType, field.rules)
  // Bounds tell what is too large; joi's own word on unsafe numbers would only hide them.
  let schema = numbers.unsafe()
  if (min !== undefined) schema = schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  const messages = {
    'number.base': fault(otherwise),
    'number.integer': fault(otherwise),
    'number.infinity': fault('finite'),
    'number.min': tooLow,
    'number.max': tooHigh,
  }
  return { schema, messages }
}

/** A type of our own: the reader's faults are the messages. */
function readBy(reader: Reader): Joi.Schema {
  const read: Joi.CustomValidator = (raw: unknown, helpers) => {
    const reading = reader(raw)
    return 'value' in reading ? reading.value : helpers.error('reader', { faults: reading.faults })
  }
  return Joi.any().custom(read)
}
