import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { didYouMean, valid } from '../config/suggest.js'
import { uniquesOf } from '../sequelize/model.js'

/** Pass: the field that is the key. @throws CrudConfigError SDTO011 when one key could be that of several records */
export function keyOf(model: ModelStatic<Model>, name: string, fields: readonly Field[]): Field {
  const key = fields.find((field) => field.name === name)
  if (key === undefined || key.virtual) {
    throw new CrudConfigError('SDTO011', `${model.name}: the key "${name}" has no column.`)
  }
  const parts = model.primaryKeyAttributes
  const isPart = parts.includes(name)
  if ((isPart && parts.length === 1) || isUnique(model, key, fields)) return key
  const fault = isPart
    ? `a part of the primary key (${parts.join(', ')})`
    : 'neither the primary key nor unique by itself'
  throw new CrudConfigError(
    'SDTO011',
    `${model.name}: the key "${name}" is ${fault}: name an attribute that is unique by itself as keyProperty.`,
  )
}

/** Indexes name columns; the attribute's own name counts as well, unless it is the column of another one. */
function isUnique(model: ModelStatic<Model>, { name, column }: Field, fields: readonly Field[]): boolean {
  const uniques = new Set(uniquesOf(model).flatMap((names) => (names.length === 1 ? names : [])))
  return uniques.has(column) || (uniques.has(name) && !fields.some((field) => field.column === name))
}

/** Pass: the name of the attribute that is the key. @throws CrudConfigError SDTO011 when there is none */
export function keyNameOf(model: ModelStatic<Model>, options: CrudOptions): string {
  const attributes = model.getAttributes()
  const { keyProperty } = options
  if (keyProperty !== undefined) {
    if (Object.hasOwn(attributes, keyProperty)) return keyProperty
    const names = Object.keys(attributes)
    const hint = didYouMean(keyProperty, names) + valid(names)
    throw new CrudConfigError(
      'SDTO011',
      `${model.name}: the key property "${keyProperty}" matches no attribute.${hint}`,
    )
  }
  if (Object.hasOwn(attributes, 'id')) return 'id'
  const [only, ...more] = model.primaryKeyAttributes
  if (only !== undefined && more.length === 0) return only
  const detail = more.length > 0 ? 'its primary key has several attributes' : 'it has no primary key'
  throw new CrudConfigError(
    'SDTO011',
    `${model.name} has no attribute "id", and ${detail}: name an attribute that is unique by itself as keyProperty.`,
  )
}
