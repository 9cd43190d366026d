import type { Model, ModelStatic, Sequelize, Transaction } from 'sequelize'
import type { ClientConnection } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import type { CommitOrder } from '../../types/work.js'
import { loadColumnTypes } from '../sequelize/columnTypes.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import { watchTransactions } from '../sequelize/endedTransactions.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { StatementLimit } from '../sequelize/statementTimeout.js'
import { useTimedConnections } from '../sequelize/timedConnections.js'
import { useTimedQueries } from '../sequelize/timedQueries.js'
import { FullPages } from './fullPages.js'

/** Context of a resource's statements: model, connection settings and transaction. */
export interface StatementContext {
  readonly resource: Resource
  readonly model: ModelStatic<Model>
  readonly sequelize: Sequelize
  /** The dialect when the store was read. The dialect changes once the server's version is known. */
  readonly dialect: Dialect
  readonly fullPages: FullPages
  /** Statement timeout, or null for none. */
  readonly limit: StatementLimit | null
  /** Transaction of all statements. Without a transaction, each write starts its own. */
  readonly transaction?: Transaction | undefined
  /** Tells whether the client has disconnected. Absent if the client cannot disconnect. */
  readonly client?: ClientConnection | undefined
  /** Receives the order of writes, for push. Absent without push. */
  readonly commitOrder?: CommitOrder | undefined
}

const stores = new WeakMap<Resource, StatementContext>()

/** Returns the store of a resource, with the current dialect. */
export function storeOf(resource: Resource): StatementContext {
  const dialect = resource.dialect()
  const known = stores.get(resource)
  if (known?.dialect === dialect) return known
  const store = known === undefined ? createBaseStore(resource, dialect) : { ...known, dialect }
  stores.set(resource, store)
  return store
}

function createBaseStore(resource: Resource, dialect: Dialect): StatementContext {
  const { model, limits } = resource
  const sequelize = sequelizeOf(model)
  dialect.fixConnections?.(sequelize)
  watchTransactions(sequelize)
  const fullPages = new FullPages()
  if (limits.statementTime === false) return { resource, model, sequelize, dialect, fullPages, limit: null }
  if (dialect.interrupt === null) useTimedConnections(sequelize)
  else useTimedQueries(sequelize)
  const limit = new StatementLimit(limits.statementTime, resource.dialect)
  return { resource, model, sequelize, dialect, fullPages, limit }
}

/** Reads the column types that statements depend on. Returns null if the types are already known. */
export function ensureColumnTypes({ resource, transaction }: StatementContext): Promise<void> | null {
  // The statement timeout of this request does not apply, because other requests may wait for this read.
  const { dialect, model, limit } = storeOf(resource)
  return loadColumnTypes({ dialect, model, limit, transaction })
}

/** Returns the store of another resource, in the current transaction if there is one. */
export function storeInSameTransaction(
  { transaction }: Pick<StatementContext, 'transaction'>,
  resource: Resource,
): StatementContext {
  return transaction === undefined ? storeOf(resource) : { ...storeOf(resource), transaction }
}

/**
 * Returns a copy of the store that cancels reads when the client disconnects. Reads without a statement timeout are not
 * cancelled, because their connection is unknown.
 */
export function withAbort(store: StatementContext, client: ClientConnection): StatementContext {
  return store.limit === null ? store : { ...store, limit: store.limit.withClient(client) }
}

/** Returns the store with the resource's current dialect, which changes once the server's version is known. */
export function withCurrentDialect(store: StatementContext): StatementContext {
  return { ...store, dialect: store.resource.dialect() }
}
