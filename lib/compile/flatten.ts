import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { createUnknownNameError } from '../config/suggest.js'
import { relationOptionOf } from './relationOptions.js'

/**
 * Checks that `flatten` names to-one associations and JSON attributes.
 *
 * @throws CrudConfigError for unknown names, and for associations and attributes that cannot be flattened
 */
export function checkFlatten(
  model: ModelStatic<Model>,
  options: CrudOptions,
  fields: readonly Field[],
): readonly string[] {
  const flatten: readonly unknown[] = options.flatten ?? []
  return flatten.map((each) => {
    const name = String(each)
    const association = Object.hasOwn(model.associations, name) ? model.associations[name] : undefined
    const field = fields.find((candidate) => candidate.name === name)
    if (association === undefined && field === undefined) {
      const single = Object.values(model.associations).filter(({ isSingleAssociation }) => isSingleAssociation)
      const json = fields.filter(({ valueType }) => valueType.type === 'json')
      const candidates = [...single.map(({ as }) => as), ...json.map((candidate) => candidate.name)]
      throw createUnknownNameError('UNKNOWN_ASSOCIATION', `${model.name}: flatten: the association`, name, candidates)
    }
    const isPossible = association === undefined ? field?.valueType.type === 'json' : association.isSingleAssociation
    if (isPossible && association !== undefined && relationOptionOf(options.relations, name) === false) {
      const message = `${model.name}: flatten: the option "relations" disables the association "${name}".`
      throw new CrudConfigError('INVALID_OPTION', message)
    }
    if (isPossible) return name
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${model.name}: flatten: "${name}" must be a to-one association or a JSON attribute.`,
    )
  })
}
