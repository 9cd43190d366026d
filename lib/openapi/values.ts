import type { Documented } from '../../types/documented.js'
import type { Field, FieldType, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { codecOf } from '../codec/codecs.js'
import { INT64, listSchema, makeNullable, TEXT } from '../codec/schema.js'
import { isComputedField } from '../common/columns.js'
import { isArrayField, jsonMemberOf } from '../common/jsonMembers.js'
import { addCheckKeywords } from './checks.js'
import { toComponentName } from './components.js'
import { markDeprecated } from './deprecated.js'
import type { DescribedResource } from './subjects.js'

/** Schema of a value in responses, without null. */
export function buildResponseValue(valueType: ValueType): JsonSchema {
  return codecOf(valueType).schemas.reply(valueType)
}

/** Schema of a field's value in bodies, without null. `parts` is the number of fields in the resource's key. */
export function buildBodyValue(field: Field, parts: number): JsonSchema {
  const schema = codecOf(field.valueType).schemas.body?.(field, parts) ?? buildResponseValue(field.valueType)
  return addCheckKeywords(schema, field)
}

export function buildQueryValue(valueType: ValueType): JsonSchema {
  return codecOf(valueType).schemas.query ?? buildResponseValue(valueType)
}

/** Fields, and the declared members of JSON fields. The name of a member is its path. */
export function expandMembers(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((field) => {
    const memberPath = (member: Field): string => [field.json, ...(jsonMemberOf(member)?.path ?? [])].join('.')
    return [field, ...[...(field.members?.values() ?? [])].map((member) => ({ ...member, json: memberPath(member) }))]
  })
}

export function valueKindOf(field: Field): FieldType | 'array' {
  return field.item !== undefined || isArrayField(field) ? 'array' : field.valueType.type
}

/** Permissions that masks of fields require, and the fields with a schema from the host. */
export type Masking = Pick<Documented, 'masks' | 'hostSchemaFields'>

/** Schema of a field in a response. */
export function buildShownValue(
  subject: DescribedResource,
  field: Field,
  { masks, hostSchemaFields }: Masking,
): JsonSchema {
  const read = masks.get(field.name)?.read ?? null
  const isWritten = field.targets.has('create') || field.targets.has('update')
  // A schema from the host does not include the bounds of the column.
  const isHosted = hostSchemaFields.has(field.json) && field.valueType.type === 'integer'
  const value = isHosted ? INT64 : buildResponseField(field)
  const isUnsure = field.virtual && !isComputedField(field)
  const own = field.nullable || isUnsure || read !== null ? makeNullable(value) : value
  return shareValue(
    subject,
    field,
    markDeprecated({ ...own, ...(isWritten ? {} : { readOnly: true }), ...permissionMember(read) }, field),
    'Value',
  )
}

/**
 * Schema of a field's value. Fields with equal types share a component. `readOnly` and permissions stay beside the
 * member, because generators read them there. Enumerations are not shared, because generators name their types by the
 * member.
 */
export function shareValue(
  { components }: DescribedResource,
  field: Field,
  schema: JsonSchema,
  use: 'Value' | 'Input',
): JsonSchema {
  const { type, form } = field.valueType
  const isOwn =
    type === 'enum' || schema.readOnly === true || schema['x-permission'] !== undefined || schema.deprecated === true
  return isOwn ? schema : components.share('schemas', toComponentName(form === 'array' ? form : type) + use, schema)
}

/** Schema of a value in responses. Values of a host's getter have an unknown type. */
export function buildResponseField(field: Field): JsonSchema {
  if (isComputedField(field) && isArrayField(field)) return listSchema(TEXT)
  return field.getter ? { description: 'Computed by the application.' } : buildResponseValue(field.valueType)
}

export function permissionMember(permission: string | null = null): JsonSchema {
  return permission === null ? {} : { 'x-permission': permission }
}

/** Schema of a key in paths, bulk requests and responses. */
export function buildKeySchema({ resource: { key, keys } }: DescribedResource): JsonSchema {
  if (keys.length === 1) return buildResponseValue(key.valueType)
  return { type: 'string', description: 'The key parts, percent-encoded and joined by `~`.' }
}
