import type { Association, Model, ModelStatic } from 'sequelize'
import type { RelationOption } from '../../types/options.js'
import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { mountedOver, mountedOverVariants, perGeneration } from './mounted.js'

/**
 * The resource by which routes and writes treat the records behind a relation: the one that the option names, or the only
 * one over the target. Found on first use, since routers mount in any order.
 *
 * @throws CrudConfigError where there is none, or no telling which
 */
export function speakerOf(name: string, { source, target }: Association, option: RelationOption): () => Resource {
  const where = `${source.name}: relations.${name}`
  const given = typeof option === 'object' ? option.resource : undefined
  return perGeneration(() => {
    if (given !== undefined) return named(`${where}.resource`, target, given)
    const [only, ...others] = mountedOver(target)
    if (only !== undefined && others.length === 0) return only
    const remedy =
      only === undefined
        ? `no resource is mounted over ${target.name}: mount one, or leave "routes" and "write" out`
        : `${others.length + 1} resources are mounted over ${target.name}: say which one, by "resource"`
    throw new CrudConfigError('INVALID_OPTION', `${where}: ${remedy}.`)
  })
}

/** What is named need not be a router any more: one that is closed speaks for nothing. */
function named(where: string, target: ModelStatic<Model>, given: unknown): Resource {
  const value: unknown = carried(given) === null && typeof given === 'function' ? given() : given
  const found = mountedOverVariants(target).find((each) => each === carried(value) || each === value)
  if (found !== undefined) return found
  throw new CrudConfigError('INVALID_OPTION', `${where} must be a router that is mounted over ${target.name}.`)
}

/** A router is a function as well: it is told by what it carries. */
export function carried(value: unknown): unknown {
  const isOne = (typeof value === 'object' || typeof value === 'function') && value !== null && 'resource' in value
  return isOne ? value.resource : null
}

/**
 * The resource by which the rows are written that link a many-to-many; null where there is none over their table.
 *
 * @throws CrudConfigError where there are several
 */
export function linkSpeakerOf({ source, as }: Association, through: ModelStatic<Model>): () => Resource | null {
  return perGeneration(() => {
    const [only = null, ...others] = mountedOverVariants(through)
    if (others.length === 0) return only
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${source.name}: relations.${as}: ${others.length + 1} resources are mounted over ${through.name}, which links the two: close all but one.`,
    )
  })
}
