import type { Association, Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Reference, Resource } from '../../types/resource.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { definedModel, keysOf, pointsAt } from '../sequelize/model.js'
import { mountedOver, perGeneration } from './mounted.js'

/** The target of a foreign key by one association. */
interface Lead {
  readonly foreignKey: string
  readonly model: ModelStatic<Model>
  /** The attribute of the target that the key refers to. */
  readonly key: string
  readonly association: Association
}

/**
 * The foreign keys whose referenced record is checked before a write. A check is needed if the target's resource
 * restricts its records. It is also needed for a UUID key in text, which may have two spellings.
 * A column with several associations is not checked. A column without a constraint is only checked for its spelling.
 * Associations of other models over the same column are used if the model declares none.
 */
export function referencesOf(model: ModelStatic<Model>, fields: readonly Field[]): Resource['references'] {
  return perGeneration(() => {
    const own = Object.values(model.associations).filter(pointsAt).map(leadOf)
    const others = leadsTo(model)
    return fields.flatMap((field) => {
      if (field.virtual) return []
      const stated = own.filter(({ foreignKey }) => foreignKey === field.name)
      const told = stated.length > 0 ? stated : distinct(others.filter(({ foreignKey }) => foreignKey === field.name))
      const [only, ...more] = told
      return only === undefined || more.length > 0 ? [] : referenceBy(only, field)
    })
  })
}

function leadOf(association: Association): Lead {
  const { foreignKey, targetKey: key } = keysOf(association)
  return { foreignKey, model: association.target, key, association }
}

/** The targets of a model's foreign keys, by the associations of all models. */
function leadsTo(model: ModelStatic<Model>): readonly Lead[] {
  const defined = definedModel(model)
  const isOurs = (other: ModelStatic<Model>): boolean => definedModel(other) === defined
  const all = Object.values(sequelizeOf(model).models).flatMap((each) => Object.values(each.associations))
  return all.flatMap((association): readonly Lead[] => {
    const { through, foreignKey, sourceKey, otherKey, targetKey } = keysOf(association)
    const source = { foreignKey, model: association.source, key: sourceKey, association }
    if (through === null) return pointsAt(association) || !isOurs(association.target) ? [] : [source]
    const target = { foreignKey: otherKey, model: association.target, key: targetKey, association }
    return isOurs(through.model) ? [source, target] : []
  })
}

/** One of several equal targets, preferably with a constraint. */
function distinct(leads: readonly Lead[]): readonly Lead[] {
  const sorted = [...leads].sort((one, other) => Number(hasConstraint(other)) - Number(hasConstraint(one)))
  return sorted.filter(
    (lead, index) => sorted.findIndex(({ model, key }) => model === lead.model && key === lead.key) === index,
  )
}

function referenceBy(lead: Lead, field: Field): readonly Reference[] {
  const { model, key } = lead
  const [first, ...others] = mountedOver(model)
  const target = first?.fields.find(({ name }) => name === key)
  if (first === undefined || target === undefined) return []
  const resources: Reference['resources'] = [first, ...others]
  const isBinding = hasConstraint(lead) && resources.some(minds)
  if (!isBinding && target.valueType.type !== 'uuid') return []
  const reference: Reference = { field, key, resources, isBinding }
  return [Object.freeze(reference)]
}

function hasConstraint({ association }: Lead): boolean {
  return (association as { options?: { constraints?: boolean } }).options?.constraints !== false
}

/** Whether a resource may restrict its records. */
function minds({ behaviours: { confine, standing } }: Resource): boolean {
  return confine !== null || standing !== null
}
