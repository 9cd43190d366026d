import type { DestroyOptions, FindOptions, InstanceDestroyOptions, Model, Transaction } from 'sequelize'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkDeletePlan } from '../../../types/plan.js'
import type { Predicate } from '../../../types/predicate.js'
import { splitIntoChunks } from '../../common/chunks.js'
import { keyColumns } from '../../common/keys.js'
import { addCondition } from '../../common/predicates.js'
import { statementLoggingOf } from '../../sequelize/logging.js'
import { runHooks } from '../../sequelize/model.js'
import { hasHostHooks, isDestroyedOneByOne, isWrittenByInstances } from '../executor.js'
import { readVisible } from '../read.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import { updateRows } from '../statements/rows.js'
import type { StatementContext } from '../store.js'
import { loadTableTraits, skippedWriteError } from '../tableTraits.js'
import { inTransaction } from '../transaction.js'
import { deleteAndReport } from '../writtenRows.js'
import { buildWhereTree, exactKeyOptions, exactReadOptions } from './find.js'
import { instanceKeyParts, prepareLoaded } from './load.js'
import { removeInstance } from './remove.js'

/** Deletes the records of the plan's keys through instances, and counts the records. */
export async function bulkDeleteInstances(store: StatementContext, plan: BulkDeletePlan): Promise<Outcome> {
  const { report } = plan
  const { canSkipWrites } = await loadTableTraits(store)
  return inTransaction(store, async (transaction) => {
    const removeKeys = (given: BulkDeletePlan): Promise<number> =>
      canSkipWrites ? removeChecked(store, given, transaction) : removeAll(store, given, transaction)
    if (report !== null) return deleteAndReport(store, plan, report, transaction, removeKeys)
    return { kind: 'deleted', count: await removeKeys(plan), rows: [] }
  })
}

/**
 * Deletes records of a table whose rules or triggers may skip deletions.
 * @throws Problem 409 if a deletion was skipped
 */
async function removeChecked(store: StatementContext, plan: BulkDeletePlan, transaction: Transaction): Promise<number> {
  const { keys } = store.resource
  let found: readonly Row[] = []
  const options = destroyOptions(store, plan, transaction)
  // The records are not locked: PostgreSQL's row level security may show a record but prevent its lock.
  const count = await removeInParts(store, plan, options, {}, async (rows) => {
    found = rows
    return createRemover(store, plan, transaction, rows)
  })
  const remaining = await readVisible(
    { ...store, transaction },
    addCondition(plan.where, buildIdentityPredicate(keys, found)),
    keyColumns(keys),
    1,
  )
  if (remaining.length > 0) throw skippedWriteError()
  return count
}

function destroyOptions(store: StatementContext, plan: BulkDeletePlan, transaction: Transaction): BulkOptions {
  return {
    where: buildWhereTree(store, plan.where, ''),
    transaction,
    individualHooks: isWrittenByInstances(store, plan),
    ...statementLoggingOf(store.sequelize),
  }
}

function removeAll(store: StatementContext, plan: BulkDeletePlan, transaction: Transaction): Promise<number> {
  const { model } = store
  const options = destroyOptions(store, plan, transaction)
  const lock = { lock: { level: transaction.LOCK.UPDATE, of: model } }
  if (hasHostHooks(plan) || plan.softDelete !== null) {
    return removeInParts(store, plan, options, lock, (rows) => createRemover(store, plan, transaction, rows))
  }
  if (isDestroyedOneByOne(store))
    return removeInParts(store, plan, options, {}, async () => createDestroyer(store, transaction))
  if (options.individualHooks !== true || store.resource.maxInstances === Number.POSITIVE_INFINITY) {
    return model.destroy(options)
  }
  return removeInParts(store, plan, options, {}, async () => (records) => {
    return model.destroy({ ...options, where: buildWhereTree(store, records, ''), hooks: false })
  })
}

type BulkOptions = DestroyOptions & { readonly transaction: Transaction }

/** Deletes the records of a condition and returns their number. */
type InstanceRemover = (records: Predicate) => Promise<number>

/**
 * Increments the records' versions with one statement. Returns a function that deletes records one by one, each with
 * its hooks.
 */
async function createRemover(
  store: StatementContext,
  plan: BulkDeletePlan,
  transaction: Transaction,
  rows: readonly Row[],
): Promise<InstanceRemover> {
  const increments = plan.softDelete?.increments ?? []
  if (increments.length > 0) {
    const where = buildIdentityPredicate(store.resource.keys, rows)
    await updateRows(store, { where, values: new Map(), increments, deleted: false }, transaction)
  }
  return createEachRemover(store, transaction, (instance) => removeInstance(store, instance, plan, transaction))
}

function createDestroyer(store: StatementContext, transaction: Transaction): InstanceRemover {
  const options = { transaction, ...statementLoggingOf(store.sequelize) } as InstanceDestroyOptions
  return createEachRemover(store, transaction, (instance) => instance.destroy(options))
}

function createEachRemover(
  store: StatementContext,
  transaction: Transaction,
  use: (instance: Model) => Promise<void>,
): InstanceRemover {
  return async (records) => {
    const instances = await store.model.findAll({
      ...exactReadOptions(store),
      where: buildWhereTree(store, records),
      order: keyOrder(store),
      transaction,
      ...(store.dialect.readsSnapshots ? { lock: transaction.LOCK.UPDATE } : {}),
    } as FindOptions)
    for (const instance of instances) await use(prepareLoaded(store, instance))
    return instances.length
  }
}

function keyOrder({ resource }: StatementContext): [string, string][] {
  return resource.keys.map(({ name }) => [name, 'ASC'])
}

/** Deletes the records of a condition in batches, between the bulk hooks. The bulk hooks may narrow the condition. */
async function removeInParts(
  store: StatementContext,
  plan: BulkDeletePlan,
  options: BulkOptions,
  lock: Pick<FindOptions, 'lock'>,
  begin: (rows: readonly Row[]) => Promise<InstanceRemover>,
): Promise<number> {
  const { model, resource } = store
  const { keys, maxInstances } = resource
  const given = options.where
  await runHooks(model, 'beforeBulkDestroy', options)
  // The condition is read after the hook, which may have replaced it. The tree is built again with an alias, because a
  // SELECT may join tables with equal column names.
  const { transaction } = options
  const where = options.where === given ? buildWhereTree(store, plan.where) : options.where
  const find = { ...exactKeyOptions(store), where, order: keyOrder(store), transaction, ...lock } as FindOptions
  const rows = (await model.findAll(find)).map((instance) => instanceKeyParts(keys, instance))
  let count = 0
  if (rows.length > 0) {
    const remove = await begin(rows)
    for (const part of splitIntoChunks(rows, maxInstances)) count += await remove(buildIdentityPredicate(keys, part))
  }
  await runHooks(model, 'afterBulkDestroy', options)
  return count
}
