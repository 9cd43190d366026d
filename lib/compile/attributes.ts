import type { Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import type { WantedAttribute, WantedKind } from '../../types/behaviour.js'
import type { FieldType } from '../../types/field.js'
import { CrudConfigError } from '../common/errors.js'
import { DECLARATIONS } from '../sequelize/declarations.js'
import { addToModel, completed, timestampsOf } from '../sequelize/model.js'
import { valueTypeOf } from './valueType.js'

/** The attributes of a model as they will be once its router is made. */
export interface ModelAttributes {
  readonly all: Readonly<Record<string, ModelAttributeColumnOptions>>
  /** Those that behaviours or Sequelize write by themselves: they are in no body. */
  readonly maintained: ReadonlySet<string>
  /** Those that the model did not declare: they are in no shape at all. */
  readonly added: ReadonlySet<string>
  /** Those that answers show all the same. */
  readonly shown: ReadonlySet<string>
  /** The versions of records, which bodies of several state whether or not answers show them. */
  readonly versions: ReadonlySet<string>
}

/** The types that an attribute may have which a behaviour wants. */
const TYPES: Readonly<Record<WantedKind, readonly FieldType[]>> = {
  mark: ['boolean'],
  version: ['bigint', 'integer'],
  instant: ['datetime'],
  name: ['string'],
}

// A second router over the same model must not take an attribute for declared because the first one added it.
const addedTo = new WeakMap<ModelStatic<Model>, Set<string>>()

/** The attributes that a model has by now. */
export function attributesOf(model: ModelStatic<Model>): ModelAttributes {
  return {
    all: model.getAttributes(),
    maintained: new Set(Object.values(timestampsOf(model))),
    added: addedTo.get(model) ?? new Set(),
    shown: new Set(),
    versions: new Set(),
  }
}

/**
 * Pass: the attributes that behaviours want are of their kind, or can be added. The model stays as it is.
 *
 * @throws CrudConfigError for names that are taken by other types, or wanted twice
 */
export function planAttributes(model: ModelStatic<Model>, wanted: readonly WantedAttribute[]): ModelAttributes {
  const { all, maintained, added } = attributesOf(model)
  const names = wanted.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    const message = `${model.name}: two behaviours want the attribute "${twice}" for themselves.`
    throw new CrudConfigError('AMBIGUOUS_NAME', message)
  }
  const missing = wanted.filter(({ name, kind }) => !isThere(model, all, name, kind))
  return {
    all: { ...all, ...Object.fromEntries(missing.map(({ name, kind }) => [name, declared(model, name, kind)])) },
    maintained: new Set([...names, ...maintained]),
    added: new Set([...added, ...missing.map(({ name }) => name)]),
    shown: new Set(wanted.flatMap(({ name, shown = false }) => (shown ? [name] : []))),
    versions: new Set(wanted.flatMap(({ name, kind }) => (kind === 'version' ? [name] : []))),
  }
}

function isThere(
  model: ModelStatic<Model>,
  attributes: ModelAttributes['all'],
  name: string,
  kind: WantedKind,
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

function declared(model: ModelStatic<Model>, name: string, kind: WantedKind): ModelAttributeColumnOptions {
  return completed(model, name, DECLARATIONS[kind])
}

/** Adds what was planned to the model, so that `sync` and the types know it. Gives the way to take it back. */
export function addAttributes(model: ModelStatic<Model>, { all, added }: ModelAttributes): () => void {
  const present = model.getAttributes()
  const missing = Object.entries(all).filter(([name]) => added.has(name) && present[name] === undefined)
  if (missing.length === 0) return () => undefined
  const before = addedTo.get(model) ?? new Set()
  addToModel(model, Object.fromEntries(missing))
  addedTo.set(model, new Set([...before, ...missing.map(([name]) => name)]))
  return () => {
    for (const [name] of missing) model.removeAttribute(name)
    addedTo.set(model, before)
  }
}
