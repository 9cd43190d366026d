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
  /** A getter, because the dialect changes once the server's version is known. */
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

export function storeOf(resource: Resource): StatementContext {
  const known = stores.get(resource)
  if (known !== undefined) return known
  const { model, limits } = resource
  const sequelize = sequelizeOf(model)
  resource.dialect().fixConnections?.(sequelize)
  watchTransactions(sequelize)
  if (limits.statementTime !== false) {
    if (resource.dialect().interrupt === null) useTimedConnections(sequelize)
    else useTimedQueries(sequelize)
  }
  const store: StatementContext = {
    resource,
    model,
    sequelize,
    get dialect() {
      return resource.dialect()
    },
    fullPages: new FullPages(),
    limit: limits.statementTime === false ? null : new StatementLimit(limits.statementTime, resource.dialect),
  }
  stores.set(resource, store)
  return store
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
  return transaction === undefined ? storeOf(resource) : withTransaction(storeOf(resource), transaction)
}

/** Returns a copy of the store that uses a transaction. */
export function withTransaction(store: StatementContext, transaction: Transaction): StatementContext {
  return copyStore(store, { transaction })
}

/** Returns a copy of the store that reports its writes to `order`. */
export function withCommitOrder(store: StatementContext, order: CommitOrder): StatementContext {
  return copyStore(store, { commitOrder: order })
}

/** Returns a copy of the store for a client that may disconnect before a write has begun. */
export function withClient(store: StatementContext, client: ClientConnection, order?: CommitOrder): StatementContext {
  return copyStore(store, { client, commitOrder: order })
}

/**
 * Returns a copy of the store that cancels reads when the client disconnects. Reads without a statement timeout are not
 * cancelled, because their connection is unknown.
 */
export function withAbort(store: StatementContext, client: ClientConnection): StatementContext {
  return store.limit === null ? store : copyStore(store, { limit: store.limit.withClient(client) })
}

/** Returns the store with the resource's current dialect, which changes once the server's version is known. */
export function withCurrentDialect(store: StatementContext): StatementContext {
  const dialect = store.resource.dialect()
  return store.dialect === dialect ? store : copyStore(store, { dialect })
}

type StoreChange = Partial<Pick<StatementContext, 'dialect' | 'limit' | 'transaction' | 'client' | 'commitOrder'>>

/** Copies member by member, because spreading an object with a getter is slow on this frequent path. */
function copyStore(
  { resource, model, sequelize, dialect, fullPages, limit, transaction, client, commitOrder }: StatementContext,
  change: StoreChange,
): StatementContext {
  return {
    resource,
    model,
    sequelize,
    dialect: change.dialect ?? dialect,
    fullPages,
    limit: change.limit ?? limit,
    transaction: change.transaction ?? transaction,
    client: change.client ?? client,
    commitOrder: change.commitOrder ?? commitOrder,
  }
}
