import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { DeletePlan, ServerValues } from '../../../types/plan.js'
import { silentOption } from '../../sequelize/instances.js'
import { statementLoggingOf } from '../../sequelize/logging.js'
import { runHooks } from '../../sequelize/model.js'
import { setValues } from '../build.js'
import { readRecord } from '../read.js'
import { canReadRecord } from '../refusal.js'
import type { StatementContext } from '../store.js'
import { loadTraitsForRecord, skippedWriteError } from '../tableTraits.js'
import { inTransaction } from '../transaction.js'
import { hasManagedTimestamp } from './create.js'
import { instanceRow } from './find.js'
import { claimInstance } from './update.js'

/** Deletes a record through its instance, or sets its deletion mark if the plan has a mark. */
export async function removeRecord(store: StatementContext, plan: DeletePlan): Promise<Outcome> {
  const { softDelete, report } = plan
  const { canSkipWrites } = await loadTraitsForRecord(store)
  return inTransaction(store, async (transaction) => {
    const increments = softDelete?.increments ?? []
    // Read before `claimInstance` increments the version, because the report contains the old version.
    const before =
      report === null || increments.length === 0
        ? null
        : await readRecord(store, { where: plan.where, projection: report }, { transaction, lock: true })
    const instance = await claimInstance(store, plan, { increments }, transaction)
    const rows = report === null ? [] : [before ?? instanceRow(store.dialect, instance, report.columns)]
    await removeInstance(store, instance, plan, transaction)
    if (canSkipWrites && (await canReadRecord(store, plan, plan.where, transaction))) throw skippedWriteError()
    return { kind: 'deleted', count: 1, rows }
  })
}

/** Deletes or marks the record of an instance, between the host's hooks. The version must already be incremented. */
export async function removeInstance(
  store: StatementContext,
  instance: Model,
  { softDelete, before, after }: Pick<DeletePlan, 'softDelete' | 'before' | 'after'>,
  transaction: Transaction,
): Promise<void> {
  await before?.(instance, transaction)
  if (softDelete === null) await instance.destroy({ transaction, ...statementLoggingOf(store.sequelize) })
  else await markInstance(store, instance, softDelete, transaction)
  await after?.(instance, transaction)
}

/** Sets the deletion mark of an instance. Skips validation, because any stored record may be deleted. */
async function markInstance(
  store: StatementContext,
  instance: Model,
  mark: ServerValues,
  transaction: Transaction,
): Promise<void> {
  const { model } = store
  const options: SaveOptions = {
    transaction,
    validate: false,
    ...silentOption(hasManagedTimestamp(store, mark.values)),
    ...statementLoggingOf(store.sequelize),
  }
  setValues(instance, mark.values)
  if (model.options.paranoid) {
    await instance.destroy(options)
    return
  }
  await runHooks(model, 'beforeDestroy', instance, options)
  await instance.save(options)
  await runHooks(model, 'afterDestroy', instance, options)
}
