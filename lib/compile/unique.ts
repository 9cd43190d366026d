import type { Association, Model, ModelStatic } from 'sequelize'
import { associationKeysOf, hasSourceForeignKey, uniquesOf } from '../sequelize/model.js'

/** Whether a to-one relation may have several related records, because no unique index prevents it. */
export function isPossiblyAmbiguous(association: Association): boolean {
  if (association.isMultiAssociation) return false
  const { target } = association
  const { foreignKey, targetKey, scope } = associationKeysOf(association)
  const fixed = scope.flatMap((values) => Object.keys(values))
  return !isUniqueTogether(target, hasSourceForeignKey(association) ? [targetKey] : [foreignKey, ...fixed])
}

/** Whether a unique index of the join model prevents duplicate links. */
export function isLinkedOnce(association: Association): boolean {
  const { foreignKey, otherKey, through } = associationKeysOf(association)
  const fixed = (through?.scope ?? []).flatMap((values) => Object.keys(values))
  return through !== null && isUniqueTogether(through.model, [foreignKey, otherKey, ...fixed])
}

/** Whether a primary key or unique index guarantees at most one record for given values of the attributes. */
function isUniqueTogether(model: ModelStatic<Model>, required: readonly string[]): boolean {
  const attributes = model.getAttributes()
  const names = new Set(required.flatMap((name) => [name, attributes[name]?.field ?? name]))
  const known = [model.primaryKeyAttributes, ...uniquesOf(model)].filter((together) => together.length > 0)
  return known.some((together) => together.every((name) => names.has(name)))
}
