// Polymorphic associations: several models share a foreign key without a constraint, next to a type column. Sequelize
// declares the type on one side only, as the `scope` of a hasMany, a hasOne or the through table.

import { type Association, type Model, type ModelStatic, Op } from 'sequelize'
import type { WhereFragment } from './internals.js'

interface DeclaredAssociation {
  readonly foreignKey: string
  readonly otherKey?: string
  readonly sourceKey?: string
  readonly targetKey?: string
  readonly scope?: WhereFragment
  readonly through?: { readonly model?: ModelStatic<Model>; readonly scope?: WhereFragment }
  readonly options?: { readonly constraints?: boolean }
}

/**
 * Returns the fixed attributes of a belongs-to-many's join model, from the association or its opposite. At most one
 * item.
 */
export function throughScopeOf(association: Association): readonly WhereFragment[] {
  const { through } = declaredAssociationOf(association)
  return through?.scope ? [through.scope] : oppositeScopeOf(association)
}

/**
 * Returns the attributes that opposite associations fix on records with the foreign key. At most one item. The array is
 * empty if the association has a constraint, or if an opposite association fixes no attribute.
 */
export function oppositeScopeOf(association: Association): readonly WhereFragment[] {
  if (declaredAssociationOf(association).options?.constraints !== false) return []
  const opposites = Object.values(association.target.associations).filter((each) => isOpposite(each, association))
  const scopes = opposites.flatMap((each) => {
    const { scope, through } = declaredAssociationOf(each)
    return (each.associationType === 'BelongsToMany' ? through?.scope : scope) ?? []
  })
  if (scopes.length < opposites.length) return []
  return scopes.length > 1 ? [{ [Op.or]: scopes }] : scopes
}

/** Whether `other` leads in the opposite direction over the foreign keys of `association`. */
function isOpposite(other: Association, association: Association): boolean {
  if (other.target.name !== association.source.name) return false
  const [there, here] = [declaredAssociationOf(other), declaredAssociationOf(association)]
  if (association.associationType === 'BelongsToMany') {
    const isSameTable = there.through?.model !== undefined && there.through.model === here.through?.model
    return isSameTable && there.foreignKey === here.otherKey && there.otherKey === here.foreignKey
  }
  if (other.associationType !== 'HasMany' && other.associationType !== 'HasOne') return false
  return there.foreignKey === here.foreignKey && there.sourceKey === here.targetKey
}

function declaredAssociationOf(association: Association): DeclaredAssociation {
  return association as object as DeclaredAssociation
}
