import type { Model } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import { acceptNulls } from '../sequelize/instances.js'
import type { Store } from './store.js'

/** A new instance with the client's values and those of the behaviours, defaults and setters applied. */
export function buildInstance({ model, resource }: Store, changes: Changes, upkeep: Changes): Model {
  const instance = model.build(Object.fromEntries(changes))
  acceptNulls(instance, resource.filled)
  setValues(instance, upkeep)
  return instance
}

/** Past setters and read-only marks: these values are not the client's. */
export function setValues(instance: Model, values: Changes): void {
  for (const [name, value] of values) instance.setDataValue(name as never, value as never)
}
