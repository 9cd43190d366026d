import type { Association, Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { Field } from '../../types/field.js'
import type { CrudOptions, RelationOption } from '../../types/options.js'
import type { JoinModel, ModelAccess, Relation, RelationAttributes, Resource } from '../../types/resource.js'
import { jsonMemberOf } from '../common/jsonMembers.js'
import {
  associationKeysOf,
  fixedJoinValuesOf,
  fixedTargetValuesOf,
  hasSourceForeignKey,
  joinRowAssociationOf,
  uniquesOf,
} from '../sequelize/model.js'
import { attributesOf } from './attributes.js'
import { createCountField, isCountNameTaken } from './countField.js'
import { createFields } from './fields.js'
import { createLateForeignKeyWarning } from './lateForeignKeys.js'
import { cacheUntilMount, resourcesOver, resourcesOverVariants } from './mounted.js'
import { type Naming, relatedNamingOf } from './naming.js'
import { createJoinModelResourceGetter, createRelatedResourceGetter } from './relatedResource.js'
import { relationOptionOf } from './relationOptions.js'

type TargetResolver = Relation['resolveTarget']

/** The resource whose relations are compiled. */
interface RelationSource {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly fields: readonly Field[]
  readonly naming: Naming
  readonly dialect: Resource['dialect']
}

/**
 * Returns the associations of a model by lower-case JSON name. They are resolved on first use, because models and
 * routers are set up in any order.
 */
export function createRelations(source: RelationSource): () => ReadonlyMap<string, Relation> {
  const { model, options } = source
  const warned = new Set<string>()
  const warnOfLateForeignKeys = createLateForeignKeyWarning(model)
  return cacheUntilMount(() => {
    warnOfLateForeignKeys()
    for (const name of openAssociationsOf(options)) if (!warned.has(name) && warnIfClosed(model, name)) warned.add(name)
    const relations = new Map<string, Relation>()
    for (const [name, association] of Object.entries(model.associations)) {
      const relation = createRelation(name, association, source)
      if (!relations.has(relation.json.toLowerCase())) relations.set(relation.json.toLowerCase(), relation)
    }
    return relations
  })
}

/** Returns the associations that the options open by `true`. */
function openAssociationsOf({ relations }: CrudOptions): readonly string[] {
  if (typeof relations !== 'object') return []
  return Object.entries(relations).flatMap(([name, option]) => (option === true ? [name] : []))
}

/** Warns the host if an open association's target has no resource. Clients only get an error about an unknown path. */
function warnIfClosed(model: ModelStatic<Model>, name: string): boolean {
  const target = model.associations[name]?.target
  if (target === undefined || resourcesOver(target).length > 0) return false
  process.emitWarning(
    `${model.name}: relations.${name} is true, but no router is mounted for ${target.name}. Fields behind "${name}" are therefore unknown in queries. ` +
      `Mount a router for ${target.name}, or list the fields: relations: { ${name}: { fields: [...] } }.`,
    { code: 'CRUD_RELATION_CLOSED' },
  )
  return true
}

/**
 * Returns the test `canReachRestricted` of a resource. It follows every association, although options may close some,
 * and each model counts with all its variants.
 */
export function createRestrictionTest(model: ModelStatic<Model>): () => boolean {
  return cacheUntilMount(() => {
    const models = new Set(targetsOf(model))
    for (const each of models) for (const target of targetsOf(each)) models.add(target)
    return [...models]
      .flatMap(resourcesOverVariants)
      .some(({ behaviours }) => behaviours.visibleRecords !== null || Object.keys(behaviours.headers).length > 0)
  })
}

/** Returns the targets and the join models of a model's associations. */
function targetsOf({ associations }: ModelStatic<Model>): readonly ModelStatic<Model>[] {
  return Object.values(associations).flatMap((association) => {
    const { through } = associationKeysOf(association)
    return through === null ? [association.target] : [association.target, through.model]
  })
}

/** Compiles an association of a model by the options of its resource. */
export function createRelation(name: string, association: Association, source: RelationSource): Relation {
  const { options, fields, naming, dialect } = source
  const option = relationOptionOf(options.relations, name)
  const { sourceKey } = associationKeysOf(association)
  const link = createJoinModel(association, options)
  const json = naming.relation(name)
  const count = createCountField(json)
  return Object.freeze({
    name,
    json,
    // `isMultiAssociation` is undefined for to-one associations.
    many: Boolean(association.isMultiAssociation),
    count,
    isCountTaken: isCountNameTaken(count, fields),
    sourceKey: association.isMultiAssociation ? (fields.find((field) => field.name === sourceKey) ?? null) : null,
    optional: isOptional(association),
    canMatchSeveralRows: isPossiblyAmbiguous(association),
    polymorphic: isPolymorphic(association),
    association,
    manyToMany: null,
    resolveTarget: createTargetResolver(association.target, {
      option,
      link,
      fallbackFields: () => fieldsWithoutResource(association.target, options, dialect()),
    }),
    joinModel: link,
    attributes: createRelationAttributes(association),
    routes: typeof option === 'object' && option.routes === true,
    write: typeof option === 'object' && option.write === true,
    relatedResource: createRelatedResourceGetter(name, association, option),
  })
}

function createRelationAttributes(association: Association): RelationAttributes {
  const { through, foreignKey, sourceKey, targetKey } = associationKeysOf(association)
  const isSource = hasSourceForeignKey(association)
  return Object.freeze({
    source: isSource ? foreignKey : sourceKey,
    target: isSource || through !== null ? targetKey : foreignKey,
    fixed: () => fixedTargetValuesOf(association),
  })
}

/**
 * Whether the related record may be missing. Only a NOT NULL foreign key that is not polymorphic guarantees a related
 * record.
 */
function isOptional(association: Association): boolean {
  const { associationType, source, foreignKey } = association
  if (associationType !== 'BelongsTo' || isPolymorphic(association)) return true
  return source.getAttributes()[foreignKey]?.allowNull !== false
}

/** Whether the foreign key of a belongsTo refers to several models. */
function isPolymorphic(association: Association): boolean {
  return associationKeysOf(association).sourceScope.length > 0
}

function createJoinModel(association: Association, options: CrudOptions): JoinModel | null {
  const { through, foreignKey, otherKey } = associationKeysOf(association)
  if (through === null) return null
  const { model } = through
  const resources = cacheUntilMount(() => resourcesOverVariants(model))
  const speaker = createJoinModelResourceGetter(association, model)
  return Object.freeze({
    model,
    keys: [foreignKey, otherKey],
    source: foreignKey,
    target: otherKey,
    resources,
    joinModelResource: speaker,
    unique: isLinkedOnce(association),
    joinRow: joinRowOf(association, resources, options),
    fixed: () => fixedJoinValuesOf(association),
  })
}

/**
 * Returns the relation from a record of a many-to-many to its row of the join model. Null if the join model may link
 * two records several times.
 */
function joinRowOf(
  association: Association,
  resources: () => readonly Resource[],
  options: CrudOptions,
): () => Relation | null {
  const [toRow, { through }] = [joinRowAssociationOf(association), associationKeysOf(association)]
  if (toRow === null || through === null || !isLinkedOnce(association)) return () => null
  const { model } = through
  const access = cacheUntilMount(() => createJoinRowAccess(model, resources()))
  let isWarned = false
  return cacheUntilMount(() => {
    if (access() === null) return null
    const json = relatedNamingOf(model, options).relation(model.name)
    if (!hasMember(association.target, toRow.as, json))
      return createJoinRowRelation(association, toRow, { json, resolveTarget: access })
    if (!isWarned) warnOfJoinRow(association, model, json)
    isWarned = true
    return null
  })
}

function createJoinRowRelation(
  manyToMany: Association,
  association: Association,
  { json, resolveTarget }: Pick<Relation, 'json' | 'resolveTarget'>,
): Relation {
  return Object.freeze({
    name: association.as,
    json,
    many: false,
    count: createCountField(json),
    isCountTaken: true,
    sourceKey: null,
    optional: false,
    canMatchSeveralRows: false,
    polymorphic: false,
    association,
    manyToMany,
    resolveTarget,
    joinModel: null,
    attributes: createRelationAttributes(association),
    routes: false,
    write: false,
    relatedResource: createRelatedResourceGetter(association.as, association, true),
  })
}

/** Returns the fields of a join model's rows. Paths cannot continue to relations of the join model. */
function createJoinRowAccess(model: ModelStatic<Model>, resources: readonly Resource[]): ModelAccess | null {
  if (resources.length === 0 || !resources.every(isReadable)) return null
  const shared = intersectFields(resources).filter(({ virtual, getter }) => !virtual && !getter)
  const [key] = model.primaryKeyAttributes
  const presence = shared.find(({ name }) => name === key) ?? shared[0]
  if (presence === undefined) return null
  const fields = shared.filter((field) => isNameShared(resources, field))
  return Object.freeze({
    model,
    fields: new Map(fields.map((field) => [field.json.toLowerCase(), field])),
    relations: new Map(),
    resources,
    presenceField: presence,
    order: identifyingFieldsOf(model, resources, shared) ?? [presence],
  })
}

/** Whether the target already has a member of this name, or an association with the alias `as`. */
function hasMember(target: ModelStatic<Model>, as: string, json: string): boolean {
  const name = json.toLowerCase()
  const isTaken = ({ byName, relations }: Resource): boolean => byName.has(name) || relations().has(name)
  return Object.hasOwn(target.associations, as) || resourcesOver(target).some(isTaken)
}

function warnOfJoinRow({ source, target, as }: Association, model: ModelStatic<Model>, json: string): void {
  process.emitWarning(
    `${source.name}: relations.${as}: clients cannot use the attributes of the join model ${model.name}, because ${target.name} already has a member "${json}". ` +
      'Give that member another name.',
    { code: 'CRUD_LINK_NAME' },
  )
}

interface TargetOptions {
  readonly option: RelationOption
  readonly link: JoinModel | null
  /** The fields of a target without a resource. */
  readonly fallbackFields: () => readonly Field[]
}

function createTargetResolver(
  target: ModelStatic<Model>,
  { option, link, fallbackFields }: TargetOptions,
): TargetResolver {
  if (option === false) return () => null
  const fields = typeof option === 'object' ? option.fields : undefined
  const allowed = fields === undefined ? null : new Set(fields)
  return cacheUntilMount(() => {
    const resources = resourcesOver(target)
    if (![...resources, ...(link?.resources() ?? [])].every(isReadable)) return null
    if (resources.length === 0 && allowed === null) return null
    const shared = resources.length === 0 ? fallbackFields() : intersectFields(resources)
    const [key] = target.primaryKeyAttributes
    const presence = shared.find(({ name }) => name === key) ?? shared.find(({ virtual }) => !virtual)
    if (presence === undefined) return null
    const fields = shared.filter(
      (field) => isNameShared(resources, field) && (allowed === null || allowed.has(field.name)),
    )
    return Object.freeze({
      model: target,
      fields: new Map(fields.map((field) => [field.json.toLowerCase(), field])),
      // Resolved on access, because relations may lead back to their source.
      get relations() {
        return relatedRelationsOf(target)
      },
      resources,
      presenceField: presence,
      order: identifyingFieldsOf(target, resources, shared) ?? [presence],
    })
  })
}

/** Whether all resources give the field's name to one attribute. A resource may reuse the name of an excluded field. */
function isNameShared(resources: readonly Resource[], { name, json }: Field): boolean {
  return resources.every(({ byName }) => byName.get(json.toLowerCase())?.name === name)
}

/**
 * Returns the fields that identify the model's records: the key of the only resource, or the primary key. Null without
 * a primary key.
 */
function identifyingFieldsOf(
  { primaryKeyAttributes: names }: ModelStatic<Model>,
  [only, ...others]: readonly Resource[],
  fields: readonly Field[],
): readonly Field[] | null {
  if (only !== undefined && others.length === 0) return only.keys
  const keys = names.flatMap((name) => fields.find((field) => field.name === name) ?? [])
  return keys.length === 0 ? null : keys
}

function isReadable({ operations }: Resource): boolean {
  return operations.has('getById') || operations.has('getList')
}

/** Returns the fields of a related model without a resource, which `relations: { team: { fields } }` opens. */
function fieldsWithoutResource(model: ModelStatic<Model>, options: CrudOptions, dialect: Dialect): readonly Field[] {
  const [key = ''] = model.primaryKeyAttributes
  const fields = { [key]: { filterable: true } }
  const naming = relatedNamingOf(model, options)
  return createFields({ model, options: { fields }, keys: [key], attributes: attributesOf(model), naming, dialect })
}

/**
 * Returns the fields that all resources over a model have in common. A field keeps only abilities that every resource
 * allows.
 */
function intersectFields(resources: readonly Resource[]): readonly Field[] {
  const [first, ...others] = resources
  if (first === undefined) return []
  if (others.length === 0) return [...first.fields, ...first.computed]
  const fields = first.fields.map((field) => {
    const all = resources.map(({ fields }) => fields.find(({ name }) => name === field.name))
    return intersectField(field, all)
  })
  const computed = first.computed.flatMap((field) => {
    const all = resources.map((each) => each.computed.find(({ name }) => name === field.name))
    return all.every((each) => each?.computed?.resolve === field.computed?.resolve) ? [intersectField(field, all)] : []
  })
  return [...fields, ...computed]
}

function intersectField(field: Field, all: readonly (Field | undefined)[]): Field {
  const { members, item, ...others } = field
  const isItemShared = item !== undefined && all.every((each) => itemTypeNameOf(each) === itemTypeNameOf(field))
  return Object.freeze({
    ...others,
    ...(isItemShared ? { item } : {}),
    filterable: all.every((each) => each?.filterable),
    sortable: all.every((each) => each?.sortable),
    targets: new Set([...field.targets].filter((target) => all.every((each) => each?.targets.has(target)))),
    ...(members === undefined ? {} : { members: intersectMembers(members, all) }),
  })
}

/** Returns the item type of an array field, to compare the declarations of several resources. */
function itemTypeNameOf(field: Field | undefined): string | undefined {
  const { derived, valueType } = field?.item ?? {}
  return derived?.kind === 'item' ? (derived.type ?? valueType?.type) : undefined
}

/** Returns the JSON members that all resources declare with equal types. */
function intersectMembers(
  members: ReadonlyMap<string, Field>,
  all: readonly (Field | undefined)[],
): ReadonlyMap<string, Field> {
  return new Map(
    [...members].flatMap(([name, member]) => {
      const each = all.map((field) => field?.members?.get(name))
      const isAlike = each.every((other) => other !== undefined && isSameMember(member, other))
      return isAlike ? [[name, intersectField(member, each)] as const] : []
    }),
  )
}

function isSameMember(one: Field, other: Field): boolean {
  const [mine, theirs] = [jsonMemberOf(one), jsonMemberOf(other)]
  return (
    mine?.type === theirs?.type &&
    itemTypeNameOf(one) === itemTypeNameOf(other) &&
    mine?.path.join('.') === theirs?.path.join('.')
  )
}

const relationsByModel = new WeakMap<ModelStatic<Model>, () => ReadonlyMap<string, Relation>>()

/** Returns the relations that all resources over a model allow. */
function relatedRelationsOf(model: ModelStatic<Model>): ReadonlyMap<string, Relation> {
  const relations = relationsByModel.get(model) ?? cacheUntilMount(() => intersectRelations(resourcesOver(model)))
  relationsByModel.set(model, relations)
  return relations()
}

function intersectRelations(resources: readonly Resource[]): ReadonlyMap<string, Relation> {
  const [first, ...others] = resources
  if (first === undefined || others.length === 0) return first?.relations() ?? new Map()
  return new Map(
    [...first.relations()].map(([name, relation]) => {
      const all = [relation, ...others.map((other) => findSameAssociation(relation, other.relations().get(name)))]
      return [name, Object.freeze({ ...relation, resolveTarget: cacheUntilMount(() => intersectAccess(all)) })]
    }),
  )
}

/** Returns another resource's relation of this name, if both relations are one association. */
function findSameAssociation({ name }: Relation, other: Relation | undefined): Relation | undefined {
  return other?.name === name ? other : undefined
}

/** Returns the target of a relation that several resources have, with the fields that all of them allow. */
function intersectAccess(relations: readonly (Relation | undefined)[]): ModelAccess | null {
  const targets = relations.map((relation) => relation?.resolveTarget() ?? null)
  const [first] = targets
  if (first === undefined || first === null || targets.includes(null)) return null
  const isShared = (json: string, { name }: Field): boolean =>
    targets.every((target) => target?.fields.get(json)?.name === name)
  const fields = [...first.fields].filter(([json, field]) => isShared(json, field))
  return Object.freeze({
    model: first.model,
    fields: new Map(fields),
    get relations() {
      return first.relations
    },
    resources: first.resources,
    presenceField: first.presenceField,
    order: first.order,
  })
}

/** Whether a to-one relation may have several related records, because no unique index prevents it. */
function isPossiblyAmbiguous(association: Association): boolean {
  if (association.isMultiAssociation) return false
  const { target } = association
  const { foreignKey, targetKey, scope } = associationKeysOf(association)
  const fixed = scope.flatMap((values) => Object.keys(values))
  return !isUniqueTogether(target, hasSourceForeignKey(association) ? [targetKey] : [foreignKey, ...fixed])
}

/** Whether a unique index of the join model prevents duplicate links. */
function isLinkedOnce(association: Association): boolean {
  const { foreignKey, otherKey, through } = associationKeysOf(association)
  const fixed = (through?.scope ?? []).flatMap((values) => Object.keys(values))
  return through !== null && isUniqueTogether(through.model, [foreignKey, otherKey, ...fixed])
}

/** Whether a primary key or unique index guarantees at most one record for given values of the attributes. */
function isUniqueTogether(model: ModelStatic<Model>, required: readonly string[]): boolean {
  const attributes = model.getAttributes()
  const names = new Set(required.flatMap((name) => [name, attributes[name]?.field ?? name]))
  const known = [model.primaryKeyAttributes, ...uniquesOf(model)].filter((together) => together.length > 0)
  return known.some((together) => together.every((name) => names.has(name)))
}
