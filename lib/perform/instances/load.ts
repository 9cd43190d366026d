import type { FindOptions, Model, Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { JsonValue } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Predicate, Upkeep } from '../../../types/plan.js'
import { type KeyFields, keyColumns, keyOfValues } from '../../common/keys.js'
import { problem } from '../../common/problem.js'
import { limitedTo } from '../../sequelize/connections.js'
import { acceptNulls } from '../../sequelize/instances.js'
import { UnsafeSession } from '../../sequelize/session.js'
import { settableOf, setValues } from '../build.js'
import { identityName } from '../identified.js'
import { get } from '../read.js'
import type { Store } from '../store.js'
import { notWritten } from '../table.js'
import { timedBySequelize } from '../timed.js'
import { markRaced } from '../transaction.js'
import { exactly, whereTree } from './find.js'

/** The record as an instance, locked until the transaction, if any, ends where the database has row locks. */
export async function loaded(
  store: Store,
  where: Predicate,
  deleted: boolean,
  transaction: Transaction | undefined = store.transaction,
): Promise<Model> {
  const within = transaction && { transaction, lock: { level: transaction.LOCK.UPDATE, of: store.model } }
  const options = {
    ...exactly(store),
    where: whereTree(store, where),
    ...(within ?? { useMaster: true, ...limitedTo(store.limit) }),
    paranoid: !deleted,
  } as FindOptions
  const instance = await timedBySequelize(store, transaction, () => store.model.findOne(options))
  if (instance !== null) return instance
  throw transaction === undefined ? problem('not-found') : await unlocked(store, where, deleted, transaction)
}

/** Why a record cannot be locked: there is none, or a row policy of PostgreSQL keeps it from being changed. */
async function unlocked(store: Store, where: Predicate, deleted: boolean, transaction: Transaction): Promise<Error> {
  const projection = { columns: keyColumns(store.resource.keys), members: [] }
  const row = await get(store, { where, projection }, { transaction, deleted, lock: store.dialect.readsSnapshots })
  if (row === null) return problem('not-found')
  // Or somebody has just made it: then the next try finds it.
  const refusal = notWritten()
  markRaced(refusal)
  return refusal
}

/** Several records likewise, by the names of their keys as they are stored, for the transaction that the store is in. */
export async function allLoaded(store: Store, where: Predicate): Promise<ReadonlyMap<string, Model>> {
  const { model, resource, transaction } = store
  const instances = await model.findAll({
    ...exactly(store),
    where: whereTree(store, where),
    ...(transaction === undefined ? {} : { transaction }),
  } as FindOptions)
  return new Map(instances.map((instance) => [identityName(resource.keys, partsOf(resource.keys, instance)), instance]))
}

/** The key of an instance as JSON. @throws UnsafeSession for one that the driver has rounded: it may be another record's */
export function keyOf(keys: KeyFields, instance: Model): JsonValue | undefined {
  return keyOfValues(keys, partsOf(keys, instance))
}

/** The parts of the key as they are stored. @throws UnsafeSession likewise */
export function partsOf(keys: KeyFields, instance: Model): Row {
  const values = keys.map(({ name }): unknown => instance.get(name))
  if (keys.some(({ valueType: { type } }, index) => type !== 'float' && isRounded(values[index]))) {
    throw new UnsafeSession(
      'pg rounds the keys of new records. Remove pg.defaults.parseInt8 or types.setTypeParser(20).',
    )
  }
  return values
}

/** Whether digits of a whole number may be missing. A float is what it is, however large. */
function isRounded(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Gives an instance the client's values and those of the behaviours. */
export function set(store: Store, instance: Model, changes: Changes, upkeep: Upkeep): Model {
  acceptNulls(instance, store.resource.filled)
  instance.set(settableOf(store, changes))
  setValues(instance, upkeep.values)
  return instance
}
