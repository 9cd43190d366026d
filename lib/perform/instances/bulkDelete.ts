import type { DestroyOptions, FindOptions, InstanceDestroyOptions, Model, Transaction } from 'sequelize'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkDeletePlan } from '../../../types/plan.js'
import type { Predicate } from '../../../types/predicate.js'
import { chunksOf } from '../../common/chunks.js'
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
import { reported } from '../written.js'
import { exactKeys, exactly, whereTree } from './find.js'
import { partsOf } from './load.js'
import { removeInstance } from './remove.js'

/** Deletes the records of the keys and counts them. */
export async function bulkDelete(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { report } = plan
  const { writesLess } = await tableOf(store)
  return inTransaction(store, async (transaction) => {
    const remove = (given: BulkDeletePlan): Promise<number> =>
      writesLess ? removeChecked(store, given, transaction) : removeAll(store, given, transaction)
    if (report !== null) return reported(store, plan, report, transaction, remove)
    return { kind: 'deleted', count: await remove(plan), rows: [] }
  })
}

/** Deletes from a table that may skip deletions. @throws Problem 409 if one was skipped */
async function removeChecked(store: Store, plan: BulkDeletePlan, transaction: Transaction): Promise<number> {
  const { keys } = store.resource
  let found: readonly Row[] = []
  const options = optionsOf(store, plan, transaction)
  // PostgreSQL's row level security may show a record but prevent locking it.
  const count = await removeInParts(store, plan, options, {}, async (rows) => {
    found = rows
    return removerOf(store, plan, transaction, rows)
  })
  const left = await some(within(store, transaction), both(plan.where, identified(keys, found)), keyColumns(keys), 1)
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
  const { model } = store
  const options = optionsOf(store, plan, transaction)
  const lock = { lock: { level: transaction.LOCK.UPDATE, of: model } }
  if (isHooked(plan) || plan.mark !== null) {
    return removeInParts(store, plan, options, lock, (rows) => removerOf(store, plan, transaction, rows))
  }
  if (destroysEach(store)) return removeInParts(store, plan, options, {}, async () => destroyerOf(store, transaction))
  if (options.individualHooks !== true || store.resource.instancesAtOnce === Number.POSITIVE_INFINITY) {
    return model.destroy(options)
  }
  return removeInParts(store, plan, options, {}, async () => (records) => {
    return model.destroy({ ...options, where: whereTree(store, records, ''), hooks: false })
  })
}

type BulkOptions = DestroyOptions & { readonly transaction: Transaction }

/** Deletes the records of a condition and returns their number. */
type Remover = (records: Predicate) => Promise<number>

/** Deletes records one by one, each with its hooks. */
async function removerOf(
  store: Store,
  plan: BulkDeletePlan,
  transaction: Transaction,
  rows: readonly Row[],
): Promise<Remover> {
  const increments = plan.mark?.increments ?? []
  if (increments.length > 0) {
    const where = identified(store.resource.keys, rows)
    await updateRows(store, { where, values: new Map(), increments, deleted: false }, transaction)
  }
  return eachOf(store, transaction, (instance) => removeInstance(store, instance, plan, transaction))
}

function destroyerOf(store: Store, transaction: Transaction): Remover {
  const options = { transaction, ...statementLogging(store.sequelize) } as InstanceDestroyOptions
  return eachOf(store, transaction, (instance) => instance.destroy(options))
}

function eachOf(store: Store, transaction: Transaction, use: (instance: Model) => Promise<void>): Remover {
  return async (records) => {
    const instances = await store.model.findAll({
      ...exactly(store),
      where: whereTree(store, records),
      order: keyOrder(store),
      transaction,
      ...(store.dialect.readsSnapshots ? { lock: transaction.LOCK.UPDATE } : {}),
    } as FindOptions)
    for (const instance of instances) await use(instance)
    return instances.length
  }
}

function keyOrder({ resource }: Store): [string, string][] {
  return resource.keys.map(({ name }) => [name, 'ASC'])
}

/** Deletes the records of a condition in batches, between the bulk hooks. These hooks may narrow the condition. */
async function removeInParts(
  store: Store,
  plan: BulkDeletePlan,
  options: BulkOptions,
  lock: Pick<FindOptions, 'lock'>,
  begin: (rows: readonly Row[]) => Promise<Remover>,
): Promise<number> {
  const { model, resource } = store
  const { keys, instancesAtOnce } = resource
  const given = options.where
  await runHooks(model, 'beforeBulkDestroy', options)
  // Read after the hook, which may have replaced the condition. The tree is written again with an alias, because a
  // SELECT may join tables with equal column names.
  const { transaction } = options
  const where = options.where === given ? whereTree(store, plan.where) : options.where
  const find = { ...exactKeys(store), where, order: keyOrder(store), transaction, ...lock } as FindOptions
  const rows = (await model.findAll(find)).map((instance) => partsOf(keys, instance))
  let count = 0
  if (rows.length > 0) {
    const remove = await begin(rows)
    for (const part of chunksOf(rows, instancesAtOnce)) count += await remove(identified(keys, part))
  }
  await runHooks(model, 'afterBulkDestroy', options)
  return count
}
