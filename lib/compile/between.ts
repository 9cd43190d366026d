import type { Model, ModelStatic } from 'sequelize'
import type { Resource } from '../../types/resource.js'
import { compile } from './index.js'

const known = new WeakMap<ModelStatic<Model>, Resource>()

/**
 * By what the rows of a table between two others are written that has no resource of its own: one that nobody has mounted, so
 * that it has no routes, no say in paths and no behaviours but the model's own.
 *
 * @throws CrudConfigError for a model that no resource can be over
 */
export function between(model: ModelStatic<Model>): Resource {
  const found = known.get(model) ?? compile(model, { toJSON: 'ignore' })
  known.set(model, found)
  return found
}
