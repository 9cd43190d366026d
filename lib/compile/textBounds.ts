import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { TextBound } from '../../types/resource.js'
import { lengthBounds } from '../codec/bounds.js'
import { lengthsOf } from './modelRules.js'
import { hasPattern, impliedLength } from './patterns.js'

/**
 * The bounds of what the model's own patterns may meet. Bodies are held against them already where the rules of a string
 * are ours; schemas of the host's, setters and types that are no strings let longer texts through to Sequelize.
 */
export function textBoundsOf(model: ModelStatic<Model>, fields: readonly Field[]): readonly TextBound[] {
  const attributes = model.getAttributes()
  return fields.flatMap(({ name, json, valueType, rules }) => {
    const attribute = attributes[name]
    if (attribute === undefined || !hasPattern(attribute.validate)) return []
    const own = lengthsOf(attribute)
    const { max, tooHigh } =
      valueType.type === 'string'
        ? lengthBounds({ valueType, rules })
        : lengthBounds({
            valueType: { type: 'string' },
            rules: { required: false, maxLength: impliedLength(own.minLength), ...own },
          })
    return max === undefined ? [] : [{ attribute: name, json, max, message: tooHigh }]
  })
}
