import type { Relation, Resource } from '../../types/resource.js'
import { CrudConfigError } from './errors.js'

/** The members of a resource by which bodies contain related records. */
export type NestingMembers = Pick<Resource, 'nestedRelations' | 'relations'>

/**
 * Returns the resources behind relations of bodies. Ambiguous and missing resources are left out, because a body that
 * names their relation gets the error.
 */
export function resolveRelated(
  { nestedRelations, relations }: NestingMembers,
  resourcesOf: (relation: Relation) => readonly (Resource | null)[],
): readonly Resource[] {
  return nestedRelations.flatMap((json) => {
    const relation = relations().get(json.toLowerCase())
    try {
      return (relation === undefined ? [] : resourcesOf(relation)).filter((each) => each !== null)
    } catch (error) {
      if (error instanceof CrudConfigError) return []
      throw error
    }
  })
}
