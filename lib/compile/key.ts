import type { Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import type { CrudOptions } from '../../types/options.js'
import { CrudConfigError } from '../errors.js'
import { didYouMean } from './suggest.js'

/** Pass: the attribute that is the key. @throws CrudConfigError SDTO011 when there is none of that name, or it is not one */
export function keyAttributeOf(model: ModelStatic<Model>, options: CrudOptions): string {
  const name = keyNameOf(model, options)
  const parts = model.primaryKeyAttributes
  // By a part of the primary key a PATCH would write several records.
  if (parts.length < 2 || !parts.includes(name) || isUnique(model, name)) return name
  const all = parts.join(', ')
  throw new CrudConfigError(
    'SDTO011',
    `${model.name}: the key "${name}" is a part of the primary key (${all}): name an attribute that is unique by itself as keyProperty.`,
  )
}

/** Whether the model says that no two records have the same value. */
function isUnique(model: ModelStatic<Model>, name: string): boolean {
  const attributes = Object.entries(model.getAttributes())
  const constraintOf = ({ unique }: ModelAttributeColumnOptions): unknown =>
    typeof unique === 'object' ? unique.name : unique
  const own = attributes.find(([each]) => each === name)?.[1]
  const constraint = own === undefined ? undefined : constraintOf(own)
  if (constraint === true) return true
  // One name on several attributes is one constraint over all of them.
  if (constraint && attributes.filter(([, each]) => constraintOf(each) === constraint).length === 1) return true
  const names: readonly unknown[] = [name, own?.field]
  return (model.options.indexes ?? []).some(({ unique, where, fields = [] }) => {
    const [field, ...others] = fields.map((each) => (typeof each === 'object' && 'name' in each ? each.name : each))
    return unique === true && where === undefined && others.length === 0 && names.includes(field)
  })
}

function keyNameOf(model: ModelStatic<Model>, options: CrudOptions): string {
  const attributes = model.getAttributes()
  const { keyProperty } = options
  if (keyProperty !== undefined) {
    if (Object.hasOwn(attributes, keyProperty)) return keyProperty
    const hint = didYouMean(keyProperty, Object.keys(attributes))
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
