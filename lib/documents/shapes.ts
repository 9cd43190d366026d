import type { Flattened } from '../../types/bound.js'
import type { Field, Target } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Relation, Resource } from '../../types/resource.js'
import { flattenedOf } from '../bind/flatten.js'
import { bodyOf } from './bodies.js'
import { type Draft, SHARED } from './components.js'
import { permissionOf, shownAs, shownIn } from './fields.js'
import { elementOf, type Fill, fixedIn, heldIn, heldOf, ownedBy } from './held.js'
import { replyOf } from './replies.js'
import { nullable, objectOf, told } from './schema.js'
import type { Subject } from './subjects.js'

type Properties = Readonly<Record<string, JsonSchema>>

/** A record as replies have it. */
export function recordOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', names.one, subject, () =>
    holding(record(resource, 'response'), heldIn(draft, subject, 'Written', fill)),
  )
}

/** A record as the reply to its creation has it: without a key that only the database knows. */
export function newRecordOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource } = subject
  const untold = new Set(resource.keys.filter((key) => isUntold(resource, key)).map(({ json }) => json))
  if (untold.size === 0) return recordOf(draft, subject)
  const { required, ...schema } = record(resource, 'response')
  const always = Array.isArray(required) ? required.filter((name) => !untold.has(name)) : []
  return holding({ ...schema, required: always }, heldIn(draft, subject, 'Written', fill))
}

/** Whether a key may be one that a default or a trigger of the table makes: neither clients nor the model have to give it. */
function isUntold(resource: Resource, key: Field): boolean {
  if (key.assigned || resource.model.getAttributes()[key.name]?.defaultValue !== undefined) return false
  return !key.targets.has('create') || !isRequired(resource, key)
}

/** The same schema with members that need not be there. */
function holding(schema: JsonSchema, held: Properties): JsonSchema {
  if (Object.keys(held).length === 0) return schema
  return { ...schema, properties: { ...without(held, Object(schema.properties)), ...Object(schema.properties) } }
}

/** What a record of others has in a body of its owner, or in the reply to one. */
const fill: Fill = (draft, target, held, relation) => {
  const { resource } = target
  const deeper = heldIn(draft, target, held, fill)
  const version = versionIn(resource)
  if (held === 'Written') return heldOf({ ...version, ...Object(record(resource, 'response').properties) }, deeper, [])
  const { properties, required: all = [], ...create } = body(resource, 'create')
  const owned = ownedBy(relation)
  const free = resource.fields.filter((field) => owned.has(field.name) || !isRequired(resource, field))
  const names = new Set(free.map(({ json }) => json))
  const required = Array.isArray(all) ? all.filter((name) => !names.has(name)) : []
  const making = { ...Object(properties), ...fixedIn(relation, resource.fields, Object(properties)) }
  if (held === 'Create') return { ...create, ...heldOf(making, deeper, required) }
  const update = Object(body(resource, 'update').properties)
  const changing = { ...update, ...fixedIn(relation, resource.fields, update) }
  const key = Object.fromEntries(resource.keys.map(({ json, valueType }) => [json, replyOf(valueType)]))
  return { ...create, ...heldOf({ ...key, ...version, ...making, ...changing, ...version, ...key }, deeper, []) }
}

/** The body of POST below the record that owns what is made: what the path says of it need not be there. */
export function ownedOf(draft: Draft, owner: Subject, relation: Relation, target: Subject): JsonSchema {
  const { resource } = target
  const owned = ownedBy(relation)
  const isFree = resource.fields.every(
    (field) => !owned.has(field.name) || !field.targets.has('create') || !isRequired(resource, field),
  )
  return isFree ? createOf(draft, target) : elementOf(draft, owner, relation, 'Create', fill)
}

/** An item of a page: the record, where no field leaves lists alone. */
export function itemOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  const isSame = resource.fields.every(({ targets }) => targets.has('list') === targets.has('response'))
  const isFlat = all(flattenedOf(resource)).every(({ members: { list, response } }) => list.length === response.length)
  if (isSame && isFlat) return recordOf(draft, subject)
  return draft.components.refer('schemas', names.list, subject, () => record(resource, 'list'))
}

function all(flattened: readonly Flattened[]): readonly Flattened[] {
  return flattened.flatMap((each) => [each, ...all(each.deeper)])
}

type Shape = 'response' | 'list'

function record(resource: Resource, shape: Shape): JsonSchema {
  const own = resource.fields.filter(({ targets }) => targets.has(shape))
  const opened = new Set(own.filter(({ name }) => resource.flatten.includes(name)).map(({ json }) => json))
  const properties = Object.fromEntries(own.map((field) => [field.json, shownIn(resource, field)]))
  const flattened = membersOf(flattenedOf(resource), shape).filter(([name]) => !Object.hasOwn(properties, name))
  const schema = objectOf({ ...properties, ...Object.fromEntries(flattened) }, opened)
  if (opened.size === 0) return schema
  // What an object in JSON has becomes members of the record, under names that only the rows know.
  return told({ ...schema, additionalProperties: true }, 'Members of JSON are among its own.')
}

/** The members that are flattened into records, by name. */
export function flattenedIn(resource: Resource): Properties {
  return Object.fromEntries(membersOf(flattenedOf(resource), 'response'))
}

/** Members of records behind relations. Null stands for all of them where there is none. */
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

/** The body of POST. */
export function createOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', names.create, subject, () =>
    holding(body(resource, 'create'), heldIn(draft, subject, 'Create', fill)),
  )
}

/** The body of PATCH. */
export function updateOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', names.update, subject, () =>
    holding(body(resource, 'update'), heldIn(draft, subject, 'Update', fill)),
  )
}

function body(resource: Resource, target: Extract<Target, 'create' | 'update'>): JsonSchema {
  const { fields, documented } = resource
  const own = fields.filter(({ targets }) => targets.has(target))
  const properties = Object.fromEntries(own.map((field) => [field.json, takenFor(resource, field)]))
  const free = own.filter((field) => !isRequired(resource, field))
  const optional = target === 'update' ? 'all' : new Set(free.map(({ json }) => json))
  const schema = objectOf(properties, optional)
  if (documented.unknownProperties === 'ignore') return schema
  return { ...schema, properties: { ...ignored(resource, properties), ...properties }, additionalProperties: false }
}

function isRequired({ documented }: Resource, { json, rules }: Field): boolean {
  return rules.required && !documented.hosted.has(json)
}

/** What replies show and a body cannot change, and the version, may be sent back where anything unknown is refused. */
function ignored({ fields, version }: Resource, properties: Properties): Properties {
  const known = fields.filter(({ name, targets }) => targets.has('response') || name === version)
  const others = known.filter(({ json }) => !Object.hasOwn(properties, json))
  return Object.fromEntries(others.map(({ json }) => [json, IGNORED]))
}

/** A member that says nothing. */
export const IGNORED: JsonSchema = Object.freeze({ readOnly: true, description: 'Ignored.' })

/** The body of PUT: the record as it shall be. The key may be repeated. */
export function replaceOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}Replace`, subject, () => {
    const { properties, ...update } = body(resource, 'update')
    const written = resource.fields.filter(({ targets }) => targets.has('update'))
    const required = written.filter((field) => isRequired(resource, field)).map(({ json }) => json)
    const key = Object.fromEntries(
      resource.keys.map(({ json, valueType }) => [json, told(replyOf(valueType), 'That of the path.')]),
    )
    const schema = {
      ...update,
      ...(required.length === 0 ? {} : { required }),
      properties: { ...key, ...without(properties, key) },
    }
    return holding(schema, heldIn(draft, subject, 'Update', fill))
  })
}

/** An item of a bulk update: the changes, with what a path and `If-Match` say of one record alone. */
export function bulkUpdateOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}BulkUpdate`, subject, () => {
    const { properties, ...update } = body(resource, 'update')
    const keys = resource.keys.map(({ json, valueType }) => [json, replyOf(valueType)] as const)
    const own: Properties = { ...Object.fromEntries(keys), ...versionIn(resource) }
    const schema = { ...update, required: Object.keys(own), properties: { ...own, ...without(properties, own) } }
    return holding(schema, heldIn(draft, subject, 'Update', fill))
  })
}

/** An item of an upsert: a new record, or the changes of one that is there. */
export function upsertOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}Upsert`, subject, () => {
    const { required: _, properties, ...create } = body(resource, 'create')
    const update = body(resource, 'update').properties
    const version = versionIn(resource)
    const schema = {
      ...create,
      properties: { ...version, ...without(update, version), ...without(properties, version) },
    }
    return holding(schema, heldIn(draft, subject, 'Update', fill))
  })
}

function versionIn({ fields, version: attribute }: Resource): Properties {
  const version = fields.find(({ name }) => name === attribute)
  return version === undefined ? {} : { [version.json]: { type: 'integer', minimum: 0, description: VERSION } }
}

const VERSION = 'The version of the record as it was read.'

function without(properties: unknown, own: Properties): Properties {
  const isOther = ([name]: [string, unknown]): boolean => !Object.hasOwn(own, name)
  return Object.fromEntries(Object.entries(properties ?? {}).filter(isOther))
}

/** A field in a body. */
function takenFor({ documented, keys }: Resource, field: Field): JsonSchema {
  const { json, rules } = field
  const permission = permissionOf(documented.masks.get(field.name)?.write ?? null)
  if (documented.hosted.has(json)) return { description: 'As the application says.', ...permission }
  const schema = bodyOf(field, keys.length)
  const takesNull = (field.nullable || rules.filled === true) && !rules.required
  return { ...(takesNull ? nullable(schema) : schema), ...permission }
}

const TOTALS = {
  totalCount: { type: ['integer', 'null'], minimum: 0, description: 'Null where nobody counted.' },
  page: { type: 'integer', minimum: 1 },
  pageSize: { type: 'integer', minimum: 1 },
  totalPages: { type: ['integer', 'null'], minimum: 0, description: 'Null where nobody counted.' },
  hasNextPage: { type: 'boolean' },
  hasPreviousPage: { type: 'boolean' },
}

/** A page by number, of these items. */
export function pageOf({ components }: Draft, subject: Subject, name: string, item: JsonSchema): JsonSchema {
  return components.refer('schemas', name, subject, () =>
    objectOf({ items: { type: 'array', items: item }, ...TOTALS }),
  )
}

/** A page of groups: each has the members that were asked for. */
export function groupPageOf(draft: Draft, subject: Subject): JsonSchema {
  const { one } = subject.names
  const fields = { type: 'object' }
  const group = draft.components.refer('schemas', `${one}Group`, subject, () => ({
    type: 'object',
    properties: {
      group: { ...fields, description: 'What its records have in common; dates by their parts.' },
      count: { type: 'integer', minimum: 0 },
      counts: { ...fields, description: 'By field, how many records have a value.' },
      distinct: { ...fields, description: 'By field, how many values there are.' },
      sum: fields,
      avg: fields,
      min: fields,
      max: fields,
    },
  }))
  return pageOf(draft, subject, `${one}GroupPage`, group)
}

/** A page by cursor. */
export function cursorPageOf(draft: Draft, subject: Subject): JsonSchema {
  return draft.components.refer('schemas', `${subject.names.one}CursorPage`, subject, () =>
    objectOf({
      items: { type: 'array', items: recordOf(draft, subject) },
      nextCursor: { type: ['string', 'null'], description: 'The `cursor` of the next page; null on the last one.' },
      pageSize: { type: 'integer', minimum: 1 },
    }),
  )
}

/** A page by `after` or `before`, of these items. */
export function keysetPageOf({ components }: Draft, subject: Subject, name: string, item: JsonSchema): JsonSchema {
  return components.refer('schemas', name, subject, () =>
    objectOf({
      items: { type: 'array', items: item },
      pageSize: { type: 'integer', minimum: 1 },
      nextCursor: { type: ['string', 'null'], description: 'The `after` of the next page; null on the last one.' },
      previousCursor: { type: ['string', 'null'], description: 'The `before` of the page before; null on the first.' },
    }),
  )
}

/** The replies that are numbers, which all resources share. */
const NUMBERS = {
  Count: { count: { type: 'integer', minimum: 0 } },
  BulkDeleted: { deleted: { type: 'integer', minimum: 0 } },
  Upserted: { created: { type: 'integer', minimum: 0 }, updated: { type: 'integer', minimum: 0 } },
}

export function numberOf({ components }: Draft, name: keyof typeof NUMBERS): JsonSchema {
  return components.refer('schemas', name, SHARED, () => objectOf(NUMBERS[name]))
}
