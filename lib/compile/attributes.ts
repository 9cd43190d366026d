import type { Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import type { ManagedAttribute, ManagedAttributeKind } from '../../types/behaviour.js'
import type { FieldType } from '../../types/field.js'
import { CrudConfigError } from '../common/errors.js'
import { DECLARATIONS } from '../sequelize/declarations.js'
import {
  addToModel,
  attributesWithAccessors,
  completeAttribute,
  timestampsOf,
  versionAttributeOf,
} from '../sequelize/model.js'
import { isVirtual, valueTypeOf } from './valueType.js'

/** The attributes of a model once its router is mounted. */
export interface ModelAttributes {
  readonly all: Readonly<Record<string, ModelAttributeColumnOptions>>
  /** Server-managed attributes of behaviours and Sequelize, which bodies cannot set. */
  readonly serverManaged: ReadonlySet<string>
  /** Attributes that behaviours add. Requests and responses do not have them. */
  readonly added: ReadonlySet<string>
  /** Added attributes that responses have nevertheless. */
  readonly shown: ReadonlySet<string>
  /** Version attributes. Bodies of a batch contain them even if responses do not. */
  readonly versions: ReadonlySet<string>
}

/** The accepted types of attributes that behaviours need. */
const TYPES: Readonly<Record<ManagedAttributeKind, readonly FieldType[]>> = {
  flag: ['boolean'],
  version: ['bigint', 'integer'],
  dateTime: ['datetime'],
  text: ['string'],
}

/** Names of members in which a Sequelize instance keeps its own state. */
const INSTANCE_MEMBERS: ReadonlySet<string> = new Set([
  'dataValues',
  'isNewRecord',
  'uniqno',
  '_changed',
  '_options',
  '_previousDataValues',
])

// Keeps added attributes, so that a second router over the model does not treat them as declared.
const addedByModel = new WeakMap<ModelStatic<Model>, Set<string>>()

/** Returns the current attributes of a model. */
export function attributesOf(model: ModelStatic<Model>): ModelAttributes {
  const version = versionAttributeOf(model)
  return {
    all: attributesWithAccessors(model),
    // Sequelize compares its version with the stored one. A version from a body would make each UPDATE fail.
    serverManaged: new Set([...Object.values(timestampsOf(model)), ...(version === null ? [] : [version])]),
    added: addedByModel.get(model) ?? new Set(),
    shown: new Set(),
    versions: new Set(),
  }
}

/**
 * Checks that the attributes of behaviours have the right type or can be added. Does not change the model.
 *
 * @throws CrudConfigError for an attribute of another type, and for an attribute that two behaviours use
 */
export function planAttributes(model: ModelStatic<Model>, managed: readonly ManagedAttribute[]): ModelAttributes {
  const { all, serverManaged, added } = attributesOf(model)
  const names = managed.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    const message = `${model.name}: two options, such as softDelete and audit, use the attribute "${twice}". Name another attribute in one of them.`
    throw new CrudConfigError('AMBIGUOUS_NAME', message)
  }
  const missing = managed.filter(({ name, kind }) => !hasAttribute(model, all, name, kind))
  const declared = missing.map(({ name, kind }) => [name, declareAttribute(model, name, kind)] as const)
  assertFreeColumns(model, all, declared)
  return {
    all: { ...all, ...Object.fromEntries(declared) },
    serverManaged: new Set([...names, ...serverManaged]),
    added: new Set([...added, ...missing.map(({ name }) => name)]),
    shown: new Set(managed.flatMap(({ name, isAlwaysShown = false }) => (isAlwaysShown ? [name] : []))),
    versions: new Set(managed.flatMap(({ name, kind }) => (kind === 'version' ? [name] : []))),
  }
}

function hasAttribute(
  model: ModelStatic<Model>,
  attributes: ModelAttributes['all'],
  name: string,
  kind: ManagedAttributeKind,
): boolean {
  const attribute = attributes[name]
  if (attribute === undefined) return false
  const types = TYPES[kind]
  const { type } = valueTypeOf(attribute)
  if (types.includes(type)) return true
  throw new CrudConfigError(
    'INVALID_ATTRIBUTE',
    `${model.name}: the attribute "${name}" must be ${types.join(' or ')}, not ${type}.`,
  )
}

function declareAttribute(
  model: ModelStatic<Model>,
  name: string,
  kind: ManagedAttributeKind,
): ModelAttributeColumnOptions {
  return completeAttribute(model, name, DECLARATIONS[kind])
}

/**
 * Asserts that instances can store the attributes. Sequelize calls inherited members such as `toString` as getters and
 * setters of the attributes with their names.
 */
export function assertStorable(model: ModelStatic<Model>, { all }: ModelAttributes): void {
  const name = Object.keys(all).find((each) => each in Object.prototype || INSTANCE_MEMBERS.has(each))
  if (name === undefined) return
  const message = `${model.name}: Sequelize cannot store the attribute "${name}", because its instances have a member of this name. Rename the attribute, and keep the column by field: "${name}".`
  throw new CrudConfigError('INVALID_ATTRIBUTE', message)
}

/**
 * Asserts that no attribute of the model has the column of an attribute to add. Otherwise bodies could write the
 * column by the model's own attribute.
 */
function assertFreeColumns(
  model: ModelStatic<Model>,
  all: ModelAttributes['all'],
  declared: readonly (readonly [string, ModelAttributeColumnOptions])[],
): void {
  for (const [name, { field }] of declared) {
    const [owner] =
      Object.entries(all).find(([, attribute]) => attribute.field === field && !isVirtual(attribute)) ?? []
    if (owner === undefined) continue
    const message = `${model.name}: an option, such as softDelete or audit, needs the attribute "${name}", whose column "${field}" belongs to the attribute "${owner}". Name "${owner}" in the option, or give it another column.`
    throw new CrudConfigError('INVALID_ATTRIBUTE', message)
  }
}

/** Adds the planned attributes to the model, for `sync` and for queries. Returns a function that removes them. */
export function addAttributes(model: ModelStatic<Model>, { all, added }: ModelAttributes): () => void {
  const present = model.getAttributes()
  const missing = Object.entries(all).filter(([name]) => added.has(name) && present[name] === undefined)
  if (missing.length === 0) return () => undefined
  const before = addedByModel.get(model) ?? new Set()
  addToModel(model, Object.fromEntries(missing))
  addedByModel.set(model, new Set([...before, ...missing.map(([name]) => name)]))
  return () => {
    for (const [name] of missing) model.removeAttribute(name)
    addedByModel.set(model, before)
  }
}
