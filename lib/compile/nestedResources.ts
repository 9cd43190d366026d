import type { Resource } from '../../types/resource.js'
import { type NestingMembers, resolveRelated } from '../common/relatedResources.js'
import { cacheUntilMount } from './mounted.js'

/** Finds the resources whose records a body may nest or link, at any depth, without duplicates. */
export function createNestedResources(own: NestingMembers): Resource['nestedResources'] {
  return cacheUntilMount(() => {
    const met = new Set<Resource>()
    const addRelated = (one: NestingMembers): void => {
      const related = resolveRelated(one, (relation) => [
        relation.relatedResource(),
        relation.joinModel?.joinModelResource() ?? null,
      ])
      for (const nested of related) {
        if (met.has(nested)) continue
        met.add(nested)
        addRelated(nested)
      }
    }
    addRelated(own)
    return [...met]
  })
}
