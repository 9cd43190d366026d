// Determines which values of a model Sequelize validates in addition to the rules for bodies.

import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { ModelValidation, ValidatedAttribute } from '../../types/resource.js'
import { attributesWithAccessors, hasModelValidators, versionAttributeOf } from '../sequelize/model.js'
import { hasOnlyExactRules } from './modelRules.js'
import { valueTypeOf } from './valueType.js'

/**
 * Returns the NOT NULL attributes that bodies may omit. Attributes with a `notNull` validator are left out, so that the
 * model's message for null stays in use.
 */
export function filledAttributesOf(model: ModelStatic<Model>, fields: readonly Field[]): readonly string[] {
  const attributes = model.getAttributes()
  const hasNotNullMessage = (name: string): boolean => Object.hasOwn(attributes[name]?.validate ?? {}, 'notNull')
  return fields.filter(({ name, rules }) => rules.filled === true && !hasNotNullMessage(name)).map(({ name }) => name)
}

/**
 * Returns the attributes whose validators are all rules for bodies. Attributes with a schema of the host are left out.
 * Returns an empty list for a model with setters, because a setter may also set other attributes.
 */
export function ruledAttributesOf(
  model: ModelStatic<Model>,
  fields: readonly Field[],
  { fields: given = {} }: CrudOptions,
): readonly string[] {
  const attributes = attributesWithAccessors(model)
  if (Object.values(attributes).some(({ set }) => set !== undefined)) return []
  const schemas = new Set(Object.entries(given).flatMap(([name, field]) => (field?.schema === undefined ? [] : [name])))
  const hasOnlyRules = ({ name, virtual }: Field): boolean => {
    const attribute = attributes[name]
    return !virtual && attribute !== undefined && !schemas.has(name) && hasOnlyExactRules(attribute)
  }
  return fields.filter(hasOnlyRules).map(({ name }) => name)
}

/** Returns the part of Sequelize's validation and conversion that writes need. */
export function validationOf(model: ModelStatic<Model>, fields: readonly Field[]): ModelValidation {
  const attributes = attributesWithAccessors(model)
  const isOpaque = ({ name, valueType, virtual }: Field): boolean => {
    const { key } = (attributes[name]?.type ?? {}) as { key?: string }
    return valueType.type === 'json' && !virtual && key !== 'JSON' && key !== 'JSONB'
  }
  if (versionAttributeOf(model) !== null || fields.some(isOpaque)) return 'saved'
  const all = Object.values(attributes)
  const isHostFunction = (test: unknown): boolean => typeof test === 'function'
  if (
    hasModelValidators(model) ||
    all.some(({ set, validate }) => isHostFunction(set) || Object.values(validate ?? {}).some(isHostFunction))
  ) {
    return 'instance'
  }
  return 'attributes'
}

/** Returns the attributes whose values Sequelize's validation may refuse. */
export function validatedAttributesOf(
  model: ModelStatic<Model>,
  ruled: readonly string[],
): readonly ValidatedAttribute[] {
  return Object.entries(model.getAttributes()).flatMap(([name, attribute]) => {
    const hasValidators = Object.keys(attribute.validate ?? {}).length > 0
    const isText = valueTypeOf(attribute).type === 'string'
    return hasValidators || isText ? [{ name, isRuled: ruled.includes(name), hasValidators, isText }] : []
  })
}
