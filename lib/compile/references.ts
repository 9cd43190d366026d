import type { Association, Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { ForeignKeyReference, Resource } from '../../types/resource.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { associationKeysOf, definedModel, hasSourceForeignKey } from '../sequelize/model.js'
import { cacheUntilMount, resourcesOver } from './mounted.js'

/** The target of a foreign key, as one association declares it. */
interface ForeignKeyTarget {
  readonly foreignKey: string
  readonly model: ModelStatic<Model>
  /** The attribute of the target that the key refers to. */
  readonly key: string
  readonly association: Association
}

/**
 * Finds the foreign keys whose referenced record is checked before a write. A check is needed if the target's resource
 * restricts its records. A check is also needed for a UUID key in text, which may have two spellings. A column with
 * several associations is not checked. For a column without a constraint, only the spelling is checked. Associations of
 * other models over the column are used if the model itself declares no association.
 */
export function createReferences(model: ModelStatic<Model>, fields: readonly Field[]): Resource['references'] {
  return cacheUntilMount(() => {
    const own = Object.values(model.associations).filter(hasSourceForeignKey).map(foreignKeyTargetOf)
    const others = allForeignKeyTargetsOf(model)
    return fields.flatMap((field) => {
      if (field.virtual) return []
      const stated = own.filter(({ foreignKey }) => foreignKey === field.name)
      const candidates =
        stated.length > 0 ? stated : distinctTargetsOf(others.filter(({ foreignKey }) => foreignKey === field.name))
      const [only, ...more] = candidates
      return only === undefined || more.length > 0 ? [] : createReference(only, field)
    })
  })
}

function foreignKeyTargetOf(association: Association): ForeignKeyTarget {
  const { foreignKey, targetKey: key } = associationKeysOf(association)
  return { foreignKey, model: association.target, key, association }
}

/** Returns the targets of a model's foreign keys, as the associations of all models declare them. */
function allForeignKeyTargetsOf(model: ModelStatic<Model>): readonly ForeignKeyTarget[] {
  const defined = definedModel(model)
  const isSameModel = (other: ModelStatic<Model>): boolean => definedModel(other) === defined
  const all = Object.values(sequelizeOf(model).models).flatMap((each) => Object.values(each.associations))
  return all.flatMap((association): readonly ForeignKeyTarget[] => {
    const { through, foreignKey, sourceKey, otherKey, targetKey } = associationKeysOf(association)
    const source = { foreignKey, model: association.source, key: sourceKey, association }
    if (through === null) return hasSourceForeignKey(association) || !isSameModel(association.target) ? [] : [source]
    const target = { foreignKey: otherKey, model: association.target, key: targetKey, association }
    return isSameModel(through.model) ? [source, target] : []
  })
}

/** Removes duplicates of a target. A target with a constraint is preferred. */
function distinctTargetsOf(leads: readonly ForeignKeyTarget[]): readonly ForeignKeyTarget[] {
  const sorted = [...leads].sort((one, other) => Number(hasConstraint(other)) - Number(hasConstraint(one)))
  return sorted.filter(
    (lead, index) => sorted.findIndex(({ model, key }) => model === lead.model && key === lead.key) === index,
  )
}

function createReference(lead: ForeignKeyTarget, field: Field): readonly ForeignKeyReference[] {
  const { model, key } = lead
  const [first, ...others] = resourcesOver(model)
  const target = first?.fields.find(({ name }) => name === key)
  if (first === undefined || target === undefined) return []
  const resources: ForeignKeyReference['resources'] = [first, ...others]
  const isBinding = hasConstraint(lead) && resources.some(canRestrictRecords)
  if (!isBinding && target.valueType.type !== 'uuid') return []
  const reference: ForeignKeyReference = { field, key, resources, isEnforced: isBinding }
  return [Object.freeze(reference)]
}

function hasConstraint({ association }: ForeignKeyTarget): boolean {
  return (association as { options?: { constraints?: boolean } }).options?.constraints !== false
}

/** Whether a resource may restrict its records. */
function canRestrictRecords({ behaviours: { resolveScope, staticCondition } }: Resource): boolean {
  return resolveScope !== null || staticCondition !== null
}
