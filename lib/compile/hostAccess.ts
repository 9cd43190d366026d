import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { ModelAccess, Relation, Resource } from '../../types/resource.js'
import { internalError } from '../common/internalError.js'
import { scopeOptionsOf } from '../sequelize/model.js'
import { attributesOf } from './attributes.js'
import { createFields } from './fields.js'
import { cacheUntilMount, resourcesOverVariants } from './mounted.js'
import type { Naming } from './naming.js'
import { createRelation } from './relations.js'

/** The resource whose options contain conditions. */
interface HostSource {
  readonly model: ModelStatic<Model>
  readonly fields: readonly Field[]
  readonly naming: Naming
  readonly dialect: Resource['dialect']
}

/**
 * All attributes and associations of a resource for conditions of its host, hidden ones included. The resource itself
 * has the model's names and the API's names. Related models have only their own names.
 */
export function createHostAccess({ model, fields, naming, dialect }: HostSource): () => ModelAccess {
  return cacheUntilMount(() => {
    const { relations, ...own } = createAccess(model, fields.map(toHostField), dialect)
    return Object.freeze({
      ...own,
      fields: new ExactNamesFirst(own.fields, (name) => hostFieldsNamed(fields, own.fields, name)),
      relations: new ExactNamesFirst(relations, (name) => {
        const found = [...relations].filter(([association]) => naming.relation(association).toLowerCase() === name)
        return found.map(([, relation]) => relation)
      }),
    })
  })
}

function hostFieldsNamed(fields: readonly Field[], hosted: ModelAccess['fields'], name: string): readonly Field[] {
  const called = fields.filter(({ json }) => json.toLowerCase() === name)
  return called.flatMap((field) => hosted.get(field.name) ?? [])
}

/** Values by their exact names, and by alternative names in any case. */
class ExactNamesFirst<T> extends Map<string, T> {
  readonly #findAlternatives: (name: string) => readonly T[]

  constructor(exact: Iterable<readonly [string, T]>, others: (name: string) => readonly T[]) {
    super(exact)
    this.#findAlternatives = others
  }

  /** Finds a value by an exact or alternative name. @throws TypeError for an ambiguous name */
  override get(name: string): T | undefined {
    const exact = super.get(name)
    const all = new Set([...(exact === undefined ? [] : [exact]), ...this.#findAlternatives(name.toLowerCase())])
    if (all.size > 1) throw new TypeError(`the name "${name}" is ambiguous: two attributes or associations have it`)
    return [...all][0]
  }
}

const accessByModel = new WeakMap<ModelStatic<Model>, () => ModelAccess>()

/** Returns all attributes and associations of a model, by their own names. */
function hostAccessOf(model: ModelStatic<Model>, dialect: Resource['dialect']): ModelAccess {
  const known =
    accessByModel.get(model) ?? cacheUntilMount(() => createAccess(model, hostFieldsOf(model, dialect), dialect))
  accessByModel.set(model, known)
  return known()
}

const OWN_NAMES: Naming = { field: (name) => name, relation: (name) => name }

function hostFieldsOf(model: ModelStatic<Model>, dialect: Resource['dialect']): readonly Field[] {
  const keys = model.primaryKeyAttributes
  const attributes = attributesOf(model)
  const fields = createFields({ model, options: {}, keys, attributes, naming: OWN_NAMES, dialect: dialect() })
  return fields.map(toHostField)
}

/** Renames a field to its attribute name. The field becomes filterable, unless it is virtual. */
function toHostField(field: Field): Field {
  return Object.freeze({ ...field, json: field.name, filterable: !field.virtual })
}

/**
 * Creates the access to all fields and relations. @throws TypeError for a model whose default scope has more than a
 * condition
 */
function createAccess(model: ModelStatic<Model>, fields: readonly Field[], dialect: Resource['dialect']): ModelAccess {
  const keys = fields.filter(({ name }) => model.primaryKeyAttributes.includes(name))
  const presence = keys[0] ?? fields.find(({ virtual }) => !virtual)
  if (presence === undefined) throw internalError(`the model ${model.name} has no attribute`)
  const relations = Object.entries(model.associations).map(([name, association]): [string, Relation] => {
    const relation = createRelation(name, association, { model, options: {}, fields, naming: OWN_NAMES, dialect })
    const resolveTarget = (): ModelAccess => {
      for (const related of [association.target, ...(relation.joinModel === null ? [] : [relation.joinModel.model])]) {
        assertSimpleScope(related)
      }
      return hostAccessOf(association.target, dialect)
    }
    return [name, Object.freeze({ ...relation, resolveTarget })]
  })
  return Object.freeze({
    model,
    isCaseSensitive: true,
    fields: new Map(fields.map((field) => [field.name, field])),
    relations: new Map(relations),
    // The resources hide records that no caller may see, such as deleted records. Their policies are not evaluated in
    // conditions of the host.
    resources: resourcesOverVariants(model),
    presenceField: presence,
    order: keys.length === 0 ? [presence] : keys,
  })
}

/** Members of a default scope that statements reproduce, or that hide no records. */
const SIMPLE: ReadonlySet<string> = new Set(['where', 'attributes', 'order'])

function assertSimpleScope(model: ModelStatic<Model>): void {
  const more = scopeOptionsOf(model).filter((option) => !SIMPLE.has(option))
  if (more.length === 0) return
  throw new TypeError(
    `the default scope of ${model.name} has unsupported options: ${more.join(', ')}. Conditions support only where, attributes and order`,
  )
}
