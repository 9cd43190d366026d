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

/** The state that all statements of one resource share. */
export interface Store {
  readonly resource: Resource
  readonly model: ModelStatic<Model>
  readonly sequelize: Sequelize
  /** Asked for anew each time: what a server can do is known once there was a connection. */
  readonly dialect: Dialect
  readonly fullPages: FullPages
  /** How long its statements may take; null for as long as they like. */
  readonly limit: StatementLimit | null
  /** The transaction that all of it runs in; without one each write has its own. */
  readonly transaction?: Transaction | undefined
  /** Whether somebody still waits for what has not begun; absent where nobody can go. */
  readonly leaving?: Leaving | undefined
  /** Who is to know when it writes what; absent where nobody is told of it. */
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

/** Reads the types of columns, by which statements are written. Null if they are known. */
export function columnsKnown({ resource, transaction }: Store): Promise<void> | null {
  // Without the caller's own limit, since other callers may wait for the same read.
  const { dialect, model, limit } = storeOf(resource)
  return columnTypesOf({ dialect, model, limit, transaction })
}

/** The store of another resource, in the transaction of this one where it has one. */
export function beside({ transaction }: Pick<Store, 'transaction'>, resource: Resource): Store {
  return transaction === undefined ? storeOf(resource) : within(storeOf(resource), transaction)
}

/** The same within a transaction: several writes that stand or fall together. */
export function within(store: Store, transaction: Transaction): Store {
  return changed(store, { transaction })
}

/** The same for those who are to know what it writes. */
export function orderedBy(store: Store, order: Ordering): Store {
  return changed(store, { order })
}

/** The same for a caller who may go before a write of his has begun, and for those who are told of it. */
export function attended(store: Store, leaving: Leaving, order?: Ordering): Store {
  return changed(store, { leaving, order })
}

/**
 * The same for one who may go while he waits for what is read, which is ended then. Where statements have no limit nobody knows
 * which connection they are on.
 */
export function watchedBy(store: Store, leaving: Leaving): Store {
  return store.limit === null ? store : changed(store, { limit: store.limit.heeding(leaving) })
}

/** The same with what is known of the server by now. */
export function refreshed(store: Store): Store {
  const dialect = store.resource.dialect()
  return store.dialect === dialect ? store : changed({ ...store, dialect }, {})
}

type Changed = Partial<Pick<Store, 'limit' | 'transaction' | 'leaving' | 'order'>>

/** Written out: a copy of something with a getter takes as long as the rest of a small request's own work. */
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
