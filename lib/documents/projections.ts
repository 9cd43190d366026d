import type { Field } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import type { Draft } from './components.js'
import { shownIn } from './fields.js'
import { nullable, objectOf } from './schema.js'
import { flattenedIn } from './shapes.js'
import type { Subject } from './subjects.js'

type Members = Readonly<Record<string, JsonSchema>>

/** What `select` leaves of a record: each member is there where it was asked for. Masked fields are left out. */
export function projectionOf(draft: Draft, subject: Subject): JsonSchema {
  const { resource, names } = subject
  return draft.components.refer('schemas', `${names.one}Projection`, subject, () => {
    const relations = behind(draft, subject, resource.relations(), resource.limits.pathDepth)
    const { fields } = resource
    const shown = fields.filter(({ targets }) => targets.has('list') || targets.has('response'))
    return objectOf({ ...flattenedIn(resource), ...relations, ...membersOf(shown, resource) }, 'all')
  })
}

function membersOf(fields: readonly Field[], resource: Shown): Members {
  return Object.fromEntries(fields.map((field) => [field.json, shownIn(resource, field)]))
}

type Shown = Pick<Resource, 'documented'>

/** The relations as members, as far as paths go. */
function behind(draft: Draft, subject: Subject, relations: ReadonlyMap<string, Relation>, depth: number): Members {
  if (depth === 0) return {}
  const crossed = [...relations.values()].flatMap((relation) => {
    const reach = relation.reach()
    if (reach === null) return []
    const record = reached(draft, subject, reach, depth - 1)
    return relation.many ? collectionOf(relation, record) : [[relation.json, nullable(record)] as const]
  })
  return Object.fromEntries(crossed)
}

function collectionOf({ json, count, isCountTaken }: Relation, items: JsonSchema): [string, JsonSchema][] {
  const number: JsonSchema = { type: 'integer', minimum: 0 }
  return [
    [json, { type: 'array', items }],
    [`${json}@more`, { const: true, description: 'There are more.' }],
    ...(isCountTaken ? [] : [[count.json, number] as [string, JsonSchema]]),
  ]
}

/** A record behind a relation: that of its resource, where paths see all of it and nobody else has a say. */
function reached(draft: Draft, subject: Subject, reach: Reach, depth: number): JsonSchema {
  const sole = soleOf(reach)
  if (sole !== null) return projectionOf(draft, draft.subjects.of(sole, subject.at))
  const deeper = reach.resources.length === 0 ? {} : behind(draft, subject, reach.relations, depth)
  const listed = [...reach.fields.values()].filter(({ targets }) => targets.has('list'))
  // A field stands before a relation of its name.
  return objectOf({ ...deeper, ...membersOf(listed, { documented: documentedOf(reach) }) }, 'all')
}

const OPEN: Resource['documented'] = Object.freeze({
  policies: new Set<never>(),
  masks: new Map(),
  scoped: false,
  keyed: false,
  hosted: new Set<never>(),
  unknownProperties: 'ignore',
})

/** What several resources say of their fields together. */
function documentedOf({ resources }: Reach): Resource['documented'] {
  return { ...OPEN, masks: new Map(resources.flatMap(({ documented }) => [...documented.masks])) }
}

/** The only resource behind a relation, where paths reach all of its list. */
export function soleOf({ resources, fields }: Reach): Resource | null {
  const [only, ...others] = resources
  if (only === undefined || others.length > 0) return null
  const listed = only.fields.filter(({ targets }) => targets.has('list'))
  return listed.every(({ json }) => fields.has(json.toLowerCase())) ? only : null
}
