import type { Model } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import { acceptNulls } from '../sequelize/instances.js'
import { toWritable } from '../sequelize/writable.js'
import type { StatementContext } from './store.js'

/**
 * Builds a new instance from the client's values (`changes`) and the behaviours' values (`serverValues`). Applies defaults
 * and setters.
 */
export function buildInstance({ model, resource }: StatementContext, changes: Changes, serverValues: Changes): Model {
  const instance = model.build(toSettableValues({ model, resource }, changes))
  acceptNulls(instance, resource.filled)
  setValues(instance, serverValues)
  for (const { name, assigned } of resource.keys) {
    // Sequelize would insert null. The table generates the key only if the INSERT omits the column.
    if (!assigned && instance.getDataValue(name as never) === null)
      instance.setDataValue(name as never, undefined as never)
  }
  return instance
}

/** Converts the client's values to the form that `build` and `set` accept. */
export function toSettableValues(
  { model, resource }: Pick<StatementContext, 'model' | 'resource'>,
  changes: Changes,
): { [attribute: string]: unknown } {
  const values: { [attribute: string]: unknown } = {}
  for (const [name, value] of changes) values[name] = value
  for (const field of resource.rewritten) {
    if (changes.has(field.name)) values[field.name] = toWritable(model, field, changes.get(field.name))
  }
  return values
}

/** Sets values without setters and read-only checks, because the server chose these values. */
export function setValues(instance: Model, values: Changes): void {
  for (const [name, value] of values) instance.setDataValue(name as never, value as never)
}
