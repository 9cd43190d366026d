import type { DocumentComponents, JsonSchema, OpenApiVersion } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { runAtOnce, type Steps } from '../common/eventLoop.js'

type Kind = keyof DocumentComponents

interface Component {
  readonly owner: object
  content: JsonSchema
}

/**
 * Content that may occur several times in a document. All occurrences share one object, which is filled when the
 * document is complete.
 */
interface RepeatedContent {
  readonly kind: Kind
  readonly name: string
  readonly content: JsonSchema
  readonly length: number
  readonly target: Record<string, unknown>
  uses: number
}

/** Owner of a schema's name, and the name that was requested. */
interface NameOwner {
  readonly owner: object
  readonly requested: string
}

/** Owner of the components that all resources share. */
const SHARED_OWNER: object = Object.freeze({})

/** Components of a document. A component is created at its first reference. */
export class Components {
  readonly #kinds = new Map<Kind, Map<string, Component>>()
  readonly #repeated = new Map<string, RepeatedContent>()
  readonly #pending: (() => void)[] = []
  readonly #reserved = new Map<string, NameOwner>()
  readonly #isSharing: boolean

  /** The OpenAPI version of the document. */
  readonly version: OpenApiVersion

  /**
   * @param isSharing whether `share` creates components for repeated content. If so, `createPending` creates the
   * content of all components
   */
  constructor(isSharing = false, version: OpenApiVersion = '3.1') {
    this.#isSharing = isSharing
    this.version = version
  }

  /**
   * Returns the content, or a reference to it if a reference shortens the document. A number is appended to a name that
   * another component has. The content must not contain shared content.
   */
  share(kind: Kind, name: string, content: JsonSchema): JsonSchema {
    if (!this.#isSharing || '$ref' in content) return content
    const text = JSON.stringify(content)
    const key = `${kind} ${name} ${text}`
    const known = this.#repeated.get(key) ?? { kind, name, content, length: text.length, target: {}, uses: 0 }
    this.#repeated.set(key, known)
    known.uses += 1
    return known.target
  }

  /** Creates the referenced components, one per step, because a component may refer to further components. */
  *createPending(): Steps<void> {
    for (let fill = this.#pending.shift(); fill !== undefined; fill = this.#pending.shift()) {
      fill()
      yield
    }
  }

  /** Writes the content or the reference into each occurrence of shared content. Nothing may be shared afterwards. */
  fillRepeated(): void {
    for (const { kind, name, content, length, target, uses } of this.#repeated.values()) {
      let free = name
      for (let number = 2; this.#kinds.get(kind)?.has(free) === true; number += 1) free = `${name}${number}`
      const reference = JSON.stringify({ $ref: referencePath(kind, free) })
      const isShorter = uses * reference.length + free.length + length < uses * length
      Object.assign(target, isShorter ? this.referTo(kind, free, () => content, target) : content)
    }
    this.#repeated.clear()
    runAtOnce(this.createPending())
  }

  /**
   * Reserves the name of a schema, unless it is reserved already. Other owners get another name, such as `Problem_` for
   * a model named Problem.
   */
  reserveName(name: string, owner: object): void {
    if (!this.#reserved.has(name)) this.#reserved.set(name, { owner, requested: name })
  }

  /** First free name for an owner: the requested name, with `_` appended as often as necessary. */
  #freeName(requested: string, owner: object): string {
    let name = requested
    for (;;) {
      const reserved = this.#reserved.get(name) ?? { owner, requested }
      this.#reserved.set(name, reserved)
      if (reserved.owner === owner && reserved.requested === requested) return name
      name = `${name}_`
    }
  }

  /**
   * Returns a reference to a component. Equal components have one `owner`. A schema gets another name if a different
   * owner has the wanted name.
   *
   * @throws CrudConfigError if a different owner has the name of a component other than a schema
   */
  referTo(kind: Kind, requested: string, make: () => JsonSchema, owner: object = SHARED_OWNER): JsonSchema {
    const name = kind === 'schemas' ? this.#freeName(requested, owner) : requested
    const known = this.#kinds.get(kind) ?? new Map<string, Component>()
    this.#kinds.set(kind, known)
    const other = known.get(name)
    if (other !== undefined && other.owner !== owner) {
      throw invalidOption(`Two components of the document, in ${kind}, would have the name "${name}".`)
    }
    if (other === undefined) {
      // The component is registered before its content is created, because schemas may refer to themselves.
      const component: Component = { owner, content: {} }
      known.set(name, component)
      const fill = (): void => {
        component.content = make()
      }
      if (this.#isSharing) this.#pending.push(fill)
      else fill()
    }
    return { $ref: referencePath(kind, name) }
  }

  get content(): DocumentComponents {
    const kinds = [...this.#kinds].map(([kind, components]) => {
      const sorted = [...components].sort(([one], [other]) => (one < other ? -1 : 1))
      return [kind, Object.fromEntries(sorted.map(([name, { content }]) => [name, content]))]
    })
    return Object.fromEntries(kinds)
  }
}

function referencePath(kind: Kind, name: string): string {
  return `#/components/${kind}/${name}`
}

/** Component name of a header, field or type: `If-None-Match` becomes `IfNoneMatch`. */
export function toComponentName(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') || 'Field'
}

export function invalidOption(message: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', message)
}

export function nameClashError(message: string, who: string, name: string): CrudConfigError {
  return invalidOption(
    `${message}. Set other names for ${who}, by its option "names" or in its entry: { resource, at, names: { response: 'Other${name}' } }.`,
  )
}
