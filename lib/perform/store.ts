import type { Model, ModelStatic, Sequelize } from 'sequelize'
import type { Resource } from '../../types/resource.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { StatementCache } from './statement/cache.js'

/** What the statements of one resource share. */
export interface Store {
  readonly resource: Resource
  readonly model: ModelStatic<Model>
  readonly sequelize: Sequelize
  /** Asked for anew each time: what a server can do is known once there was a connection. */
  readonly dialect: Dialect
  readonly statements: StatementCache
}

const stores = new WeakMap<Resource, Store>()

export function storeOf(resource: Resource): Store {
  const known = stores.get(resource)
  if (known !== undefined) return known
  const { model } = resource
  const sequelize = sequelizeOf(model)
  resource.dialect().mend?.(sequelize)
  const store: Store = {
    resource,
    model,
    sequelize,
    get dialect() {
      return resource.dialect()
    },
    statements: new StatementCache(model),
  }
  stores.set(resource, store)
  return store
}
