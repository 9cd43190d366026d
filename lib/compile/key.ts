import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import { readKeyText } from '../codec/codecs.js'
import { CrudConfigError } from '../common/errors.js'
import { didYouMean, listValid } from '../config/suggest.js'
import { uniquesOf } from '../sequelize/model.js'

/** Returns the fields of the key. @throws CrudConfigError SDTO011 if several records could have the same key */
export function keyFieldsOf(
  model: ModelStatic<Model>,
  names: readonly string[],
  fields: readonly Field[],
): readonly [Field, ...Field[]] {
  const [key, ...others] = fields.filter(({ name }) => names.includes(name))
  const virtual = names.find((name) => fields.find((field) => field.name === name)?.virtual !== false)
  if (key === undefined || virtual !== undefined) {
    throw new CrudConfigError('SDTO011', `${model.name}: the key "${virtual ?? names.join()}" has no column.`)
  }
  const keys = [key, ...others] as const
  const parts = model.primaryKeyAttributes
  const isPrimary = parts.length === names.length && parts.every((part) => names.includes(part))
  if (isPrimary || isUniqueKey(model, keys, fields)) return keys
  const listed = names.join(', ')
  if (others.length > 0) {
    throw new CrudConfigError(
      'SDTO011',
      `${model.name}: the key (${listed}) is neither the primary key nor unique together: name the attributes of the primary key, or of one unique index, as keyProperty.`,
    )
  }
  const fault = parts.includes(listed)
    ? `a part of the primary key (${parts.join(', ')})`
    : 'neither the primary key nor unique by itself'
  throw new CrudConfigError(
    'SDTO011',
    `${model.name}: the key "${listed}" is ${fault}: name an attribute that is unique by itself as keyProperty.`,
  )
}

/**
 * Whether a unique index covers exactly the key. An index may name columns or attributes. A name means an attribute
 * only if no column has the name.
 */
function isUniqueKey(model: ModelStatic<Model>, keys: readonly Field[], fields: readonly Field[]): boolean {
  const isInIndex = (index: readonly string[], { name, column }: Field): boolean =>
    index.includes(column) || (index.includes(name) && !fields.some((field) => field.column === name))
  return uniquesOf(model).some((index) => index.length === keys.length && keys.every((key) => isInIndex(index, key)))
}

/** Returns the names of the key's attributes. @throws CrudConfigError SDTO011 for a model without a key */
export function keyNamesOf(model: ModelStatic<Model>, { keyProperty }: CrudOptions): readonly string[] {
  const attributes = model.getAttributes()
  if (keyProperty !== undefined) {
    const given = typeof keyProperty === 'string' ? [keyProperty] : [...new Set(keyProperty)]
    const unknown = given.find((name) => !Object.hasOwn(attributes, name))
    if (unknown === undefined) return given
    const names = Object.keys(attributes)
    const hint = didYouMean(unknown, names) + listValid(names)
    throw new CrudConfigError('SDTO011', `${model.name}: the key property "${unknown}" matches no attribute.${hint}`)
  }
  if (Object.hasOwn(attributes, 'id')) return ['id']
  if (model.primaryKeyAttributes.length > 0) return model.primaryKeyAttributes
  throw new CrudConfigError(
    'SDTO011',
    `${model.name} has no attribute "id", and it has no primary key: name an attribute that is unique by itself as keyProperty.`,
  )
}

/**
 * Returns the sets of fields that identify records. Bodies must be able to set the fields, and the database to compare
 * them.
 */
export function uniqueFieldsOf(
  model: ModelStatic<Model>,
  keys: readonly Field[],
  fields: readonly Field[],
): readonly (readonly Field[])[] {
  const isUsable = ({ virtual, getter, operators, targets }: Field): boolean =>
    !virtual && !getter && operators.has('in') && targets.has('create')
  const findByColumn = (name: string): Field | undefined =>
    fields.find(({ column }) => column === name) ?? fields.find((field) => field.name === name)
  const together = uniquesOf(model).map((names) => names.map(findByColumn))
  const known = together.flatMap((all) => {
    const found = all.filter((field) => field !== undefined)
    return found.length === all.length && found.length > 0 ? [found] : []
  })
  return [keys, ...known].filter((all) => all.every(isUsable))
}

/** Whether the word of a fixed path, such as `bulk`, can also be the key of a record. */
export function isPossibleKey(keys: readonly Field[], word: string): boolean {
  const [key, ...others] = keys
  return key !== undefined && others.length === 0 && readKeyText(key.valueType, word) !== null
}

/** Types of keys that cursor tokens support. */
const KEYSET_TYPES: ReadonlySet<string> = new Set(['integer', 'bigint', 'uuid', 'string'])
/** Types of the parts of composite keys that cursor tokens support. */
const PART_TYPES: ReadonlySet<string> = new Set([...KEYSET_TYPES, 'date', 'datetime'])

/** Whether cursor tokens support the key. */
export function hasKeysetPages(keys: readonly Field[]): boolean {
  const types = keys.length > 1 ? PART_TYPES : KEYSET_TYPES
  return keys.every(({ valueType }) => types.has(valueType.type))
}
