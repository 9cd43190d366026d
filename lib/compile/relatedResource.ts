import type { Association, Model, ModelStatic } from 'sequelize'
import type { RelationOption } from '../../types/options.js'
import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { cacheUntilMount, resourcesOver, resourcesOverVariants } from './mounted.js'

/**
 * Returns a getter for the resource of a relation in nested routes and nested writes. It is the option's resource, or
 * the only resource over the target. Resolved on first use, because routers mount in any order.
 *
 * @throws CrudConfigError on a call unless exactly one resource is mounted
 */
export function createRelatedResourceGetter(
  name: string,
  { source, target }: Association,
  option: RelationOption,
): () => Resource {
  const where = `${source.name}: relations.${name}`
  const given = typeof option === 'object' ? option.resource : undefined
  return cacheUntilMount(() => {
    if (given !== undefined) return requireMountedResource(`${where}.resource`, target, given)
    const [only, ...others] = resourcesOver(target)
    if (only !== undefined && others.length === 0) return only
    const remedy =
      only === undefined
        ? `no router is mounted for the model ${target.name}. Mount one, or remove "routes" and "write"`
        : `${others.length + 1} routers are mounted for the model ${target.name}. Choose one of them by "resource"`
    throw new CrudConfigError('INVALID_OPTION', `${where}: ${remedy}.`)
  })
}

/**
 * Returns the mounted resource of the option `resource`. @throws CrudConfigError for a router that is closed, or over
 * another model
 */
function requireMountedResource(where: string, target: ModelStatic<Model>, given: unknown): Resource {
  const value: unknown = resourceOfRouter(given) === null && typeof given === 'function' ? given() : given
  const found = resourcesOverVariants(target).find((each) => each === resourceOfRouter(value) || each === value)
  if (found !== undefined) return found
  throw new CrudConfigError('INVALID_OPTION', `${where} must be a mounted router of the model ${target.name}.`)
}

/** Returns the resource of a router, or null. Routers are functions, so only the member `resource` identifies them. */
export function resourceOfRouter(value: unknown): unknown {
  const isOne = (typeof value === 'object' || typeof value === 'function') && value !== null && 'resource' in value
  return isOne ? value.resource : null
}

/**
 * Returns a getter for the resource that writes the rows of a many-to-many's join model; null for a join model without
 * a resource.
 *
 * @throws CrudConfigError on a call if there are several
 */
export function createJoinModelResourceGetter(
  { source, as }: Association,
  through: ModelStatic<Model>,
): () => Resource | null {
  return cacheUntilMount(() => {
    const [only = null, ...others] = resourcesOverVariants(through)
    if (others.length === 0) return only
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${source.name}: relations.${as}: ${others.length + 1} routers are mounted for the join model ${through.name}. Call close() on all but one of them.`,
    )
  })
}
