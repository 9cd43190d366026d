import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { DeletePlan, Upkeep } from '../../../types/plan.js'
import { silently } from '../../sequelize/instances.js'
import { statementLogging } from '../../sequelize/logging.js'
import { runHooks } from '../../sequelize/model.js'
import { setValues } from '../build.js'
import { get } from '../read.js'
import { isThere } from '../refusal.js'
import type { Store } from '../store.js'
import { notWritten, tableOfOne } from '../table.js'
import { inTransaction } from '../transaction.js'
import { stamps } from './create.js'
import { rowOf } from './find.js'
import { claimed } from './update.js'

/** Deletes the record, or marks it if the plan has a mark. */
export async function remove(store: Store, plan: DeletePlan): Promise<Outcome> {
  const { mark, report } = plan
  const { writesLess } = await tableOfOne(store)
  return inTransaction(store, async (transaction) => {
    const increments = mark?.increments ?? []
    // The record is reported with its old version, which `claimed` increments.
    const before =
      report === null || increments.length === 0
        ? null
        : await get(store, { where: plan.where, projection: report }, { transaction, lock: true })
    const instance = await claimed(store, plan, { increments }, transaction)
    const rows = report === null ? [] : [before ?? rowOf(store.dialect, instance, report.columns)]
    await removeInstance(store, instance, plan, transaction)
    if (writesLess && (await isThere(store, plan, plan.where, transaction))) throw notWritten()
    return { kind: 'deleted', count: 1, rows }
  })
}

/** Deletes or marks the record of an instance. Its version was already incremented by `claimed`. */
export async function removeInstance(
  store: Store,
  instance: Model,
  { mark, before, after }: Pick<DeletePlan, 'mark' | 'before' | 'after'>,
  transaction: Transaction,
): Promise<void> {
  await before?.(instance, transaction)
  if (mark === null) await instance.destroy({ transaction, ...statementLogging(store.sequelize) })
  else await markInstance(store, instance, mark, transaction)
  await after?.(instance, transaction)
}

/** Not validated, because the client has sent no values: any stored record may be deleted. */
async function markInstance(store: Store, instance: Model, mark: Upkeep, transaction: Transaction): Promise<void> {
  const { model } = store
  const options: SaveOptions = {
    transaction,
    validate: false,
    ...silently(stamps(store, mark.values)),
    ...statementLogging(store.sequelize),
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
