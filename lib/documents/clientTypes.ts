import type { ClientTypesOptions, JsonSchema } from '../../types/openApi.js'
import { Components, type Draft } from './components.js'
import { keyOf } from './keys.js'
import { projectionOf } from './projections.js'
import { objectOf } from './schema.js'
import { createOf, itemOf, recordOf, updateOf } from './shapes.js'
import { type Subject, Subjects } from './subjects.js'
import { Declarations, typeOf } from './typescript.js'

const HEAD =
  '// Written by clientTypes of sequelize-crud-router from the resources that answer: change those, not this file.\n\n'

/**
 * The text of a TypeScript declaration file: an interface a resource, which types its client, and one for each schema that it is
 * made of, under the names that documents have for them. It is written from what serves requests: `resource<Players>('/api/players')`.
 *
 * @throws CrudConfigError for what is no resource, and where two types would have one name
 */
export function clientTypes({ resources }: ClientTypesOptions): string {
  const draft: Draft = { components: new Components(), subjects: new Subjects(resources) }
  const shapes = draft.subjects.all.map((subject) => [subject, shapesOf(draft, subject)] as const)
  const declarations = new Declarations()
  for (const [name, schema] of Object.entries(draft.components.content.schemas ?? {})) {
    declarations.add(name, typeOf(schema))
  }
  for (const [{ names }, type] of shapes) {
    // A word that is its own plural is the name of the record.
    declarations.add(declarations.has(names.many) ? `${names.many}Shapes` : names.many, type)
  }
  return HEAD + declarations.text
}

/** What a client of the resource is typed by. */
function shapesOf(draft: Draft, subject: Subject): string {
  const { resource } = subject
  const row = typeOf(recordOf(draft, subject))
  const keys = resource.keys.map(({ json }) => JSON.stringify(json))
  const members: readonly (readonly [name: string, type: string])[] = [
    ['row', row],
    ['item', typeOf(itemOf(draft, subject))],
    ['create', typeOf(createOf(draft, subject))],
    ['patch', typeOf(updateOf(draft, subject))],
    ['key', keys.length === 1 ? keys.join() : `readonly [${keys.join(', ')}]`],
    ['operations', [...resource.operations].map((each) => JSON.stringify(each)).join(' | ') || 'never'],
    ['embedded', typeOf(embeddedIn(draft, subject))],
    ...(resource.versions ? [['versions', 'true'] as const] : []),
    ...resource.fields
      .filter(({ name }) => name === resource.version)
      .map(({ json }) => ['version', JSON.stringify(json)] as const),
    ['events', eventsOf(row, typeOf(keyOf(subject)))],
  ]
  return `{\n${members.map(([name, type]) => `  readonly ${name}: ${type.replaceAll('\n', '\n  ')}`).join('\n')}\n}`
}

function eventsOf(row: string, key: string): string {
  const events = [
    ['OnCreated', `record: ${row}`],
    ['OnUpdated', `record: ${row}`],
    ['OnDeleted', `key: ${key}`],
  ]
  return `{\n${events.map(([name, given]) => `  readonly ${name}: (${given}) => void`).join('\n')}\n}`
}

/** What `select` may add to a record by crossing relations. */
function embeddedIn(draft: Draft, subject: Subject): JsonSchema {
  const { $ref } = projectionOf(draft, subject)
  const { properties } = Object(draft.components.content.schemas?.[String($ref).split('/').at(-1) ?? ''])
  const own = new Set(subject.resource.fields.map(({ json }) => json))
  const relations = [...subject.resource.relations().values()]
  const names = new Set(relations.flatMap(({ json, count }) => [json, `${json}@more`, count.json]))
  const members = Object.entries<JsonSchema>(properties).filter(([name]) => names.has(name) && !own.has(name))
  return objectOf(Object.fromEntries(members), 'all')
}
