import type Joi from 'joi'
import type { Field, Value } from '../../types/field.js'
import type { FieldMessage } from '../../types/messages.js'
import type { BodyNames, Validator } from '../../types/resource.js'
import type { Reader, Reading } from '../codec/codec.js'
import { codecOf } from '../codec/codecs.js'
import { createMessage, formatEnglish, type Translate } from '../common/messages.js'
import { normalizeName } from '../common/normalizedName.js'
import { isTextValid } from '../sequelize/builtInValidators.js'

export { createRules, hasOnlyExactRules, type RuledAttribute } from './modelRules.js'

export interface BodyOptions {
  /** `create` requires the required fields; `update` validates only the fields of the body. */
  readonly mode: 'create' | 'update'
  /** The effect of unknown names. */
  readonly unknown: 'ignore' | 'reject'
  /** Existing names that this body cannot write. They are ignored, even if unknown names are rejected. */
  readonly known: ReadonlySet<string>
  /** The relations that bodies may contain, by JSON name. Default: no relations. */
  readonly nestedRelations?: readonly string[]
  /** The host's schemas by JSON name. Each replaces the field's derived schema. */
  readonly schemas: ReadonlyMap<string, Joi.Schema>
  /** The texts that cannot be keys, or parts of keys. Default: no texts. */
  readonly invalidKeys?: ReadonlySet<unknown>
  /** Translates messages. Default: English texts. */
  readonly translate?: Translate
}

type RequestBody = Readonly<Record<string, unknown>>
type Errors = Map<string, string[]>

const NONE: ReadonlySet<unknown> = new Set()
const ALL_WRITABLE: BodyNames = Object.freeze({ unknown: undefined, writable: () => true })

const HOST_SETTINGS: Joi.ValidationOptions = { abortEarly: false, errors: { label: false, wrap: { label: false } } }

/**
 * Compiles the validator of one body shape. The validator reports every error of every field, and returns values in
 * Sequelize's form. It reads only own properties by exact names, and does not change the body.
 */
export function createBodyValidator(fields: readonly Field[], options: BodyOptions): Validator {
  const { translate = formatEnglish, invalidKeys = NONE } = options
  const derived = fields.filter((field) => !options.schemas.has(field.json))
  const hosted = fields.flatMap((field) => {
    const schema = options.schemas.get(field.json)
    return schema === undefined ? [] : [{ field, schema }]
  })
  const keys = fields.filter(({ isKey, valueType }) => isKey && valueType.type === 'string')
  const names = memberNamesOf(fields, options)
  const rules = derived.map((field) => createMemberReader(field, options.mode))

  return (body, { unknown = options.unknown, writable } = ALL_WRITABLE) => {
    const errors: Errors = new Map()
    const changes = new Map<string, Value>()
    const failed = new Set<string>()
    for (const { name, json, read } of rules) {
      const reading = read(readOwnProperty(body, json))
      if (reading === null) continue
      if ('value' in reading) {
        changes.set(name, reading.value)
        continue
      }
      for (const each of reading.messages) addError(errors, json, translate(each))
      for (const { path, message } of reading.nested ?? []) addError(errors, `${json}${path}`, translate(message))
      failed.add(name)
    }
    for (const { field, schema } of hosted) {
      if (!validateByHostSchema(body, field, schema, options.mode, changes, errors)) failed.add(field.name)
    }
    for (const { name, json } of keys) {
      if (!invalidKeys.has(changes.get(name) ?? readOwnProperty(body, json))) continue
      addError(errors, json, translate(createMessage('key')))
      failed.add(name)
      changes.delete(name)
    }
    for (const [name, wrong, field] of findMisnamed(body, names, unknown === 'reject', writable)) {
      addError(errors, name, translate(wrong))
      // The model's validators skip a misspelt field that already has an error.
      if (field !== null) failed.add(field)
    }
    return errors.size === 0 ? { changes } : { changes, errors: Object.fromEntries(errors), failed }
  }
}

type BodyMember = Field | string

/** The member names of one body shape. */
interface MemberNames {
  readonly exact: ReadonlySet<string>
  /** The members by normalized name. */
  readonly members: ReadonlyMap<string, readonly BodyMember[]>
  /** The normalized names that exist but that this body cannot write. */
  readonly known: ReadonlySet<string>
}

function memberNamesOf(fields: readonly Field[], { known, nestedRelations = [] }: BodyOptions): MemberNames {
  const members = new Map<string, BodyMember[]>()
  for (const member of [...fields, ...nestedRelations]) {
    const name = normalizeName(jsonNameOf(member))
    members.set(name, [...(members.get(name) ?? []), member])
  }
  const own = new Set(fields.map(({ json }) => json))
  const unwritable = [...known].filter((name) => !own.has(name))
  return { exact: new Set([...own, ...known]), members, known: new Set(unwritable.map(normalizeName)) }
}

/** The member that a misspelt name probably means. null if the body cannot write the member, so the name is ignored. */
interface SimilarMember {
  readonly member: BodyMember | null
}

/** Yields the unknown and misspelt names of a body, each with its error and the probably intended field. */
function* findMisnamed(
  body: RequestBody,
  names: MemberNames,
  isStrict: boolean,
  writable: BodyNames['writable'],
): Generator<readonly [name: string, wrong: FieldMessage, field: string | null]> {
  for (const name of Object.keys(body)) {
    if (names.exact.has(name)) continue
    const similar = findSimilarMember(name, names, writable)
    if (similar === null) {
      if (isStrict) yield [name, createMessage('unknown-property'), null]
    } else if (similar.member !== null) {
      const { member } = similar
      yield [
        name,
        createMessage('misspelt-property', { name: jsonNameOf(member) }),
        typeof member === 'string' ? null : member.name,
      ]
    }
  }
}

/** Finds the member that a misspelt name probably means; null if no member or several members are similar. */
function findSimilarMember(
  name: string,
  { members, known }: MemberNames,
  writable: BodyNames['writable'],
): SimilarMember | null {
  const spelt = normalizeName(name)
  const alike = (members.get(spelt) ?? []).filter((member) => jsonNameOf(member) !== name)
  const [only, ...others] = alike.filter(writable)
  if (only !== undefined) return others.length === 0 ? { member: only } : null
  return known.has(spelt) || alike.some((member) => typeof member !== 'string') ? { member: null } : null
}

function jsonNameOf(member: BodyMember): string {
  return typeof member === 'string' ? member : member.json
}

/** Reads an own property. Inherited properties are not part of a body. */
function readOwnProperty(body: RequestBody, json: string): unknown {
  return Object.hasOwn(body, json) ? body[json] : undefined
}

function addError(errors: Errors, name: string, message: string): void {
  const messages = errors.get(name)
  if (messages === undefined) errors.set(name, [message])
  else if (!messages.includes(message)) messages.push(message)
}

/**
 * Validates a value by the host's schema. The schema's own `validate` is called, because the host's joi may be another
 * copy with other settings.
 */
function validateByHostSchema(
  body: RequestBody,
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
  for (const { path, message } of error.details) addError(errors, nestedPathOf(field.json, path), message)
  return false
}

function nestedPathOf(name: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((text, part) => text + (typeof part === 'number' ? `[${part}]` : `.${part}`), name)
}

/** Reads one body member as a field's value. */
interface MemberReader {
  readonly name: string
  readonly json: string
  /** Reads the value; null for a missing member that is optional. */
  readonly read: (raw: unknown) => Reading | null
}

function createMemberReader(field: Field, mode: BodyOptions['mode']): MemberReader {
  const { name, json, nullable, rules } = field
  const read = addChecks(field, codecOf(field.valueType).createBodyReader(field))
  const isRequired = mode === 'create' && rules.required
  const absent: Reading | null = isRequired
    ? { messages: [rules.messages?.required ?? createMessage('required')] }
    : null
  const isNullable = (nullable || rules.filled === true) && !rules.required
  const empty: Reading = isNullable
    ? { value: null }
    : { messages: [rules.messages?.required ?? createMessage('null')] }
  return {
    name,
    json,
    read: (raw) => {
      if (raw === undefined) return absent
      return raw === null ? empty : read(raw)
    },
  }
}

/** Adds the model's validators to a reader. Readers of texts run the validators themselves. */
function addChecks({ valueType: { type }, rules: { checks = [] } }: Field, read: Reader): Reader {
  if (type === 'string' || checks.length === 0) return read
  return (raw) => {
    const reading = read(raw)
    if (!('value' in reading)) return reading
    const text = String(reading.value)
    const faults = checks.flatMap((check) => (isTextValid(check, text) ? [] : [check.message]))
    return faults.length === 0 ? reading : { messages: faults }
  }
}
