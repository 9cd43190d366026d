import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { DeletePlan, ServerValues, UpdatePlan } from '../../../types/plan.js'
import type { TableTraits } from '../../../types/table.js'
import { silentOption } from '../../sequelize/instances.js'
import { statementLoggingOf } from '../../sequelize/logging.js'
import { timestampsOf } from '../../sequelize/model.js'
import { findExisting, fullConditionOf, missedWriteError } from '../refusal.js'
import { updateRows } from '../statements/rows.js'
import type { StatementContext } from '../store.js'
import { loadTraitsForRecord } from '../tableTraits.js'
import { inTransaction } from '../transaction.js'
import { assertLengths } from '../validation.js'
import { readUpdated } from '../writtenRows.js'
import { hasManagedTimestamp } from './create.js'
import { applyChanges, loadLocked } from './load.js'
import { withSkipCheck } from './save.js'

/** Updates or restores a record through its instance. */
export async function updateRecord(store: StatementContext, plan: UpdatePlan, edit?: InstanceEdit): Promise<Outcome> {
  const table = await loadTraitsForRecord(store)
  return inTransaction(store, (transaction) => saveUpdated(store, table, plan, transaction, edit))
}

/** Changes a loaded and locked record before its values are set. */
type InstanceEdit = (instance: Model) => Promise<void>

async function saveUpdated(
  store: StatementContext,
  table: TableTraits,
  plan: UpdatePlan,
  transaction: Transaction,
  edit?: InstanceEdit,
): Promise<Outcome> {
  const { changes, serverValues } = plan
  const instance = await claimInstance(store, plan, serverValues, transaction)
  await edit?.(instance)
  applyChanges(store, instance, changes, serverValues)
  await assertLengths(store, instance, plan)
  await plan.before?.(instance, transaction)
  // An unchanged record is read back under its lock, because the transaction's snapshot may be old. A model hook may
  // undo all changes, so a projection without joins always uses the lock.
  const mayBeOld = !instance.changed() || plan.projection.columns.every(({ joins }) => joins.length === 0)
  const { updatedAt } = timestampsOf(store.model)
  // A PATCH updates the timestamp even if no value changes.
  if (updatedAt !== undefined) instance.changed(updatedAt as never, true)
  // Writes nulls even if the host sets `omitNull` for its own updates.
  const options: SaveOptions = {
    transaction,
    omitNull: false,
    ...silentOption(hasManagedTimestamp(store, serverValues.values)),
    ...statementLoggingOf(store.sequelize),
  }
  const isRestored = plan.kind === 'restore' && store.model.options.paranoid
  await withSkipCheck<unknown>(table, instance, () => (isRestored ? instance.restore(options) : instance.save(options)))
  await plan.after?.(instance, transaction)
  return readUpdated(store, plan, transaction, mayBeOld)
}

/**
 * Loads the record and checks the precondition. The incremented version, or without a version the record's lock, makes
 * one of two concurrent writers fail.
 */
export async function claimInstance(
  store: StatementContext,
  plan: UpdatePlan | DeletePlan,
  { increments }: Pick<ServerValues, 'increments'>,
  transaction: Transaction,
): Promise<Model> {
  const where = fullConditionOf(plan)
  const deleted = plan.kind === 'restore'
  if (increments.length > 0) {
    const count = await updateRows(store, { where, values: new Map(), increments, deleted }, transaction)
    if (count === 0) throw await missedWriteError(store, plan, transaction)
    return loadLocked(store, plan.where, deleted, transaction)
  }
  const instance = await loadLocked(store, plan.where, deleted, transaction)
  if (plan.precondition !== null && (await findExisting(store, { kind: plan.kind, where }, transaction)) === null) {
    throw plan.precondition.createError()
  }
  return instance
}
