import type { Model, ModelStatic, Sequelize, Transaction } from 'sequelize'
import type { Leaving } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import type { Ordering } from '../../types/work.js'
import { columnTypesOf } from '../sequelize/columnTypes.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { StatementLimit } from '../sequelize/statementTime.js'
import { timeConnections } from '../sequelize/timedConnections.js'
import { timeQueries } from '../sequelize/timedQueries.js'
import { FullPages } from './fullPages.js'

/** Settings that all statements of a resource share. */
export interface Store {
  readonly resource: Resource
  readonly model: ModelStatic<Model>
  readonly sequelize: Sequelize
  /** Read again on each access: the dialect changes once the server's version is known. */
  readonly dialect: Dialect
  readonly fullPages: FullPages
  /** Statement timeout, or null for none. */
  readonly limit: StatementLimit | null
  /** The transaction of all statements. Without one, each write has its own. */
  readonly transaction?: Transaction | undefined
  /** Tells whether the client has disconnected. Absent if that cannot happen. */
  readonly leaving?: Leaving | undefined
  /** Receives the order of writes, for push. Absent without push. */
  readonly order?: Ordering | undefined
}

const stores = new WeakMap<Resource, Store>()

export function storeOf(resource: Resource): Store {
  const known = stores.get(resource)
  if (known !== undefined) return known
  const { model, limits } = resource
  const sequelize = sequelizeOf(model)
  resource.dialect().mend?.(sequelize)
  if (limits.statementTime !== false) {
    if (resource.dialect().interrupt === null) timeConnections(sequelize)
    else timeQueries(sequelize)
  }
  const store: Store = {
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

/** Reads the column types that statements depend on. Returns null if they are known. */
export function columnsKnown({ resource, transaction }: Store): Promise<void> | null {
  // Without the caller's own limit, because other callers may wait for the same read.
  const { dialect, model, limit } = storeOf(resource)
  return columnTypesOf({ dialect, model, limit, transaction })
}

/** The store of another resource, in the same transaction if there is one. */
export function beside({ transaction }: Pick<Store, 'transaction'>, resource: Resource): Store {
  return transaction === undefined ? storeOf(resource) : within(storeOf(resource), transaction)
}

/** The store within a transaction. */
export function within(store: Store, transaction: Transaction): Store {
  return changed(store, { transaction })
}

/** The store with a receiver of the order of writes. */
export function orderedBy(store: Store, order: Ordering): Store {
  return changed(store, { order })
}

/** The store for a client that may disconnect before a write has begun. */
export function attended(store: Store, leaving: Leaving, order?: Ordering): Store {
  return changed(store, { leaving, order })
}

/**
 * The store for a client that may disconnect during a read, which is then cancelled. Without a statement timeout, reads
 * are not cancelled: their connection is unknown.
 */
export function watchedBy(store: Store, leaving: Leaving): Store {
  return store.limit === null ? store : changed(store, { limit: store.limit.heeding(leaving) })
}

/** The store with what is now known about the server. */
export function refreshed(store: Store): Store {
  const dialect = store.resource.dialect()
  return store.dialect === dialect ? store : changed({ ...store, dialect }, {})
}

type Changed = Partial<Pick<Store, 'limit' | 'transaction' | 'leaving' | 'order'>>

/** Written out, because copying an object with a getter is slow on this path. */
function changed(
  { resource, model, sequelize, dialect, fullPages, limit, transaction, leaving, order }: Store,
  change: Changed,
): Store {
  return {
    resource,
    model,
    sequelize,
    dialect,
    fullPages,
    limit: change.limit ?? limit,
    transaction: change.transaction ?? transaction,
    leaving: change.leaving ?? leaving,
    order: change.order ?? order,
  }
}
