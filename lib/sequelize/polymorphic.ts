// Polymorphic associations: several models share a foreign key without a constraint, with a type column beside it. Sequelize declares the
// type on one side only, as the `scope` of a hasMany, a hasOne or the through table.

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

/** Fixed attributes of the join model of a belongs-to-many, from the association or its opposite. None or one. */
export function throughScopeOf(association: Association): readonly WhereFragment[] {
  const { through } = declaredAssociationOf(association)
  return through?.scope ? [through.scope] : oppositeScopeOf(association)
}

/**
 * Fixed attributes that the opposites of an association without a constraint set on records with its foreign key. None or one. An opposite
 * without fixed attributes leads to all records.
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

/** Whether an association uses the same foreign keys in the opposite direction. */
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
