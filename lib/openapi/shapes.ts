import type { Field } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Relation, Resource } from '../../types/resource.js'
import { arrayOf, type Members, nullable, objectOf, told } from '../codec/schema.js'
import { type Flattened, flattenedOf } from '../plan/flatten.js'
import { heldBy } from './asked.js'
import { marked } from './deprecated.js'
import { belowOf, type Subject } from './subjects.js'
import * as values from './values.js'
import { keyOf } from './values.js'

// ---------------------------------------------------------------- records

export function recordOf(subject: Subject): JsonSchema {
  return componentOf(subject, subject.names.one, () => holding(subject, 'Written', record(subject, 'response')))
}

/** A record in a push event, without fields that are computed for each caller. */
export function eventOf(subject: Subject): JsonSchema {
  const { computed } = subject.resource
  const own = computed.filter((field) => field.computed.isPerCaller && field.targets.has('response'))
  if (own.length === 0) return recordOf(subject)
  const left = Object.fromEntries(own.map(({ json }) => [json, {}]))
  return componentOf(subject, `${subject.names.one}Event`, () => {
    const { properties, required, ...schema } = record(subject, 'response')
    const names = namesIn(required).filter((name) => !Object.hasOwn(left, name))
    return { ...schema, required: names, properties: without(properties, left) }
  })
}

/** A record in the response to its creation, without a key that only the database knows. */
export function newRecordOf(subject: Subject): JsonSchema {
  const { resource } = subject
  const unknown = new Set(resource.keys.filter((key) => isUnknown(resource, key)).map(({ json }) => json))
  if (unknown.size === 0) return recordOf(subject)
  const { required, ...schema } = record(subject, 'response')
  return holding(subject, 'Written', { ...schema, required: namesIn(required).filter((name) => !unknown.has(name)) })
}

/** Whether a default or a trigger of the table may create the key, so that neither clients nor the model must set it. */
function isUnknown(resource: Resource, key: Field): boolean {
  if (key.assigned || resource.model.getAttributes()[key.name]?.defaultValue !== undefined) return false
  return !key.targets.has('create') || !isRequired(resource, key)
}

/** An item of a page: the full record, or a shape of its own if lists omit fields. */
export function itemOf(subject: Subject): JsonSchema {
  const { resource, names } = subject
  const isSame = [...resource.fields, ...resource.computed].every(
    ({ targets }) => targets.has('list') === targets.has('response'),
  )
  const hasSame = ({ members: { list, response }, deeper }: Flattened): boolean =>
    list.length === response.length && deeper.every(hasSame)
  if (isSame && flattenedOf(resource).every(hasSame)) return recordOf(subject)
  return componentOf(subject, names.list, () => record(subject, 'list'))
}

export function componentOf(subject: Subject, name: string, make: () => JsonSchema): JsonSchema {
  return subject.components.refer('schemas', name, make, subject)
}

type Shape = 'response' | 'list'

function record(subject: Subject, shape: Shape): JsonSchema {
  const { fields, computed, flatten } = subject.resource
  const own = [...fields, ...computed].filter(({ targets }) => targets.has(shape))
  const opened = new Set(own.filter(({ name }) => flatten.includes(name)).map(({ json }) => json))
  const properties = shownOf(subject, own)
  const schema = objectOf({ ...properties, ...without(flattenedIn(subject, shape), properties) }, opened)
  if (opened.size === 0) return schema
  // A flattened JSON object adds members with unknown names to the record.
  return told(
    { ...schema, additionalProperties: true },
    'The record also has the members of its flattened JSON fields.',
  )
}

/** Fields of a response, by name. */
export function shownOf(
  subject: Subject,
  fields: readonly Field[],
  masking: values.Masking = subject.resource.documented,
): Members {
  return Object.fromEntries(fields.map((field) => [field.json, values.shownIn(subject, field, masking)]))
}

/** Flattened members, by name. They are null if there is no record behind the relation. */
export function flattenedIn({ resource }: Subject, shape: Shape): Members {
  const membersOf = ({
    members,
    deeper,
    crossing: { reach },
  }: Flattened): readonly (readonly [string, JsonSchema])[] => [
    ...members[shape].map(({ json, field }) => {
      const [permission] = reach.resources.flatMap(({ documented }) => documented.masks.get(field.name)?.read ?? [])
      const schema = { ...nullable(values.shownAs(field)), ...values.permissionOf(permission) }
      return [json, marked({ ...schema, readOnly: true }, field)] as const
    }),
    ...deeper.flatMap(membersOf),
  ]
  return Object.fromEntries(flattenedOf(resource).flatMap(membersOf))
}

// ---------------------------------------------------------------- bodies

/** Body of POST. */
export function createOf(subject: Subject): JsonSchema {
  return componentOf(subject, subject.names.create, () => holding(subject, 'Create', body(subject, 'create')))
}

/** Body of PATCH. */
export function updateOf(subject: Subject): JsonSchema {
  return componentOf(subject, subject.names.update, () => holding(subject, 'Update', body(subject, 'update')))
}

/** Body of PUT. It may repeat the key. */
export function replaceOf(subject: Subject): JsonSchema {
  const { resource, names } = subject
  return componentOf(subject, `${names.one}Replace`, () => {
    const { properties, ...update } = body(subject, 'update')
    const written = resource.fields.filter(({ targets }) => targets.has('update'))
    const required = written.filter((field) => isRequired(resource, field)).map(({ json }) => json)
    const key = keyIn(resource, 'The key of the path.')
    const members = { ...key, ...without(properties, key) }
    const needed = required.length === 0 ? {} : { required }
    return holding(subject, 'Update', { ...update, ...needed, properties: members })
  })
}

/** Item of a bulk update: the changes, the key and the version. */
export function bulkUpdateOf(subject: Subject): JsonSchema {
  return componentOf(subject, `${subject.names.one}BulkUpdate`, () => {
    const { properties, ...update } = body(subject, 'update')
    const own = { ...keyIn(subject.resource), ...versionIn(subject.resource) }
    const schema = { ...update, required: Object.keys(own), properties: { ...own, ...without(properties, own) } }
    return holding(subject, 'Update', schema)
  })
}

/** Item of an upsert: a new record, or changes of a record. */
export function upsertOf(subject: Subject): JsonSchema {
  return componentOf(subject, `${subject.names.one}Upsert`, () => {
    const { required: _, properties, ...create } = body(subject, 'create')
    const update = body(subject, 'update').properties
    const version = versionIn(subject.resource)
    const members = { ...version, ...without(update, version), ...without(properties, version) }
    return holding(subject, 'Update', { ...create, properties: members })
  })
}

/** Body of POST below an owner. Attributes that the path sets are optional. */
export function ownedOf(owner: Subject, relation: Relation, target: Subject): JsonSchema {
  const owned = ownedBy(relation)
  const isFree = target.resource.fields.every(
    (field) => !owned.has(field.name) || !field.targets.has('create') || !isRequired(target.resource, field),
  )
  return isFree ? createOf(target) : elementOf(owner, relation, 'Create')
}

function body(subject: Subject, target: 'create' | 'update'): JsonSchema {
  const { resource } = subject
  const { fields, computed, documented, version, behaviours } = resource
  // The server sets the key of a singleton and ignores the body's.
  const own = fields.filter(({ targets, isKey }) => targets.has(target) && !(isKey && behaviours.ownKey !== null))
  const properties = Object.fromEntries(own.map((field) => [field.json, takenFor(subject, field)]))
  const free = own.filter((field) => !isRequired(resource, field))
  const schema = objectOf(properties, target === 'update' ? 'all' : new Set(free.map(({ json }) => json)))
  if (documented.unknownProperties === 'ignore') return schema
  // Bodies that reject unknown members still accept read-only response members and the version, so that clients can send a record back.
  const known = [...fields, ...computed].filter(({ name, targets }) => targets.has('response') || name === version)
  const ignored = Object.fromEntries(known.map(({ json }) => [json, IGNORED]))
  return { ...schema, properties: { ...without(ignored, properties), ...properties }, additionalProperties: false }
}

function isRequired({ documented }: Resource, { json, rules }: Field): boolean {
  return rules.required && !documented.hosted.has(json)
}

export const IGNORED: JsonSchema = Object.freeze({ readOnly: true, description: 'Ignored.' })

function keyIn({ keys }: Resource, ...sentences: readonly string[]): Members {
  return Object.fromEntries(keys.map(({ json, valueType }) => [json, told(values.replyOf(valueType), ...sentences)]))
}

function versionIn({ fields, version: attribute }: Resource): Members {
  const version = fields.find(({ name }) => name === attribute)
  const description = 'The version of the record when it was read.'
  return version === undefined ? {} : { [version.json]: { type: 'integer', minimum: 0, description } }
}

export function without(properties: unknown, own: Members): Members {
  const isOther = ([name]: [string, unknown]): boolean => !Object.hasOwn(own, name)
  return Object.fromEntries(Object.entries<JsonSchema>(Object(properties)).filter(isOther))
}

function namesIn(required: unknown): readonly string[] {
  return Array.isArray(required) ? required : []
}

function takenFor(subject: Subject, field: Field): JsonSchema {
  const { json, name, nullable: isNullable, rules } = field
  const { documented, keys } = subject.resource
  const permission = values.permissionOf(documented.masks.get(name)?.write)
  if (documented.hosted.has(json)) return marked({ description: 'Defined by the application.', ...permission }, field)
  const schema = values.bodyOf(field, keys.length)
  const takesNull = (isNullable || rules.filled === true) && !rules.required
  const taken = { ...(takesNull ? nullable(schema) : schema), ...permission }
  return values.sharedValue(subject, field, marked(taken, field), 'Input')
}

// ---------------------------------------------------------------- nested records

/** Uses of a nested record: in a body that creates it, in a body that may change it, and in the response. */
type Nested = 'Create' | 'Update' | 'Written'

/** Adds the optional members with nested records to a schema. */
function holding(subject: Subject, use: Nested, schema: JsonSchema): JsonSchema {
  const own: Members = Object(schema.properties)
  const nested = nestedIn(subject, use)
  return Object.keys(nested).length === 0 ? schema : { ...schema, properties: { ...without(nested, own), ...own } }
}

function nestedIn(subject: Subject, use: Nested): Members {
  const maxItems = use === 'Written' ? undefined : subject.resource.limits.bulkItems
  const members = heldBy(subject).map((relation) => {
    const { json, link, many } = relation
    if (link !== null) return [json, arrayOf(keyOf(subject.of(relation.speaker())), maxItems)]
    const items = elementOf(subject, relation, use)
    return [json, many ? arrayOf(items, maxItems) : nullable(items)]
  })
  return Object.fromEntries(members)
}

/** Schema of a nested record, without the attributes that its parent sets. */
function elementOf(subject: Subject, relation: Relation, use: Nested): JsonSchema {
  const name = belowOf(subject, relation, 'one') + use
  const target = subject.of(relation.speaker())
  return subject.components.refer('schemas', name, () => elementFor(target, relation, use), relation)
}

function elementFor(target: Subject, relation: Relation, use: Nested): JsonSchema {
  const { resource } = target
  const deeper = nestedIn(target, use)
  const version = versionIn(resource)
  if (use === 'Written') {
    return objectOf({ ...version, ...Object(record(target, 'response').properties), ...deeper }, 'all')
  }
  const { properties, required, ...create } = body(target, 'create')
  const creating = { ...Object(properties), ...fixedIn(relation, resource, Object(properties)) }
  if (use === 'Create') {
    const owned = ownedBy(relation)
    const free = resource.fields.filter((field) => owned.has(field.name) || !isRequired(resource, field))
    const needed = new Set(namesIn(required).filter((name) => !free.some(({ json }) => json === name)))
    const members = { ...creating, ...deeper }
    return { ...create, ...objectOf(members, new Set(Object.keys(members).filter((name) => !needed.has(name)))) }
  }
  const update = Object(body(target, 'update').properties)
  const key = keyIn(resource)
  const changing = { ...creating, ...update, ...fixedIn(relation, resource, update) }
  return { ...create, ...objectOf({ ...key, ...version, ...changing, ...version, ...key, ...deeper }, 'all') }
}

/** Attributes of a record that its parent sets. */
export function ownedBy({ ends }: Relation): ReadonlySet<string> {
  return new Set([ends.target, ...ends.fixed().keys()])
}

/** Members whose value is fixed by the parent. */
function fixedIn({ ends }: Relation, { fields }: Resource, members: Members): Members {
  const fixed = ends.fixed()
  const named = fields.filter(({ name, json }) => fixed.has(name) && Object.hasOwn(members, json))
  return Object.fromEntries(named.map(({ name, json }) => [json, { const: fixed.get(name) ?? null }]))
}
