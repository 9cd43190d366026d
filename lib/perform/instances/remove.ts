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

/** Deletes the record, or marks it where a behaviour gave the plan a mark. */
export async function remove(store: Store, plan: DeletePlan): Promise<Outcome> {
  const { mark, report } = plan
  const { writesLess } = await tableOfOne(store)
  return inTransaction(store, async (transaction) => {
    const increments = mark?.increments ?? []
    // The record is reported as it was, without the version that the claim raises.
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

/** Deletes or marks what an instance stands for; what `claimed` raised is raised already. */
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

/** The client has sent no values, so that nothing is validated: a record may be deleted as it is. */
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
