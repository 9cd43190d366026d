import type { DocumentComponents, JsonSchema, OpenApiVersion } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { atOnce, type Steps } from '../common/turns.js'

type Kind = keyof DocumentComponents

interface Component {
  readonly owner: object
  content: JsonSchema
}

/** Content that a document may repeat. All its places are one object, which is filled when the document is complete. */
interface Repeated {
  readonly kind: Kind
  readonly name: string
  readonly content: JsonSchema
  readonly length: number
  readonly place: Record<string, unknown>
  uses: number
}

/** The owner of the name of a schema, and the name that was asked for. */
interface Keeper {
  readonly owner: object
  readonly wanted: string
}

/** The owner of components that all resources share. */
const SHARED: object = Object.freeze({})

/** The components of a document, each made when it is first referred to. */
export class Components {
  readonly #kinds = new Map<Kind, Map<string, Component>>()
  readonly #repeated = new Map<string, Repeated>()
  readonly #unmade: (() => void)[] = []
  readonly #kept = new Map<string, Keeper>()
  readonly #isSharing: boolean

  /** The version of OpenAPI of the document. */
  readonly version: OpenApiVersion

  /** @param isSharing whether `share` makes components of repeated content, and `make` all of them */
  constructor(isSharing = false, version: OpenApiVersion = '3.1') {
    this.#isSharing = isSharing
    this.version = version
  }

  /**
   * The content, or a reference to it if that makes the document shorter. The name gets a number if another component has it.
   * The content must not contain shared content.
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
      let free = name
      for (let number = 2; this.#kinds.get(kind)?.has(free) === true; number += 1) free = `${name}${number}`
      const reference = JSON.stringify({ $ref: pointer(kind, free) })
      const isShorter = uses * reference.length + free.length + length < uses * length
      Object.assign(place, isShorter ? this.refer(kind, free, () => content, place) : content)
    }
    this.#repeated.clear()
    atOnce(this.make())
  }

  /** Keeps the name of a schema, unless it is kept already: other owners give way, `Problem_` beside a model Problem. */
  keep(name: string, owner: object): void {
    if (!this.#kept.has(name)) this.#kept.set(name, { owner, wanted: name })
  }

  /** The name of a schema for an owner that wants one: the first with `_` at its end that nobody else has. */
  #freeName(wanted: string, owner: object): string {
    let name = wanted
    for (;;) {
      const keeper = this.#kept.get(name) ?? { owner, wanted }
      this.#kept.set(name, keeper)
      if (keeper.owner === owner && keeper.wanted === wanted) return name
      name = `${name}_`
    }
  }

  /**
   * A reference to the component of that name. Equal components have one `owner`. A schema gets another name if another owner has it.
   *
   * @throws CrudConfigError if another owner has the name of any other component
   */
  refer(kind: Kind, wanted: string, make: () => JsonSchema, owner: object = SHARED): JsonSchema {
    const name = kind === 'schemas' ? this.#freeName(wanted, owner) : wanted
    const known = this.#kinds.get(kind) ?? new Map<string, Component>()
    this.#kinds.set(kind, known)
    const other = known.get(name)
    if (other !== undefined && other.owner !== owner) {
      throw invalid(`Two of the document's ${kind} would be called "${name}".`)
    }
    if (other === undefined) {
      // Schemas may refer to themselves.
      const component: Component = { owner, content: {} }
      known.set(name, component)
      const fill = (): void => {
        component.content = make()
      }
      if (this.#isSharing) this.#unmade.push(fill)
      else fill()
    }
    return { $ref: pointer(kind, name) }
  }

  get content(): DocumentComponents {
    const kinds = [...this.#kinds].map(([kind, components]) => {
      const sorted = [...components].sort(([one], [other]) => (one < other ? -1 : 1))
      return [kind, Object.fromEntries(sorted.map(([name, { content }]) => [name, content]))]
    })
    return Object.fromEntries(kinds)
  }
}

function pointer(kind: Kind, name: string): string {
  return `#/components/${kind}/${name}`
}

/** The name of a component for that of a header, a field or a type: `If-None-Match` is `IfNoneMatch`. */
export function componentName(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') || 'Field'
}

export function invalid(message: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', message)
}

export function clash(message: string, who: string, name: string): CrudConfigError {
  return invalid(
    `${message}: give ${who} other names, by its option names, or by that of its entry: { resource, at, names: { response: 'Other${name}' } }.`,
  )
}
