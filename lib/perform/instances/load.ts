import type { FindOptions, Model, Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { JsonValue } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Predicate, ServerValues } from '../../../types/plan.js'
import { encodeKey, type KeyFields, keyColumns } from '../../common/keys.js'
import { problem } from '../../common/problem.js'
import { limitOptionsOf } from '../../sequelize/connections.js'
import { acceptNulls, identifyByText } from '../../sequelize/instances.js'
import { hasHooks } from '../../sequelize/model.js'
import { readOptionOf } from '../../sequelize/primary.js'
import { UnsafeSession } from '../../sequelize/session.js'
import { setValues, toSettableValues } from '../build.js'
import { readRecord } from '../read.js'
import { identityText } from '../recordIdentity.js'
import { withSequelizeTimeout } from '../statementTimeout.js'
import type { StatementContext } from '../store.js'
import { skippedWriteError } from '../tableTraits.js'
import { markRaced } from '../transaction.js'
import { buildWhereTree, exactReadOptions } from './find.js'

/**
 * Loads a record as an instance. Locks the record if there is a transaction and the database has row locks.
 * @throws Problem 404 if the record is missing
 */
export async function loadLocked(
  store: StatementContext,
  where: Predicate,
  deleted: boolean,
  transaction: Transaction | undefined = store.transaction,
): Promise<Model> {
  const within = transaction && { transaction, lock: { level: transaction.LOCK.UPDATE, of: store.model } }
  const options = {
    ...exactReadOptions(store),
    where: buildWhereTree(store, where),
    ...(within ?? { ...readOptionOf(), ...limitOptionsOf(store.limit) }),
    paranoid: !deleted,
  } as FindOptions
  const instance = await withSequelizeTimeout(store, transaction, () => store.model.findOne(options))
  if (instance !== null) return prepareLoaded(store, instance)
  throw transaction === undefined ? problem('not-found') : await notLockedError(store, where, deleted, transaction)
}

/**
 * Returns the reason why a record could not be locked: the record is missing, or PostgreSQL's row level security
 * prevents the lock.
 */
async function notLockedError(
  store: StatementContext,
  where: Predicate,
  deleted: boolean,
  transaction: Transaction,
): Promise<Error> {
  const projection = { columns: keyColumns(store.resource.keys), members: [] }
  const row = await readRecord(
    store,
    { where, projection },
    { transaction, includeDeleted: deleted, lock: store.dialect.readsSnapshots },
  )
  if (row === null) return problem('not-found')
  // The record may also have been inserted after the locking read. The next attempt finds the record.
  const refusal = skippedWriteError()
  markRaced(refusal)
  return refusal
}

/** Loads records as instances, inside the store's transaction. Returns the instances by the text of their keys. */
export async function loadAllLocked(store: StatementContext, where: Predicate): Promise<ReadonlyMap<string, Model>> {
  const { model, resource, transaction } = store
  const instances = await model.findAll({
    ...exactReadOptions(store),
    where: buildWhereTree(store, where),
    ...(transaction === undefined ? {} : { transaction }),
  } as FindOptions)
  return new Map(
    instances.map((instance) => [
      identityText(resource.keys, instanceKeyParts(resource.keys, instance)),
      prepareLoaded(store, instance),
    ]),
  )
}

/**
 * Prepares a loaded instance for `save` and `destroy`. What find hooks have set is marked as unchanged, because a hook
 * that masks a value must not make Sequelize store the mask.
 */
export function prepareLoaded({ resource: { keys } }: StatementContext, instance: Model): Model {
  identifyByText(instance, keys)
  for (const name of instance.changed() || []) instance.changed(name as never, false)
  return instance
}

/**
 * Returns the key of an instance as JSON.
 * @throws UnsafeSession if the driver has rounded the key, because a rounded key could identify another record
 */
export function instanceKeyOf(keys: KeyFields, instance: Model): JsonValue | undefined {
  return encodeKey(keys, instanceKeyParts(keys, instance))
}

/**
 * Returns the parts of an instance's key as stored.
 * @throws UnsafeSession if the driver has rounded a part
 */
export function instanceKeyParts(keys: KeyFields, instance: Model): Row {
  const values = keys.map(({ name }): unknown => instance.get(name))
  if (keys.some(({ valueType: { type } }, index) => type !== 'float' && canBeRounded(values[index]))) {
    throw new UnsafeSession(
      'The driver has rounded a key. With pg, remove pg.defaults.parseInt8 or types.setTypeParser(20). With sqlite3, read keys above 2^53 as text.',
    )
  }
  return values
}

/** Whether the driver may have rounded an integer. Floats are exact. */
function canBeRounded(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Sets the client's and the behaviours' values on an instance. */
export function applyChanges(
  store: StatementContext,
  instance: Model,
  changes: Changes,
  serverValues: ServerValues,
): Model {
  acceptNulls(instance, store.resource.filled)
  const hasFindHook = hasHooks(store.model, ['afterFind'])
  const replaced = [...changes.keys()].filter((name) => hasFindHook && mayBeReplaced(instance, name))
  instance.set(toSettableValues(store, changes))
  for (const name of replaced) instance.changed(name as never, true)
  setValues(instance, serverValues.values)
  return instance
}

/**
 * Whether a find hook may have replaced the stored value. Sequelize would not save a value of the client that equals the
 * hook's value, although the stored value differs. A hook may also have changed an object in place.
 */
function mayBeReplaced(instance: Model, name: string): boolean {
  const value: unknown = instance.getDataValue(name as never)
  return (typeof value === 'object' && value !== null) || !Object.is(value, instance.previous(name as never))
}
