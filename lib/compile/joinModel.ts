import type { Model, ModelStatic } from 'sequelize'
import type { Resource } from '../../types/resource.js'
import { compile } from './index.js'

const compiledModels = new WeakMap<ModelStatic<Model>, Resource>()

/**
 * Compiles a join model without a resource, to write its rows. The result is not mounted: it has no routes, does not
 * restrict paths, and has no behaviours except the model's own.
 *
 * @throws CrudConfigError for a model that cannot have a resource
 */
export function compileJoinModel(model: ModelStatic<Model>): Resource {
  const found = compiledModels.get(model) ?? compile(model, { toJSON: 'ignore' })
  compiledModels.set(model, found)
  return found
}
