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

/** Loads the record as an instance. In a transaction it is locked, if the database has row locks. */
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

/** The reason why a record cannot be locked: it is missing, or PostgreSQL's row level security prevents it. */
async function unlocked(store: Store, where: Predicate, deleted: boolean, transaction: Transaction): Promise<Error> {
  const projection = { columns: keyColumns(store.resource.keys), members: [] }
  const row = await get(store, { where, projection }, { transaction, deleted, lock: store.dialect.readsSnapshots })
  if (row === null) return problem('not-found')
  // Or the record was created just now. The next attempt finds it.
  const refusal = notWritten()
  markRaced(refusal)
  return refusal
}

/** Loads several records as instances, by the text of their stored key, inside the store's transaction. */
export async function allLoaded(store: Store, where: Predicate): Promise<ReadonlyMap<string, Model>> {
  const { model, resource, transaction } = store
  const instances = await model.findAll({
    ...exactly(store),
    where: whereTree(store, where),
    ...(transaction === undefined ? {} : { transaction }),
  } as FindOptions)
  return new Map(instances.map((instance) => [identityName(resource.keys, partsOf(resource.keys, instance)), instance]))
}

/**
 * The key of an instance as JSON. @throws UnsafeSession if the driver has rounded it: it could identify another record
 */
export function keyOf(keys: KeyFields, instance: Model): JsonValue | undefined {
  return keyOfValues(keys, partsOf(keys, instance))
}

/** The parts of the key as stored. @throws UnsafeSession if the driver has rounded them */
export function partsOf(keys: KeyFields, instance: Model): Row {
  const values = keys.map(({ name }): unknown => instance.get(name))
  if (keys.some(({ valueType: { type } }, index) => type !== 'float' && isRounded(values[index]))) {
    throw new UnsafeSession(
      'The driver pg rounds the keys of new records. Remove pg.defaults.parseInt8 or types.setTypeParser(20).',
    )
  }
  return values
}

/** Whether an integer may have lost digits. Floats are exact as they are. */
function isRounded(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Sets the client's and the behaviours' values on an instance. */
export function set(store: Store, instance: Model, changes: Changes, upkeep: Upkeep): Model {
  acceptNulls(instance, store.resource.filled)
  instance.set(settableOf(store, changes))
  setValues(instance, upkeep.values)
  return instance
}
