import type { Field } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { componentName, type Draft, SHARED } from './components.js'
import { flattenedIn, itemOf, recordOf } from './shapes.js'
import type { Subject } from './subjects.js'
import { type Members, nullable, objectOf, shownIn } from './values.js'

// ---------------------------------------------------------------- pages

const COUNT = { type: 'integer', minimum: 0 } as const
const TOTAL = { type: ['integer', 'null'], minimum: 0, description: 'Null where nobody counted.' } as const
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
  nextCursor: cursor('The `after` of the next page; null on the last one.'),
  previousCursor: cursor('The `before` of the page before; null on the first.'),
}
const CURSOR: Members = {
  nextCursor: cursor('The `cursor` of the next page; null on the last one.'),
  pageSize: POSITIVE,
}

function pageOf({ components }: Draft, subject: Subject, end: string, items: JsonSchema, members: Members): JsonSchema {
  return components.refer('schemas', subject.names.one + end, subject, () => {
    const shared = Object.entries(members).map(([name, schema]) => {
      return [name, components.share('schemas', componentName(name), schema)] as const
    })
    return objectOf({ items: { type: 'array', items }, ...Object.fromEntries(shared) })
  })
}

/** The replies of a list, by its modes. */
export function modesOf(draft: Draft, subject: Subject): readonly JsonSchema[] {
  const { keyset, operations } = subject.resource
  const item = itemOf(draft, subject)
  const page = pageOf(draft, subject, 'Page', item, TOTALS)
  const projection = projectionOf(draft, subject)
  return [
    page,
    pageOf(draft, subject, 'ProjectionPage', projection, TOTALS),
    pageOf(draft, subject, 'KeysetPage', item, KEYSET),
    pageOf(draft, subject, 'ProjectionKeysetPage', projection, KEYSET),
    ...(keyset ? [pageOf(draft, subject, 'CursorPage', recordOf(draft, subject), CURSOR)] : []),
    numberOf(draft, 'Count'),
    ...(operations.has('aggregate') ? [groupPageOf(draft, subject)] : []),
  ]
}

/** A page of groups. A group has the measures that the request names. */
export function groupPageOf(draft: Draft, subject: Subject): JsonSchema {
  const fields = { type: 'object' }
  const group = draft.components.refer('schemas', `${subject.names.one}Group`, subject, () => ({
    type: 'object',
    properties: {
      group: { ...fields, description: 'What its records have in common; dates by their parts.' },
      count: COUNT,
      counts: { ...fields, description: 'By field, how many records have a value.' },
      distinct: { ...fields, description: 'By field, how many values there are.' },
      sum: fields,
      avg: fields,
      min: fields,
      max: fields,
    },
  }))
  return pageOf(draft, subject, 'GroupPage', group, TOTALS)
}

type NumberName = 'Count' | 'BulkDeleted' | 'Upserted' | 'Linked'

const NUMBERS: Readonly<Record<NumberName, Members>> = {
  Count: { count: COUNT },
  BulkDeleted: { deleted: COUNT },
  Upserted: { created: COUNT, updated: COUNT },
  Linked: { linked: COUNT, unlinked: COUNT },
}

/** A reply of numbers, which all resources share. */
export function numberOf({ components }: Draft, name: NumberName): JsonSchema {
  const optional = new Set(name === 'Linked' ? ['unlinked'] : [])
  return components.refer('schemas', name, SHARED, () => objectOf(NUMBERS[name], optional))
}

// ---------------------------------------------------------------- projections

/** A record with `select`: each member is there if the request names it. Masked fields are left out. */
export function projectionOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}Projection`, subject, () => {
    const relations = relationsOf(draft, subject, resource.relations(), resource.limits.pathDepth)
    const shown = resource.fields.filter(({ targets }) => targets.has('list') || targets.has('response'))
    return objectOf({ ...flattenedIn(resource), ...relations, ...membersOf(draft, shown, resource) }, 'all')
  })
}

function membersOf(draft: Draft, fields: readonly Field[], resource: Pick<Resource, 'documented'>): Members {
  return Object.fromEntries(fields.map((field) => [field.json, shownIn(draft, resource, field)]))
}

/** Relations as members, up to the depth of paths. */
function relationsOf(draft: Draft, subject: Subject, all: ReadonlyMap<string, Relation>, depth: number): Members {
  if (depth === 0) return {}
  const members = [...all.values()].flatMap((relation): [string, JsonSchema][] => {
    const { json, count, many, isCountTaken } = relation
    const reach = relation.reach()
    if (reach === null) return []
    const record = reachedBy(draft, subject, reach, depth - 1)
    if (!many) return [[json, nullable(record)]]
    return [
      [json, { type: 'array', items: record }],
      [`${json}@more`, { const: true, description: 'There are more.' }],
      ...(isCountTaken ? [] : [[count.json, COUNT] as [string, JsonSchema]]),
    ]
  })
  return Object.fromEntries(members)
}

/** A record behind a relation: the projection of its resource, if paths reach all fields of one resource. */
function reachedBy(draft: Draft, subject: Subject, reach: Reach, depth: number): JsonSchema {
  const { resources, relations, fields } = reach
  const only = soleOf(reach)
  if (only !== null) return projectionOf(draft, draft.subjects.of(only, subject.at))
  const deeper = resources.length === 0 ? {} : relationsOf(draft, subject, relations, depth)
  const listed = [...fields.values()].filter(({ targets }) => targets.has('list'))
  const masks = new Map(resources.flatMap(({ documented }) => [...documented.masks]))
  // A field stands before a relation of its name.
  return objectOf({ ...deeper, ...membersOf(draft, listed, { documented: { ...OPEN, masks } }) }, 'all')
}

const OPEN: Resource['documented'] = Object.freeze({
  policies: new Set<never>(),
  masks: new Map(),
  scoped: false,
  keyed: false,
  hosted: new Set<never>(),
  unknownProperties: 'ignore',
})

/** The only resource behind a relation, if paths reach all fields of its list. */
function soleOf({ resources, fields }: Reach): Resource | null {
  const [only, ...others] = resources
  if (only === undefined || others.length > 0) return null
  const listed = only.fields.filter(({ targets }) => targets.has('list'))
  return listed.every(({ json }) => fields.has(json.toLowerCase())) ? only : null
}
