import type { Association, Model, ModelStatic } from 'sequelize'
import { keysOf, pointsAt, uniquesOf } from '../sequelize/model.js'

/** Whether nothing in the models says that a to-one relation leads to one record at most. */
export function isDoubtful(association: Association): boolean {
  if (association.isMultiAssociation) return false
  const { target } = association
  const { foreignKey, targetKey, scope } = keysOf(association)
  const fixed = scope.flatMap((values) => Object.keys(values))
  return !isUnique(target, pointsAt(association) ? [targetKey] : [foreignKey, ...fixed])
}

/** Whether the database holds that no two rows between the ends of a many-to-many link the same two records. */
export function isLinkedOnce(association: Association): boolean {
  const { foreignKey, otherKey, through } = keysOf(association)
  const fixed = (through?.scope ?? []).flatMap((values) => Object.keys(values))
  return through !== null && isUnique(through.model, [foreignKey, otherKey, ...fixed])
}

/** Whether one record at most has the same values of these attributes. */
function isUnique(model: ModelStatic<Model>, tied: readonly string[]): boolean {
  const attributes = model.getAttributes()
  const names = new Set(tied.flatMap((name) => [name, attributes[name]?.field ?? name]))
  const known = [model.primaryKeyAttributes, ...uniquesOf(model)].filter((together) => together.length > 0)
  return known.some((together) => together.every((name) => names.has(name)))
}
