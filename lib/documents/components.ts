import type { DocumentComponents, JsonSchema } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import type { Subject, Subjects } from './subjects.js'

export type Kind = 'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes'

interface Entry {
  readonly owner: object
  content: JsonSchema
}

/** What records hold of others is named after two resources, which may be what a third one is called: that one can have another name. */
function taken(kind: Kind, name: string, owners: readonly object[]): CrudConfigError {
  const subject = owners.find(isSubject)
  const who = subject === undefined ? 'one of their resources' : `${subject.resource.name} at ${subject.path}`
  const other = `Other${subject?.names.one ?? name}`
  return new CrudConfigError(
    'INVALID_OPTION',
    `Two of the document's ${kind} would be called "${name}": give ${who} other names, by its option names, or by that of its entry: { resource, at, names: { response: '${other}' } }.`,
  )
}

function isSubject(owner: object): owner is Subject {
  return 'names' in owner && 'resource' in owner
}

/** The components of a document: those that something refers to, each made when it is first referred to. */
export class Components {
  readonly #kinds = new Map<Kind, Map<string, Entry>>()

  /**
   * A reference to the component of that name. `owner` is what it is of: the same for equal ones.
   *
   * @throws CrudConfigError where another one has the name
   */
  refer(kind: Kind, name: string, owner: object, make: () => JsonSchema): JsonSchema {
    const known = this.#kinds.get(kind) ?? new Map<string, Entry>()
    this.#kinds.set(kind, known)
    const entry = known.get(name)
    if (entry !== undefined && entry.owner !== owner) {
      throw taken(kind, name, [owner, entry.owner])
    }
    if (entry === undefined) {
      // There before it is made: schemas lead back to themselves.
      const made: Entry = { owner, content: {} }
      known.set(name, made)
      made.content = make()
    }
    return { $ref: `#/components/${kind}/${name}` }
  }

  /** All of them, by kind and name. */
  get content(): DocumentComponents {
    const kinds = [...this.#kinds].map(([kind, entries]) => {
      const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1))
      return [kind, Object.fromEntries(sorted.map(([name, { content }]) => [name, content]))]
    })
    return Object.fromEntries(kinds)
  }
}

/** The owner of what all resources share. */
export const SHARED: object = Object.freeze({})

/** What the parts of one document are written into. */
export interface Draft {
  readonly components: Components
  readonly subjects: Subjects
}
