import type { JsonSchema } from '../../types/openApi.js'
import type { ModelAccess, Relation, Resource } from '../../types/resource.js'
import { listSchema, makeNullable, objectSchema, type SchemaMembers } from '../codec/schema.js'
import { toComponentName } from './components.js'
import {
  buildFieldMembers,
  buildFlattenedMembers,
  buildItemSchema,
  buildRecordSchema,
  referToSchema,
} from './shapes.js'
import { type DescribedResource, relationName } from './subjects.js'

// ---------------------------------------------------------------- pages

const COUNT = { type: 'integer', minimum: 0 } as const
const TOTAL = { type: ['integer', 'null'], minimum: 0, description: 'Null if the records were not counted.' } as const
const POSITIVE = { type: 'integer', minimum: 1 } as const
const BOOLEAN = { type: 'boolean' } as const

function cursorSchema(description: string): JsonSchema {
  return { type: ['string', 'null'], description }
}

const TOTAL_MEMBERS: SchemaMembers = {
  totalCount: TOTAL,
  page: POSITIVE,
  pageSize: POSITIVE,
  totalPages: TOTAL,
  hasNextPage: BOOLEAN,
  hasPreviousPage: BOOLEAN,
}
const KEYSET_MEMBERS: SchemaMembers = {
  pageSize: POSITIVE,
  nextCursor: cursorSchema('The `after` of the next page, or null.'),
  previousCursor: cursorSchema('The `before` of the previous page, or null.'),
}
const CURSOR_MEMBERS: SchemaMembers = {
  nextCursor: cursorSchema('The `cursor` of the next page, or null.'),
  pageSize: POSITIVE,
}

function buildNamedPage(
  subject: DescribedResource,
  end: string,
  items: JsonSchema,
  members: SchemaMembers,
): JsonSchema {
  return referToSchema(subject, subject.names.one + end, () => buildPage(subject, items, members))
}

function buildPage({ components }: DescribedResource, items: JsonSchema, members: SchemaMembers): JsonSchema {
  const shared = Object.entries(members).map(([name, schema]) => {
    return [name, components.share('schemas', toComponentName(name), schema)] as const
  })
  return objectSchema({ items: listSchema(items), ...Object.fromEntries(shared) })
}

/** A many-to-many relation of a resource whose join rows are readable. */
export interface LinkedList {
  readonly parent: DescribedResource
  readonly relation: Relation
}

/** Response schemas of a list, one per kind of page. For a list below a record, `linked` is its relation. */
export function buildListSchemas(subject: DescribedResource, linked: LinkedList | null = null): readonly JsonSchema[] {
  const { keyset, operations } = subject.resource
  const item = buildItemSchema(subject)
  const page = buildNamedPage(subject, 'Page', item, TOTAL_MEMBERS)
  return [
    page,
    buildProjectedPage(subject, linked, 'Page', TOTAL_MEMBERS),
    buildNamedPage(subject, 'KeysetPage', item, KEYSET_MEMBERS),
    buildProjectedPage(subject, linked, 'KeysetPage', KEYSET_MEMBERS),
    ...(keyset ? [buildNamedPage(subject, 'CursorPage', buildRecordSchema(subject), CURSOR_MEMBERS)] : []),
    buildCountSchema(subject, 'Count'),
    ...(operations.has('aggregate') ? [buildGroupPage(subject)] : []),
  ]
}

function buildProjectedPage(
  subject: DescribedResource,
  linked: LinkedList | null,
  end: string,
  members: SchemaMembers,
): JsonSchema {
  const projection = linked === null ? null : buildLinkedProjection(linked.parent, linked.relation)
  if (linked === null || projection === null) {
    return buildNamedPage(subject, `Projection${end}`, buildProjection(subject), members)
  }
  const { parent, relation } = linked
  const name = `${relationName(parent, relation, 'one')}Projection${end}`
  return parent.components.referTo('schemas', name, () => buildPage(parent, projection, members), relation)
}

/** Schema of a page of groups. A group has the measures of the request. */
export function buildGroupPage(subject: DescribedResource): JsonSchema {
  const fields = { type: 'object' }
  const group = referToSchema(subject, `${subject.names.one}Group`, () => ({
    type: 'object',
    properties: {
      group: { ...fields, description: 'The values that define the group. Dates may be grouped by a part.' },
      count: COUNT,
      counts: { ...fields, description: 'The number of records with a value, by field.' },
      distinct: { ...fields, description: 'The number of distinct values, by field.' },
      sum: fields,
      avg: fields,
      min: fields,
      max: fields,
    },
  }))
  return buildNamedPage(subject, 'GroupPage', group, TOTAL_MEMBERS)
}

type CountName = 'Count' | 'BulkDeleted' | 'Upserted' | 'Linked'

const COUNT_MEMBERS: Readonly<Record<CountName, SchemaMembers>> = {
  Count: { count: COUNT },
  BulkDeleted: { deleted: COUNT },
  Upserted: { created: COUNT, updated: COUNT },
  Linked: { linked: COUNT, unlinked: COUNT },
}

/** Schema of a response with counts. All resources share the schema. */
export function buildCountSchema({ components }: DescribedResource, name: CountName): JsonSchema {
  return components.referTo('schemas', name, () => objectSchema(COUNT_MEMBERS[name], new Set(['unlinked'])))
}

// ---------------------------------------------------------------- projections

/** Schema of a record with `select`. The record has the requested members, without masked fields. */
export function buildProjection(subject: DescribedResource): JsonSchema {
  return referToSchema(subject, `${subject.names.one}Projection`, () => {
    return objectSchema(buildProjectedMembers(subject), 'all')
  })
}

function buildProjectedMembers(subject: DescribedResource): SchemaMembers {
  const { fields, computed } = subject.resource
  const shown = [...fields, ...computed].filter(({ targets }) => targets.has('list') || targets.has('response'))
  return {
    ...buildFlattenedMembers(subject, 'response'),
    ...buildRelationMembers(subject),
    ...buildFieldMembers(subject, shown),
  }
}

/**
 * Projection of a record in a many-to-many list, with its join row. Null if relation paths cannot read the join row.
 */
function buildLinkedProjection(subject: DescribedResource, relation: Relation): JsonSchema | null {
  const [access, row] = [relation.resolveTarget(), relation.joinModel?.joinRow() ?? null]
  const rowAccess = row?.resolveTarget() ?? null
  if (access === null || row === null || rowAccess === null) return null
  const only = onlyResourceOf(access)
  const name = `${relationName(subject, relation, 'one')}Projection`
  const buildSchema = (): JsonSchema => {
    const own =
      only === null
        ? Object(buildRelatedSchema(subject, access, 0).properties)
        : buildProjectedMembers(subject.subjectOf(only))
    return objectSchema({ [row.json]: makeNullable(buildRelatedSchema(subject, rowAccess, 0, false)), ...own }, 'all')
  }
  return subject.components.referTo('schemas', name, buildSchema, relation)
}

/** Schemas of relations as members of a record, up to the maximum depth of relation paths. */
export function buildRelationMembers(
  subject: DescribedResource,
  all: ReadonlyMap<string, Relation> = subject.resource.relations(),
  depth: number = subject.resource.limits.pathDepth,
): SchemaMembers {
  const members =
    depth === 0
      ? []
      : [...all.values()].flatMap((relation): [string, JsonSchema][] => {
          const { json, count, many, isCountTaken } = relation
          const access = relation.resolveTarget()
          if (access === null) return []
          const record = buildLinkedProjection(subject, relation) ?? buildRelatedSchema(subject, access, depth - 1)
          if (!many) return [[json, makeNullable(record)]]
          return [
            [json, listSchema(record)],
            [`${json}@more`, { const: true, description: 'The collection has more records.' }],
            ...(isCountTaken ? [] : [[count.json, COUNT] as [string, JsonSchema]]),
          ]
        })
  return Object.fromEntries(members)
}

/**
 * Schema of a record behind a relation. Uses the projection of its resource, if paths reach all fields of a single
 * resource.
 */
function buildRelatedSchema(
  subject: DescribedResource,
  access: ModelAccess,
  depth: number,
  isWhole = true,
): JsonSchema {
  const { resources, relations, fields } = access
  const only = isWhole ? onlyResourceOf(access) : null
  if (only !== null) return buildProjection(subject.subjectOf(only))
  const deeper = resources.length === 0 ? {} : buildRelationMembers(subject, relations, depth)
  const listed = [...fields.values()].filter(({ targets }) => targets.has('list'))
  const masks = new Map(resources.flatMap(({ documented }) => [...documented.masks]))
  // A field takes precedence over a relation with an equal name.
  return objectSchema(
    { ...deeper, ...buildFieldMembers(subject, listed, { masks, hostSchemaFields: new Set() }) },
    'all',
  )
}

/**
 * The only resource behind a relation. Null for several resources, or if relation paths cannot read all fields of its
 * list.
 */
function onlyResourceOf({ resources, fields }: ModelAccess): Resource | null {
  const [only, ...others] = resources
  if (only === undefined || others.length > 0) return null
  const listed = [...only.fields, ...only.computed].filter(({ targets }) => targets.has('list'))
  return listed.every(({ json }) => fields.has(json.toLowerCase())) ? only : null
}
