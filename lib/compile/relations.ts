import type { Association, Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { Field } from '../../types/field.js'
import type { CrudOptions, RelationOption } from '../../types/options.js'
import type { Ends, Link, Reach, Relation, Resource } from '../../types/resource.js'
import { memberIn } from '../common/members.js'
import { fixedBetween, fixedBy, keysOf, linkRowOf, pointsAt } from '../sequelize/model.js'
import { attributesOf } from './attributes.js'
import { countFieldOf, isTaken } from './countField.js'
import { fieldsOf } from './fields.js'
import { mountedOver, mountedOverVariants, perGeneration } from './mounted.js'
import { type Naming, namingBehind } from './naming.js'
import { optionFor } from './relationOptions.js'
import { linkSpeakerOf, speakerOf } from './speaker.js'
import { isDoubtful, isLinkedOnce } from './unique.js'

type Lookup = Relation['reach']

/** The resource at the start of the relations. */
interface Source {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly fields: readonly Field[]
  readonly naming: Naming
  readonly dialect: Resource['dialect']
}

/**
 * The associations of a model by lower-case JSON name. Resolved on first use, because models and routers are set up in
 * any order.
 */
export function relationsOf(source: Source): () => ReadonlyMap<string, Relation> {
  const { model, options } = source
  const told = new Set<string>()
  return perGeneration(() => {
    for (const name of opened(options)) if (!told.has(name) && warnIfClosed(model, name)) told.add(name)
    const relations = new Map<string, Relation>()
    for (const [name, association] of Object.entries(model.associations)) {
      const relation = relationOf(name, association, source)
      if (!relations.has(relation.json.toLowerCase())) relations.set(relation.json.toLowerCase(), relation)
    }
    return relations
  })
}

/** The associations that the options open without `fields`. */
function opened({ relations }: CrudOptions): readonly string[] {
  if (typeof relations !== 'object') return []
  return Object.entries(relations).flatMap(([name, option]) => (option === true ? [name] : []))
}

/** Clients get an error about an unknown path. The host gets the reason as a warning. */
function warnIfClosed(model: ModelStatic<Model>, name: string): boolean {
  const target = model.associations[name]?.target
  if (target === undefined || mountedOver(target).length > 0) return false
  process.emitWarning(
    `${model.name}: relations.${name} is true, but ${target.name} has no resource, so that paths over it are unknown: ` +
      `mount ${target.name}, or open its fields by { ${name}: { fields: [...] } }.`,
    { code: 'CRUD_RELATION_CLOSED' },
  )
  return true
}

/** An association of a model by the options of its resource. */
export function relationOf(name: string, association: Association, source: Source): Relation {
  const { options, fields, naming, dialect } = source
  const option = optionFor(options.relations, name)
  const { sourceKey } = keysOf(association)
  const link = linkOf(association, options)
  const json = naming.relation(name)
  const count = countFieldOf(json)
  return Object.freeze({
    name,
    json,
    // Sequelize leaves it undefined for to-one associations.
    many: Boolean(association.isMultiAssociation),
    count,
    isCountTaken: isTaken(count, fields),
    owner: association.isMultiAssociation ? (fields.find((field) => field.name === sourceKey) ?? null) : null,
    optional: isOptional(association),
    doubtful: isDoubtful(association),
    polymorphic: isPolymorphic(association),
    association,
    between: null,
    reach: lookup(association.target, { option, link, bare: () => bareFields(association.target, options, dialect()) }),
    link,
    ends: endsOf(association),
    routes: typeof option === 'object' && option.routes === true,
    write: typeof option === 'object' && option.write === true,
    speaker: speakerOf(name, association, option),
  })
}

function endsOf(association: Association): Ends {
  const { through, foreignKey, sourceKey, targetKey } = keysOf(association)
  const isOwner = pointsAt(association)
  return Object.freeze({
    source: isOwner ? foreignKey : sourceKey,
    target: isOwner || through !== null ? targetKey : foreignKey,
    fixed: () => fixedBy(association),
  })
}

/**
 * Whether the related record may be missing. It is required only for a NOT NULL foreign key that is not polymorphic.
 */
function isOptional(association: Association): boolean {
  const { associationType, source, foreignKey } = association
  if (associationType !== 'BelongsTo' || isPolymorphic(association)) return true
  return source.getAttributes()[foreignKey]?.allowNull !== false
}

/** Whether the foreign key of a belongsTo refers to several models. */
function isPolymorphic(association: Association): boolean {
  return keysOf(association).sourceScope.length > 0
}

function linkOf(association: Association, options: CrudOptions): Link | null {
  const { through, foreignKey, otherKey } = keysOf(association)
  if (through === null) return null
  const { model } = through
  const resources = perGeneration(() => mountedOverVariants(model))
  const speaker = linkSpeakerOf(association, model)
  return Object.freeze({
    model,
    keys: [foreignKey, otherKey],
    source: foreignKey,
    target: otherKey,
    resources,
    speaker,
    unique: isLinkedOnce(association),
    row: rowOf(association, resources, options),
    fixed: () => fixedBetween(association),
  })
}

/**
 * The relation from a record of a many-to-many to its row of the join model; null if a pair may be linked several
 * times.
 */
function rowOf(
  association: Association,
  resources: () => readonly Resource[],
  options: CrudOptions,
): () => Relation | null {
  const [toRow, { through }] = [linkRowOf(association), keysOf(association)]
  if (toRow === null || through === null || !isLinkedOnce(association)) return () => null
  const { model } = through
  const reach = perGeneration(() => rowReach(model, resources()))
  let isWarned = false
  return perGeneration(() => {
    if (reach() === null) return null
    const json = namingBehind(model, options).relation(model.name)
    if (!isMember(association.target, toRow.as, json)) return rowRelation(association, toRow, { json, reach })
    if (!isWarned) warnOfRow(association, model, json)
    isWarned = true
    return null
  })
}

function rowRelation(
  between: Association,
  association: Association,
  { json, reach }: Pick<Relation, 'json' | 'reach'>,
): Relation {
  return Object.freeze({
    name: association.as,
    json,
    many: false,
    count: countFieldOf(json),
    isCountTaken: true,
    owner: null,
    optional: false,
    doubtful: false,
    polymorphic: false,
    association,
    between,
    reach,
    link: null,
    ends: endsOf(association),
    routes: false,
    write: false,
    speaker: speakerOf(association.as, association, true),
  })
}

/** The attributes of a join model's rows. Paths end there. */
function rowReach(model: ModelStatic<Model>, resources: readonly Resource[]): Reach | null {
  if (resources.length === 0 || !resources.every(isRead)) return null
  const shared = sharedFields(resources).filter(({ virtual, getter }) => !virtual && !getter)
  const [key] = model.primaryKeyAttributes
  const presence = shared.find(({ name }) => name === key) ?? shared[0]
  if (presence === undefined) return null
  const fields = shared.filter((field) => isNamed(resources, field))
  return Object.freeze({
    model,
    fields: new Map(fields.map((field) => [field.json.toLowerCase(), field])),
    relations: new Map(),
    resources,
    presence,
    order: orderOf(model, resources, shared) ?? [presence],
  })
}

/** Whether the target has a member of this name already, or an association with the same alias. */
function isMember(target: ModelStatic<Model>, as: string, json: string): boolean {
  const name = json.toLowerCase()
  const isTaken = ({ byName, relations }: Resource): boolean => byName.has(name) || relations().has(name)
  return Object.hasOwn(target.associations, as) || mountedOver(target).some(isTaken)
}

function warnOfRow({ source, target, as }: Association, model: ModelStatic<Model>, json: string): void {
  process.emitWarning(
    `${source.name}: relations.${as}: paths do not lead to the attributes of ${model.name}, since ${target.name} has a member "${json}" already: ` +
      'give that member another name.',
    { code: 'CRUD_LINK_NAME' },
  )
}

interface Way {
  readonly option: RelationOption
  readonly link: Link | null
  /** The fields of a target without a resource. */
  readonly bare: () => readonly Field[]
}

function lookup(target: ModelStatic<Model>, { option, link, bare }: Way): Lookup {
  if (option === false) return () => null
  const fields = typeof option === 'object' ? option.fields : undefined
  const allowed = fields === undefined ? null : new Set(fields)
  return perGeneration(() => {
    const resources = mountedOver(target)
    if (![...resources, ...(link?.resources() ?? [])].every(isRead)) return null
    if (resources.length === 0 && allowed === null) return null
    const shared = resources.length === 0 ? bare() : sharedFields(resources)
    const [key] = target.primaryKeyAttributes
    const presence = shared.find(({ name }) => name === key) ?? shared.find(({ virtual }) => !virtual)
    if (presence === undefined) return null
    const fields = shared.filter((field) => isNamed(resources, field) && (allowed === null || allowed.has(field.name)))
    return Object.freeze({
      model: target,
      fields: new Map(fields.map((field) => [field.json.toLowerCase(), field])),
      // Resolved when a path goes on, because relations may lead back to their source.
      get relations() {
        return relationsBehind(target)
      },
      resources,
      presence,
      order: orderOf(target, resources, shared) ?? [presence],
    })
  })
}

/** The JSON name of an excluded field may be reused, so all resources must give this name to the same attribute. */
function isNamed(resources: readonly Resource[], { name, json }: Field): boolean {
  return resources.every(({ byName }) => byName.get(json.toLowerCase())?.name === name)
}

/** The fields that identify the model's records: the resource's key, or the primary key if there is one. */
function orderOf(
  { primaryKeyAttributes: names }: ModelStatic<Model>,
  [only, ...others]: readonly Resource[],
  fields: readonly Field[],
): readonly Field[] | null {
  if (only !== undefined && others.length === 0) return only.keys
  const keys = names.flatMap((name) => fields.find((field) => field.name === name) ?? [])
  return keys.length === 0 ? null : keys
}

function isRead({ operations }: Resource): boolean {
  return operations.has('getById') || operations.has('getList')
}

/** The fields of a related model without a resource, opened by `relations: { team: { fields } }`. */
function bareFields(model: ModelStatic<Model>, options: CrudOptions, dialect: Dialect): readonly Field[] {
  const [key = ''] = model.primaryKeyAttributes
  const fields = { [key]: { filterable: true } }
  const naming = namingBehind(model, options)
  return fieldsOf({ model, options: { fields }, keys: [key], attributes: attributesOf(model), naming, dialect })
}

/** Each field with the abilities that all resources over the model allow. */
function sharedFields(resources: readonly Resource[]): readonly Field[] {
  const [first, ...others] = resources
  if (first === undefined) return []
  if (others.length === 0) return [...first.fields, ...first.computed]
  const fields = first.fields.map((field) => {
    const all = resources.map(({ fields }) => fields.find(({ name }) => name === field.name))
    return shared(field, all)
  })
  const computed = first.computed.flatMap((field) => {
    const all = resources.map((each) => each.computed.find(({ name }) => name === field.name))
    return all.every((each) => each?.computed?.resolve === field.computed?.resolve) ? [shared(field, all)] : []
  })
  return [...fields, ...computed]
}

function shared(field: Field, all: readonly (Field | undefined)[]): Field {
  const { members, item, ...others } = field
  const isItemShared = item !== undefined && all.every((each) => typeOfItem(each) === typeOfItem(field))
  return Object.freeze({
    ...others,
    ...(isItemShared ? { item } : {}),
    filterable: all.every((each) => each?.filterable),
    sortable: all.every((each) => each?.sortable),
    targets: new Set([...field.targets].filter((target) => all.every((each) => each?.targets.has(target)))),
    ...(members === undefined ? {} : { members: sharedMembers(members, all) }),
  })
}

/** The item type of a field, to compare declarations of several resources. */
function typeOfItem(field: Field | undefined): string | undefined {
  const { derived, valueType } = field?.item ?? {}
  return derived?.what === 'item' ? (derived.type ?? valueType?.type) : undefined
}

/** The JSON members that all resources declare alike. */
function sharedMembers(
  members: ReadonlyMap<string, Field>,
  all: readonly (Field | undefined)[],
): ReadonlyMap<string, Field> {
  return new Map(
    [...members].flatMap(([name, member]) => {
      const each = all.map((field) => field?.members?.get(name))
      const isAlike = each.every((other) => other !== undefined && isSameMember(member, other))
      return isAlike ? [[name, shared(member, each)] as const] : []
    }),
  )
}

function isSameMember(one: Field, other: Field): boolean {
  const [mine, theirs] = [memberIn(one), memberIn(other)]
  return (
    mine?.type === theirs?.type &&
    typeOfItem(one) === typeOfItem(other) &&
    mine?.path.join('.') === theirs?.path.join('.')
  )
}

const behind = new WeakMap<ModelStatic<Model>, () => ReadonlyMap<string, Relation>>()

/** The relations that all resources over a model allow. */
function relationsBehind(model: ModelStatic<Model>): ReadonlyMap<string, Relation> {
  const relations = behind.get(model) ?? perGeneration(() => sharedRelations(mountedOver(model)))
  behind.set(model, relations)
  return relations()
}

function sharedRelations(resources: readonly Resource[]): ReadonlyMap<string, Relation> {
  const [first, ...others] = resources
  if (first === undefined || others.length === 0) return first?.relations() ?? new Map()
  return new Map(
    [...first.relations()].map(([name, relation]) => {
      const all = [relation, ...others.map((other) => namesake(relation, other.relations().get(name)))]
      return [name, Object.freeze({ ...relation, reach: perGeneration(() => sharedReach(all)) })]
    }),
  )
}

/** Another resource's relation of the same name, if it is the same association. */
function namesake({ name }: Relation, other: Relation | undefined): Relation | undefined {
  return other?.name === name ? other : undefined
}

/** The target of a relation that several resources have: the intersection of their reaches. */
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
    order: first.order,
  })
}
