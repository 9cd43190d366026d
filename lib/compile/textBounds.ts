import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { TextBound } from '../../types/resource.js'
import { lengthBounds } from '../codec/bounds.js'
import { lengthRulesOf } from './modelRules.js'
import { hasPattern, impliedMaxLength } from './patterns.js'

/**
 * Returns the maximum length of each text that the model's own patterns validate. Rules of string fields check the
 * length already. Host schemas, setters and fields of other types could pass longer texts to Sequelize.
 */
export function textBoundsOf(model: ModelStatic<Model>, fields: readonly Field[]): readonly TextBound[] {
  const attributes = model.getAttributes()
  return fields.flatMap(({ name, json, valueType, rules }) => {
    const attribute = attributes[name]
    if (attribute === undefined || !hasPattern(attribute.validate)) return []
    const own = lengthRulesOf(attribute)
    const { max, tooHigh } =
      valueType.type === 'string'
        ? lengthBounds({ valueType, rules })
        : lengthBounds({
            valueType: { type: 'string' },
            rules: { required: false, maxLength: impliedMaxLength(own.minLength), ...own },
          })
    return max === undefined ? [] : [{ attribute: name, json, max, message: tooHigh }]
  })
}
