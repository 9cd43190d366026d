import type { DocumentComponents, JsonSchema } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { atOnce, type Steps } from '../common/turns.js'
import type { Subject, Subjects } from './subjects.js'

export type Kind = 'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes'

interface Entry {
  readonly owner: object
  content: JsonSchema
}

/** Schemas of nested records have the names of two resources, together perhaps that of a third one, which can have another name. */
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

/** Content that a document may repeat. Every place has the same object, which is filled when the document is complete. */
interface Repeated {
  readonly kind: Kind
  readonly name: string
  readonly content: JsonSchema
  readonly length: number
  readonly place: Record<string, unknown>
  uses: number
}

/** The components of a document, each made when it is first referred to. */
export class Components {
  readonly #kinds = new Map<Kind, Map<string, Entry>>()
  readonly #repeated = new Map<string, Repeated>()
  readonly #unmade: (() => void)[] = []
  readonly #isSharing: boolean

  /** @param isSharing whether `share` makes components of repeated content, and `make` all of them */
  constructor(isSharing = false) {
    this.#isSharing = isSharing
  }

  /**
   * The content, or a reference to it where the document is shorter with one. The name gets a number where another component
   * has it. The content must not have shared content in turn.
   */
  share(kind: Kind, name: string, content: JsonSchema): JsonSchema {
    if (!this.#isSharing || '$ref' in content) return content
    const text = JSON.stringify(content)
    const key = `${kind} ${name} ${text}`
    const known = this.#repeated.get(key) ?? { kind, name, content, length: text.length, place: {}, uses: 0 }
    this.#repeated.set(key, known)
    known.uses += 1
    return known.place
  }

  /** Makes the components that documents refer to, one a step: chains of relations may lead through all resources. */
  *make(): Steps<void> {
    for (let fill = this.#unmade.shift(); fill !== undefined; fill = this.#unmade.shift()) {
      fill()
      yield
    }
  }

  /** Fills the places of shared content. Nothing is shared after it. */
  settle(): void {
    for (const { kind, name, content, length, place, uses } of this.#repeated.values()) {
      const known = this.#kinds.get(kind)
      const free = numbered(name, (each) => known?.has(each) === true)
      const reference = JSON.stringify({ $ref: pointer(kind, free) })
      const isShorter = uses * reference.length + free.length + length < uses * length
      Object.assign(place, isShorter ? this.refer(kind, free, place, () => content) : content)
    }
    this.#repeated.clear()
    atOnce(this.make())
  }

  /**
   * A reference to the component of that name. Equal components have one `owner`.
   *
   * @throws CrudConfigError where another one has the name
   */
  refer(kind: Kind, name: string, owner: object, make: () => JsonSchema): JsonSchema {
    const known = this.#kinds.get(kind) ?? new Map<string, Entry>()
    this.#kinds.set(kind, known)
    const entry = known.get(name)
    if (entry !== undefined && entry.owner !== owner) throw taken(kind, name, [owner, entry.owner])
    if (entry === undefined) {
      // Schemas may refer to themselves.
      const made: Entry = { owner, content: {} }
      known.set(name, made)
      const fill = (): void => {
        made.content = make()
      }
      if (this.#isSharing) this.#unmade.push(fill)
      else fill()
    }
    return { $ref: pointer(kind, name) }
  }

  get(kind: Kind, name: string): JsonSchema | undefined {
    return this.#kinds.get(kind)?.get(name)?.content
  }

  /** All components, by kind and name. */
  get content(): DocumentComponents {
    const kinds = [...this.#kinds].map(([kind, entries]) => {
      const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1))
      return [kind, Object.fromEntries(sorted.map(([name, { content }]) => [name, content]))]
    })
    return Object.fromEntries(kinds)
  }
}

function pointer(kind: Kind, name: string): string {
  return `#/components/${kind}/${name}`
}

/** The name, or the first one with a number that is free. */
function numbered(name: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number += 1) {
    const each = number === 1 ? name : `${name}${number}`
    if (!isTaken(each)) return each
  }
}

/** The name of a component for that of a header, a field or a type: `If-None-Match` is `IfNoneMatch`. */
export function componentName(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') || 'Field'
}

/** The owner of components that all resources share. */
export const SHARED: object = Object.freeze({})

/** A document that is being written. */
export interface Draft {
  readonly components: Components
  readonly subjects: Subjects
}
