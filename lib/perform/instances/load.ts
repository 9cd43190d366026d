import type { FindOptions, Model, Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Predicate, Upkeep } from '../../../types/plan.js'
import { problem } from '../../common/problem.js'
import { acceptNulls } from '../../sequelize/instances.js'
import { setValues } from '../build.js'
import type { Store } from '../store.js'
import { exactly, whereTree } from './find.js'

/** The record as an instance, locked until the transaction, if any, ends where the database has row locks. */
export async function loaded(
  store: Store,
  where: Predicate,
  deleted: boolean,
  transaction?: Transaction,
): Promise<Model> {
  const within = transaction && { transaction, lock: { level: transaction.LOCK.UPDATE, of: store.model } }
  const instance = await store.model.findOne({
    ...exactly(store),
    where: whereTree(store, where),
    ...(within ?? { useMaster: true }),
    paranoid: !deleted,
  } as FindOptions)
  if (instance === null) throw problem('not-found')
  return instance
}

/** Gives an instance the client's values and those of the behaviours. */
export function set({ resource }: Store, instance: Model, changes: Changes, upkeep: Upkeep): Model {
  acceptNulls(instance, resource.filled)
  instance.set(Object.fromEntries(changes))
  setValues(instance, upkeep.values)
  return instance
}
