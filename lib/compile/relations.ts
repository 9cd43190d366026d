import type { Association, Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { Field } from '../../types/field.js'
import type { CrudOptions, RelationOption } from '../../types/options.js'
import type { Link, Reach, Relation, Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { unknownName } from '../config/suggest.js'
import { definedModel, keysOf } from '../sequelize/model.js'
import { attributesOf } from './attributes.js'
import { fieldsOf } from './fields.js'
import { camelCase } from './names.js'
import { isDoubtful } from './unique.js'

const mounted = new WeakMap<ModelStatic<Model>, Resource[]>()

// By the model as it was defined, for what must ask whoever mounted a variant of it.
const mountedOverAny = new WeakMap<ModelStatic<Model>, Resource[]>()

// Rises with every resource that mounts, so that what was resolved before is resolved again.
let generation = 0

/** Makes a resource one that relation paths ask for its consent. */
export function mount(resource: Resource): void {
  const { model } = resource
  mounted.set(model, [...(mounted.get(model) ?? []), resource])
  const defined = definedModel(model)
  mountedOverAny.set(defined, [...(mountedOverAny.get(defined) ?? []), resource])
  generation += 1
}

/** Takes that back: paths ask it no more, and those that it alone opened are closed. */
export function unmount(resource: Resource): void {
  for (const [known, model] of [
    [mounted, resource.model],
    [mountedOverAny, definedModel(resource.model)],
  ] as const) {
    known.set(
      model,
      (known.get(model) ?? []).filter((each) => each !== resource),
    )
  }
  generation += 1
}

type Lookup = Relation['reach']

/** A function that is computed again only after something has mounted. */
function perGeneration<T>(compute: () => T): () => T {
  let known: { readonly at: number; readonly value: T } | null = null
  return () => {
    if (known?.at !== generation) known = { at: generation, value: compute() }
    return known.value
  }
}

/** Pass: associations that the options name must be there. @throws CrudConfigError for those that are not */
export function checkRelations(model: ModelStatic<Model>, options: CrudOptions): void {
  if (typeof options.relations !== 'object') return
  for (const [name, option] of Object.entries(options.relations)) {
    const association = Object.hasOwn(model.associations, name) ? model.associations[name] : undefined
    if (association === undefined) {
      throw unknownName(
        'UNKNOWN_ASSOCIATION',
        `${model.name}: relations: the association`,
        name,
        Object.keys(model.associations),
      )
    }
    assertRelationOption(model.name, name, option)
    if (typeof option !== 'object') continue
    const attributes = Object.keys(association.target.getAttributes())
    for (const field of option.fields) {
      if (attributes.includes(field)) continue
      throw unknownName('UNKNOWN_ATTRIBUTE', `${model.name}: relations.${name}: the attribute`, field, attributes)
    }
  }
}

/** What is neither on, off nor a list of fields must not pass for on. */
function assertRelationOption(model: string, name: string, option: unknown): void {
  if (option === undefined || typeof option === 'boolean') return
  if (typeof option === 'object' && option !== null && Array.isArray((option as { fields?: unknown }).fields)) return
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${model}: relations: the option "${name}" must be a boolean or an object with the array of names "fields".`,
  )
}

/**
 * The associations of a model by lower-cased JSON name, found on first use: models associate and routers mount in
 * any order.
 */
export function relationsOf(
  model: ModelStatic<Model>,
  options: CrudOptions,
  dialect: Resource['dialect'],
): () => ReadonlyMap<string, Relation> {
  const told = new Set<string>()
  return perGeneration(() => {
    for (const name of opened(options)) if (!told.has(name) && warnIfClosed(model, name)) told.add(name)
    const relations = new Map<string, Relation>()
    for (const [name, association] of Object.entries(model.associations)) {
      const relation = relationOf(name, association, optionFor(options.relations, name), dialect)
      if (!relations.has(relation.json.toLowerCase())) relations.set(relation.json.toLowerCase(), relation)
    }
    return relations
  })
}

/** The associations that the options open by name without saying which fields. */
function opened({ relations }: CrudOptions): readonly string[] {
  if (typeof relations !== 'object') return []
  return Object.entries(relations).flatMap(([name, option]) => (option === true ? [name] : []))
}

/** Clients are told nothing but that the path is unknown; whoever has opened it hears why. */
function warnIfClosed(model: ModelStatic<Model>, name: string): boolean {
  const target = model.associations[name]?.target
  if (target === undefined || (mounted.get(target) ?? []).length > 0) return false
  process.emitWarning(
    `${model.name}: relations.${name} is true, but ${target.name} has no resource, so that paths over it are unknown: ` +
      `mount ${target.name}, or open its fields by { ${name}: { fields: [...] } }.`,
    { code: 'CRUD_RELATION_CLOSED' },
  )
  return true
}

/** What the options say of an association. */
export function optionFor(relations: CrudOptions['relations'], name: string): RelationOption {
  if (typeof relations !== 'object') return relations ?? true
  return Object.hasOwn(relations, name) ? (relations[name] ?? true) : true
}

function relationOf(
  name: string,
  association: Association,
  option: RelationOption,
  dialect: Resource['dialect'],
): Relation {
  const link = linkOf(association)
  return Object.freeze({
    name,
    json: camelCase(name),
    many: association.isMultiAssociation,
    optional: isOptional(association),
    doubtful: isDoubtful(association),
    association,
    reach: lookup(association.target, option, link, dialect),
    link,
  })
}

/** Whether a record may have nothing behind a to-one relation: only a foreign key that is never null says no. */
function isOptional({ associationType, source, foreignKey }: Association): boolean {
  return associationType !== 'BelongsTo' || source.getAttributes()[foreignKey]?.allowNull !== false
}

function linkOf(association: Association): Link | null {
  const { through, foreignKey, otherKey } = keysOf(association)
  if (through === null) return null
  const { model } = through
  const resources = perGeneration(() => mountedOverAny.get(definedModel(model)) ?? [])
  return Object.freeze({ model, keys: [foreignKey, otherKey], resources })
}

function lookup(
  target: ModelStatic<Model>,
  option: RelationOption,
  link: Link | null,
  dialect: Resource['dialect'],
): Lookup {
  if (option === false) return () => null
  const allowed = typeof option === 'object' ? new Set(option.fields) : null
  return perGeneration(() => {
    const resources = mounted.get(target) ?? []
    if (![...resources, ...(link?.resources() ?? [])].every(isRead)) return null
    if (resources.length === 0 && allowed === null) return null
    const shared = resources.length === 0 ? bareFields(target, dialect()) : sharedFields(resources)
    const [key] = target.primaryKeyAttributes
    const presence = shared.find(({ name }) => name === key) ?? shared.find(({ virtual }) => !virtual)
    if (presence === undefined) return null
    // An excluded attribute may bear the name of another one, and each resource has to mean the same by it.
    const isNamed = ({ name, json }: Field): boolean =>
      resources.every(({ byName }) => byName.get(json.toLowerCase())?.name === name)
    const fields = shared.filter((field) => isNamed(field) && (allowed === null || allowed.has(field.name)))
    return Object.freeze({
      model: target,
      fields: new Map(fields.map((field) => [field.json.toLowerCase(), field])),
      // Not before a path goes on: relations lead back to where they came from.
      get relations() {
        return relationsBehind(target)
      },
      resources,
      presence,
    })
  })
}

function isRead({ operations }: Resource): boolean {
  return operations.has('getById') || operations.has('getList')
}

/** The fields of a model without a resource of its own, which `relations: { team: { fields } }` opens by name. */
function bareFields(model: ModelStatic<Model>, dialect: Dialect): readonly Field[] {
  const [key = ''] = model.primaryKeyAttributes
  return fieldsOf(model, { fields: { [key]: { filterable: true } } }, key, attributesOf(model), dialect)
}

/** Each field as far as every resource over the model lets it be used. */
function sharedFields(resources: readonly Resource[]): readonly Field[] {
  const [first, ...others] = resources
  if (first === undefined) return []
  if (others.length === 0) return first.fields
  return first.fields.map((field) => {
    const all = resources.map(({ fields }) => fields.find(({ name }) => name === field.name))
    return Object.freeze({
      ...field,
      filterable: all.every((each) => each?.filterable),
      sortable: all.every((each) => each?.sortable),
      targets: new Set([...field.targets].filter((target) => all.every((each) => each?.targets.has(target)))),
    })
  })
}

const behind = new WeakMap<ModelStatic<Model>, () => ReadonlyMap<string, Relation>>()

/** The relations of a model as far as every resource over it lets them be crossed. */
function relationsBehind(model: ModelStatic<Model>): ReadonlyMap<string, Relation> {
  const relations = behind.get(model) ?? perGeneration(() => sharedRelations(mounted.get(model) ?? []))
  behind.set(model, relations)
  return relations()
}

function sharedRelations(resources: readonly Resource[]): ReadonlyMap<string, Relation> {
  const [first, ...others] = resources
  if (first === undefined || others.length === 0) return first?.relations() ?? new Map()
  return new Map(
    [...first.relations()].map(([name, relation]) => {
      const all = [relation, ...others.map((other) => other.relations().get(name))]
      return [name, Object.freeze({ ...relation, reach: perGeneration(() => sharedReach(all)) })]
    }),
  )
}

/** What lies behind a relation of several resources: what each of them would reach by it. */
function sharedReach(relations: readonly (Relation | undefined)[]): Reach | null {
  const reaches = relations.map((relation) => relation?.reach() ?? null)
  const [first] = reaches
  if (first === undefined || first === null || reaches.includes(null)) return null
  const isShared = (json: string, { name }: Field): boolean =>
    reaches.every((reach) => reach?.fields.get(json)?.name === name)
  const fields = [...first.fields].filter(([json, field]) => isShared(json, field))
  return Object.freeze({
    model: first.model,
    fields: new Map(fields),
    get relations() {
      return first.relations
    },
    resources: first.resources,
    presence: first.presence,
  })
}
