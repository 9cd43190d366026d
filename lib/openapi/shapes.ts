import type { Flattened } from '../../types/bound.js'
import type { Field, Target } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Relation, Resource } from '../../types/resource.js'
import { flattenedOf } from '../bind/flatten.js'
import { CrudConfigError } from '../common/errors.js'
import { typeName } from '../compile/names.js'
import { singularize } from '../sequelize/words.js'
import { heldBy } from './asked.js'
import type { Draft } from './components.js'
import type { Subject } from './subjects.js'
import {
  bodyOf,
  keysOf,
  type Members,
  nullable,
  objectOf,
  permissionOf,
  replyOf,
  sharedValue,
  shownAs,
  shownIn,
  told,
} from './values.js'

// ---------------------------------------------------------------- records

/** A record in replies. */
export function recordOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', names.one, subject, () =>
    holding(draft, subject, 'Written', record(draft, resource, 'response')),
  )
}

/** A record in the reply to its creation: without a key that only the database knows. */
export function newRecordOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource } = subject
  const unknown = new Set(resource.keys.filter((key) => isUnknown(resource, key)).map(({ json }) => json))
  if (unknown.size === 0) return recordOf(draft, subject)
  const { required, ...schema } = record(draft, resource, 'response')
  return holding(draft, subject, 'Written', { ...schema, required: namesIn(required).filter((n) => !unknown.has(n)) })
}

/** Whether a default or a trigger of the table may make a key: neither clients nor the model have to give it. */
function isUnknown(resource: Resource, key: Field): boolean {
  if (key.assigned || resource.model.getAttributes()[key.name]?.defaultValue !== undefined) return false
  return !key.targets.has('create') || !isRequired(resource, key)
}

/** An item of a page: the record, unless lists lack some of its fields. */
export function itemOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  const isSame = resource.fields.every(({ targets }) => targets.has('list') === targets.has('response'))
  const isFlat = all(flattenedOf(resource)).every(({ members: { list, response } }) => list.length === response.length)
  if (isSame && isFlat) return recordOf(draft, subject)
  return draft.components.refer('schemas', names.list, subject, () => record(draft, resource, 'list'))
}

function all(flattened: readonly Flattened[]): readonly Flattened[] {
  return flattened.flatMap((each) => [each, ...all(each.deeper)])
}

type Shape = 'response' | 'list'

function record(draft: Draft, resource: Resource, shape: Shape): JsonSchema {
  const own = resource.fields.filter(({ targets }) => targets.has(shape))
  const opened = new Set(own.filter(({ name }) => resource.flatten.includes(name)).map(({ json }) => json))
  const properties = Object.fromEntries(own.map((field) => [field.json, shownIn(draft, resource, field)]))
  const flattened = membersOf(flattenedOf(resource), shape).filter(([name]) => !Object.hasOwn(properties, name))
  const schema = objectOf({ ...properties, ...Object.fromEntries(flattened) }, opened)
  if (opened.size === 0) return schema
  // The members of an object in JSON become members of the record, under names that only the rows know.
  return told({ ...schema, additionalProperties: true }, 'Members of JSON are among its own.')
}

/** The members that are flattened into records, by name. */
export function flattenedIn(resource: Resource): Members {
  return Object.fromEntries(membersOf(flattenedOf(resource), 'response'))
}

/** Members of records behind relations: null where there is no record. */
function membersOf(flattened: readonly Flattened[], shape: Shape): readonly (readonly [string, JsonSchema])[] {
  return flattened.flatMap(({ members, deeper, crossing: { reach } }) => [
    ...members[shape].map(({ json, field }) => {
      const permissions = reach.resources.flatMap(({ documented }) => documented.masks.get(field.name)?.read ?? [])
      const schema = { ...nullable(shownAs(field)), ...permissionOf(permissions[0] ?? null) }
      return [json, { ...schema, readOnly: true }] as const
    }),
    ...membersOf(deeper, shape),
  ])
}

// ---------------------------------------------------------------- bodies

/** The body of POST. */
export function createOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', names.create, subject, () =>
    holding(draft, subject, 'Create', body(draft, resource, 'create')),
  )
}

/** The body of PATCH. */
export function updateOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', names.update, subject, () =>
    holding(draft, subject, 'Update', body(draft, resource, 'update')),
  )
}

/** The body of PUT, which may repeat the key. */
export function replaceOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}Replace`, subject, () => {
    const { properties, ...update } = body(draft, resource, 'update')
    const written = resource.fields.filter(({ targets }) => targets.has('update'))
    const required = written.filter((field) => isRequired(resource, field)).map(({ json }) => json)
    const key = keyIn(resource, (schema) => told(schema, 'That of the path.'))
    return holding(draft, subject, 'Update', {
      ...update,
      ...(required.length === 0 ? {} : { required }),
      properties: { ...key, ...without(properties, key) },
    })
  })
}

/** An item of a bulk update: the changes, the key and the version. */
export function bulkUpdateOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}BulkUpdate`, subject, () => {
    const { properties, ...update } = body(draft, resource, 'update')
    const own = { ...keyIn(resource), ...versionIn(resource) }
    const schema = { ...update, required: Object.keys(own), properties: { ...own, ...without(properties, own) } }
    return holding(draft, subject, 'Update', schema)
  })
}

/** An item of an upsert: a new record, or the changes of a record. */
export function upsertOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}Upsert`, subject, () => {
    const { required: _, properties, ...create } = body(draft, resource, 'create')
    const update = body(draft, resource, 'update').properties
    const version = versionIn(resource)
    const members = { ...version, ...without(update, version), ...without(properties, version) }
    return holding(draft, subject, 'Update', { ...create, properties: members })
  })
}

/** The body of POST below the owner of the new record: attributes that the path sets are optional. */
export function ownedOf(draft: Draft, owner: Subject, relation: Relation, target: Subject): JsonSchema {
  const { resource } = target
  const owned = ownedBy(relation)
  const isFree = resource.fields.every(
    (field) => !owned.has(field.name) || !field.targets.has('create') || !isRequired(resource, field),
  )
  return isFree ? createOf(draft, target) : elementOf(draft, owner, relation, 'Create')
}

function body(draft: Draft, resource: Resource, target: Extract<Target, 'create' | 'update'>): JsonSchema {
  const { fields, documented, version } = resource
  const own = fields.filter(({ targets }) => targets.has(target))
  const properties = Object.fromEntries(own.map((field) => [field.json, takenFor(draft, resource, field)]))
  const free = own.filter((field) => !isRequired(resource, field))
  const schema = objectOf(properties, target === 'update' ? 'all' : new Set(free.map(({ json }) => json)))
  if (documented.unknownProperties === 'ignore') return schema
  // Where unknown members are refused, members of replies that no body changes, and the version, may be sent back.
  const known = fields.filter(({ name, targets }) => targets.has('response') || name === version)
  const ignored = Object.fromEntries(known.map(({ json }) => [json, IGNORED]))
  return { ...schema, properties: { ...without(ignored, properties), ...properties }, additionalProperties: false }
}

function isRequired({ documented }: Resource, { json, rules }: Field): boolean {
  return rules.required && !documented.hosted.has(json)
}

export const IGNORED: JsonSchema = Object.freeze({ readOnly: true, description: 'Ignored.' })

function keyIn({ keys }: Resource, make = (schema: JsonSchema): JsonSchema => schema): Members {
  return Object.fromEntries(keys.map(({ json, valueType }) => [json, make(replyOf(valueType))]))
}

function versionIn({ fields, version: attribute }: Resource): Members {
  const version = fields.find(({ name }) => name === attribute)
  const description = 'The version of the record as it was read.'
  return version === undefined ? {} : { [version.json]: { type: 'integer', minimum: 0, description } }
}

function without(properties: unknown, own: Members): Members {
  const isOther = ([name]: [string, unknown]): boolean => !Object.hasOwn(own, name)
  return Object.fromEntries(Object.entries<JsonSchema>(Object(properties)).filter(isOther))
}

function namesIn(required: unknown): readonly string[] {
  return Array.isArray(required) ? required : []
}

/** A field in a body. */
function takenFor(draft: Draft, { documented, keys }: Resource, field: Field): JsonSchema {
  const { json, rules } = field
  const permission = permissionOf(documented.masks.get(field.name)?.write ?? null)
  if (documented.hosted.has(json)) return { description: 'As the application says.', ...permission }
  const schema = bodyOf(field, keys.length)
  const takesNull = (field.nullable || rules.filled === true) && !rules.required
  return sharedValue(draft, field, { ...(takesNull ? nullable(schema) : schema), ...permission }, 'Input')
}

// ---------------------------------------------------------------- nested records

/** The uses of a nested record: in a body that creates it, in one that may change it, and in the reply to either. */
type Nested = 'Create' | 'Update' | 'Written'

/** The schema with the optional members that hold nested records. */
function holding(draft: Draft, subject: Subject, use: Nested, schema: JsonSchema): JsonSchema {
  const nested = nestedIn(draft, subject, use)
  if (Object.keys(nested).length === 0) return schema
  return { ...schema, properties: { ...without(nested, Object(schema.properties)), ...Object(schema.properties) } }
}

function nestedIn(draft: Draft, subject: Subject, use: Nested): Members {
  const relations = heldBy(draft, subject)
  assertDistinct(
    subject,
    relations.flatMap(({ json, relation }) => (relation.link === null ? [json] : [])),
  )
  const maxItems = use === 'Written' ? null : subject.resource.limits.bulkItems
  const members = relations.map(({ json, relation, target }): [string, JsonSchema] => {
    if (relation.link !== null) return [json, keysOf(target, maxItems)]
    const items = elementOf(draft, subject, relation, use)
    if (!relation.many) return [json, nullable(items)]
    return [json, { type: 'array', items, ...(maxItems === null ? {} : { maxItems }) }]
  })
  return Object.fromEntries(members)
}

function singularOf(json: string): string {
  return singularize(typeName(json))
}

/** @throws CrudConfigError for two relations whose records would have one name */
function assertDistinct({ resource }: Subject, relations: readonly string[]): void {
  const words = relations.map(singularOf)
  const second = words.findIndex((word, index) => words.indexOf(word) !== index)
  if (second < 0) return
  const first = relations[words.indexOf(words[second] ?? '')]
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${resource.name}: what bodies hold of "${first}" and "${relations[second]}" would have one name in a document: give one of these associations another "as".`,
  )
}

/** A nested record, without the attributes that its owner sets. */
function elementOf(draft: Draft, subject: Subject, relation: Relation, use: Nested): JsonSchema {
  const target = draft.subjects.of(relation.speaker(), subject.at)
  const name = subject.names.one + singularOf(relation.json) + use
  return draft.components.refer('schemas', name, relation, () => elementFor(draft, target, relation, use))
}

function elementFor(draft: Draft, target: Subject, relation: Relation, use: Nested): JsonSchema {
  const { resource } = target
  const deeper = nestedIn(draft, target, use)
  const version = versionIn(resource)
  const elementWith = (members: Members, required: readonly string[]): JsonSchema => {
    const all = { ...members, ...deeper }
    return objectOf(all, new Set(Object.keys(all).filter((name) => !required.includes(name))))
  }
  if (use === 'Written') {
    return elementWith({ ...version, ...Object(record(draft, resource, 'response').properties) }, [])
  }
  const { properties, required, ...create } = body(draft, resource, 'create')
  const owned = ownedBy(relation)
  const free = resource.fields.filter((field) => owned.has(field.name) || !isRequired(resource, field))
  const optional = new Set(free.map(({ json }) => json))
  const creating = { ...Object(properties), ...fixedIn(relation, resource.fields, Object(properties)) }
  if (use === 'Create') {
    return {
      ...create,
      ...elementWith(
        creating,
        namesIn(required).filter((name) => !optional.has(name)),
      ),
    }
  }
  const update = Object(body(draft, resource, 'update').properties)
  const changing = { ...update, ...fixedIn(relation, resource.fields, update) }
  const key = keyIn(resource)
  return { ...create, ...elementWith({ ...key, ...version, ...creating, ...changing, ...version, ...key }, []) }
}

/** The attributes of a record that its owner sets. */
export function ownedBy({ ends }: Relation): ReadonlySet<string> {
  return new Set([ends.target, ...ends.fixed().keys()])
}

/** Members that have one value because of their owner. */
function fixedIn(relation: Relation, fields: readonly Field[], members: Members): Members {
  const fixed = relation.ends.fixed()
  const named = fields.filter(({ name, json }) => fixed.has(name) && Object.hasOwn(members, json))
  return Object.fromEntries(named.map(({ name, json }) => [json, { const: fixed.get(name) ?? null }]))
}
