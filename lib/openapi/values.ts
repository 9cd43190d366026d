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

/** Schema of a value in responses, without null. */
export function replyOf(valueType: ValueType): JsonSchema {
  return codecOf(valueType).schemas.reply(valueType)
}

/** Schema of a field's value in bodies, without null. `parts` is the number of fields of the key. */
export function bodyOf(field: Field, parts: number): JsonSchema {
  const schema = codecOf(field.valueType).schemas.body?.(field, parts) ?? replyOf(field.valueType)
  return withChecks(schema, field)
}

export function queryOf(valueType: ValueType): JsonSchema {
  return codecOf(valueType).schemas.query ?? replyOf(valueType)
}

/** Fields, and the declared members of JSON fields under their paths. */
export function withMembers(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((field) => {
    const pathOf = (member: Field): string => [field.json, ...(memberIn(member)?.path ?? [])].join('.')
    return [field, ...[...(field.members?.values() ?? [])].map((member) => ({ ...member, json: pathOf(member) }))]
  })
}

export function kindOf(field: Field): FieldType | 'array' {
  return field.item !== undefined || isArray(field) ? 'array' : field.valueType.type
}

/** Permissions of fields, and fields with a schema from the host. */
export type Masking = Pick<Documented, 'masks' | 'hosted'>

/** Schema of a field in a response. */
export function shownIn(subject: Subject, field: Field, { masks, hosted }: Masking): JsonSchema {
  const read = masks.get(field.name)?.read ?? null
  const isWritten = field.targets.has('create') || field.targets.has('update')
  // A host's schema does not include the bounds of the column.
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
 * Schema of a field's value, shared as a component by fields of its type. `readOnly` and permissions stay beside the member, where
 * generators read them. Enumerations are not shared, because generators name their types by the member.
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

/** Schema of a value in responses. The value of a host's getter is unknown. */
export function shownAs(field: Field): JsonSchema {
  if (isComputing(field) && isArray(field)) return arrayOf(TEXT)
  return field.getter ? { description: 'Computed by the application.' } : replyOf(field.valueType)
}

export function permissionOf(permission: string | null = null): JsonSchema {
  return permission === null ? {} : { 'x-permission': permission }
}

/** Key in paths, bulk requests and responses. */
export function keyOf({ resource: { key, keys } }: Subject): JsonSchema {
  if (keys.length === 1) return replyOf(key.valueType)
  return { type: 'string', description: 'The key parts, percent-encoded and joined by `~`.' }
}
