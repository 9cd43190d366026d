import type { DestroyOptions, FindOptions, InstanceDestroyOptions, Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { BulkDeletePlan } from '../../../types/plan.js'
import { withKeys } from '../../common/keys.js'
import { statementLogging } from '../../sequelize/logging.js'
import { runHooks } from '../../sequelize/model.js'
import { destroysEach, isHooked, needsEach } from '../executor.js'
import { updateRows } from '../statements/rows.js'
import type { Store } from '../store.js'
import { inTransaction } from '../transaction.js'
import { isEmpty, NOTHING, reported } from '../written.js'
import { exactly, whereTree } from './find.js'
import { keyOf } from './load.js'
import { removeInstance } from './remove.js'

export async function bulkDelete(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { report } = plan
  if (isEmpty(plan.where)) return NOTHING
  return inTransaction(store, async (transaction) => {
    const remove = (given: BulkDeletePlan): Promise<number> => removeAll(store, given, transaction)
    if (report !== null) return reported(store, plan, report, transaction, remove)
    return { kind: 'deleted', count: await remove(plan), rows: [] }
  })
}

function removeAll(store: Store, plan: BulkDeletePlan, transaction: Transaction): Promise<number> {
  const { where, mark } = plan
  const options = {
    where: whereTree(store, where, ''),
    transaction,
    individualHooks: needsEach(store, plan),
    ...statementLogging(store.sequelize),
  }
  const remove = isHooked(plan) || mark !== null ? removeEach : destroysEach(store) ? destroyEach : destroyAll
  return remove(store, options, plan)
}

type BulkOptions = DestroyOptions & { readonly transaction: Transaction }

function destroyAll({ model }: Store, options: BulkOptions): Promise<number> {
  return model.destroy(options)
}

async function destroyEach(store: Store, options: BulkOptions): Promise<number> {
  const { model } = store
  const { where, transaction } = options
  await runHooks(model, 'beforeBulkDestroy', options)
  const instances = await model.findAll({ ...exactly(store), where, transaction } as FindOptions)
  const each = { transaction, ...statementLogging(store.sequelize) } as InstanceDestroyOptions
  for (const instance of instances) await instance.destroy(each)
  await runHooks(model, 'afterBulkDestroy', options)
  return instances.length
}

/** One after the other, each with its hooks, between those of the whole: these may have made the condition narrower. */
async function removeEach(store: Store, options: BulkOptions, plan: BulkDeletePlan): Promise<number> {
  const { model, resource } = store
  const { transaction } = options
  await runHooks(model, 'beforeBulkDestroy', options)
  const order = resource.keys.map(({ name }): [string, string] => [name, 'ASC'])
  const lock = { level: transaction.LOCK.UPDATE, of: model }
  const found = await model.findAll({
    ...exactly(store),
    where: options.where,
    order,
    transaction,
    lock,
  } as FindOptions)
  const increments = plan.mark?.increments ?? []
  if (found.length > 0 && increments.length > 0) {
    const { keys } = resource
    const where = withKeys(
      keys,
      found.map((instance) => keyOf(keys, instance)),
    )
    await updateRows(store, { where, values: new Map(), increments, deleted: false }, transaction)
    for (const instance of found) await instance.reload({ ...exactly(store), transaction })
  }
  for (const instance of found) await removeInstance(store, instance, plan, transaction)
  await runHooks(model, 'afterBulkDestroy', options)
  return found.length
}
