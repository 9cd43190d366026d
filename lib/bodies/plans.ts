import type { BulkCreatePlan, Caller, Plan, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { ForeignKeyBinding } from '../../types/work.js'
import { addOwnColumns, indexOfOwnColumn, projectOwnFields } from '../common/columns.js'
import { amendEach } from '../common/compositeWrites.js'
import { internalError } from '../common/internalError.js'
import { hiddenFieldsOf } from '../plan/index.js'
import { hasBodyName } from './connectingAttributes.js'

/** Changes the projections of a plan. In a plan of several writes, the projection of each write is changed. */
export function mapProjections(plan: Plan, change: (projection: Projection) => Projection): Plan | Promise<Plan> {
  return amendEach(plan, (one) => ('projection' in one ? { ...one, projection: change(one.projection) } : one))
}

/** Removes validation errors about attributes that the parent sets. */
export function omitParentErrors(
  resource: Resource,
  plan: BulkCreatePlan,
  { key, fixed }: ForeignKeyBinding,
): BulkCreatePlan {
  const set = [key, ...fixed.keys()]
  const names = new Set(set.filter((field) => hasBodyName(resource, field)).map(({ json }) => json))
  const invalid = [...plan.invalid].flatMap(([index, found]): [number, typeof found][] => {
    if (found === null) return [[index, found]]
    const errors = Object.fromEntries(Object.entries(found.errors).filter(([name]) => !names.has(name)))
    return Object.keys(errors).length === 0 ? [] : [[index, { ...found, errors }]]
  })
  return { ...plan, invalid: new Map(invalid), parentKeys: set.map(({ name }) => name) }
}

/**
 * Adds the version field to a projection, even if responses of the resource exclude it. A version that the caller may
 * not read is not added.
 */
export function addVersion(resource: Resource, projection: Projection, caller: Caller): Projection {
  const field = resource.versionField
  if (field === null || projection.members.length === 0) return projection
  if (hiddenFieldsOf(caller, resource).has(field.name)) return projection
  if (projection.members.some(({ json }) => json === field.json)) return projection
  const wide = addOwnColumns(projection, [field])
  const index = indexOfOwnColumn(wide.columns, field.name)
  return { ...wide, members: [...wide.members, { kind: 'value', json: field.json, index, field }] }
}

/** Returns the projection of the key alone. */
export function keyProjection({ keys }: Resource): Projection {
  return {
    ...projectOwnFields(keys),
    members: keys.map((field, index) => ({ kind: 'value', json: field.json, index, field })),
  }
}

export function unexpectedPlanError({ name }: Resource, { kind }: Plan): Error {
  return internalError(`a behaviour of ${name} replaced the plan of a nested write by one of kind "${kind}"`)
}
