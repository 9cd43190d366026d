import type { DocumentComponents, JsonSchema, XCrud } from '../../types/openApi.js'
import type { Resource } from '../../types/resource.js'
import { Components, type Draft } from './components.js'
import { crudOf } from './crud.js'
import { createOf, updateOf } from './shapes.js'
import { Subjects } from './subjects.js'

/** What the document of one resource says to those who read its records and write them one by one. */
export interface Described {
  readonly crud: XCrud
  readonly create: JsonSchema
  readonly update: JsonSchema
  /** The schemas of the bodies, and what they refer to. */
  readonly schemas: NonNullable<DocumentComponents['schemas']>
}

/** @throws CrudConfigError for a resource whose names no document can have */
export function assertDescribable(resource: Resource): void {
  new Subjects([resource])
}

export function described(resource: Resource): Described {
  const draft: Draft = { components: new Components(), subjects: new Subjects([resource]) }
  const [subject] = draft.subjects.all
  if (subject === undefined) throw new TypeError(`${resource.name} is no subject`)
  const crud = crudOf(draft, subject)
  const create = createOf(draft, subject)
  const update = updateOf(draft, subject)
  return { crud, create, update, schemas: draft.components.content.schemas ?? {} }
}
