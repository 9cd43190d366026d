import type { Field, FieldType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Resource } from '../../types/resource.js'
import { isArray, memberIn } from '../common/members.js'
import { replyOf } from './replies.js'
import { nullable } from './schema.js'

/** Fields with the declared members of documents behind them, each by the path that it has in queries. */
export function withMembers(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((field) => {
    const members = [...(field.members?.values() ?? [])]
    return [field, ...members.map((member) => ({ ...member, json: pathOf(field, member) }))]
  })
}

function pathOf({ json }: Field, member: Field): string {
  return [json, ...(memberIn(member)?.path ?? [])].join('.')
}

/** What the type of a field is called. */
export function kindOf(field: Field): FieldType | 'array' {
  return isArray(field) ? 'array' : field.valueType.type
}

/** A field in a reply of its resource's own. */
export function shownIn({ documented }: Pick<Resource, 'documented'>, field: Field): JsonSchema {
  const read = documented.masks.get(field.name)?.read ?? null
  const isWritten = field.targets.has('create') || field.targets.has('update')
  // The column's bounds are not what a schema of the host's looks at.
  const isHosted = documented.hosted.has(field.json) && field.valueType.type === 'integer'
  const value = isHosted ? { type: 'integer', format: 'int64' } : shownAs(field)
  return {
    ...(field.nullable || field.virtual || read !== null ? nullable(value) : value),
    ...(isWritten ? {} : { readOnly: true }),
    ...permissionOf(read),
  }
}

/** What a getter of the host's makes of a value nobody knows. */
export function shownAs(field: Field): JsonSchema {
  return field.getter ? { description: 'As the application makes it.' } : replyOf(field.valueType)
}

export function permissionOf(permission: string | null): JsonSchema {
  return permission === null ? {} : { 'x-permission': permission }
}
