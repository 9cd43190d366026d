import type { DestroyOptions, FindOptions, InstanceDestroyOptions, Model, Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { BulkDeletePlan } from '../../../types/plan.js'
import { keyColumns } from '../../common/keys.js'
import { both } from '../../common/predicates.js'
import { statementLogging } from '../../sequelize/logging.js'
import { runHooks } from '../../sequelize/model.js'
import { destroysEach, isHooked, needsEach } from '../executor.js'
import { identified } from '../identified.js'
import { some } from '../read.js'
import { updateRows } from '../statements/rows.js'
import { type Store, within } from '../store.js'
import { notWritten, tableOf } from '../table.js'
import { inTransaction } from '../transaction.js'
import { isEmpty, NOTHING, reported } from '../written.js'
import { exactly, whereTree } from './find.js'
import { partsOf } from './load.js'
import { removeInstance } from './remove.js'

export async function bulkDelete(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { report } = plan
  if (isEmpty(plan.where)) return NOTHING
  const { writesLess } = await tableOf(store)
  return inTransaction(store, async (transaction) => {
    const remove = (given: BulkDeletePlan): Promise<number> =>
      writesLess ? removeChecked(store, given, transaction) : removeAll(store, given, transaction)
    if (report !== null) return reported(store, plan, report, transaction, remove)
    return { kind: 'deleted', count: await remove(plan), rows: [] }
  })
}

/** The same from a table that may skip deletions. @throws Problem 409 where it does */
async function removeChecked(store: Store, plan: BulkDeletePlan, transaction: Transaction): Promise<number> {
  let found: readonly Model[] = []
  const count = await removeEach(store, optionsOf(store, plan, transaction), plan, (instances) => {
    found = instances
  })
  const { keys } = store.resource
  const named = identified(
    keys,
    found.map((instance) => partsOf(keys, instance)),
  )
  const left = await some(within(store, transaction), both(plan.where, named), keyColumns(keys), 1)
  if (left.length > 0) throw notWritten()
  return count
}

function optionsOf(store: Store, plan: BulkDeletePlan, transaction: Transaction): BulkOptions {
  return {
    where: whereTree(store, plan.where, ''),
    transaction,
    individualHooks: needsEach(store, plan),
    ...statementLogging(store.sequelize),
  }
}

function removeAll(store: Store, plan: BulkDeletePlan, transaction: Transaction): Promise<number> {
  const { mark } = plan
  const options = optionsOf(store, plan, transaction)
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
async function removeEach(
  store: Store,
  options: BulkOptions,
  plan: BulkDeletePlan,
  removing: ((instances: readonly Model[]) => void) | null = null,
): Promise<number> {
  const { model, resource } = store
  const { transaction } = options
  await runHooks(model, 'beforeBulkDestroy', options)
  const order = resource.keys.map(({ name }): [string, string] => [name, 'ASC'])
  // A row policy of PostgreSQL may let a record be read and not locked.
  const lock = removing === null ? { lock: { level: transaction.LOCK.UPDATE, of: model } } : {}
  const found = await model.findAll({
    ...exactly(store),
    where: options.where,
    order,
    transaction,
    ...lock,
  } as FindOptions)
  removing?.(found)
  const increments = plan.mark?.increments ?? []
  if (found.length > 0 && increments.length > 0) {
    const { keys } = resource
    const where = identified(
      keys,
      found.map((instance) => partsOf(keys, instance)),
    )
    await updateRows(store, { where, values: new Map(), increments, deleted: false }, transaction)
    for (const instance of found) await instance.reload({ ...exactly(store), transaction })
  }
  for (const instance of found) await removeInstance(store, instance, plan, transaction)
  await runHooks(model, 'afterBulkDestroy', options)
  return found.length
}
