import type { Field } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Relation, Resource } from '../../types/resource.js'
import { describeSchema, listSchema, makeNullable, objectSchema, type SchemaMembers } from '../codec/schema.js'
import { type FlattenedRelation, flattenedRelationsOf } from '../plan/flatten.js'
import { markDeprecated } from './deprecated.js'
import { nestableRelationsOf } from './requiredPermissions.js'
import { type DescribedResource, relationName } from './subjects.js'
import * as values from './values.js'
import { buildKeySchema } from './values.js'

// ---------------------------------------------------------------- records

export function buildRecordSchema(subject: DescribedResource): JsonSchema {
  return referToSchema(subject, subject.names.one, () =>
    addNestedMembers(subject, 'Written', buildShape(subject, 'response')),
  )
}

/** A record in a push event, without fields that are computed for each caller. */
export function buildEventSchema(subject: DescribedResource): JsonSchema {
  const { computed } = subject.resource
  const own = computed.filter((field) => field.computed.isPerCaller && field.targets.has('response'))
  if (own.length === 0) return buildRecordSchema(subject)
  const perCaller = Object.fromEntries(own.map(({ json }) => [json, {}]))
  return referToSchema(subject, `${subject.names.one}Event`, () => {
    const { properties, required, ...schema } = buildShape(subject, 'response')
    const names = readNames(required).filter((name) => !Object.hasOwn(perCaller, name))
    return { ...schema, required: names, properties: omitProperties(properties, perCaller) }
  })
}

/** Schema of a record in the response to its creation. A key that only the database knows is missing. */
export function buildNewRecordSchema(subject: DescribedResource): JsonSchema {
  const { resource } = subject
  const unknown = new Set(resource.keys.filter((key) => isKeyFromDatabase(resource, key)).map(({ json }) => json))
  if (unknown.size === 0) return buildRecordSchema(subject)
  const { required, ...schema } = buildShape(subject, 'response')
  return addNestedMembers(subject, 'Written', {
    ...schema,
    required: readNames(required).filter((name) => !unknown.has(name)),
  })
}

/**
 * Whether a default or a trigger of the table may create the key, because neither the client nor the model has to set
 * it.
 */
function isKeyFromDatabase(resource: Resource, key: Field): boolean {
  if (key.assigned || resource.model.getAttributes()[key.name]?.defaultValue !== undefined) return false
  return !key.targets.has('create') || !isRequired(resource, key)
}

/** Schema of an item of a page: the full record, or a separate schema if lists omit fields. */
export function buildItemSchema(subject: DescribedResource): JsonSchema {
  const { resource, names } = subject
  const isSame = [...resource.fields, ...resource.computed].every(
    ({ targets }) => targets.has('list') === targets.has('response'),
  )
  const hasSameMembers = ({ members: { list, response }, nested }: FlattenedRelation): boolean =>
    list.length === response.length && nested.every(hasSameMembers)
  if (isSame && flattenedRelationsOf(resource).every(hasSameMembers)) return buildRecordSchema(subject)
  return referToSchema(subject, names.list, () => buildShape(subject, 'list'))
}

export function referToSchema(subject: DescribedResource, name: string, make: () => JsonSchema): JsonSchema {
  return subject.components.referTo('schemas', name, make, subject)
}

type Shape = 'response' | 'list'

function buildShape(subject: DescribedResource, shape: Shape): JsonSchema {
  const { fields, computed, flatten } = subject.resource
  const own = [...fields, ...computed].filter(({ targets }) => targets.has(shape))
  const opened = new Set(own.filter(({ name }) => flatten.includes(name)).map(({ json }) => json))
  const properties = buildFieldMembers(subject, own)
  const schema = objectSchema(
    { ...properties, ...omitProperties(buildFlattenedMembers(subject, shape), properties) },
    opened,
  )
  if (opened.size === 0) return schema
  // A flattened JSON object adds members with unknown names to the record.
  return describeSchema(
    { ...schema, additionalProperties: true },
    'The record also has the members of its flattened JSON fields.',
  )
}

/** Fields of a response, by name. */
export function buildFieldMembers(
  subject: DescribedResource,
  fields: readonly Field[],
  masking: values.Masking = subject.resource.documented,
): SchemaMembers {
  return Object.fromEntries(fields.map((field) => [field.json, values.buildShownValue(subject, field, masking)]))
}

/** Schemas of flattened members, by name. Flattened members are null if there is no record behind the relation. */
export function buildFlattenedMembers({ resource }: DescribedResource, shape: Shape): SchemaMembers {
  const buildMembers = ({
    members,
    nested,
    step: { access },
  }: FlattenedRelation): readonly (readonly [string, JsonSchema])[] => [
    ...members[shape].map(({ json, field }) => {
      const [permission] = access.resources.flatMap(({ documented }) => documented.masks.get(field.name)?.read ?? [])
      const schema = { ...makeNullable(values.buildResponseField(field)), ...values.permissionMember(permission) }
      return [json, markDeprecated({ ...schema, readOnly: true }, field)] as const
    }),
    ...nested.flatMap(buildMembers),
  ]
  return Object.fromEntries(flattenedRelationsOf(resource).flatMap(buildMembers))
}

// ---------------------------------------------------------------- bodies

/** Body of POST. */
export function buildCreateSchema(subject: DescribedResource): JsonSchema {
  return referToSchema(subject, subject.names.create, () =>
    addNestedMembers(subject, 'Create', buildBody(subject, 'create')),
  )
}

/** Body of PATCH. */
export function buildUpdateSchema(subject: DescribedResource): JsonSchema {
  return referToSchema(subject, subject.names.update, () =>
    addNestedMembers(subject, 'Update', buildBody(subject, 'update')),
  )
}

/** Body of PUT. The body may repeat the key. */
export function buildReplaceSchema(subject: DescribedResource): JsonSchema {
  const { resource, names } = subject
  return referToSchema(subject, `${names.one}Replace`, () => {
    const { properties, ...update } = buildBody(subject, 'update')
    const written = resource.fields.filter(({ targets }) => targets.has('update'))
    const required = written.filter((field) => isRequired(resource, field)).map(({ json }) => json)
    const key = buildKeyMembers(resource, 'The key of the path.')
    const members = { ...key, ...omitProperties(properties, key) }
    const needed = required.length === 0 ? {} : { required }
    return addNestedMembers(subject, 'Update', { ...update, ...needed, properties: members })
  })
}

/** Item of a bulk update: the changes, the key and the version. */
export function buildBulkUpdateSchema(subject: DescribedResource): JsonSchema {
  return referToSchema(subject, `${subject.names.one}BulkUpdate`, () => {
    const { properties, ...update } = buildBody(subject, 'update')
    const own = { ...buildKeyMembers(subject.resource), ...buildVersionMember(subject.resource) }
    const schema = { ...update, required: Object.keys(own), properties: { ...own, ...omitProperties(properties, own) } }
    return addNestedMembers(subject, 'Update', schema)
  })
}

/** Item of an upsert: a new record, or changes of a record. */
export function buildUpsertSchema(subject: DescribedResource): JsonSchema {
  return referToSchema(subject, `${subject.names.one}Upsert`, () => {
    const { required: _, properties, ...create } = buildBody(subject, 'create')
    const update = buildBody(subject, 'update').properties
    const version = buildVersionMember(subject.resource)
    const members = { ...version, ...omitProperties(update, version), ...omitProperties(properties, version) }
    return addNestedMembers(subject, 'Update', { ...create, properties: members })
  })
}

/** Body of POST below a parent. Attributes that the path sets are optional. */
export function buildNestedCreateSchema(
  parent: DescribedResource,
  relation: Relation,
  target: DescribedResource,
): JsonSchema {
  const parentKeys = parentAttributesOf(relation)
  const isFree = target.resource.fields.every(
    (field) => !parentKeys.has(field.name) || !field.targets.has('create') || !isRequired(target.resource, field),
  )
  return isFree ? buildCreateSchema(target) : buildNestedElement(parent, relation, 'Create')
}

function buildBody(subject: DescribedResource, target: 'create' | 'update'): JsonSchema {
  const { resource } = subject
  const { fields, computed, documented, version, behaviours } = resource
  // The server sets the key of a singleton and ignores a key in the body.
  const own = fields.filter(({ targets, isKey }) => targets.has(target) && !(isKey && behaviours.ownKey !== null))
  const properties = Object.fromEntries(own.map((field) => [field.json, buildWritableValue(subject, field)]))
  const free = own.filter((field) => !isRequired(resource, field))
  const schema = objectSchema(properties, target === 'update' ? 'all' : new Set(free.map(({ json }) => json)))
  if (documented.unknownProperties === 'ignore') return schema
  // Bodies that reject unknown members still accept read-only response members and the version. Clients can therefore
  // send a record back.
  const known = [...fields, ...computed].filter(({ name, targets }) => targets.has('response') || name === version)
  const ignored = Object.fromEntries(known.map(({ json }) => [json, IGNORED_MEMBER]))
  return {
    ...schema,
    properties: { ...omitProperties(ignored, properties), ...properties },
    additionalProperties: false,
  }
}

function isRequired({ documented }: Resource, { json, rules }: Field): boolean {
  return rules.required && !documented.hostSchemaFields.has(json)
}

export const IGNORED_MEMBER: JsonSchema = Object.freeze({ readOnly: true, description: 'Ignored.' })

function buildKeyMembers({ keys }: Resource, ...sentences: readonly string[]): SchemaMembers {
  return Object.fromEntries(
    keys.map(({ json, valueType }) => [json, describeSchema(values.buildResponseValue(valueType), ...sentences)]),
  )
}

function buildVersionMember({ fields, version: attribute }: Resource): SchemaMembers {
  const version = fields.find(({ name }) => name === attribute)
  const description = 'The version of the record when it was read.'
  return version === undefined ? {} : { [version.json]: { type: 'integer', minimum: 0, description } }
}

export function omitProperties(properties: unknown, own: SchemaMembers): SchemaMembers {
  const isOther = ([name]: [string, unknown]): boolean => !Object.hasOwn(own, name)
  return Object.fromEntries(Object.entries<JsonSchema>(Object(properties)).filter(isOther))
}

function readNames(required: unknown): readonly string[] {
  return Array.isArray(required) ? required : []
}

function buildWritableValue(subject: DescribedResource, field: Field): JsonSchema {
  const { json, name, nullable: isNullable, rules } = field
  const { documented, keys } = subject.resource
  const permission = values.permissionMember(documented.masks.get(name)?.write)
  if (documented.hostSchemaFields.has(json))
    return markDeprecated({ description: 'Defined by the application.', ...permission }, field)
  const schema = values.buildBodyValue(field, keys.length)
  const takesNull = (isNullable || rules.filled === true) && !rules.required
  const taken = { ...(takesNull ? makeNullable(schema) : schema), ...permission }
  return values.shareValue(subject, field, markDeprecated(taken, field), 'Input')
}

// ---------------------------------------------------------------- nested records

/** Uses of a nested record: in a body that creates it, in a body that may change it, and in the response. */
type NestedUse = 'Create' | 'Update' | 'Written'

/** Adds the optional members with nested records to a schema. */
function addNestedMembers(subject: DescribedResource, use: NestedUse, schema: JsonSchema): JsonSchema {
  const own: SchemaMembers = Object(schema.properties)
  const nested = buildNestedMembers(subject, use)
  return Object.keys(nested).length === 0
    ? schema
    : { ...schema, properties: { ...omitProperties(nested, own), ...own } }
}

function buildNestedMembers(subject: DescribedResource, use: NestedUse): SchemaMembers {
  const maxItems = use === 'Written' ? undefined : subject.resource.limits.bulkItems
  const members = nestableRelationsOf(subject).map((relation) => {
    const { json, joinModel, many } = relation
    if (joinModel !== null)
      return [json, listSchema(buildKeySchema(subject.subjectOf(relation.relatedResource())), maxItems)]
    const items = buildNestedElement(subject, relation, use)
    return [json, many ? listSchema(items, maxItems) : makeNullable(items)]
  })
  return Object.fromEntries(members)
}

/** Schema of a nested record, without the attributes that its parent sets. */
function buildNestedElement(subject: DescribedResource, relation: Relation, use: NestedUse): JsonSchema {
  const name = relationName(subject, relation, 'one') + use
  const target = subject.subjectOf(relation.relatedResource())
  return subject.components.referTo('schemas', name, () => buildElement(target, relation, use), relation)
}

function buildElement(target: DescribedResource, relation: Relation, use: NestedUse): JsonSchema {
  const { resource } = target
  const deeper = buildNestedMembers(target, use)
  const version = buildVersionMember(resource)
  if (use === 'Written') {
    return objectSchema({ ...version, ...Object(buildShape(target, 'response').properties), ...deeper }, 'all')
  }
  const { properties, required, ...create } = buildBody(target, 'create')
  const creating = { ...Object(properties), ...findFixedMembers(relation, resource, Object(properties)) }
  if (use === 'Create') {
    const parentKeys = parentAttributesOf(relation)
    const free = resource.fields.filter((field) => parentKeys.has(field.name) || !isRequired(resource, field))
    const needed = new Set(readNames(required).filter((name) => !free.some(({ json }) => json === name)))
    const members = { ...creating, ...deeper }
    return { ...create, ...objectSchema(members, new Set(Object.keys(members).filter((name) => !needed.has(name)))) }
  }
  const update = Object(buildBody(target, 'update').properties)
  const key = buildKeyMembers(resource)
  const changing = { ...creating, ...update, ...findFixedMembers(relation, resource, update) }
  return { ...create, ...objectSchema({ ...key, ...version, ...changing, ...version, ...key, ...deeper }, 'all') }
}

/** Attributes of a nested record that its parent sets. */
export function parentAttributesOf({ attributes }: Relation): ReadonlySet<string> {
  return new Set([attributes.target, ...attributes.fixed().keys()])
}

/** Members with a fixed value below a parent, such as the type column of a polymorphic relation. */
function findFixedMembers({ attributes }: Relation, { fields }: Resource, members: SchemaMembers): SchemaMembers {
  const fixed = attributes.fixed()
  const named = fields.filter(({ name, json }) => fixed.has(name) && Object.hasOwn(members, json))
  return Object.fromEntries(named.map(({ name, json }) => [json, { const: fixed.get(name) ?? null }]))
}
