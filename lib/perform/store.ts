import type { Model, ModelStatic, Sequelize } from 'sequelize'
import type { Resource } from '../../types/resource.js'
import { type Dialect, dialectNamed } from '../sequelize/dialect/index.js'
import { mendHandles } from '../sequelize/handles.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { versionOf } from '../sequelize/model.js'
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
  if (sequelize.getDialect() === 'sqlite') mendHandles(sequelize)
  const store: Store = {
    resource,
    model,
    sequelize,
    get dialect() {
      return dialectOf(sequelize)
    },
    statements: new StatementCache(model),
  }
  stores.set(resource, store)
  return store
}

/** @throws TypeError for a database that this package has no dialect for */
export function dialectOf(sequelize: Sequelize): Dialect {
  const dialect = dialectNamed(sequelize.getDialect(), versionOf(sequelize))
  if (dialect === undefined) throw new TypeError(`the dialect ${sequelize.getDialect()} is not supported`)
  return dialect
}
