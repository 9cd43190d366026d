import type { Documented } from '../../types/documented.js'
import type { Field, FieldType, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { codecOf } from '../codec/codecs.js'
import { arrayOf, INT64, nullable, TEXT } from '../codec/schema.js'
import { isComputing } from '../common/columns.js'
import { isArray, memberIn } from '../common/members.js'
import { withChecks } from './checks.js'
import { componentName } from './components.js'
import { marked } from './deprecated.js'
import type { Subject } from './subjects.js'

/** The schema of a value in replies, without null. */
export function replyOf(valueType: ValueType): JsonSchema {
  return codecOf(valueType).schemas.reply(valueType)
}

/** The schema of a field's value in bodies, without null. `parts` is the number of fields of the key. */
export function bodyOf(field: Field, parts: number): JsonSchema {
  const schema = codecOf(field.valueType).schemas.body?.(field, parts) ?? replyOf(field.valueType)
  return withChecks(schema, field)
}

export function queryOf(valueType: ValueType): JsonSchema {
  return codecOf(valueType).schemas.query ?? replyOf(valueType)
}

/** Fields and the declared members of their documents, which are named by their paths. */
export function withMembers(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((field) => {
    const pathOf = (member: Field): string => [field.json, ...(memberIn(member)?.path ?? [])].join('.')
    return [field, ...[...(field.members?.values() ?? [])].map((member) => ({ ...member, json: pathOf(member) }))]
  })
}

export function kindOf(field: Field): FieldType | 'array' {
  return field.item !== undefined || isArray(field) ? 'array' : field.valueType.type
}

/** The permissions that fields need, and the fields that a schema of the host describes. */
export type Masking = Pick<Documented, 'masks' | 'hosted'>

/** A field in a reply. */
export function shownIn(subject: Subject, field: Field, { masks, hosted }: Masking): JsonSchema {
  const read = masks.get(field.name)?.read ?? null
  const isWritten = field.targets.has('create') || field.targets.has('update')
  // A schema of the host does not know the bounds of the column.
  const isHosted = hosted.has(field.json) && field.valueType.type === 'integer'
  const value = isHosted ? INT64 : shownAs(field)
  const isUnsure = field.virtual && !isComputing(field)
  const own = field.nullable || isUnsure || read !== null ? nullable(value) : value
  return sharedValue(
    subject,
    field,
    marked({ ...own, ...(isWritten ? {} : { readOnly: true }), ...permissionOf(read) }, field),
    'Value',
  )
}

/**
 * The schema of a field's value, as a component where fields of its type have the same. Generators read `readOnly` and
 * permissions beside a member, and name the type of an enumeration after its member.
 */
export function sharedValue(
  { components }: Subject,
  field: Field,
  schema: JsonSchema,
  use: 'Value' | 'Input',
): JsonSchema {
  const { type } = field.valueType
  const isOwn =
    type === 'enum' || schema.readOnly === true || schema['x-permission'] !== undefined || schema.deprecated === true
  return isOwn ? schema : components.share('schemas', componentName(type) + use, schema)
}

/** The value of a host's getter is unknown. */
export function shownAs(field: Field): JsonSchema {
  if (isComputing(field) && isArray(field)) return arrayOf(TEXT)
  return field.getter ? { description: 'As the application makes it.' } : replyOf(field.valueType)
}

export function permissionOf(permission: string | null = null): JsonSchema {
  return permission === null ? {} : { 'x-permission': permission }
}

/** A key in paths, bulk requests and replies. */
export function keyOf({ resource: { key, keys } }: Subject): JsonSchema {
  if (keys.length === 1) return replyOf(key.valueType)
  return { type: 'string', description: 'The parts, percent-encoded and joined by `~`.' }
}
