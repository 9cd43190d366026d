import type { Association } from 'sequelize'
import { keysOf, pointsAt, uniquesOf } from '../sequelize/model.js'

/** Whether nothing in the models says that a to-one relation leads to one record at most. */
export function isDoubtful(association: Association): boolean {
  if (association.isMultiAssociation) return false
  const { target } = association
  const { foreignKey, targetKey, scope } = keysOf(association)
  const fixed = scope.flatMap((values) => Object.keys(values))
  const tied = pointsAt(association) ? [targetKey] : [foreignKey, ...fixed]
  const attributes = target.getAttributes()
  const names = new Set(tied.flatMap((name) => [name, attributes[name]?.field ?? name]))
  const known = [target.primaryKeyAttributes, ...uniquesOf(target)].filter((together) => together.length > 0)
  return !known.some((together) => together.every((name) => names.has(name)))
}
