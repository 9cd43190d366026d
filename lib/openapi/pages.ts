import type { JsonSchema } from '../../types/openApi.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { arrayOf, type Members, nullable, objectOf } from '../codec/schema.js'
import { componentName } from './components.js'
import { componentOf, flattenedIn, itemOf, recordOf, shownOf } from './shapes.js'
import { belowOf, type Subject } from './subjects.js'

// ---------------------------------------------------------------- pages

const COUNT = { type: 'integer', minimum: 0 } as const
const TOTAL = { type: ['integer', 'null'], minimum: 0, description: 'Null if the records were not counted.' } as const
const POSITIVE = { type: 'integer', minimum: 1 } as const
const YES_OR_NO = { type: 'boolean' } as const

function cursor(description: string): JsonSchema {
  return { type: ['string', 'null'], description }
}

const TOTALS: Members = {
  totalCount: TOTAL,
  page: POSITIVE,
  pageSize: POSITIVE,
  totalPages: TOTAL,
  hasNextPage: YES_OR_NO,
  hasPreviousPage: YES_OR_NO,
}
const KEYSET: Members = {
  pageSize: POSITIVE,
  nextCursor: cursor('The `after` of the next page, or null.'),
  previousCursor: cursor('The `before` of the previous page, or null.'),
}
const CURSOR: Members = {
  nextCursor: cursor('The `cursor` of the next page, or null.'),
  pageSize: POSITIVE,
}

function pageOf(subject: Subject, end: string, items: JsonSchema, members: Members): JsonSchema {
  return componentOf(subject, subject.names.one + end, () => pageWith(subject, items, members))
}

function pageWith({ components }: Subject, items: JsonSchema, members: Members): JsonSchema {
  const shared = Object.entries(members).map(([name, schema]) => {
    return [name, components.share('schemas', componentName(name), schema)] as const
  })
  return objectOf({ items: arrayOf(items), ...Object.fromEntries(shared) })
}

/** A many-to-many relation of a resource whose join rows are readable. */
export interface LinkedList {
  readonly owner: Subject
  readonly relation: Relation
}

/** Response schemas of a list, by mode. For a list below a record, `linked` is its relation. */
export function modesOf(subject: Subject, linked: LinkedList | null = null): readonly JsonSchema[] {
  const { keyset, operations } = subject.resource
  const item = itemOf(subject)
  const page = pageOf(subject, 'Page', item, TOTALS)
  return [
    page,
    projectedPage(subject, linked, 'Page', TOTALS),
    pageOf(subject, 'KeysetPage', item, KEYSET),
    projectedPage(subject, linked, 'KeysetPage', KEYSET),
    ...(keyset ? [pageOf(subject, 'CursorPage', recordOf(subject), CURSOR)] : []),
    numberOf(subject, 'Count'),
    ...(operations.has('aggregate') ? [groupPageOf(subject)] : []),
  ]
}

function projectedPage(subject: Subject, linked: LinkedList | null, end: string, members: Members): JsonSchema {
  const projection = linked === null ? null : linkedProjection(linked.owner, linked.relation)
  if (linked === null || projection === null) {
    return pageOf(subject, `Projection${end}`, projectionOf(subject), members)
  }
  const { owner, relation } = linked
  const name = `${belowOf(owner, relation, 'one')}Projection${end}`
  return owner.components.refer('schemas', name, () => pageWith(owner, projection, members), relation)
}

/** A page of groups. A group has the measures of the request. */
export function groupPageOf(subject: Subject): JsonSchema {
  const fields = { type: 'object' }
  const group = componentOf(subject, `${subject.names.one}Group`, () => ({
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
  return pageOf(subject, 'GroupPage', group, TOTALS)
}

type NumberName = 'Count' | 'BulkDeleted' | 'Upserted' | 'Linked'

const NUMBERS: Readonly<Record<NumberName, Members>> = {
  Count: { count: COUNT },
  BulkDeleted: { deleted: COUNT },
  Upserted: { created: COUNT, updated: COUNT },
  Linked: { linked: COUNT, unlinked: COUNT },
}

/** Response with counts. All resources share its schema. */
export function numberOf({ components }: Subject, name: NumberName): JsonSchema {
  return components.refer('schemas', name, () => objectOf(NUMBERS[name], new Set(['unlinked'])))
}

// ---------------------------------------------------------------- projections

/** A record with `select`: it has the requested members, without masked fields. */
export function projectionOf(subject: Subject): JsonSchema {
  return componentOf(subject, `${subject.names.one}Projection`, () => {
    return objectOf(projectedMembers(subject), 'all')
  })
}

function projectedMembers(subject: Subject): Members {
  const { fields, computed } = subject.resource
  const shown = [...fields, ...computed].filter(({ targets }) => targets.has('list') || targets.has('response'))
  return { ...flattenedIn(subject, 'response'), ...relationsOf(subject), ...shownOf(subject, shown) }
}

/** Projection of a record in a many-to-many list, with its join row. Null if paths cannot read the join row. */
export function linkedProjection(subject: Subject, relation: Relation): JsonSchema | null {
  const [reach, row] = [relation.reach(), relation.link?.row() ?? null]
  const rowReach = row?.reach() ?? null
  if (reach === null || row === null || rowReach === null) return null
  const only = soleOf(reach)
  const name = `${belowOf(subject, relation, 'one')}Projection`
  const make = (): JsonSchema => {
    const own = only === null ? Object(reachedBy(subject, reach, 0).properties) : projectedMembers(subject.of(only))
    return objectOf({ [row.json]: nullable(reachedBy(subject, rowReach, 0, false)), ...own }, 'all')
  }
  return subject.components.refer('schemas', name, make, relation)
}

/** Relations as members, up to the maximum depth of paths. */
export function relationsOf(
  subject: Subject,
  all: ReadonlyMap<string, Relation> = subject.resource.relations(),
  depth: number = subject.resource.limits.pathDepth,
): Members {
  const members =
    depth === 0
      ? []
      : [...all.values()].flatMap((relation): [string, JsonSchema][] => {
          const { json, count, many, isCountTaken } = relation
          const reach = relation.reach()
          if (reach === null) return []
          const record = linkedProjection(subject, relation) ?? reachedBy(subject, reach, depth - 1)
          if (!many) return [[json, nullable(record)]]
          return [
            [json, arrayOf(record)],
            [`${json}@more`, { const: true, description: 'The collection has more records.' }],
            ...(isCountTaken ? [] : [[count.json, COUNT] as [string, JsonSchema]]),
          ]
        })
  return Object.fromEntries(members)
}

/** A record behind a relation. Uses the projection of its resource, if paths reach all fields of a single resource. */
function reachedBy(subject: Subject, reach: Reach, depth: number, isWhole = true): JsonSchema {
  const { resources, relations, fields } = reach
  const only = isWhole ? soleOf(reach) : null
  if (only !== null) return projectionOf(subject.of(only))
  const deeper = resources.length === 0 ? {} : relationsOf(subject, relations, depth)
  const listed = [...fields.values()].filter(({ targets }) => targets.has('list'))
  const masks = new Map(resources.flatMap(({ documented }) => [...documented.masks]))
  // A field takes precedence over a relation with its name.
  return objectOf({ ...deeper, ...shownOf(subject, listed, { masks, hosted: new Set() }) }, 'all')
}

/** The only resource behind a relation, if paths reach all fields of its list. */
function soleOf({ resources, fields }: Reach): Resource | null {
  const [only, ...others] = resources
  if (only === undefined || others.length > 0) return null
  const listed = [...only.fields, ...only.computed].filter(({ targets }) => targets.has('list'))
  return listed.every(({ json }) => fields.has(json.toLowerCase())) ? only : null
}
