import type { Model } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import { toWritableArray } from '../sequelize/arrays.js'
import { acceptNulls } from '../sequelize/instances.js'
import type { Store } from './store.js'

/** A new instance with the client's and the behaviours' values. Defaults and setters are applied. */
export function buildInstance({ model, resource }: Store, changes: Changes, upkeep: Changes): Model {
  const instance = model.build(toSettableValues({ model, resource }, changes))
  acceptNulls(instance, resource.filled)
  setValues(instance, upkeep)
  for (const { name, assigned } of resource.keys) {
    // Sequelize would insert the null, and the table's default or trigger would not apply.
    if (!assigned && instance.getDataValue(name as never) === null)
      instance.setDataValue(name as never, undefined as never)
  }
  return instance
}

/** The client's values in the form that `build` and `set` accept. */
export function toSettableValues(
  { model, resource }: Pick<Store, 'model' | 'resource'>,
  changes: Changes,
): { [attribute: string]: unknown } {
  const values: { [attribute: string]: unknown } = Object.fromEntries(changes)
  for (const field of resource.fields) {
    if (field.valueType.items === undefined || !changes.has(field.name)) continue
    values[field.name] = toWritableArray(model, field, changes.get(field.name))
  }
  return values
}

/** Bypasses setters and read-only marks: these values do not come from the client. */
export function setValues(instance: Model, values: Changes): void {
  for (const [name, value] of values) instance.setDataValue(name as never, value as never)
}
